"""Batch perceptron: steps by hand, the transcription, optima within bounds, nu to lam and back."""

import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.errors import InvalidParameter
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from pegasos.problem.losses import Hinge, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.batch_perceptron.batch_perceptron import BatchPerceptron
from pegasos.solvers.batch_perceptron.models import offer
from pegasos.solvers.batch_perceptron.steps import KeptRows, Now, Rule, new_path, take_steps
from pegasos.solvers.decomposition.decomposition import Decomposition
from tests.certificate.assess import assess
from tests.reference.batch_perceptron import batch_perceptron
from tests.reference.kernel_optimum import kernel_optimum
from tests.reference.slack import slack_bounds
from tests.solvers.kernel_problems import BUDGET, afresh, kernel_problem, whole_matrix

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # uncompiled uint64 wraps

BIASES = ["none", "free"]
CHOICES = ["random", "deterministic"]
KERNELS = [Linear(), Gaussian(0.3), Polynomial(0.3, 1.0, 3), Laplacian(0.3)]
EXACT = Stopping(tol=1e-9, max_iter=20_000)


def precomputed(K, y, lam=0.1, bias="none"):
    gram = Gram(Precomputed(), as_rows(np.asarray(K, dtype=float)), BUDGET)
    return make_problem(Hinge(), gram, np.asarray(y, dtype=float)[:, None], None, lam, bias)


def kept(K):
    """A store that holds the whole matrix."""
    n = len(K)
    slots, used = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
    return KeptRows(np.array(K, dtype=float), slots, used, np.array(np.diag(K), dtype=float), 7)


def run_for(solver, problem, epochs, seed=0, previous=None):
    state = solver.start(problem, seed, previous)
    for _ in range(epochs):
        step = solver.advance(problem, state)
        while not step.ends_epoch:
            step = solver.advance(problem, state)
    return state, step


def judged(solver, problem, state):
    """What an independent certificate says of a run, at the lam that it is for."""
    problem = solver.regularized(problem, state)
    judge = Judge(problem)
    offer = Offer(*solver.dual_point(problem, state), solver.iterate(problem, state))
    assess(judge, offer)
    return judge, problem.lam


# ---- steps


@pytest.mark.fast
def test_two_steps_worked_by_hand():
    # K = diag(4, 1), so eta_0 = 1/2; n nu = 1/2. At w = 0 both rows are under water: the first.
    # t = 1: eta = 1/2, alpha = (1/2, 0), c = (2, 0), ||w||^2 = 1: on the sphere.
    # t = 2: the level over (2, 0) is 1/2, row 2 alone is under water; eta = 1/(2 sqrt 2),
    #        ||w||^2 = 1 + 1/8 = 9/8: w shrinks by sqrt(8/9). alpha = (sqrt 2 / 3, 1/3).
    rows = kept(np.diag([4.0, 1.0]))
    path, y = new_path(2, 0), np.array([1.0, -1.0])
    rule = Rule(0.5, False, 0.5, False, False, 0)
    now = take_steps(rows, y, path, rule, Now(0, 0.0, 0.0, 0.0, -1), 1)
    assert path.alpha.tolist() == [0.5, 0.0]
    assert path.c.tolist() == [2.0, 0.0]
    assert path.p_sum.tolist() == [0.5, 0.5]
    assert (now.t, now.square) == (1, 1.0)
    now = take_steps(rows, y, path, rule, now, 1)
    np.testing.assert_allclose(path.alpha, [np.sqrt(2) / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_allclose(path.c, [4 * np.sqrt(2) / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_allclose(path.alpha_sum, path.alpha + [0.5, 0.0], rtol=1e-15)
    assert path.p_sum.tolist() == [0.5, 1.5]
    assert (now.t, now.square, now.i) == (2, 1.0, -1)
    assert rows.last_use.tolist() == [7, 7]


@pytest.mark.fast
def test_a_curved_step_worked_by_hand():
    # K = 1/4, y = 1, eta_0 = 2, n lam = 1/40. After a step w has norm 1 and c = 1/2: the best level
    # is the column itself, p* = 1, r = 1/2, and 1/(r t) = 2/t is shorter than 2/sqrt(t) from t = 2
    # on. alpha = 2 + 1, ||w|| = 3/2: alpha = 2 again.
    path = new_path(1, 0)
    rule = Rule(1 / 40, True, 2.0, True, False, 0)
    now = take_steps(kept([[0.25]]), np.ones(1), path, rule, Now(0, 0.0, 0.0, 0.0, -1), 2)
    assert now.curvature == pytest.approx(0.5)
    assert path.alpha[0] == pytest.approx(2.0)
    assert path.alpha_sum[0] == pytest.approx(4.0)


@pytest.mark.fast
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("nu", [None, 0.0, 0.05])
@pytest.mark.parametrize("step", ["root", "curved"])
def test_steps_equal_the_transcription(nu, bias, choice, step):
    drawn = kernel_problem(Hinge(), 1, n=14, d=3, bias=bias, lam=0.05)
    K, y, n = whole_matrix(drawn), drawn.y[:, 0], 14
    rows = kept(K)
    rule = Rule(
        n * (drawn.lam if nu is None else nu), nu is None, 1.0 / np.sqrt(K.diagonal().max()),
        step == "curved", bias == "free", 10**6 if choice == "random" else 5,
    )  # fmt: skip
    path, now, choices = new_path(n, 3), Now(0, 0.0, 0.0, 0.0, -1), []
    options = {"nu": nu, "lam": drawn.lam, "free": bias == "free", "curved": step == "curved"}
    for t in range(25):
        before = path.visits.copy()
        now = take_steps(rows, y, path, rule, now, 1)
        choices.append(int(np.argmax(path.visits - before)))
        if choice == "deterministic" and t >= 5:
            _, _, p_sum, p = batch_perceptron(K, y, choices[:-1], **options)
            arrears = p_sum + p - before
            sign = 1.0 if arrears[y > 0.0].sum() > 1e-12 else -1.0
            some = (p > 0.0) & (y == sign)
            some = some if some.any() else p > 0.0
            assert some[choices[-1]]
            assert arrears[choices[-1]] >= arrears[some].max() - 1e-9
    alpha, alpha_sum, p_sum, _ = batch_perceptron(K, y, choices, **options)
    np.testing.assert_allclose(path.alpha, alpha, atol=1e-12)
    np.testing.assert_allclose(path.c, y * (K @ (y * alpha)), atol=1e-12)
    np.testing.assert_allclose(path.alpha_sum, alpha_sum, atol=1e-11)
    np.testing.assert_allclose(path.c_sum, y * (K @ (y * alpha_sum)), atol=1e-11)
    np.testing.assert_allclose(path.p_sum, p_sum, atol=1e-12)
    assert now.square == pytest.approx(alpha @ path.c, rel=1e-12)


@pytest.mark.fast
def test_draws_follow_the_adversary():
    # c = 0 for all: every row is under water; with a free bias, mass 1/2 for the only positive row.
    n = 5
    rows = kept(np.zeros((n, n)))
    y = np.array([1.0, -1.0, -1.0, -1.0, -1.0])
    for is_free, shares in ((False, [0.2] * 5), (True, [0.5] + [0.125] * 4)):
        path = new_path(n, 0)
        take_steps(rows, y, path, Rule(1.0, False, 1.0, False, is_free, 10**6),
                   Now(0, 0.0, 0.0, 0.0, -1), 2000)  # fmt: skip
        np.testing.assert_allclose(path.p_sum, 2000 * np.array(shares), rtol=1e-9)
        deviation = np.sqrt(path.p_sum * (1.0 - np.array(shares)))
        assert np.all(np.abs(path.visits - path.p_sum) <= 4.0 * deviation)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("nu", [None, 0.05])
def test_a_small_store_changes_no_bit(nu, choice):
    K = whole_matrix(kernel_problem(Hinge(), 2, n=40, lam=0.02))
    y = np.where(np.arange(40) % 3 == 0, 1.0, -1.0)
    solver = BatchPerceptron(nu=nu, choice=choice)
    ends = []
    for capacity in (40, 4):
        problem = afresh(precomputed(K, y, lam=0.02), capacity)
        state, _ = run_for(solver, problem, 4)
        ends.append(state)
    assert ends[0].runs[0].now == ends[1].runs[0].now
    np.testing.assert_array_equal(ends[0].runs[0].path.alpha, ends[1].runs[0].path.alpha)
    np.testing.assert_array_equal(ends[0].W, ends[1].W)
    np.testing.assert_array_equal(ends[0].A, ends[1].A)


def test_only_rows_that_are_stepped_on_or_likely_are_computed():
    drawn = kernel_problem(Hinge(), 3, n=60, lam=0.02)
    state, _ = run_for(BatchPerceptron(choice="deterministic"), drawn.problem, 3)
    gram, visited = drawn.problem.rows, state.runs[0].path.visits > 0.0
    assert np.all(gram.slot_of[visited] >= 0)
    assert np.all((state.A[:, 0] == 0.0) | visited)
    assert gram.evaluations == 60 * gram.misses  # none was computed twice
    assert gram.misses < 60


# ---- what is certified


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("bias", BIASES)
def test_certified_interval_contains_the_optimum(kernel, bias):
    for seed in range(30):
        nu = 0.02 if seed % 3 == 0 else None
        solver = BatchPerceptron(nu=nu, choice=CHOICES[seed % 2])
        lam = 10.0 ** np.random.default_rng(seed).uniform(-3, 0)
        drawn = kernel_problem(Hinge(), seed, kernel, n=20, d=3, bias=bias, lam=lam)
        state, step = run_for(solver, drawn.problem, 4, seed)
        judge, lam = judged(solver, drawn.problem, state)
        best, _ = kernel_optimum(
            whole_matrix(drawn), drawn.y[:, 0], drawn.weights, lam, "hinge", bias
        )
        accuracy = 1e-6 * (1.0 + best)
        assert judge.dual[0] - accuracy <= best <= judge.primal[0] + accuracy
        assert step.estimate == pytest.approx(judge.relative_gap()[0], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("lam", [1.0, 0.02, 1e-3])
def test_the_regularised_optimum_is_reached(bias, choice, lam):
    drawn = kernel_problem(Hinge(), 4, n=60, bias=bias, lam=lam)
    solver = BatchPerceptron(choice=choice)
    solution = solve(drawn.problem, solver, Stopping(tol=1e-2, max_iter=2000))
    assert solution.certificate.is_within_tol
    best = solve(afresh(drawn.problem), Decomposition(), EXACT).certificate
    assert best.dual <= solution.certificate.primal + 1e-12
    assert solution.certificate.primal <= 1.01 * best.primal
    assert solution.certificate.dual <= best.primal + 1e-12


def test_deterministic_choice_is_tighter_than_random():
    ratios = []
    for seed in range(8):
        drawn = kernel_problem(Hinge(), seed, n=60, bias=BIASES[seed % 2], lam=0.02)
        gaps = [
            run_for(BatchPerceptron(choice=choice), afresh(drawn.problem), 30)[1].estimate
            for choice in CHOICES
        ]
        ratios.append(gaps[1] / gaps[0])
    assert np.median(ratios) < 0.5


def test_curved_steps_are_tighter_than_the_papers():
    ratios = []
    for seed in range(8):
        drawn = kernel_problem(Hinge(), seed, n=60, bias=BIASES[seed % 2], lam=0.02)
        gaps = [
            run_for(BatchPerceptron(step=step), afresh(drawn.problem), 100)[1].estimate
            for step in ("root", "curved")
        ]
        ratios.append(gaps[1] / gaps[0])
    assert np.median(ratios) < 0.7


def test_objective_agrees_with_scikit_learn():
    drawn = kernel_problem(Hinge(), 5, n=60, bias="free", lam=0.02)
    solution = solve(
        drawn.problem, BatchPerceptron(choice="deterministic"), Stopping(tol=1e-3, max_iter=3000)
    )
    K, y = whole_matrix(drawn), drawn.y[:, 0]
    peer = SVC(C=1.0 / (0.02 * 60), kernel="precomputed", tol=1e-8).fit(K, y)
    w = np.zeros(60)
    w[peer.support_] = peer.dual_coef_[0]
    z = K @ w + peer.intercept_[0]
    objective = 0.01 * w @ K @ w + np.maximum(0.0, 1.0 - y * z).mean()
    assert solution.certificate.primal == pytest.approx(objective, rel=1.1e-3)


# ---- nu


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("lam", [0.3, 0.02])
def test_the_nu_of_an_optimum_leads_back_to_its_lam(bias, lam):
    drawn = kernel_problem(Hinge(), 6, n=60, bias=bias, lam=lam)
    best = solve(drawn.problem, Decomposition(), EXACT)
    K, y = whole_matrix(drawn), drawn.y[:, 0]
    z, norm = K @ best.W[:, 0] + best.b, np.sqrt(best.W[:, 0] @ K @ best.W[:, 0])
    nu = float(np.maximum(0.0, 1.0 - y * z).mean() / norm)
    solver = BatchPerceptron(nu=nu, choice="deterministic")
    state, step = run_for(solver, afresh(drawn.problem), 400)
    assert step.estimate < 0.02
    assert solver.regularized(drawn.problem, state).lam == pytest.approx(lam, rel=0.1)
    # 1/gamma is the norm of the optimum, to first order in the gap.
    W, _ = solver.iterate(drawn.problem, state)
    assert np.sqrt(W[:, 0] @ K @ W[:, 0]) == pytest.approx(norm, rel=0.02)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("nu", [0.0, 0.01, 0.2])
def test_given_nu_the_gap_is_that_of_the_slack_problem(nu, bias):
    drawn = kernel_problem(Hinge(), 7, n=40, bias=bias)
    solver = BatchPerceptron(nu=nu, choice="deterministic")
    state, step = run_for(solver, drawn.problem, 15)
    K, b = whole_matrix(drawn), drawn.y[:, 0] * state.A[:, 0]
    B = state.W[:, 0] / np.sqrt(state.W[:, 0] @ K @ state.W[:, 0])
    p = b / b.sum()
    value, bound, lam = slack_bounds(drawn.problem, nu, B, p)
    assert 0.0 < value <= bound
    assert state.implied_lam == pytest.approx(lam, rel=1e-9)
    judge, _ = judged(solver, drawn.problem, state)
    expected = (bound - value) / (40 * p.max() * value)
    assert judge.gap[0] == pytest.approx(expected, rel=1e-6)
    assert step.estimate == pytest.approx(judge.relative_gap()[0], rel=1e-6)


@pytest.mark.parametrize("bias", BIASES)
def test_given_nu_the_certificate_is_of_the_implied_problem(bias):
    drawn = kernel_problem(Hinge(), 7, n=60, bias=bias, lam=1.0)
    solver = BatchPerceptron(nu=0.05, choice="deterministic")
    solution = solve(drawn.problem, solver, Stopping(tol=1e-2, max_iter=1000))
    assert solution.certificate.is_within_tol
    assert solution.lam == solution.state.implied_lam != 1.0
    best = solve(afresh(drawn.problem._replace(lam=solution.lam)), Decomposition(), EXACT)
    assert solution.certificate.dual <= best.certificate.primal + 1e-12
    assert best.certificate.dual <= solution.certificate.primal + 1e-12


def test_no_slack_finds_the_widest_margin():
    # Rows 0 and 2 at -1 and 1: the margin is 1 with w = 1, and no bias is needed.
    problem = precomputed(np.outer([-2.0, -1.0, 1.0, 3.0], [-2.0, -1.0, 1.0, 3.0]), [-1, -1, 1, 1])
    solver = BatchPerceptron(nu=0.0)
    state, _ = run_for(solver, problem, 50)
    W, _ = solver.iterate(problem, state)
    np.testing.assert_allclose(W[:, 0] @ [-2.0, -1.0, 1.0, 3.0], 1.0, rtol=1e-6)


def test_no_slack_for_rows_that_cannot_be_separated_hands_out_nothing():
    problem = precomputed(np.ones((3, 3)), [1, -1, 1])
    solver = BatchPerceptron(nu=0.0)
    state, step = run_for(solver, problem, 5)
    assert step.estimate == np.inf
    assert state.implied_lam is None
    assert not solver.iterate(problem, state)[0].any()


def test_little_slack_for_rows_that_cannot_be_separated_implies_hardly_any_lam():
    problem = precomputed(
        np.ones((3, 3)), [1, -1, 1]
    )  # best without regularisation: mean hinge 2/3
    solver = BatchPerceptron(nu=0.01, step="root")
    state, step = run_for(solver, problem, 2000)
    assert step.estimate < 0.05
    assert state.implied_lam < 0.05
    judge, _ = judged(solver, problem, state)
    assert judge.primal[0] == pytest.approx(2 / 3, rel=0.05)


# ---- containers, seeds, models, warm starts


@pytest.mark.parametrize("choice", CHOICES)
def test_csr_equals_dense_and_seeds_repeat(choice):
    drawn = kernel_problem(Hinge(), 8, n=40, kind="csr", bias="free")
    dense = afresh(drawn.problem, rows=as_rows(drawn.X))
    runs = [
        run_for(BatchPerceptron(choice=choice), problem, 2)[0]
        for problem in (afresh(drawn.problem), dense, afresh(dense, rows=dense.rows.rows))
    ]
    for state in runs:
        offer(drawn.problem, state)
    np.testing.assert_allclose(runs[0].W, runs[1].W, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(runs[1].W, runs[2].W)
    np.testing.assert_array_equal(runs[1].A, runs[2].A)


def test_another_seed_takes_other_steps():
    drawn = kernel_problem(Hinge(), 8, n=40)
    a, b = (run_for(BatchPerceptron(), drawn.problem, 1, seed)[0] for seed in (0, 1))
    assert not np.array_equal(a.runs[0].path.visits, b.runs[0].path.visits)


def test_float32_is_near_float64():
    single = kernel_problem(Hinge(), 9, n=60, dtype=np.float32)
    double = afresh(single.problem, rows=as_rows(single.X))
    stopping = Stopping(tol=3e-3, max_iter=2000)
    a, b = (
        solve(problem, BatchPerceptron(choice="deterministic"), stopping).certificate
        for problem in (single.problem, double)
    )
    assert single.problem.rows.store.dtype == np.float32
    assert a.is_within_tol
    assert a.primal == pytest.approx(b.primal, rel=3e-3)


@pytest.mark.parametrize("bias", BIASES)
def test_models_side_by_side_are_those_of_their_own(bias):
    drawn = kernel_problem(Hinge(), 10, n=40, K=3, bias=bias)
    solver = BatchPerceptron()
    together, _ = run_for(solver, drawn.problem, 2, seed=5)
    W, _ = solver.iterate(drawn.problem, together)
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        problem = drawn.problem._replace(costs=costs)
        alone, _ = run_for(solver, problem, 2, seed=5 + (k << 32))
        np.testing.assert_array_equal(W[:, [k]], solver.iterate(problem, alone)[0])


def test_epochs_count_rows_once_however_many_models():
    drawn = kernel_problem(Hinge(), 10, n=40, K=3)
    solver = BatchPerceptron()
    state, visited = solver.start(drawn.problem, 0, None), []
    for _ in range(6):
        visited.append(solver.advance(drawn.problem, state))
    assert sum(step.rows_visited for step in visited) == 80
    assert [step.ends_epoch for step in visited] == [False, False, True] * 2


@pytest.mark.parametrize("bias", BIASES)
def test_warm_starts_keep_what_is_known(bias):
    drawn = kernel_problem(Hinge(), 11, n=60, bias=bias, lam=0.02)
    near = drawn.problem._replace(lam=0.022)
    own, _ = run_for(BatchPerceptron(choice="deterministic"), near, 100)
    other = solve(near, Decomposition(), EXACT).state
    solver = BatchPerceptron(choice="deterministic")
    cold = run_for(solver, drawn.problem, 1)[1].estimate
    for previous in (own, other):
        assert run_for(solver, drawn.problem, 1, previous=previous)[1].estimate < 0.5 * cold
    same, _ = run_for(solver, near, 1, previous=other)  # the optimum itself: nothing is lost
    assert judged(solver, near, same)[0].relative_gap()[0] < 1e-8


def test_one_class_needs_a_bias_and_no_weights():
    problem = precomputed(np.eye(4), np.ones(4), bias="free")
    solution = solve(problem, BatchPerceptron(), Stopping(tol=1e-6, max_iter=10))
    assert solution.certificate.primal == 0.0
    assert solution.certificate.is_within_tol
    assert not solution.W.any()


def test_rows_without_any_length_are_no_trouble():
    problem = precomputed(np.zeros((4, 4)), [1, -1, 1, 1])
    solution = solve(problem, BatchPerceptron(), Stopping(tol=1e-6, max_iter=50))
    assert solution.certificate.primal == pytest.approx(1.0, rel=1e-14)
    assert solution.certificate.is_within_tol


# ---- refusals


@pytest.mark.fast
@pytest.mark.parametrize("nu", [-0.1, float("nan"), float("inf"), "0.1", True])
def test_nu_must_be_a_number_from_0(nu):
    with pytest.raises(InvalidParameter, match=r"nu must be None, 0 or a positive number; got nu="):
        BatchPerceptron(nu=nu).check()


@pytest.mark.fast
def test_nu_must_leave_some_rows_dry():
    problem = precomputed(4.0 * np.eye(3), [1, -1, 1])
    with pytest.raises(InvalidParameter, match=r"less than 2 sqrt\(max K\(x, x\)\) = 4 .* nu=4.0"):
        BatchPerceptron(nu=4.0).start(problem, 0, None)
    BatchPerceptron(nu=3.9).start(problem, 0, None)


@pytest.mark.fast
@pytest.mark.parametrize("options", [{"choice": "best"}, {"step": 0.1}])
def test_unknown_choices_are_refused(options):
    with pytest.raises(InvalidParameter, match=f"{next(iter(options))} must be one of"):
        BatchPerceptron(**options).check()


@pytest.mark.fast
def test_weights_other_losses_and_a_nu_for_many_are_refused():
    weighted = kernel_problem(Hinge(), 12, weighted=True).problem
    with pytest.raises(InvalidParameter, match="batch_perceptron has no sample weights"):
        BatchPerceptron().start(weighted, 0, None)
    squared = kernel_problem(SquaredHinge(), 12).problem
    with pytest.raises(InvalidParameter, match='"batch_perceptron" is for loss="hinge"'):
        BatchPerceptron().start(squared, 0, None)
    three = kernel_problem(Hinge(), 12, K=3).problem
    with pytest.raises(InvalidParameter, match="slack of one model, and there are 3"):
        BatchPerceptron(nu=0.1).start(three, 0, None)


# ---- real data


@pytest.mark.data
@pytest.mark.parametrize("bias", BIASES)
def test_usps_is_certified_to_a_percent_with_a_quarter_of_the_kernel_matrix(bias):
    with lzma.open(Path(os.environ["PEGASOS_DATA"], "usps", "usps.libsvm.xz")) as file:
        X, digits = load_svmlight_file(file)
    X = X.toarray() / sparse.linalg.norm(X, axis=1)[:, None]
    n, Y = len(digits), np.where(digits == 8, 1.0, -1.0)[:, None]
    gram = Gram(Gaussian(2.0), as_rows(X), 10 * BUDGET)
    problem = make_problem(Hinge(), gram, Y, None, 1.0 / n, bias)
    solution = solve(
        problem, BatchPerceptron(choice="deterministic"), Stopping(tol=1e-2, max_iter=6)
    )
    assert solution.certificate.is_within_tol
    assert gram.evaluations < 0.25 * n**2


@pytest.mark.fast
def test_draws_begin_at_the_seed():
    assert [int(new_path(3, seed).random[0]) for seed in (0, 1, 2**64 + 5)] == [0, 1, 5]
