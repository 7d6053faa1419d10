"""Steps until a row is missing: what is computed, how far ahead, and that pauses change nothing."""

import copy
import pickle

import numpy as np
import pytest

from pegasos.problem.kernels import Gaussian
from pegasos.problem.losses import Hinge, Logistic
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.responses import lookahead
from pegasos.solvers.responses.lookahead import FEWEST_AHEAD, Walk
from pegasos.solvers.sdca.kernel import KernelSDCA
from tests.solvers.kernel_problems import afresh, kernel_problem, run_epochs

SOLVERS = [KernelSDCA(), KernelPegasos(), KernelPegasos(batch_size=5)]


@pytest.mark.fast
def test_look_ahead_doubles_while_it_foresees_everything():
    walk = Walk(np.array([0, 0, 0]))
    for expected in (32, 64, 128, 200, 200):
        walk.adapt(200)
        assert walk.ahead == expected
        walk.place[0] += 50
        walk.end = int(walk.place[0])


@pytest.mark.fast
def test_look_ahead_follows_where_it_failed():
    # 100 rows found over 400 places of the order. The next row is missing after 80 of these: the
    # look-ahead held for a fifth of its rows, 20; twice as many are asked for.
    walk = Walk(np.array([1000, 0, 0]), ahead=100, begin=920, end=1320)
    walk.adapt(256)
    assert (walk.ahead, walk.begin) == (40, 1000)
    walk.end = 1320
    walk.place[0] = 1001
    walk.adapt(256)
    assert walk.ahead == FEWEST_AHEAD
    walk.adapt(3)  # a store of 6 rows
    assert walk.ahead == 3


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_row_is_computed_at_most_once_if_all_fit(solver):
    drawn = kernel_problem(Hinge(), 1, n=60, bias="free")
    run_epochs(solver, drawn.problem, 20)
    kept = int((drawn.problem.rows.slot_of >= 0).sum())
    assert drawn.problem.rows.evaluations == 60 * kept


@pytest.mark.parametrize("solver", SOLVERS[1:], ids=str)
def test_rows_whose_margin_is_always_satisfied_are_hardly_computed(solver):
    # Two far clusters of 100 rows each: the first rows met settle all others.
    drawn = kernel_problem(Hinge(), 2, Gaussian(0.1), n=200, d=2, lam=0.5)
    y = drawn.y[:, :1]
    X = 0.01 * drawn.X + 5.0 * y
    problem = afresh(drawn.problem._replace(lam=1e-4), rows=drawn.problem.rows.rows._replace(X=X))
    run_epochs(solver, problem, 5)
    assert problem.rows.evaluations <= 200 * 3 * FEWEST_AHEAD


@pytest.mark.fast
@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_pauses_change_nothing(solver, monkeypatch):
    drawn = kernel_problem(Logistic(), 3, n=20, bias="free")
    whole, _ = run_epochs(solver, drawn.problem, 2)
    monkeypatch.setattr(lookahead, "VALUES_PER_CALL", 40)  # two rows added per call
    monkeypatch.setattr(lookahead, "VALUES_ENOUGH", 20)  # one block per call
    paused = afresh(drawn.problem)
    state = solver.start(paused, 0, None)
    calls, rows = 0, 0
    while calls == 0 or rows < 40:
        step = solver.advance(paused, state)
        calls, rows = calls + 1, rows + step.rows_visited
    assert calls > 15
    np.testing.assert_array_equal(state.F, whole.F)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_run_goes_on_from_a_copy_of_its_state(solver):
    drawn = kernel_problem(Hinge(), 4, K=2, bias="free")
    state, _ = run_epochs(solver, drawn.problem, 2)
    for twin in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        problem, going = afresh(drawn.problem), copy.deepcopy(state)
        for _ in range(2):
            solver.advance(drawn.problem, going)
            solver.advance(problem, twin)
        np.testing.assert_allclose(twin.F, going.F, rtol=1e-12)
