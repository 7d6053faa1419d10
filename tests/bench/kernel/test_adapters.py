"""Every kernel adapter solves the same problem: it reaches the optimum's objective value.

The reference is Clarabel, an interior-point solver that is none of the competitors. Tolerances are
relative suboptimalities, set with some room after seeing what each peer reaches here.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from bench.harness.competitor import Effort
from bench.kernel.datasets import KernelDataset
from bench.kernel.objective import dense, dual_bound, gaussian, judge
from bench.kernel.solvers import DEFAULT, REFERENCES, SOLVERS

pytestmark = pytest.mark.slow

PEERS = ("libsvm", "intelex", "thundersvm")
TOLERANCES = {
    "pegasos-auto": 1e-6,
    "pegasos-decomposition": 1e-6,
    "libsvm": 1e-6,
    "intelex": 1e-5,
    "thundersvm": 1e-4,
}
LOOSE = 5e-3  # our stochastic solvers
MUCH = Effort(tol=1e-6)
SOME = Effort(tol=1e-3)


@cache
def problem(container=np.asarray, first=1, has_bias=True):
    """Return noisy rows; not separable, so that C matters; `first` is the first row's label."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.5)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150) > 0.15, 1, -1)
    order = np.argsort(y != first, kind="stable")
    order[1:] = rng.permutation(order[1:])
    X, y = X[order], y[order]
    return KernelDataset(
        "drawn", container(X), y, 1 / 150, X_test=container(X), y_test=y, gamma=0.5,
        has_bias=has_bias,
    )  # fmt: skip


@cache
def optimum(has_bias=True):
    """Return min P by cvxpy and Clarabel, in the coordinates of a Cholesky factor of K."""
    cvxpy = pytest.importorskip("cvxpy")
    dataset = problem()
    X = dense(dataset.X)
    K = gaussian(X, X, dataset.gamma)
    L = np.linalg.cholesky(K + 1e-11 * np.eye(len(K)))
    w, b = cvxpy.Variable(len(K)), cvxpy.Variable()
    hinge = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(dataset.y, L @ w + b * has_bias))) / len(K)
    return cvxpy.Problem(
        cvxpy.Minimize(dataset.lam / 2 * cvxpy.sum_squares(w) + hinge)
    ).solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)  # fmt: skip


def adapter(name):
    """Return a solver, or skip where its package is missing or has no such solver yet."""
    if SOLVERS[name].version() is None:
        pytest.skip(f"{name} is not there")
    return SOLVERS[name]


def fitted(solver, dataset, effort=None):
    if effort is None:
        effort = MUCH if solver.name in TOLERANCES else SOME
    return solver.run(solver.container(dataset.X), dataset, effort)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", [1, -1], ids=["plus first", "minus first"])
@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", SOLVERS)
def test_adapter_reaches_the_optimum_of_the_common_problem(name, container, first):
    solver, dataset = adapter(name), problem(container, first)
    model = fitted(solver, dataset)
    reached = judge(dataset, model).primal / optimum() - 1
    assert -1e-8 < reached < TOLERANCES.get(name, LOOSE)
    assert (model.evaluations is not None) == solver.is_ours


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in SOLVERS if SOLVERS[n].is_ours])
def test_our_solvers_reach_the_optimum_without_bias(name):
    solver, dataset = adapter(name), problem(has_bias=False)
    model = fitted(solver, dataset)
    assert model.b == 0.0
    assert -1e-8 < judge(dataset, model).primal / optimum(has_bias=False) - 1 < LOOSE


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TOLERANCES)
def test_dual_bound_of_a_good_model_is_close_below_the_optimum(name):
    dataset = problem()
    bound = dual_bound(dataset, fitted(adapter(name), dataset, MUCH))
    assert -1e-3 < bound / optimum() - 1 < 1e-8


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOLVERS)
def test_adapter_leaves_the_data_as_it_was(name):
    solver, dataset = adapter(name), problem(csr_array)
    before, labels = dataset.X.copy(), dataset.y.copy()
    fitted(solver, dataset)
    assert np.array_equal(dataset.X.data, before.data)
    assert np.array_equal(dataset.X.indices, before.indices)
    assert np.array_equal(dataset.y, labels)


def test_tolerances_would_notice_a_wrong_c_or_gamma():
    dataset = problem()
    for wrong in (replace(dataset, lam=2 * dataset.lam), replace(dataset, gamma=0.6)):
        model = fitted(SOLVERS["libsvm"], wrong)
        assert judge(dataset, model).primal / optimum() - 1 > LOOSE / 5
        assert judge(dataset, model).primal / optimum() - 1 > 10 * max(TOLERANCES.values())


def test_peers_are_not_given_a_problem_without_bias():
    for name in PEERS:
        assert not SOLVERS[name].supports(problem(has_bias=False))


@pytest.mark.parametrize("name", SOLVERS)
def test_containers_hold_the_same_numbers(name):
    for container in (np.asarray, csr_array):
        X = problem(container).X
        given = SOLVERS[name].container(X)
        assert np.array_equal(given.toarray() if issparse(given) else given, dense(X))


@pytest.mark.parametrize("name", SOLVERS)
def test_ladder_climbs_from_less_to_more_effort(name):
    tols = [effort.tol for effort in SOLVERS[name].ladder(60.0)]
    assert tols == sorted(set(tols), reverse=True)


def test_intelex_falling_back_to_libsvm_is_an_error(monkeypatch):
    pytest.importorskip("sklearnex")
    import sklearn.svm
    import sklearnex.svm

    monkeypatch.setattr(sklearnex.svm, "SVC", sklearn.svm.SVC)
    with pytest.raises(RuntimeError, match="fell back"):
        fitted(SOLVERS["intelex"], problem())


def test_references_take_part_by_default():
    assert set(REFERENCES) <= set(DEFAULT) <= set(SOLVERS)
