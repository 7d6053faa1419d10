"""The kernel matrix: values, counts, the store and its budget, products with expansions."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise

from pegasos import parallel
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidData
from pegasos.kernel_matrix import gram as module
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.kernel_matrix.store import COLUMNS, RowStore
from pegasos.problem.kernels import (
    Custom,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from tests.kernel_matrix.test_blocks import KERNELS, dense64, drawn, oracle

PLENTY = 100 << 20
MEGABYTE = 1 << 20
KINDS = {"dense": np.asarray, "csr": sparse.csr_array}


def matrix_of(n, kernel=KERNELS[1], kind="dense", budget=PLENTY, dtype=np.float64, d=4):
    """A Gram matrix, and its values by scikit-learn."""
    X = KINDS[kind](drawn(n, d=d, seed=n).astype(dtype))
    return Gram(kernel, as_rows(X), budget), oracle(kernel, X, X)


def small_store(n, capacity, kernel=KERNELS[1]):
    """A Gram matrix that keeps no more than so many rows."""
    gram, K = matrix_of(n, kernel, budget=0)
    gram.kept = RowStore(n, np.full((capacity, n), np.nan))
    return gram, K


def kept(gram):
    return {int(i) for i in np.flatnonzero(gram.slot_of >= 0)}


def check_store(gram, K):
    """Every row that is said to be kept is where it is said to be."""
    rows = np.flatnonzero(gram.slot_of >= 0)
    assert len(set(gram.slot_of[rows])) == len(rows) <= gram.capacity
    np.testing.assert_array_equal(gram.kept.owner[gram.slot_of[rows]], rows)
    np.testing.assert_allclose(gram.store[gram.slot_of[rows]], K[rows], rtol=1e-12, atol=1e-12)


# ---- values


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_values_equal_those_of_scikit_learn(kernel, kind):
    gram, K = matrix_of(30, kernel, kind)
    chosen, others = np.array([3, 29, 0]), np.array([5, 5, 1, 28])
    np.testing.assert_allclose(gram.values(chosen), K[chosen], rtol=1e-12, atol=1e-12)
    found = gram.values(chosen, others)
    np.testing.assert_allclose(found, K[np.ix_(chosen, others)], rtol=1e-12, atol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_diagonal_of_rows_is_exact_and_the_matrix_symmetric(kernel, kind, dtype):
    gram, K = matrix_of(30, kernel, kind, dtype=dtype)
    np.testing.assert_allclose(gram.diagonal, np.diag(K), rtol=1e-14)
    if isinstance(kernel, Gaussian | Laplacian):
        assert gram.diagonal.tolist() == [1.0] * 30
    found = gram.values(np.arange(30))
    np.testing.assert_array_equal(np.diag(found), gram.diagonal.astype(dtype))
    np.testing.assert_allclose(found, found.T, rtol=100 * np.finfo(dtype).eps, atol=1e-7)


@pytest.mark.fast
def test_float32_rows_have_float32_kernel_values():
    for dtype in (np.float32, np.float64):
        gram, _ = matrix_of(10, dtype=dtype)
        assert gram.precision == gram.store.dtype == gram.values(np.arange(2)).dtype == dtype
    assert Gram(Linear(), as_rows(np.eye(3, dtype=np.uint8)), PLENTY).precision == np.float64


@pytest.mark.fast
def test_a_callable_and_a_precomputed_matrix_give_the_same():
    X = drawn(20)
    K = pairwise.rbf_kernel(X, gamma=0.5)
    for kernel, given_X in ((Custom(lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.5)), X),
                            (Precomputed(), K)):  # fmt: skip
        gram = Gram(kernel, as_rows(given_X), PLENTY)
        np.testing.assert_allclose(gram.values(np.arange(20)), K, rtol=1e-12)
        np.testing.assert_allclose(gram.diagonal, np.ones(20), rtol=1e-12)
        np.testing.assert_allclose(gram.square_block(np.arange(7)), K[:7, :7], rtol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_wherever_they_turn_up(bad):
    def function(A, B):
        K = A @ B.T
        if K.shape[1] > 1:  # not on the diagonal alone
            K[:, 7] = bad
        return K

    gram = Gram(Custom(function), as_rows(drawn(20)), PLENTY)
    message = r"The kernel gives values that are not finite: Custom\(function=.*Scale the columns"
    for ask in (gram.values, gram.hold, gram.square_block):
        with pytest.raises(InvalidData, match=message):
            ask(np.arange(9))
    with pytest.raises(InvalidData, match=message):
        gram.add_scores(np.ones((20, 1)), np.zeros((20, 1)))


# ---- square blocks


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("count", [0, 1, 5, 12])
def test_a_square_block_is_the_same_however_many_of_its_rows_are_kept(kernel, count, monkeypatch):
    monkeypatch.setattr("pegasos.kernel_matrix.side.LEFT_ROWS", 3)
    gram, K = matrix_of(30, kernel)
    rng = np.random.default_rng(count)
    W = rng.permutation(30)[:12]
    gram.hold(rng.permutation(W)[:count])
    gram.hold(np.setdiff1d(np.arange(30), W)[:4])
    found = gram.square_block(W)
    np.testing.assert_allclose(found, K[np.ix_(W, W)], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found, found.T, rtol=1e-14, atol=1e-14)


# ---- counts


class Counting:
    """A kernel that counts the values it was asked for."""

    def __init__(self):
        self.values = 0

    def __call__(self, A, B):
        self.values += A.shape[0] * B.shape[0]
        return A @ B.T


@pytest.mark.fast
def test_every_kernel_value_is_counted(monkeypatch):
    monkeypatch.setattr("pegasos.kernel_matrix.side.LEFT_ROWS", 3)
    monkeypatch.setattr(module, "SCRATCH_VALUES", 50)
    function = Counting()
    gram = Gram(Custom(function), as_rows(drawn(20)), PLENTY)
    function.values = 0  # those of the diagonal do not count
    B = np.zeros((20, 2))
    B[[1, 4, 7, 19], [0, 1, 1, 0]] = 1.0
    for ask in (
        lambda: gram.values(np.arange(5)),
        lambda: gram.values(np.arange(5), np.arange(3)),
        lambda: gram.hold(np.array([4, 7])),
        lambda: gram.hold(np.array([7, 8, 4])),
        lambda: gram.square_block(np.arange(11)),
        lambda: gram.add_scores(B, np.zeros((20, 2))),
    ):
        before = function.values
        ask()
        assert function.values > before
        assert gram.evaluations == function.values
    gram.hold(np.array([4, 7, 8]))
    assert gram.evaluations == function.values  # all there: nothing computed


@pytest.mark.fast
def test_rows_found_and_not_found_are_counted():
    gram, _ = matrix_of(20)
    gram.hold(np.array([3, 5]))
    assert (gram.hits, gram.misses) == (0, 2)
    gram.hold(np.array([5, 6, 3]))
    assert (gram.hits, gram.misses) == (2, 3)
    B = np.zeros((20, 1))
    B[[3, 4, 6]] = 1.0
    gram.add_scores(B, np.zeros((20, 1)))
    assert (gram.hits, gram.misses) == (4, 4)


# ---- the store


@pytest.mark.fast
def test_the_row_used_least_recently_makes_room():
    gram, K = small_store(10, capacity=3)
    for i in (0, 1, 2):
        gram.hold(np.array([i]))
    gram.hold(np.array([0]))  # 1 is now the one that was used least recently
    gram.hold(np.array([5]))
    assert kept(gram) == {0, 2, 5}
    gram.hold(np.array([2, 6]))  # 2 is asked for together with 6: it stays, 0 goes
    assert kept(gram) == {2, 5, 6}
    check_store(gram, K)


@pytest.mark.fast
def test_rows_used_by_a_solver_count_as_used():
    gram, _ = small_store(10, capacity=3)
    gram.hold(np.array([0, 1, 2]))
    gram.kept.clock += 4  # a solver took four steps, and used row 0 in the second of them
    gram.last_use[gram.slot_of[0]] = gram.clock - 2
    gram.hold(np.array([7, 8]))
    assert kept(gram) == {0, 7, 8}


@pytest.mark.fast
@given(
    capacity=st.integers(4, 8),
    calls=st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=4, unique=True), max_size=25),
)
def test_the_store_obeys_its_rules_in_any_order_of_calls(capacity, calls):
    gram, K = small_store(15, capacity)
    used = {}
    for t, call in enumerate(calls):
        before = kept(gram)
        slots = gram.hold(np.array(call))
        np.testing.assert_array_equal(slots, gram.slot_of[call])
        used.update(dict.fromkeys(call, t))
        check_store(gram, K)
        after = kept(gram)
        assert set(call) <= after
        assert len(after) <= capacity
        gone = before - after
        assert len(after) == capacity or not gone  # only where there is no room
        assert max([used[i] for i in gone], default=-1) <= min(
            [used[i] for i in before & after if i not in call], default=t
        )


@pytest.mark.fast
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_store_follows_the_budget_and_holds_no_more_than_the_matrix(dtype):
    X = drawn(3000, d=2).astype(dtype)
    capacities = [Gram(Linear(), as_rows(X), mb * MEGABYTE).capacity for mb in (100, 200, 400)]
    more = np.diff(capacities) * 3000 * np.dtype(dtype).itemsize / MEGABYTE
    assert capacities[-1] == 3000 or np.all(more >= 0.6 * np.array([100, 200]))
    assert Gram(Linear(), as_rows(X), 1000 * MEGABYTE).capacity == 3000
    assert Gram(Linear(), as_rows(X[:3]), PLENTY).capacity == 3


@pytest.mark.fast
def test_the_smallest_budget_keeps_four_rows():
    gram, K = matrix_of(50, budget=0)
    assert gram.capacity == 4
    assert gram.block_rows == 2
    assert Gram(Linear(), as_rows(np.eye(2)), 0).capacity == 2
    for first in range(0, 48, 4):
        gram.hold(np.arange(first, first + 4))
        check_store(gram, K)
    np.testing.assert_allclose(gram.square_block(np.array([44, 3])), K[[44, 3]][:, [44, 3]])
    Z = np.zeros((50, 1))
    gram.add_scores(np.ones((50, 1)), Z)
    np.testing.assert_allclose(Z[:, 0], K.sum(axis=1), rtol=1e-12)


def traced(work):
    """Bytes allocated at most while `work` runs."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["float32", "float64", "csr", "widened"])
@pytest.mark.parametrize("megabytes", [50, 150])
def test_memory_stays_within_the_budget(kind, megabytes):
    n, rng = 6000, np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    X = sparse.csr_array(X * (X > 1.0)) if kind == "csr" else X
    X = X.astype(np.float32) if kind in ("float32", "widened") else X
    kernel = Gaussian(1e4 if kind == "widened" else 0.1)
    B, Z = np.ones((n, 1)), np.zeros((n, 1))

    def work(n):
        gram = Gram(kernel, as_rows(X[:n]), megabytes * MEGABYTE)
        gram.hold(np.arange(n - min(n // 2, gram.capacity), n))
        gram.square_block(np.arange(min(n, gram.block_rows)))  # rows that are not kept
        gram.add_scores(B[:n], Z[:n])

    work(9)  # compiles
    peak = traced(lambda: work(n))
    assert peak <= megabytes * MEGABYTE + 64 * n + 100_000
    assert peak >= 0.5 * megabytes * MEGABYTE  # and what is allowed is used


# ---- products with expansions


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("K_models", [1, 3])
@pytest.mark.parametrize("rows_kept", [0, 7, 30])
def test_scores_are_products_with_the_matrix(kernel, K_models, rows_kept, monkeypatch):
    monkeypatch.setattr(module, "SCRATCH_VALUES", 100)
    monkeypatch.setattr("pegasos.kernel_matrix.store.COLUMNS", 8)
    gram, K = matrix_of(30, kernel)
    rng = np.random.default_rng(0)
    B = rng.standard_normal((30, K_models)) * (rng.random((30, 1)) < 0.6)
    gram.hold(rng.permutation(30)[:rows_kept])
    Z = np.ones((30, K_models))
    gram.add_scores(B, Z)
    np.testing.assert_allclose(Z, 1.0 + K @ B, rtol=1e-11, atol=1e-11)


@pytest.mark.fast
def test_rows_are_added_with_their_coefficients():
    gram, K = matrix_of(30)
    coefficients = np.array([[2.0, 0.0], [-1.0, 3.0]])
    for add, kept in ((gram.add_passing, 0), (gram.add_held, 2), (gram.add_held, 2)):
        Z = np.ones((30, 2))
        add(np.array([4, 9]), coefficients, Z)
        np.testing.assert_allclose(Z[:, 0], 1.0 + 2.0 * K[4] - K[9], rtol=1e-12)
        np.testing.assert_allclose(Z[:, 1], 1.0 + 3.0 * K[9], rtol=1e-12)
        assert gram.kept.used == kept
    assert (gram.evaluations, gram.hits, gram.misses) == (4 * 30, 2, 4)


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("new", KINDS)
@pytest.mark.parametrize("old", KINDS)
def test_new_rows_meet_those_of_an_expansion(kernel, new, old, monkeypatch):
    monkeypatch.setattr("pegasos.kernel_matrix.kernelized.SCRATCH_VALUES", 40)
    X, support = KINDS[new](drawn(23, seed=1)), KINDS[old](drawn(11, seed=2))
    rng = np.random.default_rng(0)
    B = rng.standard_normal((11, 2)) * (rng.random((11, 1)) < 0.7)
    for coefficients in (B, np.zeros_like(B)):
        cross, Z = Cross(kernel, as_rows(X), as_rows(support)), np.ones((23, 2))
        assert cross.shape == (23, 11)
        cross.add_scores(coefficients, Z)
        expected = 1.0 + oracle(kernel, X, support) @ coefficients
        np.testing.assert_allclose(Z, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(cross.diagonal, np.diag(oracle(kernel, X, X)), rtol=1e-13)


@pytest.mark.fast
def test_columns_of_a_precomputed_matrix_are_those_of_the_support():
    K = drawn(9, d=15)
    support, B = np.array([14, 3, 8]), np.array([[1.0], [0.0], [-2.0]])
    Z = np.zeros((9, 1))
    Cross(Precomputed(), as_rows(K), as_rows(K), support).add_scores(B, Z)
    np.testing.assert_allclose(Z[:, 0], K[:, 14] - 2.0 * K[:, 8], rtol=1e-14)


@pytest.mark.fast
def test_an_expansion_over_no_rows_scores_nothing():
    Z = np.zeros((5, 1))
    for empty in (np.empty((0, 7)), sparse.csr_array((0, 7))):
        Cross(Gaussian(1.0), as_rows(drawn(5)), as_rows(empty)).add_scores(np.empty((0, 1)), Z)
    assert not Z.any()


# ---- kernels that are not positive semi-definite


@pytest.mark.fast
@pytest.mark.parametrize("kernel", [*KERNELS[:3], KERNELS[4]], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 100.0])
def test_no_alarm_for_kernels_that_are_positive_semi_definite(kernel, dtype, far):
    X = (far + drawn(40)).astype(dtype)
    X[1] = X[0]  # Cauchy-Schwarz with equality
    values = Gram(kernel, as_rows(X), PLENTY).values(np.arange(40))
    same = Custom(lambda A, B: oracle(kernel, A, B).astype(dtype))
    for gram in (Gram(same, as_rows(X), PLENTY), Gram(Precomputed(), as_rows(values), PLENTY)):
        gram.hold(np.arange(40))
        gram.square_block(np.arange(10))
        assert not gram.is_indefinite


@pytest.mark.fast
def test_a_value_beyond_cauchy_and_schwarz_is_noticed():
    K = np.eye(10)
    K[2, 7] = K[7, 2] = 1.5
    for chosen, others in ((np.array([7]), None), (np.array([7, 0]), np.array([1, 2]))):
        gram = Gram(Precomputed(), as_rows(K), PLENTY)
        assert not gram.is_indefinite
        gram.values(np.array([0, 1, 3]))
        assert not gram.is_indefinite  # nothing to be seen in those rows
        gram.values(chosen, others)
        assert gram.is_indefinite


@pytest.mark.fast
def test_a_negative_diagonal_is_noticed_at_once():
    K = np.eye(10)
    K[4, 4] = -0.1
    assert Gram(Precomputed(), as_rows(K), PLENTY).is_indefinite
    X = drawn(30)
    assert Gram(Sigmoid(0.1, -1.0), as_rows(X), PLENTY).is_indefinite  # tanh(-1) at x = 0
    assert Gram(Polynomial(0.1, -1.0, 3), as_rows(X), PLENTY).is_indefinite


# ---- threads


@pytest.mark.parametrize("kind", KINDS)
def test_results_do_not_depend_on_the_number_of_threads(kind, monkeypatch):
    X = KINDS[kind](drawn(3 * COLUMNS, d=3))
    B = np.random.default_rng(0).standard_normal((3 * COLUMNS, 2))
    B[50:] = 0.0
    W, ends = np.arange(0, 900, 3), []
    for count in (1, 2, 5):
        monkeypatch.setattr(parallel, "cores", lambda count=count: count)
        monkeypatch.setattr(parallel, "_pools", {})
        gram = Gram(Gaussian(0.5), as_rows(X), PLENTY)
        gram.hold(np.arange(25))
        Z = np.zeros_like(B)
        gram.add_scores(B, Z)
        ends.append((Z, gram.square_block(W), gram.diagonal, gram.evaluations))
    for other in ends[1:]:
        for mine, theirs in zip(ends[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.fast
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value")
def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setattr("pegasos.kernel_matrix.blocks.TILE_ROWS", 8)
    monkeypatch.setattr(parallel, "cores", lambda: 3)
    X = drawn(50)
    X[-1] = 1e200  # in the last tile only
    gram = Gram(Linear(), as_rows(X), PLENTY)
    gram.values(np.arange(5), np.arange(40))
    with pytest.raises(InvalidData, match="not finite"):
        gram.values(np.array([49]), np.arange(40, 50))


def test_dense_and_sparse_rows_give_the_same_matrix():
    for kernel in KERNELS:
        X = drawn(600)
        dense, thin = (Gram(kernel, as_rows(kind(X)), PLENTY) for kind in KINDS.values())
        everything = np.arange(600)
        np.testing.assert_allclose(
            dense.values(everything), thin.values(everything), rtol=1e-12, atol=1e-12
        )
        np.testing.assert_allclose(dense.diagonal, thin.diagonal, rtol=1e-14)
    assert dense64(KINDS["csr"](X)).shape == X.shape


@pytest.mark.fast
def test_a_row_that_failed_to_come_in_costs_no_other_its_place(monkeypatch):
    gram, K = small_store(20, 3)
    gram.hold(np.array([19, 1]))
    with monkeypatch.context() as broken:
        broken.setattr(gram, "_compute", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            gram.hold(np.array([5]))
    gram.hold(np.array([19, 6]))
    gram.hold(np.array([19, 6, 7]))
    assert gram.slot_of[19] >= 0
    for i in (19, 6, 7):
        np.testing.assert_allclose(gram.store[gram.slot_of[i]], K[i], rtol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("is_wide", [False, True])
def test_rows_are_held_again_whatever_the_budget_of_another_matrix(is_wide):
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    gram, other = (Gram(Polynomial(1.0, 1.0, 2), as_rows(X), budget) for budget in (10**7, 10**8))
    if is_wide:
        gram.widen()
    gram.hold(np.array([7, 3]))
    gram.hold(np.array([3, 30]))
    other.hold_again(gram.held())
    assert other.precision == gram.precision
    assert (other.capacity, other.block_rows) == (gram.capacity, gram.block_rows)
    np.testing.assert_array_equal(other.slot_of, gram.slot_of)
    np.testing.assert_array_equal(other.store[:3], gram.store[:3])
    np.testing.assert_array_equal(other.last_use, gram.last_use)
    assert (other.clock, other.evaluations, other.hits, other.misses) == (2, 120, 1, 3)
