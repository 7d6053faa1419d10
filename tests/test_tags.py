"""Tags: equal by value within their class, to nothing else, and the same after a copy."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from pegasos import CustomLoss, PegasosClassifier
from pegasos.online import sets
from pegasos.online.mirror_maps import Entropy, Euclidean, PNorm
from pegasos.online.rules import AdaGrad, Lazy, Mirror
from pegasos.online.sets import Everywhere, L1Ball, L2Ball
from pegasos.online.steps import StepSize
from pegasos.problem import joint_losses, losses
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed, Sigmoid

pytestmark = pytest.mark.fast

STEP = StepSize(1.0, 0.5)
TAGS = [
    losses.Hinge(), losses.SquaredHinge(), losses.Logistic(), losses.EpsilonInsensitive(1.0),
    joint_losses.Softmax(), Linear(), Gaussian(1.0), Polynomial(1.0, 0.5, 2.0), Sigmoid(1.0, 0.5),
    Laplacian(1.0), Precomputed(), Everywhere(), L2Ball(1.0), L1Ball(1.0), sets.Simplex(1.0),
    sets.Box(1.0, 0.5), Euclidean(), Entropy(), PNorm(1.0), Mirror(Euclidean(), L1Ball(1.0), STEP),
    Lazy(Euclidean(), L1Ball(1.0), STEP), AdaGrad(L1Ball(1.0), 1.0), STEP,
]  # fmt: skip


def test_tags_of_two_classes_are_never_equal():
    for one, other in itertools.combinations(TAGS, 2):
        assert one != other
        assert not one == other  # noqa: SIM201 - both operators are defined
    assert len(set(TAGS)) == len(TAGS)
    assert Mirror(Euclidean(), L1Ball(1.0), STEP) != Mirror(Euclidean(), L2Ball(1.0), STEP)


@pytest.mark.parametrize("tag", TAGS, ids=lambda tag: type(tag).__name__)
def test_a_tag_equals_itself_by_value_with_the_same_hash(tag):
    same = [
        type(tag)(*tag),
        copy.deepcopy(tag),
        pickle.loads(pickle.dumps(tag)),
        clone(tag, safe=False),
    ]
    for other in same:
        assert type(other) is type(tag)
        assert other == tag
        assert not other != tag  # noqa: SIM202
        assert hash(other) == hash(tag)
        assert repr(other) == repr(tag)
    assert tag != tuple(tag)
    assert tuple(tag) != tag


def test_tags_of_one_class_differ_by_value():
    assert L1Ball(1.0) != L1Ball(2.0)
    assert len({L1Ball(1.0), L1Ball(1.0), L1Ball(2.0), L2Ball(1.0)}) == 3


def test_tags_of_custom_losses_are_equal_if_their_code_is():
    def square(z, y):
        return (z - y) ** 2

    def slope(z, y):
        return 2.0 * (z - y)

    def steeper(z, y):
        return 2.0 * (z - y) ** 2

    def its_slope(z, y):
        return 4.0 * (z - y)

    y = np.array([1.0, -1.0])
    one, other = CustomLoss(square, slope).tag(y), CustomLoss(steeper, its_slope).tag(y)
    assert one == CustomLoss(square, slope).tag(y)
    assert one != other
    assert one != losses.Hinge()


def test_an_estimator_with_a_tag_is_cloned():
    model = PegasosClassifier(loss=losses.SquaredHinge())
    assert clone(model).get_params()["loss"] == losses.SquaredHinge()
    assert clone(model).get_params()["loss"] != losses.Hinge()
