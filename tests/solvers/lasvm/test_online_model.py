"""LASVM on streams: by hand, the transcription, blocks that do not matter, what is kept."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Custom, Gaussian, Laplacian, Linear, Polynomial, Precomputed
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.solvers.lasvm.online_model import OnlineModel
from tests.reference.kernel_optimum import kernel_matrix
from tests.reference.lasvm import Lasvm
from tests.solvers.kernel_problems import BUDGET

KERNELS = {
    "linear": Linear(),
    "rbf": Gaussian(0.5),
    "poly": Polynomial(0.5, 1.0, 3),
    "laplacian": Laplacian(0.3),
}


def stream(seed=0, n=120, d=3, K=1):
    """Rows whose classes overlap, labels and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.where(X @ rng.standard_normal((d, K)) + 0.7 * rng.standard_normal((n, K)) > 0, 1.0, -1.0)
    return X, Y, rng.integers(0, 4, n) * 0.7


def model_of(kernel, X, Y, weights=None, *, cuts=(), C=2.0, is_free=True):
    """A model that has seen a stream, cut into blocks."""
    model = OnlineModel(kernel, C, Y.shape[1], is_free)
    ends = [0, *cuts, X.shape[0]]
    for a, b in zip(ends[:-1], ends[1:], strict=True):
        model.process(as_rows(X[a:b]), Y[a:b], None if weights is None else weights[a:b])
    return model


def assert_same(one, other, tolerance=1e-10):
    dense = [
        m.support_rows.toarray() if sparse.issparse(m.support_rows) else m.support_rows
        for m in (one, other)
    ]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=tolerance)
    np.testing.assert_allclose(one.b, other.b, atol=tolerance)


@pytest.mark.fast
def test_a_stream_worked_by_hand():
    # Linear kernel, C = 1/4. x = 1, y = 1 waits. x = -1, y = -1 pairs with it: r = (1, -1), the
    # curvature is 1 + 1 + 2 = 4, the step 2/4, cut at C: beta = (1/4, -1/4), w = 1/2, r = (1/2,
    # -1/2). Both are at their bounds; beta_1 may only fall and beta_2 only rise: b = 0.
    model = OnlineModel(Linear(), C=0.25, models=1, is_free=True)
    model.process(as_rows(np.array([[1.0]])), np.array([[1.0]]))
    assert model.coefficients.tolist() == [[0.0]]
    assert model.b.tolist() == [1.0]
    model.process(as_rows(np.array([[-1.0]])), np.array([[-1.0]]))
    assert model.support_rows.tolist() == [[1.0], [-1.0]]
    assert model.coefficients.tolist() == [[0.25], [-0.25]]
    assert model.b.tolist() == [0.0]
    # A row with margin 1 or more leaves no trace: score 3/2 at x = 3.
    model.process(as_rows(np.array([[3.0]])), np.array([[1.0]]))
    assert model.support_rows.tolist() == [[1.0], [-1.0]]


@pytest.mark.fast
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("is_free", [True, False])
def test_a_stream_equals_the_transcription(kernel, is_free):
    X, Y, weights = stream(1, n=40, K=2)
    model = model_of(KERNELS[kernel], X, Y, weights, is_free=is_free)
    K = kernel_matrix(kernel, X, X, **KERNELS[kernel]._asdict())
    kept = set()
    for k in range(2):
        reference = Lasvm(K, Y[:, k], 2.0 * weights, is_free=is_free, tau=1e-3)
        reference.visit(np.flatnonzero(weights > 0.0))
        kept |= set(reference.S)
        a = reference.a[reference.a != 0.0]
        found = model.coefficients[:, k]
        np.testing.assert_allclose(found[found != 0.0], a, atol=1e-9)
        assert model.b[k] == pytest.approx(reference.bias(), abs=1e-9)
    np.testing.assert_array_equal(model.support_rows, X[sorted(kept)])


@pytest.mark.parametrize("is_free", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
def test_two_blocks_are_one_after_the_other(kernel, is_free):
    X, Y, weights = stream(2, K=3)
    whole = model_of(KERNELS[kernel], X, Y, weights, is_free=is_free)
    for cuts in ([50], [1, 2, 3, 60], range(1, 120)):
        cut = model_of(KERNELS[kernel], X, Y, weights, cuts=cuts, is_free=is_free)
        assert_same(whole, cut)


def test_csr_equals_dense_and_kinds_may_change():
    X, Y, _ = stream(3)
    X *= np.abs(X) > 0.5
    dense, csr = model_of(Gaussian(0.5), X, Y), model_of(Gaussian(0.5), sparse.csr_array(X), Y)
    assert sparse.issparse(csr.support_rows)
    assert_same(dense, csr)
    for first, then in ((X, sparse.csr_array(X)), (sparse.csr_array(X), X)):
        mixed = OnlineModel(Gaussian(0.5), 2.0, 1, True)
        mixed.process(as_rows(first[:60]), Y[:60])
        mixed.process(as_rows(then[60:]), Y[60:])
        assert sparse.issparse(mixed.support_rows) == sparse.issparse(first)
        assert_same(dense, mixed)


def test_float32_is_near_float64_and_stays_small():
    X, Y, _ = stream(4)
    single, double = model_of(Gaussian(0.5), X.astype(np.float32), Y), model_of(Gaussian(0.5), X, Y)
    assert single.support_rows.dtype == single.set.square.dtype == np.float32
    values = [
        kernel_matrix("rbf", X, m.support_rows.astype(float), gamma=0.5) @ m.coefficients + m.b
        for m in (single, double)
    ]
    np.testing.assert_allclose(*values, atol=2e-3)


def test_models_side_by_side_are_those_alone():
    X, Y, weights = stream(5, K=3)
    together = model_of(Gaussian(0.5), X, Y, weights)
    for k in range(3):
        alone = model_of(Gaussian(0.5), X, Y[:, [k]], weights)
        found = together.coefficients[:, k]
        np.testing.assert_allclose(
            found[found != 0.0], alone.coefficients[alone.coefficients != 0.0], atol=1e-10
        )
        assert together.b[k] == pytest.approx(alone.b[0], abs=1e-10)


def test_only_support_rows_are_kept():
    X, Y, _ = stream(6, n=2000, d=2)
    Y[:, 0] = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    model = model_of(Gaussian(0.5), X, Y, cuts=range(100, 2000, 100), C=100.0)
    m = len(model.coefficients)
    assert m == model.support_rows.shape[0] == np.count_nonzero(model.coefficients) + waiting(model)
    assert m < 100
    assert len(pickle.dumps(model)) < 8 * (m + 20) ** 2 + 5_000


def waiting(model):
    """Members that have no coefficient: they violate, and a later REPROCESS will see to them."""
    return np.count_nonzero(model.coefficients == 0.0)


def test_a_sorted_stream_keeps_one_row_of_the_first_class():
    X, Y, _ = stream(7)
    order = np.argsort(-Y[:, 0], kind="stable")
    positives = int((Y > 0.0).sum())
    model = model_of(Gaussian(0.5), X[order][:positives], Y[order][:positives])
    assert len(model.coefficients) == 1
    assert model.b.tolist() == [1.0]
    model.process(as_rows(X[order][positives:]), Y[order][positives:])
    assert model.coefficients.any()


def test_finishing_gives_the_optimum_of_the_support_rows():
    X, Y, _ = stream(8)
    model = model_of(Gaussian(0.5), X, Y)
    model.finish(1e-10)
    K = kernel_matrix("rbf", model.support_rows, model.support_rows, gamma=0.5)
    f = K @ model.coefficients[:, 0] + model.b[0]
    y = np.sign(model.coefficients[:, 0])
    is_free = (model.coefficients[:, 0] != 0.0) & (np.abs(model.coefficients[:, 0]) < 2.0)
    np.testing.assert_allclose((y * f)[is_free], 1.0, atol=1e-8)
    assert np.all((y * f)[np.abs(model.coefficients[:, 0]) == 2.0] <= 1.0 + 1e-8)


def test_a_stored_stream_goes_on():
    X, Y, _ = stream(9)
    model = model_of(Gaussian(0.5), X[:60], Y[:60])
    model = pickle.loads(pickle.dumps(model))
    model.process(as_rows(X[60:]), Y[60:])
    assert_same(model, model_of(Gaussian(0.5), X, Y))


def test_nothing_but_rows_without_weight_is_nothing():
    X, Y, _ = stream(10, n=5)
    model = model_of(Gaussian(0.5), X, Y, np.zeros(5))
    assert model.coefficients.shape == (0, 1)
    assert model.b.tolist() == [0.0]
    model.finish()
    model.process(as_rows(X), Y)
    assert len(model.coefficients) > 0


def test_one_finished_pass_comes_close_to_the_optimum_of_all_rows():
    X, Y, _ = stream(11, n=60)
    model = OnlineModel(Gaussian(0.5), 1.0, 1, False, tau=1e-6)
    problem = make_problem(Hinge(), Gram(Gaussian(0.5), as_rows(X), BUDGET), Y, None, 1.0 / 60)
    model.process(as_rows(X), Y)
    model.finish()
    K = problem.rows.values(np.arange(60))
    where = [int(np.flatnonzero((X == row).all(axis=1))[0]) for row in model.support_rows]
    B = np.zeros(60)
    B[where] = model.coefficients[:, 0]
    losses = np.maximum(0.0, 1.0 - Y[:, 0] * (K @ B))
    primal = 0.5 / 60 * B @ K @ B + losses.mean()
    dual = np.abs(B).sum() / 60 - 0.5 / 60 * B @ K @ B
    assert dual <= primal <= 1.1 * dual


def test_refusals():
    with pytest.raises(InvalidParameter, match='kernel="precomputed": a stream has no matrix'):
        OnlineModel(Precomputed(), 1.0, 1, True)
    model = OnlineModel(Custom(lambda A, B: np.full((len(A), len(B)), np.nan)), 1.0, 1, True)
    with pytest.raises(InvalidData, match="not finite"):
        model.process(as_rows(np.eye(3)), np.ones((3, 1)))
