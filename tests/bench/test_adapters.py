"""Every adapter solves the same problem: it reaches the optimum's objective value, or near it.

The reference is Clarabel, an interior-point solver that is none of the competitors. Tolerances are
relative suboptimalities, set with some room after seeing what each peer reaches here; all are
below 1 %, and a test below shows that they still notice a wrong lam.
"""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

from bench.harness.competitor import Effort
from bench.objective import objective, signs
from bench.solvers import SOLVERS, vowpalwabbit
from bench.task import Task

pytestmark = pytest.mark.slow

MODULES = {"liblinear": "liblinear", "snapml": "snapml", "vowpalwabbit": "vowpalwabbit"}
TOLERANCES = {
    "pegasos-sdca": 1e-5,
    "pegasos-pegasos": 2e-3,
    "pegasos-ocas": 1e-5,
    "pegasos-svm_perf": 1e-5,
    "linearsvc": 1e-5,
    "liblinear": 5e-3,  # ends after 300 epochs, and draws its order from an unseeded rand()
    "sgdclassifier": 2e-3,
    "sgdclassifier-averaged": 2e-3,
    "snapml": 5e-3,  # its last digits do not improve with more epochs
    "vowpalwabbit": 2e-3,
    "vowpalwabbit-1/t": 2e-3,
}
CUTTING_PLANES = ("pegasos-ocas", "pegasos-svm_perf")  # of one model only
MUCH = Effort(tol=1e-6, epochs=4000)


@cache
def problem(n_classes):
    """Return noisy rows (dense) and labels; not separable, so that lam matters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 15)) * (rng.random((400, 15)) < 0.4)
    scores = X @ rng.normal(size=(15, n_classes)) + 0.7 * rng.normal(size=(400, n_classes))
    y = scores.argmax(axis=1) if n_classes > 2 else np.where(scores[:, 0] > 0, 1, -1)
    return X, y


@cache
def optimum(lam, n_classes):
    """Return min P by cvxpy and Clarabel, summed over the classes."""
    cvxpy = pytest.importorskip("cvxpy")
    X, y = problem(n_classes)
    total = 0.0
    for sign in signs(y).T:
        w = cvxpy.Variable(X.shape[1])
        hinge = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(sign, X @ w))) / len(y)
        total += cvxpy.Problem(
            cvxpy.Minimize(lam / 2 * cvxpy.sum_squares(w) + hinge)
        ).solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10)  # fmt: skip
    return total


@pytest.fixture(autouse=True, scope="module")
def _vw_files_in_a_folder_of_their_own(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vowpalwabbit, "CACHE", tmp_path_factory.mktemp("vw"))
        yield


def adapter(name):
    """Return a solver, or skip where its package is missing."""
    pytest.importorskip(MODULES.get(name.split("-")[0], "sklearn"))
    return SOLVERS[name]


def fitted(name, X, y, lam):
    """Return the weights of an adapter, shape (d, K)."""
    task = Task("toy", X, y, lam)
    solver = adapter(name)
    assert solver.supports(task)
    return solver.run(solver.prepare(task), task, MUCH).W


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lam", [1e-2, 1e-3])
@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", SOLVERS)
def test_adapter_reaches_the_optimum_of_the_common_problem(name, container, lam):
    X, y = problem(2)
    w = fitted(name, container(X), y, lam)
    reached = objective(X, y, lam, w) / optimum(lam, 2) - 1
    assert -1e-8 < reached < TOLERANCES[name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in SOLVERS if n not in CUTTING_PLANES])
def test_adapter_reaches_the_optimum_of_one_vs_rest(name):
    X, y = problem(4)
    w = fitted(name, csr_array(X), y, 1e-2)
    assert w.shape == (15, 4)
    reached = objective(X, y, 1e-2, w) / optimum(1e-2, 4) - 1
    assert -1e-8 < reached < TOLERANCES[name]


@pytest.mark.parametrize("name", CUTTING_PLANES)
def test_cutting_planes_do_not_take_part_with_several_models(name):
    X, y = problem(4)
    assert not SOLVERS[name].supports(Task("toy", X, y, 1e-2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOLVERS)
def test_adapter_takes_float32_and_leaves_the_data_as_it_was(name):
    X, y = problem(2)
    rows, labels = csr_array(X.astype(np.float32)), y.copy()
    before = rows.copy()
    w = fitted(name, rows, labels, 1e-2)
    assert np.array_equal(rows.data, before.data)
    assert np.array_equal(rows.indices, before.indices)
    assert np.array_equal(labels, y)
    assert objective(rows, y, 1e-2, w) / optimum(1e-2, 2) - 1 < TOLERANCES[name]


def test_tolerances_would_notice_a_forgotten_lam():
    # Weights that are optimal for a lam ten times off must fail at the tolerances above.
    X, y = problem(2)
    for wrong in (1e-1, 1e-3):
        w = fitted("linearsvc", X, y, wrong)
        assert objective(X, y, 1e-2, w) / optimum(1e-2, 2) - 1 > 1.5 * max(TOLERANCES.values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOLVERS)
def test_ladder_climbs_from_less_to_more_effort(name):
    ladder = SOLVERS[name].ladder(60.0)
    keys = [(-(effort.tol or 0.0), effort.epochs or 0) for effort in ladder]
    assert keys == sorted(keys)
    assert len(set(map(str, ladder))) == len(ladder)
