"""Pegasos: one step by hand, the transcription of the paper, outputs, options."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from pegasos.certificate.stopping import Stopping
from pegasos.data.order import SAMPLINGS
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, slope, value
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.primal import run as primal
from pegasos.solvers.primal.scaled_weights import SMALL, radius
from tests.conftest import draw
from tests.joint_problems import draw_joint
from tests.reference import objective
from tests.reference import pegasos as reference

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1)]


def taken(loss):
    """The reference's way to take a step on a loss."""
    if isinstance(loss, SquaredHinge):
        return reference.squared_hinge
    return reference.explicit(lambda z, y: slope(loss, float(z), float(y)))


def run_epochs(problem, solver, epochs, seed=0):
    """Run complete epochs; return the state and the rows in the order they were visited."""
    state = solver.start(problem, seed, None)
    visits = []
    for _ in range(epochs):
        is_over = False
        while not is_over:
            first = state.position
            step = solver.advance(problem, state)
            visits += list(state.order[first : first + step.rows_visited])
            is_over = step.ends_epoch
    return state, visits


def batches(visits, n, k):
    """Cut the visits of complete epochs into the batches of Pegasos."""
    epochs = [visits[e : e + n] for e in range(0, len(visits), n)]
    return [epoch[t : t + k] for epoch in epochs for t in range(0, n, k)]


def wide(W, b, scale):
    """Weights and the weight of the constant feature as one vector."""
    return np.append(W[:, 0], b[0] / scale if scale else 0.0)


@pytest.mark.fast
def test_two_steps_worked_by_hand():
    # lam = 1/2, row x = (2, 1), y = 1, twice.
    # t = 1: w = 0, score 0 < 1: an error. eta = 1/(lam 1) = 2: w = (1 - 1) 0 + 2 (2, 1) = (4, 2).
    # t = 2: score 10, no error. w = (1 - 1/2) (4, 2) = (2, 1).
    # The row's dual numbers are 1, then 0.
    problem = make_problem(Hinge(), as_rows(np.array([[2.0, 1.0]])), np.ones((1, 1)), None, 0.5)
    solver = Pegasos()
    state = solver.start(problem, 0, None)
    solver.advance(problem, state)
    np.testing.assert_array_equal(primal.last_weights(problem, state)[0][:, 0], [4.0, 2.0])
    assert solver.dual_point(problem, state)[:2] == (1.0, 1.0)
    solver.advance(problem, state)
    np.testing.assert_array_equal(primal.last_weights(problem, state)[0][:, 0], [2.0, 1.0])
    assert state.tail.sums.older[0, 0] == 1.0


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("k", [1, 4, 30])
def test_pegasos_equals_the_transcription(loss, k):
    is_regression = isinstance(loss, EpsilonInsensitive)
    for case, bias in enumerate(("none", "regularized")):
        drawn = draw(loss, case, weighted=case == 1, bias=bias, regression=is_regression)
        solver = Pegasos(batch_size=k)
        state, visits = run_epochs(drawn.problem, solver, 3)
        scale = drawn.problem.bias_scale
        path = reference.pegasos(
            taken(loss), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam,
            batches(visits, len(drawn.X), k), scale=scale,
        )  # fmt: skip
        W, b = primal.last_weights(drawn.problem, state)
        np.testing.assert_allclose(wide(W, b, scale), path.w, rtol=1e-9, atol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("k", [1, 4])
def test_projection_equals_the_transcription_and_folds_small_scales(k):
    drawn = draw(Hinge(), 3, bias="regularized", weighted=True, lam=1e-3)
    solver = Pegasos(batch_size=k, projection=True)
    state, visits = run_epochs(drawn.problem, solver, 3)
    ball = radius(drawn.problem, np.zeros(1))[0]
    assert ball == pytest.approx(1.0 / np.sqrt(drawn.lam))  # the hinge: P(0) = 1
    path = reference.pegasos(
        taken(Hinge()), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam,
        batches(visits, 30, k), scale=1.5, radius=ball,
    )  # fmt: skip
    W, b = primal.last_weights(drawn.problem, state)
    np.testing.assert_allclose(wide(W, b, 1.5), path.w, rtol=1e-9)
    # The first step alone shrinks w by about sqrt(lam) / ||x||: many folds at this lam.
    tiny = draw(Hinge(), 3, lam=1e-9).problem
    state, _ = run_epochs(tiny, solver, 3)
    W, _ = primal.last_weights(tiny, state)
    assert np.sqrt(W[:, 0] @ W[:, 0]) <= state.scaling.radius[0] * (1.0 + 1e-9)
    assert SMALL < state.scaling.c[0]


@pytest.mark.fast
def test_average_equals_that_of_the_transcription():
    drawn = draw(Hinge(), 4, weighted=True, bias="regularized")
    for projection in (False, True):
        solver = Pegasos(batch_size=4, output="average", projection=projection)
        state, visits = run_epochs(drawn.problem, solver, 3)
        ball = radius(drawn.problem, np.zeros(1))[0] if projection else np.inf
        path = reference.pegasos(
            taken(Hinge()), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam,
            batches(visits, 30, 4), scale=1.5, radius=ball,
        )  # fmt: skip
        W, b = solver.iterate(drawn.problem, state)
        np.testing.assert_allclose(wide(W, b, 1.5), path.average, rtol=1e-9)


@pytest.mark.fast
def test_all_rows_in_one_batch_is_subgradient_descent():
    drawn = draw(Logistic(), 5, weighted=True)
    state, _ = run_epochs(drawn.problem, Pegasos(batch_size=30), 6)
    expected = reference.subgradient_descent(
        lambda z, y: slope(Logistic(), z, y), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, 6
    )
    W, _ = primal.last_weights(drawn.problem, state)
    np.testing.assert_allclose(W[:, 0], expected, rtol=1e-9)


@pytest.mark.fast
def test_random_output_hands_out_the_weights_before_the_step():
    drawn = draw(Hinge(), n=6)
    solver = Pegasos(output="random")
    state = solver.start(drawn.problem, 0, None)
    while not solver.advance(drawn.problem, state).ends_epoch:
        pass
    visits = list(state.order)
    picked, _ = solver.iterate(drawn.problem, state)
    iterates = [
        reference.pegasos(
            taken(Hinge()), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam,
            [[i] for i in visits[:t]],
        ).w[:-1] if t else np.zeros(6)
        for t in range(6)
    ]  # fmt: skip
    assert any(np.allclose(picked[:, 0], w) for w in iterates)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_pegasos_is_certified_close_to_the_optimum(loss):
    drawn = draw(loss, 6, n=60, bias="none", regression=isinstance(loss, EpsilonInsensitive))
    solution = solve(drawn.problem, Pegasos(), Stopping(tol=1e-2, max_iter=20_000))
    assert solution.certificate.relative_gap <= 1e-2
    exact = solve(drawn.problem, resolve("sdca", loss, "none"), Stopping(tol=1e-9))
    assert solution.certificate.dual <= exact.certificate.primal * (1 + 1e-12)
    assert exact.certificate.dual <= solution.certificate.primal * (1 + 1e-12)


@pytest.mark.parametrize("output", ["tail", "last", "average", "random"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_certified_primal_is_that_of_the_weights_handed_out(output, sampling):
    drawn = draw(Hinge(), 7, weighted=True, bias="regularized")
    solver = Pegasos(batch_size=3, output=output, sampling=sampling)
    solution = solve(drawn.problem, solver, Stopping(tol=1e-2, max_iter=300))
    w, b = solution.W[:, 0], float(solution.b[0])
    primal_value = objective.primal(
        lambda z, y: value(Hinge(), z, y), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, w, b,
        1.5,
    )  # fmt: skip
    assert solution.certificate.primal == pytest.approx(primal_value, rel=1e-10)
    assert 0.0 <= solution.certificate.gap < 0.5


def test_a_limit_inside_the_first_epoch_leaves_weights():
    drawn = draw(Hinge(), 8)
    solver = Pegasos()
    state = solver.start(drawn.problem, 0, None)
    assert solver.dual_point(drawn.problem, state) is None
    W, b = solver.iterate(drawn.problem, state)
    assert (W == 0.0).all()
    assert (b == 0.0).all()


def test_csr_equals_dense_and_float32_is_near_float64():
    ends = {}
    for kind, dtype in (("dense", np.float64), ("csr", np.float64), ("csr", np.float32)):
        drawn = draw(Logistic(), 9, kind="csr", dtype=dtype, bias="regularized")
        rows = as_rows(drawn.X.astype(dtype)) if kind == "dense" else drawn.problem.rows
        problem = drawn.problem._replace(rows=rows)
        state, _ = run_epochs(problem, Pegasos(batch_size=2, projection=True), 4)
        ends[kind, dtype] = primal.last_weights(problem, state)[0]
    exact = ends["dense", np.float64]
    np.testing.assert_allclose(ends["csr", np.float64], exact, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(ends["csr", np.float32], exact, rtol=1e-4, atol=1e-5)


def test_models_side_by_side_equal_models_alone():
    drawn = draw(Hinge(), 10, K=3, kind="csr", bias="regularized")
    solver = Pegasos(batch_size=2, projection=True, output="average")
    state, _ = run_epochs(drawn.problem, solver, 3, seed=5)
    together, b = solver.iterate(drawn.problem, state)
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = drawn.problem._replace(costs=costs)
        state_k, _ = run_epochs(alone, solver, 3, seed=5)
        W_k, b_k = solver.iterate(alone, state_k)
        np.testing.assert_allclose(W_k[:, 0], together[:, k], rtol=1e-9, atol=1e-12)
        assert b_k[0] == pytest.approx(b[k], rel=1e-9)


def test_objective_agrees_with_scikit_learn():
    drawn = draw(Hinge(), 11, n=80)
    solution = solve(drawn.problem, Pegasos(), Stopping(tol=1e-3, max_iter=50_000))
    other = LinearSVC(
        C=1.0 / (drawn.lam * 80), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=100_000
    ).fit(drawn.X, drawn.y[:, 0])
    peer = objective.primal(
        lambda z, y: value(Hinge(), z, y), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam,
        other.coef_[0],
    )  # fmt: skip
    assert solution.certificate.dual <= peer * (1 + 1e-9)
    assert solution.certificate.primal <= peer * (1 + 1e-3)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"batch_size": 0},
            "batch_size must be a whole number from 1 to the number of rows; got 0",
        ),
        ({"batch_size": 2.0}, "batch_size must be a whole number .* got 2.0"),
        ({"batch_size": 31}, "batch_size must be at most the number of rows, 30; got 31"),
        ({"sampling": "random"}, 'sampling must be one of "epoch", .*, "multiset"; got \'random\''),
        ({"output": "best"}, "output must be one of \"tail\", .*; got 'best'"),
        ({"projection": "yes"}, "projection must be True or False; got 'yes'"),
        ({"candidates": 0}, "candidates must be a whole number from 1 on; got 0"),
        ({"candidates": 3}, "use output=\"random\" with them, not 'tail'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        Pegasos(**options).start(draw(Hinge()).problem, 0, None)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_same_seed_gives_the_same_bits(sampling):
    drawn = draw(Hinge(), 12, kind="csr", weighted=True, bias="free")
    solver = Pegasos(batch_size=3, sampling=sampling)
    first = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=40), seed=3)
    again = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=40), seed=3)
    np.testing.assert_array_equal(first.W, again.W)
    other = solve(drawn.problem, solver, Stopping(tol=1e-9, max_iter=40), seed=4)
    assert (first.W != other.W).any()


@pytest.mark.fast
def test_batches_hold_no_row_twice_unless_they_are_multisets():
    drawn = draw(Hinge(), 13, n=10)
    for sampling in SAMPLINGS:
        solver = Pegasos(batch_size=4, sampling=sampling)
        _, visits = run_epochs(drawn.problem, solver, 20)
        is_set = [len(set(batch)) == len(batch) for batch in batches(visits, 10, 4)]
        assert all(is_set) == (sampling != "multiset")


@pytest.mark.fast
def test_permutations_hold_every_row_once_and_draws_are_uniform():
    drawn = draw(Hinge(), 13, n=10)
    _, visits = run_epochs(drawn.problem, Pegasos(sampling="permutation"), 30)
    epochs = np.reshape(visits, (30, 10))
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs.tolist())
    assert len({tuple(epoch) for epoch in epochs.tolist()}) == 30
    _, visits = run_epochs(drawn.problem, Pegasos(5, sampling="multiset"), 400)
    counts = np.bincount(visits, minlength=10)
    assert np.abs(counts - 400).max() < 5.0 * np.sqrt(360.0)  # five standard deviations


@pytest.mark.fast
def test_multisets_equal_the_transcription():
    # A row that a batch has twice takes two of its k parts, with the slope before the step.
    drawn = draw(Hinge(), 21, n=9, bias="regularized", weighted=True)
    solver = Pegasos(batch_size=5, sampling="multiset", output="last")
    state, visits = run_epochs(drawn.problem, solver, 4)
    steps = batches(visits, 9, 5)
    assert any(len(set(step)) < len(step) for step in steps)
    path = reference.pegasos(
        taken(Hinge()), drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, steps, scale=1.5
    )
    W, b = solver.iterate(drawn.problem, state)
    np.testing.assert_allclose(wide(W, b, 1.5), path.w, rtol=1e-9)


@pytest.mark.fast
def test_rows_of_weight_zero_are_not_there():
    drawn = draw(Hinge(), 14, n=12, weighted=True)
    weights = drawn.weights.copy()
    weights[2:6] = 0.0
    weights[6:] = 1.0
    problem = make_problem(Hinge(), drawn.problem.rows, drawn.y, weights, drawn.lam)
    _, visits = run_epochs(problem, Pegasos(), 4)
    state, _ = run_epochs(problem, Pegasos(), 4)
    kept = [[i] for i in visits if weights[i] > 0.0]
    path = reference.pegasos(taken(Hinge()), drawn.X, drawn.y[:, 0], weights, drawn.lam, kept)
    W, _ = primal.last_weights(problem, state)
    np.testing.assert_allclose(W[:, 0], path.w[:-1], rtol=1e-10)


def test_warm_start_goes_on_from_the_dual_point():
    drawn = draw(Hinge(), 15, n=60, bias="free")
    first = solve(drawn.problem, Pegasos(), Stopping(tol=1e-9, max_iter=400))
    cold = solve(drawn.problem, Pegasos(), Stopping(tol=1e-9, max_iter=2))
    warm = solve(drawn.problem, Pegasos(), Stopping(tol=1e-9, max_iter=2), previous=first.state)
    assert warm.certificate.gap < 0.2 * cold.certificate.gap
    sdca = solve(drawn.problem, resolve("sdca", Hinge(), "free"), Stopping(tol=1e-6))
    guest = solve(drawn.problem, Pegasos(), Stopping(tol=1e-9, max_iter=2), previous=sdca.state)
    assert guest.certificate.gap < 0.5 * cold.certificate.gap


@pytest.mark.fast
def test_a_warm_start_draws_its_one_permutation():
    problem = draw(Hinge(), 5, n=40).problem
    solver = Pegasos(sampling="fixed")
    first, visits = run_epochs(problem, solver, 2)
    assert visits[:40] == visits[40:] != sorted(visits[:40])
    again = solver.start(problem, 1, first)
    orders = []
    for _ in range(2):
        solver.advance(problem, again)
        orders.append(again.order.tolist())
    assert orders[0] == orders[1] != sorted(orders[0])
    assert sorted(orders[0]) == list(range(40))


@pytest.mark.fast
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)], ids=str)
def test_dual_numbers_after_independent_draws_are_averages_over_visits(loss):
    is_regression = isinstance(loss, EpsilonInsensitive)
    problem = draw(loss, 6, n=20, regression=is_regression).problem
    state, _ = run_epochs(problem, Pegasos(sampling="iid"), 3)
    A, scale, _ = primal.dual_point(problem, state)
    was_visited = state.tail.sums.visits[:, 0] > 0
    assert was_visited.any()
    np.testing.assert_allclose(state.A[was_visited], scale * A[was_visited])
    assert (np.abs(state.A) <= 1.0).all()


@pytest.mark.fast
def test_implicit_steps_on_a_batch_of_similar_rows_do_not_overshoot():
    # Damped by its own weight alone, every one of ten similar rows would repair the same loss.
    rng = np.random.default_rng(0)
    X, Y = 1.0 + 0.3 * rng.standard_normal((40, 4)), np.ones((40, 1))
    Y[X[:, 0] < X[:, 0].mean()] = -1.0
    problem = make_problem(SquaredHinge(), as_rows(X), Y, None, 1e-4)
    state, _ = run_epochs(problem, Pegasos(batch_size=10), 5)
    W, _ = primal.last_weights(problem, state)
    assert (np.maximum(0.0, 1.0 - Y * (X @ W)) ** 2).mean() <= 2.0  # 1 at w = 0


def test_a_warm_start_on_a_joint_loss_keeps_the_biases():
    drawn = draw_joint("joint hinge", 2, "free", n=40, d=3, lam=0.05)
    first = solve(drawn.problem, Pegasos(), Stopping(tol=1e-9, max_iter=5))
    state = Pegasos().start(drawn.problem, 0, first.state)
    assert np.array_equal(state.bias.offset, first.state.bias.offset)
    assert np.abs(state.bias.offset).max() > 0.0
