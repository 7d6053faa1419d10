"""SVMSGD: steps by hand, the rule row by row, the search for t_0."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, Logistic
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.svmsgd import run as runs
from pegasos.solvers.svmsgd.run import T0, N
from pegasos.solvers.svmsgd.svmsgd import SVMSGD, svmsgd_pass
from tests.conftest import draw
from tests.reference import svmsgd as reference


def epochs_of(problem, solver, epochs, seed=0):
    state, orders = solver.start(problem, seed, None), []
    for _ in range(epochs):
        assert solver.advance(problem, state).ends_epoch
        orders.append(list(state.order))
    return state, orders


@pytest.mark.fast
def test_steps_by_hand():
    # lam = 1/4, x = 1, y = 1, t_0 = 4: eta = 1/(t/4 + 1).
    # t = 0: w = 0 is below: w = 1. t = 1: 1 is not below 1; after two rows w shrinks by
    # lam eta 2 = 1/4 * 4/5 * 2 = 2/5: w = 3/5. t = 2: below: w = 3/5 + 4/6.
    problem = make_problem(Hinge(), as_rows(np.array([[1.0]])), np.ones((1, 1)), None, 0.25)
    solver = SVMSGD(skip=2)
    state = solver.start(problem, 0, None)
    state.clock[T0] = 4.0
    found = []
    for _ in range(3):
        solver.advance(problem, state)
        found.append(state.W[0, 0])
    assert found == pytest.approx([1.0, 0.6, 0.6 + 2.0 / 3.0])
    assert state.clock[N] == 3.0
    assert state.tail.sums.older[0, 0] in (1.0, 2.0)  # two of three visits found it below


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("skip", [1, 7])
def test_three_epochs_are_those_of_the_rule(kind, bias, weighted, skip):
    drawn = draw(Hinge(), 3, kind=kind, bias=bias, weighted=weighted, K=2)
    state, orders = epochs_of(drawn.problem, SVMSGD(skip=skip), 3)
    X = drawn.X
    if bias == "regularized":
        X = np.column_stack([X, np.full(len(X), drawn.bias_scale)])
    for k in range(2):
        w, taken = reference.svmsgd(
            X, drawn.y[:, k], drawn.weights, drawn.lam, state.clock[T0], skip, orders
        )
        mine = state.W[:, k] if bias == "none" else np.append(state.W[:, k], state.beta[k])
        np.testing.assert_allclose(mine, w, rtol=1e-9, atol=1e-12)
        own = drawn.weights > 0.0
        tail = np.sum(taken[state.tail.first :], axis=0)
        np.testing.assert_array_equal(state.tail.sums.older[own, k], tail[own])


@pytest.mark.fast
def test_a_free_bias_is_a_constant_feature_around_a_centre_that_moves():
    drawn = draw(Hinge(), 4, bias="free")
    state, orders = epochs_of(drawn.problem, SVMSGD(skip=5), 1)
    begun = SVMSGD(skip=5).start(drawn.problem, 0, None)
    X = np.column_stack([drawn.X, np.full(len(drawn.X), state.scale)])
    w, _ = reference.svmsgd(
        X, drawn.y[:, 0], drawn.weights, drawn.lam, state.clock[T0], 5, orders, begun.offset[0]
    )
    np.testing.assert_allclose(state.W[:, 0], w[:-1], rtol=1e-9)
    assert state.offset[0] == pytest.approx(begun.offset[0] + state.scale * w[-1])
    assert state.beta[0] == 0.0


@pytest.mark.fast
def test_t0_is_that_of_the_best_constant_step_on_a_sample():
    drawn = draw(Hinge(), 5, n=300, lam=1e-3)
    problem, skip = drawn.problem, 8
    state = runs.start(problem, 0, None)
    seen = []

    def steps(run, order):
        seen.append((run.clock[T0], run.W, order))
        svmsgd_pass(problem, order, skip, run)

    t0 = runs.find_t0(problem, state, steps)
    costs = {}
    for tried, w, order in seen:
        loss = np.maximum(0.0, 1.0 - drawn.y[order, 0] * (drawn.X[order] @ w)).mean()
        costs[tried] = loss + 0.5 * drawn.lam * w @ w
    assert t0 == min(costs, key=costs.get)
    assert np.log2(1.0 / (drawn.lam * t0)) == pytest.approx(round(np.log2(1 / (drawn.lam * t0))))


@pytest.mark.parametrize("name", ["svmsgd", "sgd_qn"])
def test_another_run_goes_on_where_one_ended(name):
    drawn, solver = draw(Hinge(), 6, n=60), resolve(name, Hinge(), "none")
    first = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=40))
    again = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=1), previous=first.state)
    cold = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=1))
    assert again.certificate.gap < 0.5 * cold.certificate.gap


@pytest.mark.fast
def test_options_are_checked():
    for skip in (0, 1.5, True, "all"):
        with pytest.raises(InvalidParameter, match="skip must be None or a whole number from 1 on"):
            resolve(SVMSGD(skip=skip), Hinge(), "free")
    with pytest.raises(InvalidParameter, match='solver="svmsgd" has no loss='):
        resolve("svmsgd", Logistic(), "free")
