"""Rows seen from a centre answer as rows from which it was subtracted."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.centre import (
    as_from_centre,
    as_from_origin,
    is_centred,
    seen_from,
    settle,
    weight_count,
)
from pegasos.data.rows import add, all_scores, as_rows, scores, square_norm

CONTAINERS = [np.ascontiguousarray, sparse.csr_array]


def drawn(offset=3.0, K=2):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((12, 5)) + offset) * (rng.random((12, 5)) < 0.7)
    return X, X.mean(axis=0), rng.standard_normal((5, K)), rng.standard_normal(K)


@pytest.mark.fast
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("K", [1, 2])
def test_rows_answer_as_if_the_centre_were_subtracted(container, K):
    X, m, W, b = drawn(K=K)
    rows = seen_from(as_rows(container(X)), m)
    own, _ = as_from_centre(rows, W, b)
    z, expected = np.empty(K), W.copy()
    flat = own[:, 0] if K == 1 else own
    for i in (3, 7, 3):
        scores(rows, i, flat, z)
        np.testing.assert_allclose(z, (X[i] - m) @ expected, rtol=1e-12)
        assert square_norm(rows, i) == pytest.approx(((X[i] - m) ** 2).sum(), rel=1e-12)
        add(rows, i, b, flat)
        expected += np.outer(X[i] - m, b)
        np.testing.assert_allclose(as_from_origin(rows.centre, own, b)[0], expected, rtol=1e-12)
    scores(rows, 5, flat, z)
    before = z.copy()
    np.testing.assert_allclose(settle(rows.centre, own), expected, rtol=1e-12)
    scores(rows, 5, flat, z)
    np.testing.assert_allclose(z, before, rtol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("container", CONTAINERS)
def test_a_change_of_centre_there_and_back_changes_no_score(container):
    X, m, W, b = drawn()
    rows = seen_from(as_rows(container(X)), m)
    own, own_b = as_from_centre(rows, W, b)
    Z = np.empty((12, 2))
    all_scores(rows, 0, 12, own, Z)
    np.testing.assert_allclose(Z + own_b, X @ W + b, rtol=1e-12)
    back, back_b = as_from_origin(rows.centre, own, own_b)
    np.testing.assert_allclose(back, W)
    np.testing.assert_allclose(back_b, b)


@pytest.mark.fast
@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_around_the_origin_are_handed_through(container):
    X, _, W, b = drawn()
    rows = as_rows(container(X))
    assert not is_centred(rows)
    assert weight_count(rows) == 5
    assert settle(rows.centre, W) is W
    for same in (as_from_centre(rows, W, b), as_from_origin(rows.centre, W, b)):
        assert same[0] is W
        assert same[1] is b


@pytest.mark.fast
@pytest.mark.parametrize("container", CONTAINERS)
def test_distances_from_a_far_centre_keep_their_digits(container):
    X, _, _, _ = drawn()
    X = np.where(X == 0.0, 0.5, X) + 1e8
    rows = seen_from(as_rows(container(X)), np.full(5, 1e8))
    for i in range(12):
        assert square_norm(rows, i) == pytest.approx(((X[i] - 1e8) ** 2).sum(), rel=1e-12)
