"""Norma, fixed steps, SGD within a ball: the transcription, certificates, refusals."""

import numpy as np
import pytest

from pegasos import PegasosClassifier, ScheduledSGD
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, slope, value
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sgd import scheduled
from tests.conftest import draw
from tests.reference import objective
from tests.reference import scheduled as reference
from tests.reference.certificate import optimum
from tests.reference.pegasos import explicit, squared_hinge

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]
NAMES = {Hinge: "hinge", SquaredHinge: "squared_hinge", Logistic: "logistic",
         EpsilonInsensitive: "epsilon_insensitive"}  # fmt: skip
SCHEDULES = ["norma", "constant", "ball"]


def taken(loss):
    if isinstance(loss, SquaredHinge):
        return squared_hinge
    return explicit(lambda z, y: slope(loss, float(z), float(y)))


def run_epochs(problem, solver, epochs, seed=0):
    """Run complete epochs; return the state and the rows in the order they were visited."""
    state, visits = solver.start(problem, seed, None), []
    for _ in range(epochs):
        is_over = False
        while not is_over:
            first = state.position
            step = solver.advance(problem, state)
            visits += list(state.order[first : first + step.rows_visited])
            is_over = step.ends_epoch
    return state, visits


def steps_of(schedule, lam):
    """Return the steps' sizes, and the options that the transcription has for a schedule."""
    if schedule == "norma":
        return lambda t: np.sqrt(0.5) / (lam * np.sqrt(t)), {"lam": lam}
    if schedule == "constant":
        return lambda t: 0.3, {"lam": lam}
    return lambda t: 0.4 / np.sqrt(t), {"radius": 0.8}


def options_of(schedule):
    given = {"constant": {"eta": 0.3}, "ball": {"eta": 0.4, "radius": 0.8}}
    return {"schedule": schedule, **given.get(schedule, {})}


@pytest.mark.fast
def test_two_steps_of_norma_worked_by_hand():
    # lam = 1/2, p = 1/2, x = 2, y = 1, twice. eta_1 = 1/2 / (1/2) = 1: an error, w = 0 + 1 * 2 = 2.
    # eta_2 = 1 / sqrt 2: the score 4 is no error, w = (1 - lam / sqrt 2) 2 = 2 - 1 / sqrt 2.
    problem = make_problem(Hinge(), as_rows(np.array([[2.0]])), np.ones((1, 1)), None, 0.5)
    solver = ScheduledSGD("norma", p=0.5, output="last")
    state = solver.start(problem, 0, None)
    for expected in (2.0, 2.0 - 1.0 / np.sqrt(2.0)):
        solver.advance(problem, state)
        assert solver.iterate(problem, state)[0][0, 0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_steps_equal_the_transcription(schedule, loss):
    is_regression = isinstance(loss, EpsilonInsensitive)
    for case, bias in enumerate(("none", "regularized")):
        drawn = draw(loss, case, weighted=case == 1, bias=bias, regression=is_regression)
        eta, more = steps_of(schedule, drawn.lam)
        scale = drawn.problem.bias_scale
        for output in ("last", "average"):
            solver = ScheduledSGD(output=output, sampling="iid", **options_of(schedule))
            state, visits = run_epochs(drawn.problem, solver, 4)
            last, mean = reference.scheduled(
                taken(loss), drawn.X, drawn.y[:, 0], drawn.weights, visits, eta, scale=scale, **more
            )
            W, b = solver.iterate(drawn.problem, state)
            found = np.append(W[:, 0], b[0] / scale if scale else 0.0)
            expected = last if output == "last" else mean
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-11)


@pytest.mark.fast
def test_scales_are_folded_long_before_they_underflow():
    # Norma's scale is about exp(-1.4 sqrt T): below 1e-60 after some ten thousand steps.
    drawn = draw(Hinge(), 2, n=30, lam=0.5)
    solver = ScheduledSGD(output="average")
    state = solver.start(drawn.problem, 0, None)
    state.numbers[scheduled.C] = 1e-59  # as if many steps were behind
    state.V[:] = 1e59 * np.arange(6.0)[:, None]
    for _ in range(3):
        while not solver.advance(drawn.problem, state).ends_epoch:
            pass
    assert np.isfinite(solver.iterate(drawn.problem, state)[0]).all()
    assert (state.numbers[scheduled.C] >= scheduled.SMALL).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("bias", ["none", "regularized"])
def test_certified_interval_contains_the_optimum(schedule, bias):
    for seed in range(20):
        loss = LOSSES[seed % 4]
        drawn = draw(
            loss, seed, n=25, bias=bias, weighted=seed % 2 == 1, lam=10.0 ** -(seed % 3),
            regression=isinstance(loss, EpsilonInsensitive),
        )  # fmt: skip
        output = ("tail", "last", "average")[seed % 3]
        given = {} if schedule == "norma" else options_of(schedule)
        solver = ScheduledSGD(**{"schedule": schedule, "output": output, **given})
        limits = Stopping(tol=1e-9, max_steps=(7, 60, 400)[seed % 3])
        found = solve(drawn.problem, solver, limits, seed=seed)
        best, _, _ = optimum(
            NAMES[type(loss)], drawn.X, drawn.y[:, 0], drawn.weights, found.lam, bias,
            drawn.bias_scale,
        )  # fmt: skip
        room = 1e-6 * max(1e-3, best)
        certificate = found.certificate
        assert certificate.dual <= best + room
        assert certificate.primal >= best - room
        scale = drawn.problem.bias_scale
        exact = objective.primal(
            lambda z, y, loss=loss: value(loss, z, y), drawn.X, drawn.y[:, 0], drawn.weights,
            found.lam, found.W[:, 0], found.b[0], scale,
        )  # fmt: skip
        assert certificate.primal == pytest.approx(exact, rel=1e-9)


def test_the_ball_is_certified_for_the_problem_whose_solution_has_its_length():
    drawn = draw(Hinge(), 3, n=60, lam=0.05)
    best = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=10_000))
    length = float(np.sqrt((best.W**2).sum()))
    solver = ScheduledSGD("ball", radius=length)
    found = solve(drawn.problem, solver, Stopping(tol=5e-2, max_iter=5000))
    assert found.certificate.is_within_tol
    assert found.lam == pytest.approx(0.05, rel=0.2)
    assert np.sqrt((found.W**2).sum()) <= length * (1.0 + 1e-9)
    hinges = np.maximum(0.0, 1.0 - drawn.y * (drawn.X @ found.W)).mean()
    least = np.maximum(0.0, 1.0 - drawn.y * (drawn.X @ best.W)).mean()
    assert hinges <= least + 0.05 * best.certificate.primal


@pytest.mark.parametrize("schedule", ["norma", "constant"])
def test_the_optimum_is_approached(schedule):
    drawn = draw(Hinge(), 4, n=60, lam=0.05)
    solver = ScheduledSGD(schedule, eta=0.01 if schedule == "constant" else None)
    found = solve(drawn.problem, solver, Stopping(tol=3e-2, max_iter=5000))
    assert found.certificate.is_within_tol


def test_csr_equals_dense_models_equal_single_ones_and_seeds_repeat():
    drawn = draw(Hinge(), 5, kind="csr", K=2, bias="regularized")
    dense = drawn.problem._replace(rows=as_rows(drawn.X))
    solver, limits = ScheduledSGD("ball", radius=0.7), Stopping(tol=1e-9, max_iter=5)
    ends = [solver.iterate(p, run_epochs(p, solver, 5)[0]) for p in (drawn.problem, dense, dense)]
    np.testing.assert_allclose(ends[0][0], ends[1][0], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ends[1][0], ends[2][0])
    for k in range(2):
        costs = dense.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = dense._replace(costs=costs)
        W, b = solver.iterate(alone, run_epochs(alone, solver, 5)[0])
        np.testing.assert_allclose(W[:, 0], ends[1][0][:, k], rtol=1e-9, atol=1e-12)
        assert b[0] == pytest.approx(ends[1][1][k], rel=1e-9)
    assert solve(dense, solver, limits).certificate.gap >= 0.0


def test_a_warm_start_goes_on_from_the_dual_point():
    drawn = draw(Hinge(), 6, n=60)
    first = solve(drawn.problem, SDCA(), Stopping(tol=1e-6))
    cold = solve(drawn.problem, ScheduledSGD(), Stopping(tol=1e-9, max_iter=2))
    warm = solve(
        drawn.problem, ScheduledSGD(), Stopping(tol=1e-9, max_iter=2), previous=first.state
    )
    assert warm.certificate.primal < cold.certificate.primal


@pytest.mark.fast
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "pegasos"}, 'schedule must be one of "norma", "constant", "ball"; got'),
        ({"p": 1.0}, "p must be between 0 and 1; got p=1.0"),
        ({"p": -0.5}, "p must be a positive number; got -0.5"),
        ({"eta": 0.1}, 'schedule="norma" has no eta; it has "p"'),
        (
            {"schedule": "constant", "radius": 1.0},
            'schedule="constant" has no radius; it has "eta"',
        ),
        ({"schedule": "ball", "radius": 0.0}, "radius must be a positive number; got 0.0"),
        ({"schedule": "ball", "p": 0.5}, 'has no p; it has "eta" and "radius"'),
        ({"schedule": "constant", "eta": 20.0}, "eta must be below 1/lam = 20, or weights change"),
        ({"sampling": "multiset"}, 'sampling must be one of "epoch", .*, "iid"; got'),
        ({"output": "random"}, 'output must be one of "tail", "last", "average"; got'),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        ScheduledSGD(**options).start(draw(Hinge()).problem, 0, None)


@pytest.mark.fast
def test_a_free_bias_is_refused_with_advice():
    with pytest.raises(InvalidParameter, match='has no bias="free"; use bias="none" or solver="pe'):
        PegasosClassifier(solver="scheduled_sgd").fit([[0.0], [1.0]], [0, 1])
