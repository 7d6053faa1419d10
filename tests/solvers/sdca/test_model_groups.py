"""Groups of models: each a run of its own, left out when done, the same bits on any threads."""

import numpy as np
import pytest

from pegasos import parallel
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge, SquaredHinge
from pegasos.problem.objective import VALUES_PER_CALL
from pegasos.solve import solve
from pegasos.solvers.sdca import model_groups as groups
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sdca.model_groups import FEW, Groups, columns_of_groups, of_columns
from tests.conftest import draw


@pytest.fixture(name="small")
def _small(monkeypatch):
    """Let groups work on any data."""
    monkeypatch.setattr(groups, "LARGE", 1)


@pytest.mark.fast
def test_a_few_models_run_alone_on_large_data_and_others_share_their_passes(monkeypatch):
    rows = draw(Hinge()).problem.rows
    assert columns_of_groups(rows, 5) == [slice(0, 5)]
    monkeypatch.setattr(groups, "LARGE", 1)
    assert columns_of_groups(rows, 1) == [slice(0, 1)]
    assert columns_of_groups(rows, 3) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert columns_of_groups(rows, FEW + 1) == [slice(0, FEW + 1)]


@pytest.mark.fast
@pytest.mark.usefixtures("small")
def test_a_group_runs_as_it_does_alone_and_is_left_out_when_done():
    drawn = draw(Hinge(), 5, n=40, K=3, bias="free", weighted=True)
    solver, Y = SDCA(shrinking=False), drawn.y[:, :1].copy()
    state = solver.start(drawn.problem, 7, None)
    assert isinstance(state, Groups)
    assert sum(group.state.values_per_call for group in state.groups) <= VALUES_PER_CALL
    for _ in range(4):
        solver.advance(drawn.problem, state)
    alone = solver.start(of_columns(drawn.problem, Y), 7, None)
    for _ in range(4):
        solver.advance(of_columns(drawn.problem, Y), alone)
    np.testing.assert_array_equal(alone.A, state.groups[0].state.A)
    before = state.A
    solver.leave_out(state, np.array([True, False, False]))
    solver.advance(drawn.problem, state)
    np.testing.assert_array_equal(before[:, :1], state.A[:, :1])
    assert (before[:, 1:] != state.A[:, 1:]).any(axis=0).all()
    solver.leave_out(state, np.ones(3, dtype=bool))  # whoever goes on has a reason
    assert not any(group.is_done for group in state.groups)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_groups_reach_the_optima_of_their_models(kind, bias):
    drawn = draw(SquaredHinge(), 5, K=3, bias=bias, kind=kind, weighted=True)
    limits = Stopping(tol=1e-9, max_iter=20_000)
    together = solve(drawn.problem, SDCA(), limits)
    assert together.certificate.relative_gap <= 1e-9
    for k in range(3):
        alone = solve(of_columns(drawn.problem, drawn.y[:, k : k + 1].copy()), SDCA(), limits)
        assert together.certificate.models["primal"][k] == pytest.approx(
            alone.certificate.primal, rel=1e-8
        )
    again = solve(drawn.problem, SDCA(), Stopping(1e-8, max_iter=9), previous=together.state)
    assert again.certificate.relative_gap <= 1e-8  # a warm start remains there


@pytest.mark.usefixtures("small")
def test_a_group_that_is_certified_early_takes_fewer_passes():
    drawn = draw(Hinge(), 6, n=80, K=2, lam=1e-3)
    Y = drawn.y.copy()
    Y[:, 0] = np.sign(drawn.X[:, 0] + 1e-9)  # easy: one feature decides
    X = drawn.X.copy()
    X[:, 0] += 3.0 * np.sign(X[:, 0])
    rows = as_rows(X)
    problem = of_columns(drawn.problem._replace(rows=rows), Y)
    end = solve(problem, SDCA(shrinking=False), Stopping(tol=1e-6, max_iter=20_000))
    assert end.certificate.relative_gap <= 1e-6
    easy, hard = (group.state.continuation.epochs for group in end.state.groups)
    assert easy < hard


@pytest.mark.usefixtures("small")
def test_models_are_the_same_bits_on_any_number_of_threads(monkeypatch):
    drawn, found = draw(Hinge(), 5, n=200, K=3, bias="free"), []
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "cores", lambda threads=threads: threads)
        monkeypatch.setattr(parallel, "_pools", {})
        end = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=9))
        found.append(np.append(end.W, [*end.b, end.certificate.gap]).tobytes())
    assert len(set(found)) == 1
