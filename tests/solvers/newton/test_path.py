"""Wide data begin at a larger lam: what it is, how it falls, and that the end is the same."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import parallel
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.newton import path
from pegasos.solvers.newton.columns import Columns, columns_of
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.newton.path import first_lam, next_lam, some_of
from tests.reference.certificate import optimum


@pytest.fixture
def all_is_wide(monkeypatch):
    monkeypatch.setattr(path, "WIDE", 1)
    monkeypatch.setattr(path, "MANY", 1)


def posed(n=300, d=8, lam=1e-6, loss=Hinge(), container=np.asarray, classes=1):  # noqa: B008
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
    X[:, -1] = 5.0
    scores = X[:, :classes] + 0.5 * X[:, [1]] + 0.5 * rng.standard_normal((n, classes))
    Y = scores if isinstance(loss, EpsilonInsensitive) else np.where(scores > 0.2, 1.0, -1.0)
    return X, make_problem(loss, as_rows(container(X)), Y, None, lam, "free")


@pytest.mark.fast
def test_the_first_lam_follows_the_size_of_rows_and_targets(all_is_wide):
    X, problem = posed()
    columns = columns_of(problem, True)
    square = np.var(X, axis=0).sum()  # the constant column does not count
    assert first_lam(problem, columns, 1.0) == pytest.approx(square / (path.KAPPA * 300))
    assert first_lam(problem, columns, 4.0) == pytest.approx(square / (path.KAPPA * 1200))
    larger = problem._replace(lam=1e3)
    assert first_lam(larger, columns, 1.0) == 1e3


@pytest.mark.fast
def test_narrow_data_few_rows_and_smooth_losses_have_no_path(monkeypatch):
    _, problem = posed()
    columns = columns_of(problem, True)
    assert first_lam(problem, columns, 1.0) == problem.lam
    monkeypatch.setattr(path, "WIDE", 1)
    assert first_lam(problem, columns, 1.0) == problem.lam  # 300 rows for 8 columns
    monkeypatch.setattr(path, "MANY", 1)
    assert first_lam(problem, columns, 1.0) > problem.lam
    _, smooth = posed(loss=SquaredHinge())
    assert first_lam(smooth, columns, 1.0) == smooth.lam


@pytest.mark.fast
def test_lam_falls_to_the_last():
    lam, path_taken = 1.0, []
    while lam > 2e-7:
        lam = next_lam(lam, 2e-7)
        path_taken.append(lam)
    assert path_taken == pytest.approx([1e-2, 1e-4, 2e-7])


@pytest.mark.fast
def test_some_rows_stand_for_all():
    columns = Columns(np.zeros(3), np.ones(3), np.ones(3))
    h = np.arange(1000) % 2 * 0.5
    some = some_of(h, columns)
    assert np.count_nonzero(some) == path.ROWS * 3
    assert some.sum() == pytest.approx(h.sum())
    assert not some[h == 0.0].any()
    few = np.where(np.arange(1000) < path.ROWS * 3, 1.0, 0.0)
    np.testing.assert_array_equal(some_of(few, columns), few)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)], ids=str)
@pytest.mark.parametrize("lam", [1e-4, 1e-7])
def test_the_path_leads_to_the_optimum(all_is_wide, lam, loss, container):
    X, problem = posed(n=200, lam=lam, loss=loss, container=container)
    state = Newton().start(problem, 0, None)
    assert state.lam > lam
    found = solve(problem, Newton(), Stopping(tol=1e-8, max_iter=300)).certificate
    assert found.relative_gap <= 1e-8
    name = "hinge" if isinstance(loss, Hinge) else "epsilon_insensitive"
    best, _, _ = optimum(name, X, problem.costs.Y[:, 0], np.ones(200), lam, "free", 1.0)
    assert found.dual * (1.0 - 1e-6) <= best <= found.primal * (1.0 + 1e-6)


def test_threads_do_not_change_a_bit_of_a_path(all_is_wide, monkeypatch):
    monkeypatch.setattr("pegasos.solvers.newton.passes.PART", 1000)
    monkeypatch.setattr("pegasos.solvers.newton.hessian.BLOCK", 100)
    _, problem = posed(n=3000, classes=2)
    ends = []
    for cores in (1, 2):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        ends.append(solve(problem, Newton(), Stopping(tol=1e-4, max_iter=300)))
    assert ends[0].certificate.relative_gap <= 1e-4
    np.testing.assert_array_equal(ends[0].W, ends[1].W)
