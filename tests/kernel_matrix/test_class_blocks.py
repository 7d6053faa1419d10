"""Kernel matrices of pairs of classes: the values of any other matrix, blocks computed once."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.kernel_matrix import class_blocks
from pegasos.kernel_matrix.class_blocks import ClassBlocks, PairGram
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.memory import held
from pegasos.problem.kernels import Custom, Gaussian, Linear, Polynomial, Precomputed, Sigmoid

BUDGET = 64 << 20
SIZES = [5, 1, 12, 7]


def by_class(container=np.asarray, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    X = rng.standard_normal((len(codes), 3)).astype(dtype)
    return container(X), [np.flatnonzero(codes == c) for c in range(len(SIZES))]


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear(), Polynomial(0.3, 1.0, 2.0)], ids=str)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_pair_has_the_kernel_matrix_of_its_rows(kernel, container):
    X, members = by_class(container)
    blocks = ClassBlocks(kernel, as_rows(X), members, BUDGET)
    for a, b in ((0, 1), (0, 2), (2, 3)):
        chosen = np.concatenate([members[a], members[b]])
        expected = Gram(kernel, as_rows(X[chosen]), BUDGET)
        found = blocks.gram(a, b)
        assert isinstance(found, PairGram)
        order = np.random.default_rng(0).permutation(len(chosen))
        slots = found.hold(order)
        np.testing.assert_allclose(
            found.store[slots], expected.values(order), rtol=1e-12, atol=1e-13
        )
        assert found.evaluations == len(members[a]) * len(members[b])
        B = np.random.default_rng(1).standard_normal((len(chosen), 1))
        Z, same = np.zeros_like(B), np.zeros_like(B)
        found.add_scores(B, Z)
        expected.add_scores(B, same)
        np.testing.assert_allclose(Z, same, atol=1e-12)
        np.testing.assert_allclose(found.exact_scores(order, B), same[order], atol=1e-12)
        blocks.release(found)
    assert blocks.evaluations == sum(n * n for n in SIZES)
    (room,) = blocks.rooms  # which all pairs have used
    values = sum(n * n for n in SIZES) * X.dtype.itemsize
    assert blocks.bytes == room.nbytes + values
    assert held() >= blocks.bytes


def test_a_pair_of_coarse_values_goes_on_in_double_precision():
    X, members = by_class(dtype=np.float32)
    blocks = ClassBlocks(Gaussian(0.5), as_rows(X), members, BUDGET)
    gram = blocks.gram(0, 2)
    assert gram.can_be_wider
    gram.hold(np.arange(3))
    gram.widen()
    chosen = np.concatenate([members[0], members[2]]).astype(int)
    exact = Gram(Gaussian(0.5), as_rows(X[chosen].astype(np.float64)), BUDGET)
    found = gram.store[gram.hold(np.arange(len(chosen)))]
    np.testing.assert_allclose(found, exact.values(np.arange(len(chosen))), rtol=1e-13)
    assert gram.rounding < 1e-12


@pytest.mark.parametrize("why", ["large", "indefinite", "own", "precomputed", "memory"])
def test_other_pairs_have_a_store_of_their_own(why, monkeypatch):
    X, members = by_class()
    kernels = {"indefinite": Sigmoid(0.5, 0.0), "own": Custom(lambda A, B: A @ B.T)}
    kernel = kernels.get(why, Linear())
    if why == "precomputed":
        X, kernel = X @ X.T, Precomputed()
    if why == "large":
        monkeypatch.setattr(class_blocks, "SMALL_PAIR", 10)
    blocks = ClassBlocks(kernel, as_rows(X), members, 100 if why == "memory" else BUDGET)
    gram = blocks.gram(2, 3)
    assert not isinstance(gram, PairGram)
    chosen = np.concatenate([members[2], members[3]])
    rows = X[np.ix_(chosen, chosen)] if why == "precomputed" else X[chosen]
    expected = Gram(kernel, as_rows(rows), BUDGET).values(np.arange(len(chosen)))
    np.testing.assert_allclose(gram.values(np.arange(len(chosen))), expected, atol=1e-13)
    assert isinstance(blocks.gram(0, 1), PairGram) == (why == "large")


@pytest.mark.fast
def test_pairs_that_need_most_of_the_memory_run_alone(monkeypatch):
    monkeypatch.setattr(class_blocks, "SMALL_PAIR", 10)
    monkeypatch.setattr(class_blocks, "LEAST_BUDGET", 0)
    X, members = by_class()
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]  # of 6, 17, 12, 13, 8 and 19 rows
    blocks = ClassBlocks(Linear(), as_rows(X), members, BUDGET)
    monkeypatch.setattr(class_blocks, "left_rows", lambda rows: 0)
    kept = 8 * (5**2 + 1**2 + 7**2)  # the classes that have a pair of up to 10 rows
    blocks.budget = kept + 4 * 20**2 * 8
    alone, together, at_once = blocks.schedule(pairs)
    assert alone == []
    assert together == [0, 5, 1, 3, 2, 4]  # by size, but the smallest first
    assert at_once >= 1
    blocks.budget = kept + 4 * 15**2 * 8
    assert blocks.schedule(pairs)[:2] == ([5, 1], [0, 3, 2, 4])
