"""The bias of primal methods: every way of finding it."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.bias import PrimalBias, Search, bisect, move_centre, search_on
from tests.conftest import draw

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]


@pytest.mark.fast
def test_own_subgradient_steps_worked_by_hand():
    # x = 0 for all rows, so that only b moves: steps 1/sqrt(t) towards the label.
    # y = 1, hinge: b = 1 after t = 1; then y b = 1 is satisfied and b rests.
    problem = make_problem(Hinge(), as_rows(np.zeros((1, 1))), np.ones((1, 1)), None, 0.5, "free")
    solver = resolve(Pegasos(), Hinge(), "free-subgradient")
    state = solver.start(problem, 0, None)
    state.bias.offset[:] = 0.0  # where a run starts is the best constant already
    for _ in range(2):
        solver.advance(problem, state)
        assert primal.last_weights(problem, state)[1][0] == 1.0
    # y = 2, epsilon = 0.1: b = 1, 1 + 1/sqrt(2), 1 + 1/sqrt(2) + 1/sqrt(3) = 2.28, then down.
    loss = EpsilonInsensitive(0.1)
    problem = make_problem(loss, as_rows(np.zeros((1, 1))), np.full((1, 1), 2.0), None, 0.5, "free")
    solver = resolve(Pegasos(), loss, "free-subgradient")
    state = solver.start(problem, 0, None)
    state.bias.offset[:] = 0.0
    expected = 0.0
    for t, sign in ((1, 1), (2, 1), (3, 1), (4, -1)):
        solver.advance(problem, state)
        expected += sign / np.sqrt(t)
        assert primal.last_weights(problem, state)[1][0] == pytest.approx(expected)


@pytest.mark.fast
def test_moving_the_centre_leaves_the_bias_where_it_is():
    bias = PrimalBias(0.5, np.array([3.0, -1.0]), np.array([0.25, 0.0]), 0.0)
    a = np.array([2.0, 4.0])
    before = bias.offset + 0.25 * a * bias.total
    move_centre(bias, a)
    np.testing.assert_allclose(bias.offset, before)
    assert (bias.total == 0.0).all()


@pytest.mark.fast
def test_search_halves_its_step_when_the_sign_turns():
    bias = PrimalBias(0.0, np.array([2.0]), np.zeros(1), 0.0)
    search = Search(np.ones(1), np.zeros(1))
    path = []
    for total in (2.0, 1.0, -1.0, -1.0):  # sum_i s_i a_i > 0: a larger bias helps
        bias.total[:] = total
        search_on(search, bias, search.due)
        path.append(bias.offset[0])
    np.testing.assert_allclose(path, [1.0, 2.2, 1.6, 0.88])


@pytest.mark.fast
def test_bisection_finds_an_interval_and_halves_it():
    # J' < 0 below 2.6: steps 1, 2 up to 3; then the middle of 1 and 3, of 2 and 3, of 2.5 and 3.
    search, offset, path = Search(np.ones(1), np.zeros(1)), np.zeros(1), []
    for passes in range(5):
        bisect(search, offset, 2.6 - offset, passes)
        path.append(offset[0])
    np.testing.assert_allclose(path, [1.0, 3.0, 2.0, 2.5, 2.75])
    assert (search.low, search.high) == (2.5, 3.0)
    assert search.due == 4 + 4 + 1


@pytest.mark.fast
def test_bisection_mends_what_noise_decided():
    search, offset = Search(np.ones(2), np.zeros(2)), np.zeros(2)
    for passes in range(40):
        total = np.array([2.6, -1.3]) - offset
        bisect(search, offset, -total if passes == 3 else total, passes)  # one wrong sign each
    np.testing.assert_allclose(offset, [2.6, -1.3], atol=1e-3)


@pytest.mark.fast
def test_every_value_of_the_bisection_is_a_fit_of_its_own():
    # At a fixed b: Pegasos on the loss with offset b, from w = 0 and t = 0 ([SSSC11] eq. 25).
    drawn = draw(Hinge(), 3, n=20, bias="free", weighted=True)
    solver = resolve(Pegasos(output="last"), Hinge(), "free-bisection")
    state, order, values = solver.start(drawn.problem, 0, None), [], []
    for _ in range(12):
        is_over = False
        while not is_over:
            first = state.position
            step = solver.advance(drawn.problem, state)
            if first == 0 and (not values or values[-1] != state.bias.offset[0]):
                order = []
                values.append(float(state.bias.offset[0]))
            order += list(state.order[first : first + step.rows_visited])
            is_over = step.ends_epoch
        centre = state.centre.m if len(state.centre.m) else np.zeros(6)
        w, N, b = np.zeros(6), 0.0, values[-1]
        for i in order:
            s, x, y = drawn.weights[i], drawn.X[i] - centre, drawn.y[i, 0]
            if s > 0.0:
                N += s
                a = y * (y * (w @ x + b) < 1.0)
                w = (1.0 - s / N) * w + s * a / (drawn.lam * N) * x
        np.testing.assert_allclose(primal.last_weights(drawn.problem, state)[0][:, 0], w, rtol=1e-9)
    assert len(values) >= 3


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("way", ["free", "free-search", "free-bisection"])
def test_pegasos_reaches_the_free_optimum(loss, way):
    is_regression = isinstance(loss, EpsilonInsensitive)
    drawn = draw(loss, 1, n=60, bias="free", weighted=True, regression=is_regression)
    solver = resolve("pegasos", loss, way)
    solution = solve(drawn.problem, solver, Stopping(tol=1e-2, max_iter=30_000))
    assert solution.certificate.relative_gap <= 1e-2
    exact = solve(drawn.problem, resolve("sdca", loss, "free"), Stopping(tol=1e-9))
    assert solution.certificate.primal <= exact.certificate.primal * 1.01


@pytest.mark.parametrize("way", ["free-subgradient", "free-batch"])
def test_ways_that_converge_slowly_are_certified_validly(way):
    drawn = draw(Hinge(), 2, n=60, bias="free", weighted=True)
    exact = solve(drawn.problem, resolve("sdca", Hinge(), "free"), Stopping(tol=1e-9)).certificate
    solver = resolve(Pegasos(batch_size=10), Hinge(), way)
    certificate = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=300)).certificate
    assert certificate.dual <= exact.primal * (1 + 1e-12)
    assert certificate.primal >= exact.dual * (1 - 1e-12)
    assert certificate.primal < 1.5 * exact.primal


def test_batch_bias_reaches_the_optimum_with_all_rows_in_a_batch():
    drawn = draw(Hinge(), 3, n=40, bias="free")
    solver = resolve(Pegasos(batch_size=40), Hinge(), "free-batch")
    certificate = solve(drawn.problem, solver, Stopping(tol=1e-2, max_iter=50_000)).certificate
    assert certificate.relative_gap <= 1e-2


@pytest.mark.parametrize("solver", ["pegasos", "sgd"])
def test_a_large_common_shift_of_the_rows_is_no_obstacle(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.where(X[:, :1] + 0.3 * rng.standard_normal((60, 1)) > 0.4, 1.0, -1.0)
    problem = make_problem(Hinge(), as_rows(X + 5.0), Y, None, 0.1, "free")
    solution = solve(problem, resolve(solver, Hinge(), "free"), Stopping(tol=1e-2, max_iter=30_000))
    assert solution.certificate.relative_gap <= 1e-2
