"""The judge, worked by hand and against itself in other containers."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from bench.objective import objective, scores, signs

X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
y = np.array([1, -1, -1])
w = np.array([0.5, -0.25])

# Scores X w are 0.5, -0.5, 0.25, so the margins y X w are 0.5, 0.5, -0.25; ||w||^2 = 0.3125.
HINGE = (0.5 + 0.5 + 1.25) / 3
SQUARED = (0.25 + 0.25 + 1.5625) / 3
LOGISTIC = (2 * np.log1p(np.exp(-0.5)) + np.log1p(np.exp(0.25))) / 3


@pytest.mark.parametrize(
    ("loss", "mean"), [("hinge", HINGE), ("squared_hinge", SQUARED), ("logistic", LOGISTIC)]
)
@pytest.mark.parametrize("container", [np.asarray, csr_array, csr_matrix])
def test_objective_by_hand(container, loss, mean):
    value = objective(container(X), y, 0.1, w, loss=loss)
    assert value == pytest.approx(0.05 * 0.3125 + mean, rel=1e-15)


def test_objective_with_a_bias_by_hand():
    # With b = 0.5 the scores are 1, 0, 0.75: hinge 0, 1, 1.75.
    assert objective(X, y, 0.1, w, 0.5) == pytest.approx(0.05 * 0.3125 + 2.75 / 3)
    regularised = objective(X, y, 0.1, w, 0.5, is_bias_regularised=True)
    assert regularised == pytest.approx(0.05 * (0.3125 + 0.25) + 2.75 / 3)


def test_objective_of_one_vs_rest_is_the_sum_of_its_problems():
    classes = np.array([0, 2, 1])
    W = np.array([[0.1, -0.2, 0.3], [0.5, 0.4, -0.6]])
    parts = [objective(X, np.where(classes == k, 1, -1), 0.1, W[:, k]) for k in range(3)]
    assert objective(X, classes, 0.1, W) == pytest.approx(sum(parts))


def test_objective_refuses_weights_for_another_number_of_classes():
    with pytest.raises(ValueError, match="holds 2 models"):
        objective(X, y, 0.1, np.zeros((2, 2)))


def test_signs_of_labels():
    assert signs(np.array([-1, 1])).tolist() == [[-1.0], [1.0]]
    assert signs(np.array([1, 0, 2])).tolist() == [[-1, 1, -1], [1, -1, -1], [-1, -1, 1]]


def test_scores_do_not_depend_on_the_block():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(50, 4)).astype(np.float32), rng.normal(size=(4, 3))
    np.testing.assert_allclose(scores(csr_array(A), B, block=7), A.astype(float) @ B, rtol=1e-12)
