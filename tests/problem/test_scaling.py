"""C, lam and class weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from pegasos.errors import InvalidData, InvalidParameter
from pegasos.problem.scaling import lam_of, lam_of_stream, positive, with_class_weight

pytestmark = pytest.mark.fast


@given(C=st.floats(1e-6, 1e6), S=st.floats(0.1, 1e6))
def test_c_and_lam_turn_into_each_other(C, S):
    _, lam = lam_of(C, None, S)
    assert lam == pytest.approx(1.0 / (C * S))
    back, same = lam_of(1.0, lam, S)
    assert back == pytest.approx(C)
    assert same == lam


def test_both_objectives_have_the_same_minimiser():
    # 1/2 w^2 + C sum s_i (w - x_i)^2  against  lam/2 w^2 + 1/S sum s_i (w - x_i)^2
    x, s, C = np.array([1.0, 4.0, -2.0]), np.array([1.0, 0.5, 3.0]), 0.7
    _, lam = lam_of(C, None, s.sum())
    mine = 2 * (s @ x) / s.sum() / (lam + 2.0)
    theirs = 2 * C * (s @ x) / (1.0 + 2 * C * s.sum())
    assert mine == pytest.approx(theirs)


def test_both_c_and_lam_are_refused():
    with pytest.raises(InvalidParameter, match="Give C or lam, not both; got C=2.0 and lam=0.1"):
        lam_of(2.0, 0.1, 10.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "1", None, True])
def test_c_must_be_a_positive_number(bad):
    with pytest.raises(InvalidParameter, match="C must be a positive, finite number; got C="):
        lam_of(bad, None, 1.0)
    if bad is not None:
        with pytest.raises(InvalidParameter, match="lam must be a positive, finite number"):
            lam_of(1.0, bad, 1.0)


def test_numpy_numbers_are_numbers():
    positive(np.float32(1.5), "C", "")
    positive(np.int64(3), "C", "")


CLASSES = np.array(["a", "b", "c"])
CODES = np.array([0, 0, 0, 1, 2, 2])


def test_no_class_weight_leaves_weights_alone():
    assert with_class_weight(None, CLASSES, CODES, None) is None
    s = np.arange(6.0)
    assert with_class_weight(None, CLASSES, CODES, s) is s


def test_balanced_is_scikit_learns_without_sample_weights():
    expected = compute_sample_weight("balanced", CODES)
    np.testing.assert_allclose(with_class_weight("balanced", CLASSES, CODES, None), expected)


def test_balanced_counts_sample_weights_like_repeated_rows():
    s = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 1.0])
    repeated = np.repeat(CODES, s.astype(int))
    expected = with_class_weight("balanced", CLASSES, repeated, None)
    found = with_class_weight("balanced", CLASSES, CODES, s)
    for code in range(3):
        assert found[code == CODES].sum() == pytest.approx(expected[repeated == code].sum())
    masses = [found[code == CODES].sum() for code in range(3)]
    np.testing.assert_allclose(masses, masses[0])


def test_balanced_ignores_a_class_whose_rows_all_weigh_nothing():
    # As if its rows were removed: the others share the total between two classes, not three.
    s = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    found = with_class_weight("balanced", CLASSES, CODES, s)
    kept = s > 0
    expected = with_class_weight("balanced", CLASSES[[0, 2]], CODES[kept] // 2, None)
    np.testing.assert_allclose(found[kept], expected)
    assert found[3] == 0.0


def test_class_weights_by_name_multiply_sample_weights():
    s = np.arange(1.0, 7.0)
    found = with_class_weight({"a": 2.0, "c": 0.5}, CLASSES, CODES, s)
    np.testing.assert_allclose(found, s * np.array([2.0, 2.0, 2.0, 1.0, 0.5, 0.5]))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "must be \"balanced\", a dict or None; got 'even'"),
        ({"z": 1.0}, r"names \['z'\], which y does not contain"),
        ({"a": -1.0}, r"must hold numbers from 0 to 1e\+100; got"),
        ({"a": np.inf}, r"must hold numbers from 0 to 1e\+100; got"),
        (3.0, 'must be "balanced", a dict or None'),
    ],
)
def test_bad_class_weights_are_refused(weight, message):
    with pytest.raises(InvalidParameter, match=message):
        with_class_weight(weight, CLASSES, CODES, None)


@pytest.mark.parametrize("bad", [1e-320, 1e308, 10**400, np.float64(1e101)])
def test_penalties_whose_products_would_overflow_are_refused(bad):
    with pytest.raises(InvalidParameter, match=r"C must lie between 1e-100 and 1e\+100; got C="):
        lam_of(bad, None, 1.0)
    with pytest.raises(
        InvalidParameter, match=r"lam must lie between 1e-100 and 1e\+100; got lam="
    ):
        lam_of(1.0, bad, 1.0)


def test_a_penalty_that_is_out_of_range_on_the_other_scale_only_is_refused():
    with pytest.raises(InvalidParameter, match=r"C=1e\+90 makes lam = 1e-110 for .* sum 1e\+20"):
        lam_of(1e90, None, 1e20)
    with pytest.raises(InvalidParameter, match=r"lam=1e-90 makes C = 1e\+110 for .* sum 1e-20"):
        lam_of(1.0, 1e-90, 1e-20)


def test_class_weights_whose_products_overflow_are_refused():
    with pytest.raises(InvalidData, match="class_weight times sample_weight sums to inf"):
        with_class_weight({"a": 1e99}, CLASSES, CODES, np.full(6, 1e300))


def test_the_lam_of_a_stream_counts_the_weight_of_all_rows_so_far():
    C, weights = 2.0, np.array([0.0, 3.0, 1.5])
    assert lam_of_stream(C, None, 10.0, 3, None) == (C, pytest.approx(1.0 / (C * 13.0)))
    assert lam_of_stream(C, None, 10.0, 3, weights) == (C, pytest.approx(1.0 / (C * 14.5)))
    assert lam_of_stream(1.0, 0.5, 10.0, 3, weights) == (pytest.approx(1.0 / (0.5 * 14.5)), 0.5)
