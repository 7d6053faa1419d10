"""Stacks of small pairs of classes: every column is its pair."""

import numpy as np
import pytest
from sklearn.metrics import pairwise

from pegasos.data.rows import as_rows
from pegasos.kernel_matrix import stack as stacks
from pegasos.kernel_matrix.stack import SmallPairs
from pegasos.problem.class_pairs import pairs_of
from pegasos.problem.geometry import geometry, products, square_norm_of
from pegasos.problem.kernels import Gaussian

SIZES = (3, 1, 4, 2, 4)


def small_pairs():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat(np.arange(5), SIZES))
    X = rng.standard_normal((len(codes), 2))
    members = [np.flatnonzero(codes == c) for c in range(5)]
    return X, members, SmallPairs(Gaussian(0.7), as_rows(X), members)


@pytest.mark.fast
@pytest.mark.parametrize("least", [1, 5, 100])
def test_every_pair_is_in_one_stack_with_its_own_kernel_values(least, monkeypatch):
    monkeypatch.setattr(stacks, "PAIRS", least)
    X, members, small = small_pairs()
    met = []
    for pairs, stack in small.stacks():
        assert stack.shape == stack.values.shape[1:]
        for k, (a, b) in enumerate(pairs):
            some = X[np.concatenate([members[a], members[b]])]
            n = len(some)
            np.testing.assert_allclose(
                stack.values[k, :n, :n], pairwise.rbf_kernel(some, gamma=0.7), atol=1e-12
            )
            np.testing.assert_array_equal(stack.diagonal[:n, k], 1.0)
            assert not stack.values[k, n:].any()
            assert not stack.values[k, :, n:].any()
            assert not stack.diagonal[n:, k].any()
        met += pairs
    assert sorted(met) == pairs_of(5)


@pytest.mark.fast
@pytest.mark.parametrize("least", [1, 5, 100])
def test_stacks_take_no_more_memory_than_was_said(least, monkeypatch):
    monkeypatch.setattr(stacks, "PAIRS", least)
    _, members, small = small_pairs()
    own, before = sum(block.nbytes for block in small.own), small.evaluations
    for _, stack in small.stacks():
        strip, before = small.evaluations - before, small.evaluations
        assert own + stack.values.nbytes + 8 * strip <= stacks.bytes_of_stacks(members)


@pytest.mark.fast
def test_what_is_told_of_weights_is_told_of_every_pair_alone():
    _, _, small = small_pairs()
    ((pairs, stack),) = small.stacks()
    n, K = stack.diagonal.shape
    rng, space = np.random.default_rng(1), geometry(stack)
    W, m = rng.standard_normal((n, K)), rng.standard_normal((n, K))
    Z, out = np.empty((n, K)), np.zeros((n, K))
    space.write_scores(W, Z)
    square = square_norm_of(space, m)
    space.push_scores(m, square, np.arange(K, dtype=float), out)
    for k in range(K):
        values = stack.values[k]
        np.testing.assert_allclose(Z[:, k], values @ W[:, k], atol=1e-12)
        np.testing.assert_allclose(square[k], m[:, k] @ values @ m[:, k], atol=1e-12)
        np.testing.assert_allclose(products(m, Z)[k], m[:, k] @ values @ W[:, k], atol=1e-12)
        away = stack.diagonal[:, k] - 2.0 * values @ m[:, k] + square[k]
        np.testing.assert_allclose(out[:, k], k * np.sqrt(np.maximum(0.0, away)), atol=1e-6)
    np.testing.assert_allclose(stack.exact_scores([2, 0], W), Z[[2, 0]], atol=1e-12)
    np.testing.assert_allclose(space.typical_point(W).sum(axis=0), 1.0)
    assert len(pairs) == K
