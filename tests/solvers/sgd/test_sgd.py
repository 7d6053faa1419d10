"""SGD: a presentation by hand, the closed form of many, the paper's own bound and stop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.certificate.gap import evaluate
from pegasos.certificate.offer import Offer, means_for
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.progress import Watch
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.primal import run as primal
from pegasos.solvers.sgd.sgd import SGD, margin_errors
from tests.conftest import draw
from tests.reference import sgd as reference
from tests.reference.certificate import optimum

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]


def run_epochs(problem, solver, epochs, seed=0):
    """Run complete epochs; return the state, the orders and the estimates."""
    state = solver.start(problem, seed, None)
    orders, estimates = [], []
    for _ in range(epochs):
        step = solver.advance(problem, state)
        assert step.ends_epoch
        orders.append(list(state.order))
        estimates.append(step.estimate)
    return state, orders, estimates


@pytest.mark.fast
def test_presentations_worked_by_hand():
    # lam = 1/2, x = 2, y = 1, presented 5 times from a = 0, t = 0.
    # t = 0: w = 0 is an error: a = 2. Then Q = y a x - lam t = 4 - 1/2 t, below 0 for t > 8: no
    # more errors. After 20 further presentations, t = 25, a = 2: Q = 4 - 25/2 < 0, an error.
    problem = make_problem(Hinge(), as_rows(np.array([[2.0]])), np.ones((1, 1)), None, 0.5)
    solver = SGD(variant="m", multiplicity=4)
    state = solver.start(problem, 0, None)
    errors = []
    for _ in range(4):  # 1, 4, 4 and 4 presentations: t = 1, 5, 9, 13
        solver.advance(problem, state)
        errors.append(state.V[0, 0] / 2.0)
    assert errors == [1.0, 1.0, 1.0, 2.0]  # at t = 9, Q = 4 - 4.5 < 0: one error, Q = 8 - 5
    assert state.scaling.N[0] == 13.0
    assert state.tail.epochs == 13


@pytest.mark.fast
@given(
    Q=st.integers(-40, 40), theta=st.integers(-6, 6), square=st.integers(0, 12),
    times=st.integers(1, 12),
)  # fmt: skip
def test_number_of_margin_errors_has_a_closed_form(Q, theta, square, times):
    # Quarters of integers are exact, so that kinks are met as often as they are missed.
    expected = reference.presentations(Q / 4, theta / 4, square / 4, times)
    assert margin_errors(Q / 4, theta / 4, square / 4, times) == expected


@pytest.mark.fast
@pytest.mark.parametrize("weighted", [False, True])
def test_sgd_m_equals_single_presentations(weighted):
    drawn = draw(Hinge(), 1, weighted=weighted)
    solver = SGD(variant="m", multiplicity=5)
    state = solver.start(drawn.problem, 0, None)
    state.passes = 1  # a pass of multiple presentations, from t = 0
    solver.advance(drawn.problem, state)
    order = [i for i in state.order if drawn.weights[i] > 0.0]
    a, errors, N = reference.sgd(drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, order, 5)
    np.testing.assert_allclose(state.V[:, 0], a, rtol=1e-10, atol=1e-12)
    counted = drawn.y[:, 0] * state.tail.sums.older[:, 0]
    np.testing.assert_array_equal(counted, errors)
    assert state.scaling.N[0] == pytest.approx(N)


@pytest.mark.fast
@pytest.mark.parametrize("offset", [0.4, -0.7, 1.3])
def test_sgd_m_takes_an_offset_into_account(offset):
    drawn = draw(Hinge(), 2)
    solver = SGD(variant="m", multiplicity=4)
    state = solver.start(drawn.problem, 0, None)
    state.bias.offset[:], state.passes = offset, 1
    solver.advance(drawn.problem, state)
    a, _, _ = reference.sgd(
        drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, list(state.order), 4, offset=offset
    )
    np.testing.assert_allclose(state.V[:, 0], a, rtol=1e-10, atol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_sgd_s_equals_pegasos_of_single_rows(loss):
    drawn = draw(loss, 3, weighted=True, bias="regularized")
    state, _, _ = run_epochs(drawn.problem, SGD(), 4, seed=2)
    other = Pegasos().start(drawn.problem, 2, None)
    for _ in range(4):
        Pegasos().advance(drawn.problem, other)
    np.testing.assert_allclose(state.V, other.V, rtol=1e-12)
    np.testing.assert_array_equal(state.tail.sums.older, other.tail.sums.older)


@pytest.mark.fast
def test_running_bound_is_the_dual_value_of_the_plain_average():
    # [PT13] Prop. 2: D = N_errors / t - ||a||^2 / (2 lam t^2), exact for the hinge.
    drawn = draw(Hinge(), 4, weighted=True)
    problem = drawn.problem
    solver = SGD(variant="m")
    state = solver.start(problem, 0, None)
    state.tail.middle = 10**9
    for _ in range(6):
        step = solver.advance(problem, state)
    N, square = state.scaling.N[0], float(state.V[:, 0] @ state.V[:, 0])
    bound = state.met[0, 0] / N - square / (2.0 * problem.lam * N**2)
    exact = evaluate(problem, Offer(*solver.dual_point(problem, state)), means_for(problem))
    assert bound == pytest.approx(exact.dual[0], rel=1e-9)
    losses = state.met[1, 0] / problem.S + square / (2.0 * problem.lam * N**2)
    assert step.estimate == pytest.approx((losses - bound) / bound, rel=1e-9)
    assert SGD(variant="m", comparison=2.0).comparison == 2.0


@pytest.mark.fast
def test_comparison_scales_the_estimate():
    problem = draw(Hinge(), 5).problem
    _, _, plain = run_epochs(problem, SGD(), 5)
    _, _, scaled = run_epochs(problem, SGD(comparison=2.0), 5)
    np.testing.assert_allclose(np.array(plain) / 2.0, scaled)


@pytest.mark.parametrize("variant", ["s", "r", "m"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_sgd_is_certified_close_to_the_optimum(variant, bias):
    drawn = draw(Hinge(), 6, n=60, bias=bias, weighted=True)
    solver = resolve(SGD(variant=variant), Hinge(), bias)
    tol = 5e-2 if variant == "r" else 1e-2
    solution = solve(drawn.problem, solver, Stopping(tol=tol, max_iter=20_000))
    assert solution.certificate.relative_gap <= tol


@pytest.mark.parametrize("output", ["tail", "last"])
def test_csr_equals_dense_and_seeds_repeat(output):
    drawn = draw(Hinge(), 7, kind="csr", K=2)
    dense = drawn.problem._replace(rows=as_rows(drawn.X))
    ends = []
    for problem in (drawn.problem, dense, dense):
        solver = SGD(variant="m", output=output)
        state, _, _ = run_epochs(problem, solver, 5)
        W = solver.iterate(problem, state)
        ends.append(primal.last_weights(problem, state)[0] if W is None else W[0])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ends[1], ends[2])


@pytest.mark.fast
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "x"}, 'variant must be one of "s", "r", "m"; got \'x\''),
        ({"multiplicity": 0}, "multiplicity must be a whole number from 1 on; got 0"),
        ({"comparison": -1.0}, "comparison must be a positive number; got -1.0"),
        ({"output": "average"}, 'output must be one of "tail", "last"; got \'average\''),
        ({"duals": "later"}, 'duals must be one of "tail", "all"; got \'later\''),
        ({"precision": 32}, 'precision must be one of "double", "single"; got 32'),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        SGD(**options).start(draw(Hinge()).problem, 0, None)


@pytest.mark.fast
@pytest.mark.parametrize("variant", ["s", "m"])
def test_duals_over_all_epochs_are_the_papers_pair(variant):
    # [PT13] Prop. 2: w of the plain averages is the last weight vector.
    drawn = draw(Hinge(), 8, weighted=True, bias="regularized")
    solver = SGD(variant=variant, duals="all", output="last")
    state, orders, estimates = run_epochs(drawn.problem, solver, 7)
    A, scale, _ = solver.dual_point(drawn.problem, state)
    s, S = drawn.weights, drawn.weights.sum()
    w = (s * scale * A[:, 0]) @ drawn.X / (drawn.lam * S)
    W, _ = solver.iterate(drawn.problem, state)
    np.testing.assert_allclose(W[:, 0], w, rtol=1e-9, atol=1e-13)
    counted = drawn.y[:, 0] * A[:, 0] * scale
    assert (counted >= 0.0).all()
    assert (counted <= 1.0 + 1e-12).all()


class Certificates(Watch):
    def __init__(self):
        self.epochs = []

    def certified(self, record, seconds_left):
        self.epochs.append(record.epoch)


@pytest.mark.fast
@pytest.mark.parametrize("comparison", [1.0, 1.5])
def test_the_papers_rule_certifies_when_its_estimate_says_so_and_not_before(comparison):
    drawn = draw(Hinge(), 9, n=40)
    solver = SGD(duals="all", output="last", comparison=comparison)
    _, _, estimates = run_epochs(drawn.problem, solver, 400)
    watch, limits = Certificates(), Stopping(tol=0.1, max_iter=400)
    found = solve(drawn.problem, solver, limits, watch=watch)
    assert found.certificate.is_within_tol
    first = 1 + int(np.argmax(np.array(estimates) <= 0.1))
    assert watch.epochs[0] == first
    assert all(estimates[epoch - 1] <= 0.1 for epoch in watch.epochs)
    A, scale, _ = solver.dual_point(drawn.problem, found.state)
    exact = evaluate(drawn.problem, Offer(A, scale), means_for(drawn.problem))
    assert found.certificate.primal == pytest.approx(exact.primal[0], rel=1e-9)


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_single_precision_equals_the_transcription(kind):
    drawn = draw(Hinge(), 10, kind=kind)
    solver = SGD(precision="single", output="last")
    state, orders, _ = run_epochs(drawn.problem, solver, 3)
    a, t = np.zeros(6, dtype=np.float32), 0.0
    for i in (i for order in orders for i in order):
        x, y = drawn.X[i], drawn.y[i, 0]
        if t == 0.0 or y * (x @ a.astype(np.float64)) < drawn.lam * t:
            a = (a + y * x).astype(np.float32)
        t += 1.0
    assert state.V.dtype == np.float32
    np.testing.assert_array_equal(state.V[:, 0], a)


@pytest.mark.fast
def test_several_models_in_single_precision_are_near_those_in_double():
    several = draw(Hinge(), 10, K=2, bias="free")
    solver = SGD(precision="single", output="last")
    exact = solve(several.problem, SGD(output="last"), Stopping(tol=1e-9, max_iter=5))
    found = solve(several.problem, solver, Stopping(tol=1e-9, max_iter=5))
    np.testing.assert_allclose(found.W, exact.W, rtol=1e-3, atol=1e-4)
    assert (found.W != exact.W).any()


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("variant", ["s", "r", "m"])
def test_certified_interval_of_literal_sgd_contains_the_optimum(variant, bias):
    for seed in range(7):
        drawn = draw(Hinge(), seed, n=20, bias=bias, weighted=True, lam=10.0 ** -(seed % 3))
        solver = SGD(variant=variant, duals="all", output="last", precision="single")
        solver = resolve(solver, Hinge(), bias)
        best, _, _ = optimum(
            "hinge", drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, bias, drawn.bias_scale
        )
        found = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=9)).certificate
        assert found.dual - 1e-6 <= best <= found.primal + 1e-6
