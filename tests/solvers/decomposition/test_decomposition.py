"""Dual decomposition: optima for every loss, bias and working set, and on degenerate data."""

import pickle

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge, value
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.decomposition import pairwise
from pegasos.solvers.decomposition import working_set as working_sets
from pegasos.solvers.decomposition.box import box_of, caps, feasible
from pegasos.solvers.decomposition.decomposition import Decomposition
from tests.reference import smo as reference
from tests.reference.kernel_optimum import kernel_optimum
from tests.solvers.kernel_problems import BUDGET, afresh, kernel_problem, whole_matrix

QUADRATIC = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)]
NAMES = {Hinge: "hinge", SquaredHinge: "squared_hinge", EpsilonInsensitive: "epsilon_insensitive"}
TIGHT = Stopping(tol=1e-9, max_iter=20_000)


def solved(problem, q="auto", stopping=TIGHT, *, shrinking=True, **options):
    """Solve, and check what every solution must be."""
    found = solve(problem, Decomposition(q, shrinking), stopping, **options)
    certificate = found.certificate
    assert certificate.gap >= certificate.primal - certificate.dual - 1e-12 * certificate.primal
    assert certificate.gap >= 0.0
    return found


def primal(K, drawn, loss, B, b, k=0):
    """The objective of an expansion, by definition."""
    s, z = drawn.weights, K @ B + b
    losses = [value(loss, float(t), float(y)) for t, y in zip(z, drawn.y[:, k], strict=True)]
    return 0.5 * drawn.lam * (B @ K @ B) + s @ np.array(losses) / s.sum()


# ---- by hand


@pytest.mark.fast
@pytest.mark.parametrize("q", [2, 3, "auto"])
def test_two_rows_worked_by_hand(q):
    # K = 1, lam = 1/4, S = 2, C = 1/(lam S) = 2. Free bias: beta = (t, -t), the dual is
    # 2t - t^2/2 (1 + 1 - 2 K_01) = 2t - t^2 for K_01 = 0, at most at t = 1, where f = (1, -1).
    gram = Gram(Precomputed(), as_rows(np.eye(2)), BUDGET)
    problem = make_problem(Hinge(), gram, np.array([[1.0], [-1.0]]), None, 0.25, "free")
    found = solved(problem, q)
    assert found.W[:, 0].tolist() == [1.0, -1.0]
    assert found.b[0] == pytest.approx(0.0, abs=1e-12)
    assert found.certificate.primal == pytest.approx(0.5 * 0.25 * 2.0, rel=1e-12)
    assert found.certificate.gap <= 1e-13  # what rounding may hide


@pytest.mark.fast
def test_boxes_are_those_of_the_losses():
    Y, s = np.array([[1.0], [-1.0], [1.0]]), np.array([1.0, 2.0, 0.0])
    for loss, low, high in (
        (Hinge(), [0.0, -2.0, 0.0], [1.0, 0.0, 0.0]),
        (EpsilonInsensitive(0.3), [-1.0, -2.0, 0.0], [1.0, 2.0, 0.0]),
    ):
        gram = Gram(Precomputed(), as_rows(np.eye(3)), BUDGET)
        problem = make_problem(loss, gram, Y, s, 1.0 / 3.0)  # C_i = s_i
        np.testing.assert_allclose(caps(problem), s)
        box = box_of(problem, 0)
        np.testing.assert_allclose(box.low, low)
        np.testing.assert_allclose(box.high, high)
        assert not box.ridge.any()
        assert box.epsilon == (0.3 if isinstance(loss, EpsilonInsensitive) else 0.0)
        some = box_of(problem, 0, np.array([1, 2]))
        np.testing.assert_allclose(some.high, high[1:])
    box = box_of(problem._replace(costs=problem.costs._replace(loss=SquaredHinge())), 0)
    np.testing.assert_allclose(box.ridge, [0.5, 0.25, 0.0])
    assert box.low[0] == box.low[2] == box.high[1] == box.high[2] == 0.0


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("lam", [1e-3, 1e-1, 1e2])
def test_no_optimum_of_the_squared_hinge_is_at_its_far_bound(bias, lam):
    for seed in range(5):
        drawn = kernel_problem(SquaredHinge(), seed, bias=bias, lam=lam, weighted=seed > 2)
        found = solved(drawn.problem, stopping=Stopping(tol=1e-6))
        box = box_of(drawn.problem, 0)
        inside = drawn.weights > 0.0
        assert np.all(np.abs(found.W[inside, 0]) < 0.9 * np.maximum(box.high, -box.low)[inside])


# ---- working sets


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("q", [2, 3, 10, 50, "auto"])
def test_every_working_set_reaches_the_optimum(loss, bias, q):
    drawn = kernel_problem(loss, 2, n=60, weighted=True, bias=bias, lam=0.02)
    found = solved(drawn.problem, q)
    assert found.certificate.relative_gap <= 1e-9
    K = whole_matrix(drawn)
    mine = primal(K, drawn, loss, found.W[:, 0], found.b[0])
    assert found.certificate.primal == pytest.approx(mine, rel=1e-12)
    best, _ = kernel_optimum(K, drawn.y[:, 0], drawn.weights, drawn.lam, NAMES[type(loss)], bias)
    assert mine == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("q", [1, 2, 3, 10, "auto"])
def test_a_store_of_four_rows_changes_nothing_but_the_work(bias, q):
    drawn = kernel_problem(Hinge(), 3, n=50, bias=bias, lam=0.02)
    tight = Stopping(tol=1e-7, max_iter=20_000)
    whole, small = (solved(afresh(drawn.problem, capacity), q, tight) for capacity in (None, 4))
    assert small.certificate.relative_gap <= 1e-7
    assert small.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-7)
    evaluations = [s.trace.records[-1].evaluations for s in (whole, small)]
    assert evaluations[0] < evaluations[1]
    if q == "auto":
        assert evaluations[0] == 50 * 50  # the whole matrix, once


def test_a_working_set_of_all_rows_finds_them_in_any_order_in_the_store():
    # Rows come into the store in the order they are asked for; the whole matrix is then read there.
    drawn = kernel_problem(Hinge(), 4, n=60, bias="free", lam=0.02)
    gram = drawn.problem.rows
    gram.hold(np.random.default_rng(0).permutation(60)[:35])
    evaluations = gram.evaluations
    found = solved(drawn.problem)
    assert found.certificate.relative_gap <= 1e-9
    assert found.certificate.epochs <= 15
    assert gram.evaluations - evaluations == 25 * 60


# ---- shrinking


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("every", [1, 7, 60])
def test_shrinking_never_changes_the_answer(loss, bias, every, monkeypatch):
    monkeypatch.setattr(pairwise, "SHRINK_EVERY", every)
    drawn = kernel_problem(loss, 5, n=60, weighted=True, bias=bias, lam=0.02)
    with_it, without = (
        solved(afresh(drawn.problem, 9), 2, shrinking=shrinking) for shrinking in (True, False)
    )
    assert with_it.certificate.relative_gap <= 1e-9
    assert with_it.certificate.primal == pytest.approx(without.certificate.primal, rel=3e-9)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("every", [10, 20])
def test_all_rows_may_be_stuck_when_it_is_time_to_shrink(bias, every, monkeypatch):
    # C is so small that every row goes to its bound in one step, 20 singles or 10 pairs.
    monkeypatch.setattr(pairwise, "SHRINK_EVERY", every)
    drawn = kernel_problem(Hinge(), 6, n=20, bias=bias, lam=100.0)
    drawn.problem.costs.Y[:, 0] = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    found = solved(drawn.problem, 2)
    assert found.certificate.relative_gap <= 1e-9
    np.testing.assert_allclose(np.abs(found.W[:, 0]), caps(drawn.problem), rtol=1e-12)


@pytest.mark.parametrize(("bias", "rows_of_step"), [("none", 1), ("free", 2)])
def test_the_rows_that_smo_used_are_counted(bias, rows_of_step, monkeypatch):
    name = "ascend_pairs" if bias == "free" else "ascend_singles"
    ascend, steps = getattr(pairwise, name), []

    def counting(*arguments):
        told = ascend(*arguments)
        steps.append(told[0])
        return told

    monkeypatch.setattr(pairwise, name, counting)
    drawn = kernel_problem(Hinge(), 7, n=30, bias=bias, lam=0.02)
    gram, solver = drawn.problem.rows, Decomposition(2)
    state = solver.start(drawn.problem, 0, None)
    while not solver.advance(drawn.problem, state).ends_epoch:
        pass
    assert gram.misses == np.count_nonzero(gram.slot_of >= 0) > 0
    assert gram.evaluations == 30 * gram.misses
    looked_up = rows_of_step * sum(steps) + np.count_nonzero(state.models.B)  # the last: catch_up
    assert gram.hits + gram.misses == looked_up


# ---- weights, models, precision, containers, seeds


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_a_weight_of_2_is_the_row_twice_and_a_weight_of_0_no_row(loss, bias, q):
    drawn = kernel_problem(loss, 8, n=30, bias=bias)
    s = np.random.default_rng(0).integers(0, 3, 30)
    s[:2] = 1
    twice = np.repeat(np.arange(30), s)
    lam = drawn.lam
    weighted = make_problem(loss, drawn.problem.rows, drawn.y, s.astype(float), lam, bias)
    rows = Gram(Gaussian(0.3), as_rows(drawn.X[twice]), BUDGET)
    repeated = make_problem(loss, rows, drawn.y[twice].copy(), None, lam, bias)
    a, b = solved(weighted, q), solved(repeated, q)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=3e-9)
    assert not a.W[s == 0].any()
    together = np.zeros(30)
    np.add.at(together, twice, b.W[:, 0])
    K = whole_matrix(drawn)
    np.testing.assert_allclose(K @ a.W[:, 0] + a.b, K @ together + b.b, atol=1e-3)


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_models_side_by_side_reach_their_own_optima(loss, q):
    drawn = kernel_problem(loss, 9, n=50, K=3, bias="free", lam=0.02)
    together = solved(drawn.problem, q)
    assert together.certificate.models["relative_gap"].max() <= 1e-9
    for k in range(3):
        costs = drawn.problem.costs._replace(Y=drawn.y[:, k : k + 1].copy())
        alone = solved(drawn.problem._replace(costs=costs), q)
        assert together.certificate.models["primal"][k] == pytest.approx(
            alone.certificate.primal, rel=3e-9
        )


@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_a_model_without_anything_to_do_does_not_hold_up_the_others(q):
    # With a free bias a column of equal labels is fitted perfectly by w = 0: primal = dual = 0.
    drawn = kernel_problem(Hinge(), 10, n=50, K=3, bias="free", lam=0.02)
    drawn.problem.costs.Y[:, 1] = 1.0
    found = solved(drawn.problem, q, Stopping(tol=1e-6, max_iter=1_000))
    assert found.certificate.models["relative_gap"].max() <= 1e-6
    assert found.certificate.models["primal"][1] <= 1e-12


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("q", [2, "auto"])
def test_float32_is_near_float64(loss, q):
    single = kernel_problem(loss, 11, n=60, dtype=np.float32, bias="free").problem
    double = afresh(single, rows=as_rows(np.asarray(single.rows.rows.X, dtype=np.float64)))
    a, b = (solved(p, q, Stopping(tol=1e-4)) for p in (single, double))
    assert single.rows.store.dtype == np.float32
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=2e-4)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.2), Linear(), Polynomial(0.3, 1, 3)])
@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_csr_equals_dense(kernel, q):
    drawn = kernel_problem(Hinge(), 12, kernel, n=40, bias="free", kind="csr")
    dense = afresh(drawn.problem, rows=as_rows(drawn.X))
    a, b = solved(drawn.problem, q), solved(dense, q)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=3e-9)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_equal_seeds_give_equal_bits(bias, q, monkeypatch):
    monkeypatch.setattr(working_sets, "FEW_ROWS", 20)  # so that the seed matters
    drawn = kernel_problem(Hinge(), 13, n=80, bias=bias, lam=0.02)
    stopping = Stopping(tol=1e-3)
    ends = [solved(afresh(drawn.problem), q, stopping, seed=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(ends[0].W, ends[1].W)
    np.testing.assert_array_equal(ends[0].b, ends[1].b)
    if q != 2:  # SMO looks at all rows: there is nothing random in it
        assert not np.array_equal(ends[0].W, ends[2].W)


# ---- warm starts


@pytest.mark.fast
def test_coefficients_of_another_run_are_made_feasible():
    # C_i = 1: clipped to (1, 0.5, -0.25, 0); the positive ones weigh 1.5, so they shrink to 1/6.
    Y, B = np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([[3.0], [0.5], [-0.25], [0.7]])
    gram = Gram(Precomputed(), as_rows(np.eye(4)), BUDGET)
    for bias, expected in (("none", [1.0, 0.5, -0.25, 0.0]), ("free", [1 / 6, 1 / 12, -0.25, 0.0])):
        found = feasible(make_problem(Hinge(), gram, Y, None, 0.25, bias), B)
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-15)
    one_class = make_problem(Hinge(), gram, np.ones((4, 1)), None, 0.25, "free")
    assert not feasible(one_class, B).any()
    assert B[0, 0] == 3.0  # a copy was changed


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_a_warm_start_at_the_optimum_has_nothing_to_do(loss, bias, q):
    drawn = kernel_problem(loss, 14, n=50, bias=bias)
    first = solved(drawn.problem, q)
    again = solved(afresh(drawn.problem), q, Stopping(tol=2e-9), previous=first.state)
    assert again.certificate.epochs <= 2
    assert again.certificate.relative_gap <= 2e-9


@pytest.mark.parametrize("loss", QUADRATIC, ids=str)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_a_warm_start_after_a_change_of_the_penalty_reaches_the_new_optimum(loss, bias, factor, q):
    drawn = kernel_problem(loss, 15, n=50, bias=bias)
    first = solved(drawn.problem, q)
    other = afresh(drawn.problem)._replace(lam=factor * drawn.lam)
    warm, cold = solved(other, q, previous=first.state), solved(other, q)
    assert warm.certificate.relative_gap <= 1e-9
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=3e-9)


@pytest.mark.parametrize("q", [2, "auto"])
def test_the_first_certificate_of_a_warm_start_with_other_labels_is_valid(q):
    drawn = kernel_problem(Hinge(), 16, n=50, bias="free")
    first = solved(drawn.problem, q)
    other = afresh(drawn.problem)._replace(
        costs=drawn.problem.costs._replace(Y=-drawn.problem.costs.Y)
    )
    best = solved(other, q).certificate.primal
    warm = solved(other, q, Stopping(tol=1e-12, max_iter=1), previous=first.state)
    assert warm.certificate.dual <= best * (1 + 1e-9)
    assert warm.certificate.primal >= best * (1 - 1e-9)


def test_a_state_survives_a_pickle_and_goes_on():
    drawn = kernel_problem(Hinge(), 17, n=50, bias="free")
    first = solved(drawn.problem, 10, Stopping(tol=0.1))
    copy = pickle.loads(pickle.dumps(first.state))
    found = solved(afresh(drawn.problem), 10, previous=copy)
    assert found.certificate.relative_gap <= 1e-9


# ---- other programs


@pytest.mark.parametrize("q", [2, "auto"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_the_objective_is_that_of_libsvm(kernel, q):
    tag = {"rbf": Gaussian(0.3), "poly": Polynomial(0.3, 1.0, 3.0), "linear": Linear()}[kernel]
    drawn = kernel_problem(Hinge(), 18, tag, n=80, bias="free", weighted=True, lam=0.02)
    found = solved(drawn.problem, q)
    C, some = 1.0 / (drawn.lam * drawn.weights.sum()), np.flatnonzero(drawn.weights)
    libsvm = SVC(C=C, kernel=kernel, gamma=0.3, coef0=1.0, degree=3, tol=1e-8)
    libsvm.fit(drawn.X[some], drawn.y[some, 0], sample_weight=drawn.weights[some])
    B = np.zeros(80)
    B[some[libsvm.support_]] = libsvm.dual_coef_[0]
    theirs = primal(whole_matrix(drawn), drawn, Hinge(), B, libsvm.intercept_[0])
    assert found.certificate.primal == pytest.approx(theirs, rel=1e-6)
    assert found.certificate.primal <= theirs * (1 + 1e-8)


@pytest.mark.parametrize("q", [2, "auto"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_the_objective_of_regression_is_that_of_libsvm(q, epsilon):
    loss = EpsilonInsensitive(epsilon)
    drawn = kernel_problem(loss, 19, n=80, bias="free", lam=0.02)
    found = solved(drawn.problem, q)
    libsvm = SVR(C=1.0 / (0.02 * 80), gamma=0.3, epsilon=epsilon, tol=1e-8)
    libsvm.fit(drawn.X, drawn.y[:, 0])
    B = np.zeros(80)
    B[libsvm.support_] = libsvm.dual_coef_[0]
    theirs = primal(whole_matrix(drawn), drawn, loss, B, libsvm.intercept_[0])
    assert found.certificate.primal == pytest.approx(theirs, rel=1e-6)
    assert found.certificate.primal <= theirs * (1 + 1e-8)


KERNELS = {
    "linear": lambda rng: Linear(),
    "gaussian": lambda rng: Gaussian(float(10.0 ** rng.uniform(-2, 0.5))),
    "polynomial": lambda rng: Polynomial(
        float(rng.uniform(0.1, 1.0)), float(rng.uniform(0.0, 2.0)), int(rng.integers(1, 4))
    ),
    "laplacian": lambda rng: Laplacian(float(10.0 ** rng.uniform(-2, 0.5))),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("part", [0, 1, 2])
def test_the_certified_interval_contains_the_optimum(kernel, bias, part):
    for number in range(100 + 10 * part, 110 + 10 * part):
        rng, loss = np.random.default_rng(number), QUADRATIC[number % 3]
        drawn = kernel_problem(
            loss, number, KERNELS[kernel](rng), n=int(rng.integers(6, 30)),
            d=int(rng.integers(1, 6)), weighted=number % 2 == 1, bias=bias,
            lam=float(10.0 ** rng.uniform(-2.5, 0)),
        )  # fmt: skip
        best, exact = kernel_optimum(
            whole_matrix(drawn), drawn.y[:, 0], drawn.weights, drawn.lam, NAMES[type(loss)], bias
        )
        slack = 1e-7 * max(1e-2, best)  # of the independent solver
        reach = np.sqrt(2.0 * slack / drawn.lam * (drawn.problem.rows.diagonal + 1.0))
        for q, rounds in ((2, 1), (4, 1), (4, 5), ("auto", 1), ("auto", 40)):
            found = solved(drawn.problem, q, Stopping(tol=1e-13, max_iter=rounds))
            for record in found.trace.records:
                assert record.dual <= best + slack
                assert record.primal >= best - slack
            if bias == "none":  # a free bias may have an interval of optima
                low, high = (bound[:, 0] for bound in found.ball.bounds(drawn.problem.rows))
                assert np.all(low - reach <= exact)
                assert np.all(exact <= high + reach)
        assert found.certificate.relative_gap <= 1e-6  # after 40 rounds


# ---- limits and refusals


@pytest.mark.fast
@pytest.mark.parametrize("bad", [0, -3, 2.5, "all", True, None])
def test_a_working_set_is_a_whole_number_or_auto(bad):
    with pytest.raises(ValueError, match=r'working_set must be .* or "auto"; got'):
        Decomposition(working_set=bad).check()


@pytest.mark.fast
def test_shrinking_is_a_flag():
    with pytest.raises(ValueError, match="shrinking must be True or False; got 3"):
        Decomposition(shrinking=3).check()


def test_the_logistic_loss_is_no_quadratic_programme():
    assert not any(isinstance(Logistic(), kind) for kind in decomposition_losses())


def decomposition_losses():
    from pegasos.solvers.catalogue import KERNEL_SOLVERS

    return KERNEL_SOLVERS["decomposition"].losses


@pytest.mark.parametrize("q", [2, 10, "auto"])
def test_a_run_that_is_ended_at_once_hands_out_what_it_has(q):
    drawn = kernel_problem(Hinge(), 20, n=200, bias="free", lam=1e-3)
    found = solved(drawn.problem, q, Stopping(tol=1e-9, max_time=1e-9))
    assert found.outcome is Outcome.TIME
    assert np.isfinite(found.certificate.primal)
    assert found.certificate.dual <= solved(drawn.problem).certificate.primal


def test_smo_hands_out_what_it_has_in_the_middle_of_its_first_round():
    drawn = kernel_problem(Hinge(), 21, n=300, bias="free", lam=1e-3)
    solver = Decomposition(2)
    state = solver.start(drawn.problem, 0, None)
    for _ in range(60):
        assert not solver.advance(drawn.problem, state).ends_epoch
    A, scale, _ = solver.dual_point(drawn.problem, state)
    beta = scale * A[:, 0] * caps(drawn.problem)
    assert np.count_nonzero(beta) > 10
    dual = reference.Dual(whole_matrix(drawn), drawn.y[:, 0], *box_of(drawn.problem, 0))
    assert reference.value(dual, beta) > 0.0


@pytest.mark.parametrize("short", [0, 10**9])  # rows are never, or always, cheap to compute
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", ["none", "free"])
def test_responses_stay_those_of_the_coefficients(short, dtype, bias, monkeypatch):
    monkeypatch.setattr("pegasos.kernel_matrix.gram.SHORT", short)
    drawn = kernel_problem(Hinge(), 3, n=60, dtype=dtype, bias=bias, lam=0.01)
    gram, K = drawn.problem.rows, whole_matrix(drawn)
    solver = Decomposition(working_set=12)
    state = solver.start(drawn.problem, 0, None)
    for _ in range(60):
        solver.advance(drawn.problem, state)
        error = np.abs(state.models.F - K @ state.models.B).max()
        assert error <= 4.0 * gram.rounding * np.abs(state.models.B).sum() + 1e-12
    is_bound = np.abs(state.models.B[:, 0]) * 60 * 0.01 >= 1.0
    assert is_bound.any()
    assert np.all(gram.slot_of[is_bound] >= 0) == (short == 0)


@pytest.mark.parametrize(("columns", "models"), [(3, 1), (3, 2), (60, 1)])
def test_only_rows_that_cost_more_to_compute_than_to_store_are_kept(columns, models, monkeypatch):
    monkeypatch.setattr("pegasos.solvers.decomposition.inner_solve.LEAST_ROWS", 20)
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, columns)), np.sign(rng.standard_normal((60, models)))
    gram = Gram(Gaussian(0.2), as_rows(X), BUDGET)
    problem = make_problem(SquaredHinge(), gram, Y, None, 0.02, "free")
    found = solve(problem, Decomposition(working_set=20), Stopping(tol=1e-6, max_iter=200))
    assert found.certificate.relative_gap <= 1e-6
    assert (gram.kept.used == 0) == (columns == 3 and models == 1)
