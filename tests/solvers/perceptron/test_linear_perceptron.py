"""The perceptron: by hand, the transcription, its outputs, how it ends, refusals."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.perceptron.best_length import at_best_length
from pegasos.solvers.perceptron.linear import Perceptron, handed_out, new_run
from tests.conftest import draw
from tests.reference import perceptron as reference
from tests.reference.certificate import optimum

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # uncompiled uint64 wraps

OUTPUTS = ["average", "random", "longest", "last"]


def run(problem, solver, seed=0, previous=None):
    """Run all passes; return the state and the rows in the order they were visited."""
    state, visits, is_done = solver.start(problem, seed, previous), [], False
    while not is_done:
        step = solver.advance(problem, state)
        is_done = step.is_done
        if step.ends_epoch:
            visits += list(state.order)
    assert state.passes == solver.passes
    return state, visits


def expected(drawn, k, visits, scale, output, pick=None):
    """What the transcription hands out: weights and the weight of the constant feature."""
    hypotheses, weights, errors, last = reference.perceptron(
        drawn.X @ drawn.X.T, drawn.y[:, k], drawn.weights, visits, scale
    )
    if output == "average":
        B = reference.average(hypotheses, weights)
    elif output == "longest":
        B = reference.longest(hypotheses, weights, errors, last)
    elif output == "random":
        B = hypotheses[np.searchsorted(np.cumsum(weights), pick)]
    else:
        B = last
    return drawn.X.T @ B, scale * B.sum()


@pytest.mark.fast
def test_errors_worked_by_hand():
    # Four rows x = 1, y = 1: the first has score 0, an error, so w = 1; the others score 1.
    problem = make_problem(Hinge(), as_rows(np.ones((4, 1))), np.ones((4, 1)), None, 0.1)
    state, _ = run(problem, Perceptron())
    assert state.run.now.W.tolist() == [[1.0]]
    assert handed_out(state.run, "average")[0].tolist() == [[0.75]]  # 0, then 1, 1, 1
    # The best length: w = 1 costs lam/2 = 0.05, and 1 - t more at the margins where w = t < 1.
    W, _ = Perceptron().iterate(problem, state)
    assert W[0, 0] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("K", [1, 2])
def test_perceptron_equals_the_transcription(output, bias, K):
    drawn = draw(Hinge(), 1, n=40, d=4, K=K, weighted=True, bias=bias)
    solver = Perceptron(passes=2, output=output)
    state, visits = run(drawn.problem, solver)
    s = drawn.weights
    typical = np.sqrt(s @ (drawn.X**2).sum(axis=1) / s.sum())
    scale = {"none": 0.0, "regularized": drawn.bias_scale, "free": typical}[bias]
    assert state.run.scale == pytest.approx(scale, rel=1e-12)
    W, b = handed_out(state.run, output)
    for k in range(K):
        w, beta = expected(drawn, k, visits, scale, output, state.run.diary.time[1])
        np.testing.assert_allclose(W[:, k], w, atol=1e-10)
        assert b[k] == pytest.approx(scale * beta, abs=1e-10)


@pytest.mark.fast
def test_random_hypotheses_come_as_often_as_they_were_used():
    # Ten rows alike: the first visit finds w = 0, the other nine w = 1.
    problem = make_problem(Hinge(), as_rows(np.ones((10, 1))), np.ones((10, 1)), None, 0.1)
    solver, drawn = Perceptron(output="random"), []
    for seed in range(600):
        state, _ = run(problem, solver, seed)
        drawn.append(float(handed_out(state.run, "random")[0][0, 0]))
    assert set(drawn) == {0.0, 1.0}
    assert abs(drawn.count(0.0) - 60) <= 4.0 * np.sqrt(600 * 0.1 * 0.9)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_it_ends_after_its_passes_with_a_certificate_that_holds(output, bias):
    for seed in range(5):
        drawn = draw(Hinge(), seed, n=60, weighted=True, bias=bias)
        found = solve(drawn.problem, Perceptron(output=output), Stopping(tol=1e-9), seed=seed)
        assert found.outcome is Outcome.DONE
        assert found.certificate.epochs == 1
        best, _, _ = optimum(
            "hinge", drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, bias, drawn.bias_scale
        )
        assert found.certificate.dual <= best * (1.0 + 1e-6)
        assert found.certificate.primal >= best * (1.0 - 1e-6)


@pytest.mark.fast
def test_separable_rows_are_learned_without_further_errors():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X = X[np.abs(X[:, 0]) > 0.5]
    Y = np.sign(X[:, :1])
    problem = make_problem(Hinge(), as_rows(X), Y, None, 0.01)
    state, _ = run(problem, Perceptron(passes=30, output="last"))
    W, _ = handed_out(state.run, "last")
    assert np.all(Y * (X @ W) > 0.0)
    assert state.run.diary.age[0] >= len(X)


def test_csr_equals_dense_and_seeds_repeat():
    drawn = draw(Hinge(), 3, kind="csr", K=2, bias="free")
    dense = drawn.problem._replace(rows=as_rows(drawn.X))
    ends = [
        solve(problem, Perceptron(), Stopping(), seed=7).W
        for problem in (drawn.problem, dense, dense)
    ]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ends[1], ends[2])


def test_float32_is_near_float64():
    single = draw(Hinge(), 4, dtype=np.float32).problem
    double = single._replace(rows=as_rows(np.asarray(single.rows.X, dtype=np.float64)))
    a, b = (solve(problem, Perceptron(), Stopping()).W for problem in (single, double))
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("output", OUTPUTS)
def test_models_side_by_side_are_those_alone(output):
    drawn = draw(Hinge(), 5, n=50, K=3, bias="free")
    together = solve(drawn.problem, Perceptron(output=output), Stopping())
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = solve(drawn.problem._replace(costs=costs), Perceptron(output=output), Stopping())
        np.testing.assert_allclose(together.W[:, [k]], alone.W, rtol=1e-9, atol=1e-12)


def test_a_warm_start_goes_on_from_the_last_hypothesis():
    drawn = draw(Hinge(), 6, n=40, bias="free")
    state, visits = run(drawn.problem, Perceptron(output="last"))
    again, more = run(drawn.problem, Perceptron(output="last"), seed=1, previous=state)
    w, beta = expected(drawn, 0, visits + more, state.run.scale, "last")
    np.testing.assert_allclose(again.run.now.W[:, 0], w, atol=1e-10)
    assert again.run.now.beta[0] == pytest.approx(beta, abs=1e-10)


@pytest.mark.parametrize("bias", ["none", "regularized"])
def test_the_best_length_is_a_minimum(bias):
    drawn = draw(Hinge(), 7, n=50, K=2, weighted=True, bias=bias)
    rng = np.random.default_rng(0)
    W, b = rng.standard_normal((6, 2)), rng.standard_normal(2) if bias == "regularized" else 0.0
    b = np.zeros(2) + b
    Z = drawn.X @ W + b
    signs = np.sign((drawn.weights[:, None] * drawn.y * Z).sum(axis=0))  # better than none
    W, b = at_best_length(drawn.problem, W * signs, b * signs)

    def primal(t):
        losses = np.maximum(0.0, 1.0 - drawn.y * (t * (drawn.X @ W + b)))
        square = (W**2).sum(axis=0) + (b / drawn.bias_scale) ** 2
        return 0.5 * drawn.lam * t * t * square + drawn.weights @ losses / drawn.weights.sum()

    for t in (0.9, 0.999, 1.001, 1.1):
        assert np.all(primal(t) >= primal(1.0) - 1e-12)


def test_large_sparse_rows_take_one_quick_pass():
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 5000), density=0.01, format="csr", rng=rng)
    y = np.sign(X @ rng.standard_normal(5000) + 1e-9)
    problem = make_problem(Hinge(), as_rows(X), y[:, None], None, 1e-4)
    found = solve(problem, Perceptron(), Stopping())
    assert np.mean(np.sign(X @ found.W[:, 0]) == y) > 0.8


@pytest.mark.fast
def test_refusals():
    with pytest.raises(InvalidParameter, match="passes must be a whole number from 1; got 0"):
        Perceptron(passes=0).check()
    with pytest.raises(InvalidParameter, match="output must be one of \"average\".* got 'best'"):
        Perceptron(output="best").check()
    problem = draw(SquaredHinge(), 0).problem
    with pytest.raises(InvalidParameter, match='is for loss="hinge"; got loss=SquaredHinge'):
        Perceptron().start(problem, 0, None)


@pytest.mark.fast
def test_of_two_hypotheses_that_survived_as_long_the_earlier_is_handed_out():
    problem = make_problem(Hinge(), as_rows(np.ones((1, 1))), np.ones((1, 1)), None, 1.0)
    run = new_run(problem, (1, 0.0), "longest", 1, np.zeros(1, dtype=np.uint64))
    run.now.W[:], run.kept.W[:], run.diary.record[:] = 2.0, 1.0, 3.0
    for age, expected in ((2.0, 1.0), (3.0, 1.0), (4.0, 2.0)):
        run.diary.age[:] = age
        assert handed_out(run, "longest")[0] == expected
