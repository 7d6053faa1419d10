"""Continuation: when it begins, where it leads, and that the optimum is reached over it."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.problem.losses import Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import row_square_norms
from pegasos.solve import solve
from pegasos.solvers.sdca import continuation
from pegasos.solvers.sdca.continuation import FACTOR, LONGEST, NEAR, PATIENCE, Continuation
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference import objective


@pytest.mark.fast
def test_it_begins_once_where_a_cold_start_is_hopeless_and_lam_is_small():
    problem = draw(Hinge(), lam=1e-6).problem
    squares = row_square_norms(problem)
    for estimate, begins in [(0.1, False), (9.0, True), (np.nan, True), (-1.0, True)]:
        way = Continuation(may_begin=True)
        asked = [way.must_begin_anew(problem, squares, estimate) for _ in range(2 * PATIENCE)]
        assert asked == [False] * (PATIENCE - 1) + [begins] + [False] * PATIENCE
        assert (way.lam is not None) is begins
    assert way.now(problem).lam == pytest.approx(squares.mean() / 30)  # the typical q is 1
    large = problem._replace(lam=way.lam / 2.0)
    assert not any(
        Continuation(may_begin=True).must_begin_anew(large, squares, 9.0) for _ in range(PATIENCE)
    )


@pytest.mark.fast
def test_it_goes_down_by_factors_and_ends_at_the_lam_of_the_problem():
    problem = draw(Hinge(), lam=0.03).problem
    way, growths = Continuation(may_begin=False, lam=9.0), []
    assert way.goes_on(problem, 2.0 * NEAR) == 1.0  # too far from its optimum yet
    while way.lam is not None:
        growths.append(way.goes_on(problem, NEAR))
    assert growths == pytest.approx([FACTOR, FACTOR, 3.0])
    assert way.now(problem) is problem
    way = Continuation(may_begin=False, lam=9.0, epochs=LONGEST)
    assert way.goes_on(problem, np.nan) == FACTOR  # long enough at one lam


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=str)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_the_optimum_is_reached_over_larger_penalties(loss, bias, monkeypatch):
    monkeypatch.setattr(continuation, "PATIENCE", 2)
    monkeypatch.setattr(continuation, "HOPELESS", 0.0)
    drawn = draw(loss, 2, n=60, weighted=True, bias=bias, lam=1e-3, kind="csr")
    solver = SDCA()
    state, lams = solver.start(drawn.problem, 0, None), []
    while len(lams) < 2 or lams[-1] is not None:
        if solver.advance(drawn.problem, state).ends_epoch:
            lams.append(state.continuation.lam)
            lam = lams[-1] or drawn.lam
            w = objective.combination(drawn.X, drawn.weights, lam, state.A[:, 0])
            np.testing.assert_allclose(state.W[:6, 0], w, atol=1e-8 * np.abs(w).max())
    assert len(set(lams)) > 2
    solution = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=20_000))
    assert solution.certificate.relative_gap <= 1e-9
    assert not solution.state.continuation.may_begin
