"""With a free bias, offsets of columns and targets change neither the steps nor their number."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from pegasos import PegasosClassifier, PegasosRegressor
from pegasos.certificate.stopping import Stopping
from pegasos.data.centre import is_centred
from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers import offsets
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.perceptron.linear import Perceptron
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sgd.sgd import SGD

CONTAINERS = [np.asarray, sparse.csr_array]
OFFSETS = [10.0, 1e3, 1e6]
SOLVERS = [
    (SDCA(), "free"),
    (Pegasos(), "free"),
    (Pegasos(), "free-search"),
    (Pegasos(), "free-bisection"),
    (Pegasos(projection=True, batch_size=5, output="average"), "free-subgradient"),
    (Pegasos(sampling="iid"), "free"),
    (SGD(), "free"),
    (SGD(variant="r"), "free"),
    (SGD(variant="m"), "free"),
    (Perceptron(), "free"),
]


def columns(offset, n=120, dtype=np.float64):
    """Rows far from the origin, and the same rows around it."""
    X = np.random.default_rng(0).standard_normal((n, 4)).astype(dtype)
    X += (offset * np.array([1.0, -1.0, 0.5, 0.0])).astype(dtype)
    return X, X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)


def targets(X, loss):
    noise = np.random.default_rng(1).standard_normal((len(X), 1))
    score = X[:, :1] - 0.5 * X[:, 1:2] + 0.7 * noise
    if isinstance(loss, EpsilonInsensitive):
        return 8.0 * score
    return np.where(score > 0.5, 1.0, -1.0)


def posed(loss, X, Y, weights=None, lam=0.02):
    return make_problem(loss, as_rows(X), Y, weights, lam, "free")


def certificate(problem, solver, way, tol, max_iter=2000):
    solver = resolve(solver, problem.costs.loss, way)
    return solve(problem, solver, Stopping(tol=tol, max_iter=max_iter)).certificate


@pytest.mark.parametrize(
    ("loss", "container"),
    [(Hinge(), np.asarray), (Hinge(), sparse.csr_array), (EpsilonInsensitive(0.1), np.asarray)],
)
@pytest.mark.parametrize(("solver", "way"), SOLVERS, ids=str)
def test_offsets_cost_no_epochs(solver, way, loss, container):
    is_for_hinge = isinstance(solver, Perceptron) or getattr(solver, "variant", "") == "m"
    if is_for_hinge and not isinstance(loss, Hinge):
        pytest.skip("for the hinge only")
    tol = 1e-4 if isinstance(solver, SDCA) else 0.1
    max_iter = 1 if way == "free-subgradient" else 2000  # converges too slowly
    for offset in OFFSETS:
        X, near = columns(offset)
        Y = targets(near, loss)
        shift = offset if isinstance(loss, EpsilonInsensitive) else 0.0
        plain = certificate(posed(loss, near, Y), solver, way, tol, max_iter)
        found = certificate(posed(loss, container(X), Y + shift), solver, way, tol, max_iter)
        if max_iter == 2000 and not isinstance(solver, Perceptron):
            assert found.is_within_tol
        assert found.epochs <= 1.2 * plain.epochs
        assert found.primal == pytest.approx(plain.primal, rel=2 * tol)


@pytest.mark.parametrize("container", CONTAINERS)
def test_offsets_of_float32_rows_cost_no_epochs(container):
    for offset in OFFSETS:  # 1e6 leaves four bits of the spread: another problem, no harder
        X, near = columns(offset, dtype=np.float32)
        Y = targets(near, Hinge())
        plain = certificate(posed(Hinge(), near, Y), "sdca", "free", 1e-3)
        found = certificate(posed(Hinge(), container(X), Y), "sdca", "free", 1e-3)
        assert found.is_within_tol
        assert found.epochs <= 1.2 * plain.epochs


@pytest.mark.parametrize("container", CONTAINERS)
def test_estimators_bear_offsets(container):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5))
    t = 2000.0 + 8.0 * X[:, 0]
    model = PegasosRegressor(random_state=0).fit(container(X), t)
    assert model.certificate_.is_within_tol
    assert model.score(X, t) > 0.999
    y = X[:, 0] + 0.3 * X[:, 1] + 0.5 * rng.standard_normal(500) > 0.2
    model = PegasosClassifier(random_state=0).fit(container(X), y)
    far = PegasosClassifier(random_state=0).fit(container(X + 1000.0), y)
    assert far.certificate_.is_within_tol
    assert far.certificate_.primal == pytest.approx(model.certificate_.primal, rel=2e-3)


@pytest.mark.parametrize("container", CONTAINERS)
def test_models_side_by_side_bear_offsets(container):
    X, near = columns(1e4)
    Y = np.hstack([targets(near, Hinge()), targets(-near, Hinge())])
    for solver, tol in (("sdca", 1e-4), ("pegasos", 0.1)):
        plain = certificate(posed(Hinge(), near, Y), solver, "free", tol)
        found = certificate(posed(Hinge(), container(X), Y), solver, "free", tol)
        assert found.is_within_tol
        assert found.epochs <= 1.2 * plain.epochs


@pytest.mark.parametrize(
    ("solver", "container"),
    [("sdca", sparse.csr_array), *((name, np.asarray) for name in ("sdca", "pegasos", "sgd"))],
)
def test_warm_starts_bear_offsets(solver, container):
    loss = EpsilonInsensitive(0.1)
    X, near = columns(1e3)
    Y, tol = targets(near, loss), 1e-3 if solver == "sdca" else 0.1
    solver, stopping = resolve(solver, loss, "free"), Stopping(tol=tol, max_iter=2000)
    first = solve(posed(loss, container(X), Y), solver, stopping)
    again = solve(posed(loss, container(X), Y), solver, stopping, previous=first.state)
    moved = posed(loss, container(X), Y + 1e6)
    after = solve(moved, solver, stopping, previous=again.state)
    for found in (first, again, after):
        assert found.certificate.is_within_tol
    assert again.certificate.epochs <= first.certificate.epochs
    assert after.certificate.epochs <= first.certificate.epochs


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_weight_is_a_number_of_repetitions_far_from_the_origin(container):
    X, near = columns(100.0, n=40)
    Y = targets(near, Hinge())
    weights = np.random.default_rng(2).integers(0, 4, 40)
    often = np.repeat(np.arange(40), weights)
    one = posed(Hinge(), container(X), Y, weights.astype(np.float64))
    other = posed(Hinge(), container(X[often]), Y[often])
    ends = [certificate(problem, "sdca", "free", 1e-8) for problem in (one, other)]
    assert all(end.is_within_tol for end in ends)
    assert ends[0].primal == pytest.approx(ends[1].primal, rel=2e-8)


def seen(X, weights=None, K=1):
    problem = posed(Hinge(), X, np.ones((X.shape[0], K)), weights)
    return offsets.centred(problem)[0].rows


@pytest.mark.fast
def test_only_rows_far_from_the_origin_are_seen_from_their_mean():
    X, near = columns(10.0)
    assert not is_centred(seen(near))
    np.testing.assert_allclose(seen(X).centre.m, X.mean(axis=0))
    assert not is_centred(seen(np.full((20, 3), 0.1)))  # all the same: nothing around the mean
    text = sparse.random_array((50, 200), density=0.03, rng=0, format="csr")
    assert not is_centred(seen(text))


@pytest.mark.fast
def test_dense_rows_of_several_models_keep_their_zeros():
    X = (np.arange(60).reshape(20, 3) % 5 < 2).astype(float)  # the mean's share is 0.4
    assert is_centred(seen(X))
    assert is_centred(seen(sparse.csr_array(X), K=2))
    assert not is_centred(seen(X, K=2))


@pytest.mark.fast
@pytest.mark.parametrize("name", ["sdca", "pegasos", "perceptron"])
def test_a_state_holds_no_rows(name):
    X = 10.0 + np.random.default_rng(0).standard_normal((20, 500))
    problem = posed(Hinge(), X, np.where(np.arange(20) % 2, 1.0, -1.0)[:, None])
    state = resolve(name, Hinge(), "free").start(problem, 0, None)
    assert len(state.centre.m) == 500
    assert len(pickle.dumps(state)) < X.nbytes


@pytest.mark.fast
def test_the_centre_is_the_weighted_mean_of_all_rows(monkeypatch):
    X, _ = columns(10.0)
    weights = np.arange(120.0) % 3
    wild = np.where(weights[:, None] == 0.0, 1e9, X)
    expected = weights @ X / weights.sum()
    np.testing.assert_allclose(seen(wild, weights).centre.m, expected)
    monkeypatch.setattr(offsets, "FEW", 16)
    np.testing.assert_allclose(seen(wild, weights).centre.m, expected)


@pytest.mark.fast
def test_a_run_starts_at_the_best_bias():
    loss, Y = EpsilonInsensitive(0.0), np.array([[5.0], [7.0], [90.0]])
    problem = make_problem(loss, as_rows(np.eye(3)), Y, None, 0.1, "free")
    assert offsets.starting_biases(problem, np.zeros((3, 1))) == pytest.approx(7.0)
    W = np.array([[1.0], [5.0], [0.0]])  # leaves 4, 2 and 90
    assert offsets.starting_biases(problem, W) == pytest.approx(4.0, abs=1e-3)
