"""What a Newton step is made of, against a few lines of NumPy."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.centre import seen_from
from pegasos.data.rows import as_rows, some_rows_of
from pegasos.problem.losses import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredHinge,
    dual_step,
    gap_term,
    response,
    slope,
    value,
)
from pegasos.problem.objective import make_problem
from pegasos.solvers.newton import hessian as products
from pegasos.solvers.newton import passes
from pegasos.solvers.newton.columns import Columns, add_products, columns_of
from pegasos.solvers.newton.envelope import BALANCE, GAP, VALUE, Smoothing, slopes_along, unit_of
from pegasos.solvers.newton.hessian import hessian, hessian_after
from pegasos.solvers.newton.line_search import FLAT, Function, Line, search
from pegasos.solvers.newton.model import (
    BACK,
    DAMPED,
    EASED,
    PATIENCE,
    SLOWLY,
    WIDER,
    direction,
    narrow,
    next_damping,
    proof_of,
    widen,
)
from pegasos.solvers.newton.newton import started
from pegasos.solvers.newton.passes import curvatures_of, secants_of, write_scores

pytestmark = pytest.mark.fast

CONTAINERS = [np.asarray, sparse.csr_array]
HINGE = Hinge()


def posed(container, seed=0, n=40, d=5, loss=HINGE, bias="free"):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6) * [1.0, 10.0, 0.1, 1.0, 1.0]
    X[:, 4] = 3.0
    X += 0.0 if container is sparse.csr_array else [5.0, -2.0, 0.0, 1.0, 0.0]
    s = rng.random(n)
    s[:3] = 0.0
    Y = np.where(rng.random((n, 1)) < 0.4, 1.0, -1.0)
    return X, s, make_problem(loss, as_rows(container(X)), Y, s, 0.01, bias, 2.0)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("is_centred", [True, False])
def test_columns_are_mean_and_deviation(container, is_centred):
    X, s, problem = posed(container)
    m, scale, reach = columns_of(problem, is_centred)
    mean = np.average(X, axis=0, weights=s) if is_centred else np.zeros(5)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=s))
    spread[4] = 3.0  # constant: its size
    np.testing.assert_allclose(m, mean, atol=1e-14)
    np.testing.assert_allclose(scale, spread)
    np.testing.assert_allclose(reach[:4], (np.abs(X - mean)[s > 0.0].max(axis=0) / spread)[:4])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("block", [3, 1024])
@pytest.mark.parametrize("sparse_cost", [0.0, 8.0, 1e9])
def test_hessian_is_a_sum_over_rows(container, block, sparse_cost, monkeypatch):
    monkeypatch.setattr(products, "BLOCK", block)
    monkeypatch.setattr(products, "SPARSE", sparse_cost)
    X, _, problem = posed(container)
    columns = columns_of(problem, True)
    h = np.random.default_rng(1).random(40)
    h[::3] = 0.0
    rows = np.hstack([(X - columns.m) / columns.scale, np.ones((40, 1))])
    np.testing.assert_allclose(
        hessian(problem, columns, h), (rows.T * h) @ rows, atol=1e-12 * h.sum()
    )


def test_a_hessian_goes_on_from_the_last_where_few_rows_change(monkeypatch):
    monkeypatch.setattr(products, "SPARSE", 0.0)
    _, _, problem = posed(sparse.csr_array)
    columns, rng, read = columns_of(problem, True), np.random.default_rng(1), []

    def counting(rows, chosen, h, G):
        read.append(len(chosen))
        add_products(rows, chosen, h, G)

    monkeypatch.setattr(products, "add_products", counting)
    h, counted = rng.random(40), None
    for changed in ([], [1, 5], range(5, 25), range(30), [0]):
        h = h.copy()
        h[changed] = np.where(h[changed] > 0.0, 0.0, 2.0)
        H, counted = hessian_after(problem, columns, h, counted)
        np.testing.assert_allclose(H, hessian(problem, columns, h), rtol=1e-10, atol=1e-10)
    assert read[::2] == [40, 2, 20, 30, 1]


def test_no_more_is_kept_of_a_hessian_than_numbers_of_rows(monkeypatch):
    monkeypatch.setattr(products, "SPARSE", 0.0)
    for n, is_kept in ((36, True), (35, False)):
        _, _, problem = posed(sparse.csr_array, n=n)
        _, counted = hessian_after(problem, columns_of(problem, True), np.ones(n), None)
        assert (counted is not None) == is_kept


def test_no_row_answers():
    _, _, problem = posed(np.asarray)
    assert not hessian(problem, columns_of(problem, True), np.zeros(40)).any()


@pytest.mark.parametrize("container", CONTAINERS)
def test_scores_are_those_of_centred_rows(container):
    X, _, problem = posed(container)
    m, w = X.mean(axis=0), np.arange(1.0, 6.0)[:, None]
    seen = problem._replace(rows=seen_from(problem.rows, m))
    Z = np.empty((40, 1))
    write_scores(seen, w, np.array([0.5]), Z)
    np.testing.assert_allclose(Z, (X - m) @ w + 0.5)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()], ids=str)
def test_a_direction_solves_the_newton_equations(loss, bias, container):
    X, s, problem = posed(container, loss=loss, bias=bias)
    state = started(problem, columns_of(problem, bias != "none"), None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    model = state.models[0]
    model.damping = 0.0
    h = curvatures_of(seen, model.smoothing, model.Z, model.A)
    p, c = direction(seen, state.columns, model, h)
    y, S = problem.costs.Y[:, 0], s.sum()
    wide = np.hstack([X, np.ones((40, 1))])
    curvature = {SquaredHinge: 2.0, Logistic: 0.25}[type(loss)]  # at score 0
    penalty = np.full(6, 0.01)
    penalty[5] = 0.01 / 4.0 if bias == "regularized" else 0.0
    used = slice(None) if bias != "none" else slice(5)
    H = ((wide.T * s) @ wide * curvature / S + np.diag(penalty))[used, used]
    g = (wide.T @ (s * [slope(loss, 0.0, t) for t in y]) / S)[used]
    step = -np.linalg.solve(H + 1e-300, g)
    found = np.append(p[:, 0], c - state.columns.m @ p[:, 0])[used]
    np.testing.assert_allclose(found, step, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_distance_and_objective_are_those_of_rows_as_they_are(bias, container):
    X, s, problem = posed(container, loss=SquaredHinge(), bias=bias)
    state = started(problem, columns_of(problem, bias != "none"), None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    model, m = state.models[0], state.columns.m
    model.w[:], model.b[:] = np.arange(-2.0, 3.0)[:, None], 0.3 if bias != "none" else 0.0
    write_scores(seen, model.w, model.b, model.Z)
    model.answer(seen)
    S, A, b = s.sum(), model.A[:, 0], model.b[0] - m @ model.w[:, 0]
    off = model.w[:, 0] - (s * A) @ (X - (m if bias == "free" else 0.0)) / (0.01 * S)
    rest, square = 0.005 * off @ off, model.w[:, 0] @ model.w[:, 0]
    if bias == "free":
        rest += abs(s @ A) / S
    if bias == "regularized":
        rest += 0.005 * (b / 2.0 - 2.0 * (s @ A) / (0.01 * S)) ** 2
        square += (b / 2.0) ** 2
    losses = np.maximum(0.0, 1.0 - problem.costs.Y[:, 0] * (X @ model.w[:, 0] + b)) ** 2
    found = proof_of(seen, state.columns, model)
    np.testing.assert_allclose([found.rest, found.primal], [rest, s @ losses / S + 0.005 * square])


@pytest.mark.parametrize("part", [10, 10**6])
@pytest.mark.parametrize("q", [0.0, 0.3])
@pytest.mark.parametrize("loss", [HINGE, SquaredHinge(), EpsilonInsensitive(0.2)], ids=str)
def test_passes_over_scores_are_sums_of_the_functions_of_a_loss(loss, q, part, monkeypatch):
    monkeypatch.setattr(passes, "PART", part)
    _, s, problem = posed(np.asarray, loss=loss)
    y, rng = problem.costs.Y[:, 0], np.random.default_rng(3)
    Z, D, A = 2.0 * rng.standard_normal((40, 1)), rng.standard_normal((40, 1)), rng.random((40, 1))
    B, before, d, u = 0.5 * problem.costs.Y, A[:, 0].copy(), D[:, 0].copy(), 0.7
    z = Z[:, 0] + u * d
    rows = list(zip(z, B[:, 0], y, strict=True))
    c = np.array([dual_step(loss, z, beta, q, t) for z, beta, t in rows])
    h = [response(loss, z, beta, a, q, t) for a, (z, beta, t) in zip(c, rows, strict=True)]
    gaps = [gap_term(loss, z, a, t) for a, (z, _, t) in zip(c, rows, strict=True)]
    smoothing = Smoothing(B, q)
    found = slopes_along(problem.costs, smoothing, Z, D, u, (5, 40))
    np.testing.assert_allclose(found, [-(s * c * d)[5:].sum(), (s * h * d * d)[5:].sum()])
    sums, _ = passes.move_rows(problem, smoothing, Z, A, D, u)
    np.testing.assert_allclose(Z[:, 0], z, rtol=1e-15)
    np.testing.assert_allclose(A[:, 0], c, rtol=1e-14)
    np.testing.assert_allclose(D[:, 0], c - before, atol=1e-15)
    np.testing.assert_allclose(sums[GAP, 0], s @ gaps if q > 0.0 else 0.0, atol=1e-15)
    np.testing.assert_allclose(sums[VALUE, 0], s @ [value(loss, z, t) for z, _, t in rows])
    np.testing.assert_allclose(sums[BALANCE, 0], s @ c)


@pytest.mark.parametrize("part", [10, 10**6])
def test_quick_passes_of_the_logistic_loss_are_those_of_its_functions(part, monkeypatch):
    monkeypatch.setattr(passes, "PART", part)
    _, s, problem = posed(np.asarray, loss=Logistic())
    y, rng = problem.costs.Y[:, 0], np.random.default_rng(3)
    Z, D, A = 9.0 * rng.standard_normal((40, 1)), rng.standard_normal((40, 1)), rng.random((40, 1))
    Z[:2], before, u = [[600.0], [-600.0]], A[:, 0].copy(), 0.7
    z, d = Z[:, 0] + u * D[:, 0], D[:, 0].copy()
    c = y / (1.0 + np.exp(y * z))
    smoothing = Smoothing(np.zeros((40, 1)), 0.0)
    found = slopes_along(problem.costs, smoothing, Z, D, u, (5, 40))
    h = np.abs(c) * (1.0 - np.abs(c))
    np.testing.assert_allclose(found, [-(s * c * d)[5:].sum(), (s * h * d * d)[5:].sum()])
    sums, _ = passes.move_rows(problem, smoothing, Z, A, D, u)
    np.testing.assert_allclose(Z[:, 0], z, rtol=1e-15)
    np.testing.assert_allclose(A[:, 0], c, rtol=1e-14)
    np.testing.assert_allclose(D[:, 0], c - before, atol=1e-15)
    np.testing.assert_allclose(sums[VALUE, 0], (s * np.logaddexp(0.0, -y * z)).sum())
    np.testing.assert_allclose(sums[BALANCE, 0], (s * c).sum())


@pytest.mark.parametrize("part", [10, 10**6])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=str)
def test_a_line_search_ends_where_the_slope_is_small(loss, part, monkeypatch):
    monkeypatch.setattr(passes, "PART", part)  # in parts by threads, or compiled as a whole
    _, s, problem = posed(np.asarray, loss=loss)
    Z, D = (np.random.default_rng(k).standard_normal((40, 1)) for k in range(2))
    smoothing, y = Smoothing(np.zeros((40, 1)), 0.5), problem.costs.Y

    def slope_at(u):
        rows = zip(Z[:, 0] + u * D[:, 0], y[:, 0], strict=True)
        c = np.array([dual_step(loss, z, 0.0, 0.5, t) for z, t in rows])
        return 0.1 + 0.2 * u - (s * c) @ D[:, 0] / s.sum()

    D *= -np.sign(slope_at(0.0) - 0.1)
    line = passes.line_of(problem, smoothing, Z, D, (0.1, 0.2))
    assert isinstance(line, Line if part > 40 else Function)
    u, begin = search(line), slope_at(0.0)
    assert u > 0.0 if begin < 0.0 else u == 0.0
    assert u == 0.0 or abs(slope_at(u)) <= -(FLAT + 1e-12) * begin


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=str)
def test_mean_curvatures_lead_from_one_slope_to_another(loss):
    _, s, problem = posed(np.asarray, loss=loss)
    Z, D, B = (np.random.default_rng(k).standard_normal((40, 1)) for k in range(3))
    D[0] = 0.0
    y, smoothing = problem.costs.Y, Smoothing(0.3 * np.abs(B) * problem.costs.Y, 0.5)

    def dual_numbers(scores):
        rows = zip(scores[:, 0], smoothing.B[:, 0], y[:, 0], strict=True)
        return np.array([[dual_step(loss, z, b, 0.5, t)] for z, b, t in rows])

    A = dual_numbers(Z)
    h = secants_of(problem, smoothing, Z, A, D, 0.7)
    change = A - dual_numbers(Z + 0.7 * D)
    np.testing.assert_allclose(h * 0.7 * D[:, 0], s * change[:, 0], atol=1e-14)


def test_after_failures_with_multipliers_known_the_width_falls_slowly():
    _, _, problem = posed(np.asarray)
    state = started(problem, columns_of(problem, True), None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    model = state.models[0]
    model.q = 2.0
    widen(seen, model)
    assert model.q == 2.0 * WIDER
    model.steps = PATIENCE
    narrow(seen, state.columns, model)
    q = model.q
    assert q < SLOWLY * 2.0 * WIDER
    widen(seen, model)
    assert model.q == BACK * q
    model.steps = PATIENCE
    narrow(seen, state.columns, model)
    assert model.q == SLOWLY * (BACK * q)


@pytest.mark.parametrize("container", CONTAINERS)
def test_some_rows_are_copied(container):
    X, _, problem = posed(container)
    chosen = np.array([0, 3, 4, 39])
    few = some_rows_of(problem.rows, chosen)
    columns = Columns(np.zeros(5), np.ones(5), np.ones(5))
    rows = np.hstack([X[chosen], np.ones((4, 1))])
    part = problem._replace(rows=few)
    np.testing.assert_allclose(hessian(part, columns, np.ones(4)), rows.T @ rows)


def test_the_unit_is_the_scale_of_targets():
    assert unit_of(np.array([[1.0], [-1.0]])) == 1.0
    assert unit_of(np.array([[5.0], [9.0], [5.0], [9.0]])) == 2.0
    assert unit_of(np.array([[5.0], [5.0]])) == 1.0


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=str)
@pytest.mark.parametrize("per_weight", [29, 30, 99, 100])
def test_a_short_step_on_many_rows_is_followed_by_a_damped_one(loss, per_weight):
    X, Y = np.zeros((per_weight * 2, 2)), np.ones((per_weight * 2, 1))
    X[::2], Y[::2] = 1.0, -1.0
    problem = make_problem(loss, as_rows(X), Y, None, 0.01, "free", 1.0)
    model = started(problem, columns_of(problem, True), None).models[0]
    model.damping, is_tall = 1e-9, per_weight >= (100 if isinstance(loss, Hinge) else 30)
    after_short = next_damping(problem, model, 0.01, was_short=True)
    after_long = next_damping(problem, model, 1.0, was_short=False)
    assert after_short == (DAMPED if is_tall else 4e-9)
    assert after_long == pytest.approx(1e-9 * (EASED if is_tall else 0.25))
    assert next_damping(problem, model, 0.4, was_short=False) == 1e-9
