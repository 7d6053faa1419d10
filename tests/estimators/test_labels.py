"""Labels: which decisions are certain, by hand."""

import numpy as np
import pytest

from pegasos.estimators.labels import Labels

pytestmark = pytest.mark.fast


def test_a_class_is_settled_where_no_other_can_reach_it():
    labels = Labels(np.array([0, 1, 2]), "multiclass")
    low = np.array([[1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [1.0, -1.0, -1.0]])
    high = np.array([[9.0, 0.9, -1.0], [9.0, 1.0, -1.0], [9.0, 1.1, -1.0]])
    assert labels.settled(low, high).tolist() == [True, False, False]


def test_the_sign_of_a_model_is_settled_where_its_interval_does_not_hold_0():
    low, high = np.array([[0.1], [0.0], [-1.0], [-1.0]]), np.array([[1.0], [1.0], [0.0], [-0.1]])
    for kind in ("binary", "multilabel"):
        settled = Labels(np.array([0, 1]), kind).settled(low, high)
        assert settled.ravel().tolist() == [True, False, False, True]


def test_probabilities_are_those_of_the_classes_in_their_order():
    P = np.array([[0.2], [0.9]])
    np.testing.assert_allclose(
        Labels(np.array(["a", "b"]), "binary").probabilities(P), [[0.8, 0.2], [0.1, 0.9]]
    )
