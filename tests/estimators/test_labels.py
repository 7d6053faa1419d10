"""Labels: which decisions are certain, by hand."""

import numpy as np
import pytest

from pegasos.estimators.labels import Labels, labels_of

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


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.bool_])
@pytest.mark.parametrize("y", [[1, 0, 1, 1], [3, 7, 7, 3], [5, 5], [2, 0, 1], [0, 1, 2, 2]])
def test_classes_and_places_are_those_of_all_labels_sorted(y, dtype):
    y = np.array(y, dtype=dtype)
    labels, codes = labels_of(y)
    classes, places = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(labels.classes, classes)
    assert labels.classes.dtype == dtype
    np.testing.assert_array_equal(codes, places)
    assert codes.dtype == np.uint8
    assert labels.kind == ("binary" if len(classes) <= 2 else "multiclass")
