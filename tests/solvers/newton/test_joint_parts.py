"""What a Newton step of a joint loss is made of, against a few lines of NumPy."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.centre import seen_from
from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import (
    JointHinge,
    Softmax,
    joint_gap,
    joint_value,
    write_joint_slope,
    write_joint_step,
    zero_one,
)
from pegasos.problem.objective import make_problem
from pegasos.solvers.newton import block_products, joint_blocks, joint_hessian, passes
from pegasos.solvers.newton.columns import columns_of
from pegasos.solvers.newton.envelope import BALANCE, GAP, VALUE, Smoothing, unit_of
from pegasos.solvers.newton.line_search import FLAT, search
from pegasos.solvers.newton.model import direction, line_search, proof_of
from pegasos.solvers.newton.newton import started
from pegasos.solvers.newton.passes import (
    curvatures_of,
    line_of,
    move_rows,
    secants_of,
    write_scores,
)
from pegasos.solvers.newton.path import ROWS, some_of

pytestmark = pytest.mark.fast

K, N, D = 4, 40, 5
CONTAINERS = [np.asarray, sparse.csr_array]
HINGE, SOFTMAX = JointHinge(zero_one(K) * 1.5), Softmax()
WAYS = [(HINGE, 0.7), (SOFTMAX, 0.7), (SOFTMAX, 0.0)]  # a loss and how wide it is smoothed


def posed(container, loss, bias="free", weighted=True):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.6) * [1.0, 10.0, 0.1, 1.0, 1.0]
    X += 0.0 if container is sparse.csr_array else [5.0, -2.0, 0.0, 1.0, 0.0]
    s = rng.random(N) if weighted else np.ones(N)
    s[:3] = 0.0 if weighted else 1.0
    y = rng.integers(0, K, N)
    Y = np.where(y[:, None] == np.arange(K), 1.0, -1.0)
    given = s if weighted else None
    return X, s, y, make_problem(loss, as_rows(container(X)), Y, given, 0.01, bias, 2.0)


def answers(loss, Z, B, q, y):
    """Return the dual numbers of all rows, one after the other."""
    C = np.empty_like(Z)
    for i in range(len(Z)):
        if q > 0.0:
            write_joint_step(loss, Z[i], B[i], q, y[i], C[i])
        else:
            write_joint_slope(loss, Z[i], y[i], C[i])
    return C


def somewhere(loss, y):
    """Return scores, multipliers and a direction."""
    Z, D_, other = (np.random.default_rng(k).standard_normal((N, K)) for k in range(3))
    return Z, answers(SOFTMAX, other, Z, 0.0, y), D_


def curvature(t):
    """Return the matrix that stands behind t."""
    return np.diag(t) - np.outer(t, t) / t.sum()


@pytest.mark.parametrize(("loss", "q"), WAYS)
def test_curvature_is_the_change_of_dual_numbers(loss, q):
    _, s, y, problem = posed(np.asarray, loss)
    Z, B, D_ = somewhere(loss, y)
    A, eps = answers(loss, Z, B, q, y), 1e-7
    T = curvatures_of(problem, Smoothing(B, q), Z, A)
    change = -(answers(loss, Z + eps * D_, B, q, y) - answers(loss, Z - eps * D_, B, q, y))
    for i in np.flatnonzero(s):
        np.testing.assert_allclose(
            s[i] * change[i] / (2.0 * eps), curvature(T[i]) @ D_[i], atol=1e-6
        )


@pytest.mark.parametrize(("loss", "q"), WAYS)
def test_onward_curvatures_are_means_of_both_ends(loss, q):
    _, _, y, problem = posed(np.asarray, loss)
    Z, B, D_ = somewhere(loss, y)
    smoothing, A = Smoothing(B, q), answers(loss, Z, B, q, y)
    ends = [
        curvatures_of(problem, smoothing, scores, answers(loss, scores, B, q, y))
        for scores in (Z, Z + 0.7 * D_)
    ]
    found = secants_of(problem, smoothing, Z, A, D_, 0.7)
    np.testing.assert_allclose(found, 0.5 * (ends[0] + ends[1]))


@pytest.mark.parametrize("part", [10, 10**6])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("loss", "q"), WAYS)
def test_a_move_is_one_of_scores_dual_numbers_and_sums(
    loss, q, container, weighted, part, monkeypatch
):
    monkeypatch.setattr(passes, "PART", part)
    monkeypatch.setattr(block_products, "BLOCK", 7)
    X, s, y, problem = posed(container, loss, weighted=weighted)
    m = X.mean(axis=0)
    seen = problem._replace(rows=seen_from(problem.rows, m))
    Z, B, D_ = somewhere(loss, y)
    A = answers(loss, Z, B, q, y)
    ends = Z + 0.5 * D_
    C = answers(loss, ends, B, q, y)
    moved, dual, change = Z.copy(), A.copy(), D_.copy()
    sums, V = move_rows(seen, Smoothing(B, q), moved, dual, change, 0.5)
    np.testing.assert_allclose(moved, ends)
    np.testing.assert_allclose(dual, C, atol=1e-15)
    np.testing.assert_allclose(V, (X - m).T @ (s[:, None] * (C - A)), atol=1e-12)
    rows = [(ends[i], C[i], y[i]) for i in range(N)]
    np.testing.assert_allclose(sums[BALANCE], s @ C, atol=1e-13)
    np.testing.assert_allclose(
        sums[[GAP, VALUE], 0],
        [s @ [joint_gap(loss, *row) for row in rows],
         s @ [joint_value(loss, z, k) for z, _, k in rows]],
        atol=1e-15,  # of a gap term at the slope itself, which is 0
    )  # fmt: skip


@pytest.mark.parametrize("container", [*CONTAINERS, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("is_centred", [True, False])
def test_scores_of_several_outputs(container, dtype, is_centred, monkeypatch):
    monkeypatch.setattr(block_products, "BLOCK", 7)
    monkeypatch.setattr(passes, "PART", 50)
    X, _, _, problem = posed(container, SOFTMAX)
    X = X.astype(dtype)
    m = X.mean(axis=0, dtype=np.float64) if is_centred else np.zeros(D)
    rows = as_rows(container(X))
    seen = problem._replace(rows=seen_from(rows, m) if is_centred else rows)
    w, b, Z = np.arange(20.0).reshape(D, K), np.arange(4.0), np.empty((N, K))
    write_scores(seen, w, b, Z)
    np.testing.assert_allclose(Z, (X - m) @ w + b, atol=1e-10)
    write_scores(seen, 0.0 * w, b, Z)
    np.testing.assert_array_equal(Z, np.broadcast_to(b, (N, K)))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    ("values", "few", "wide"), [(1, 1e9, 1e9), (10**6, 1e9, 1), (1, 0.0, 1), (10**6, 0.0, 1)]
)
def test_joint_hessian_is_a_sum_over_rows(container, values, few, wide, monkeypatch):
    monkeypatch.setattr(joint_hessian, "VALUES", values)
    monkeypatch.setattr(joint_blocks, "VALUES", 10 * values)
    monkeypatch.setattr(joint_blocks, "PRODUCTS", values)
    monkeypatch.setattr(joint_hessian, "FEW", few)
    monkeypatch.setattr(joint_hessian, "WIDE", wide)
    X, _, _, problem = posed(container, HINGE)
    columns = columns_of(problem, True)
    T = np.random.default_rng(1).random((N, K)) * (np.random.default_rng(2).random((N, K)) < 0.5)
    rows = np.hstack([(X - columns.m) / columns.scale, np.ones((N, 1))])
    full = sum(
        np.kron(curvature(t), np.outer(x, x)) for t, x in zip(T, rows, strict=True) if t.any()
    )
    found = joint_hessian.joint_hessian(problem, columns, T)
    unit = 1e-6 if few > wide else 1e-12  # by BLAS in single precision
    np.testing.assert_allclose(found, full, atol=unit * np.abs(full).max(), rtol=unit)


@pytest.mark.parametrize("container", CONTAINERS)
def test_joint_hessian_of_rows_that_answer_alike(container):
    X, s, _, problem = posed(container, HINGE)
    columns, t = columns_of(problem, True), np.array([1.0, 0.0, 2.0, 0.5])
    T = np.outer(s, t)
    T[5:9] = [0.0, 3.0, 0.0, 0.0]  # do not answer
    rows = np.hstack([(X - columns.m) / columns.scale, np.ones((N, 1))])
    s[5:9] = 0.0
    full = np.kron(curvature(t), rows.T @ (s[:, None] * rows))
    found = joint_hessian.joint_hessian(problem, columns, T)
    np.testing.assert_allclose(found, full, atol=1e-12 * np.abs(full).max())
    T[20] = t[::-1]
    assert joint_hessian.shares_of_all(T, np.flatnonzero(T[:, 0])) is None


def test_rows_are_sorted_by_the_pairs_of_classes_that_answer():
    t = np.array([[1.0, 0.0, 3.0], [2.0, 2.0, 4.0], [0.0, 5.0, 0.0]])
    found = joint_blocks.pairs_of(t, np.array([2, 3, 1]))
    np.testing.assert_array_equal(found.start, [0, 1, 3, 4])  # of 1 and 0, 2 and 0, 2 and 1
    np.testing.assert_array_equal(found.row, [1, 0, 1, 1])
    np.testing.assert_array_equal(found.c, [0.5, 0.75, 1.0, 1.0])


@pytest.mark.parametrize("start", [[0, 9], [0, 0, 0, 0], [0, 3, 3, 9], [0, 1, 2, 40, 41, 42, 43]])
def test_every_block_is_in_one_part(start, monkeypatch):
    monkeypatch.setattr(joint_blocks, "PRODUCTS", 10)
    parts = joint_blocks.parts_of(np.array(start), 5)
    assert [p for first, last in parts for p in range(first, last)] == list(range(len(start) - 1))
    assert len(parts) <= joint_blocks.PARTS


def test_no_row_answers_where_one_class_is_alone():
    _, _, _, problem = posed(np.asarray, HINGE)
    T = np.zeros((N, K))
    T[:, 2] = 1.0
    assert not joint_hessian.joint_hessian(problem, columns_of(problem, True), T).any()


def test_some_rows_stand_for_all():
    _, _, _, problem = posed(np.asarray, HINGE)
    T = np.ones((1000, K))
    T[::2, 1:] = 0.0
    some = some_of(T, columns_of(problem, True))
    assert np.count_nonzero(some.any(axis=1)) == ROWS * D * K
    assert not some[::2].any()
    assert some.sum() == pytest.approx(T[1::2].sum())
    assert some_of(T[:100], columns_of(problem, True)) is not some


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize(("loss", "q"), WAYS)
def test_a_direction_solves_the_newton_equations_of_all_classes(loss, q, bias, container):
    X, s, y, problem = posed(container, loss, bias)
    state = started(problem, columns_of(problem, bias != "none"), None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    model, m = state.models[0], state.columns.m
    model.damping, model.q = 0.0, q
    model.w[:] = 0.05 * np.random.default_rng(3).standard_normal((D, K))
    model.w /= state.columns.scale[:, None]  # so that no column alone would go far
    model.w -= model.w.mean(axis=1, keepdims=True)
    model.b[:] = [0.3, -0.1, -0.4, 0.2] if bias != "none" else 0.0
    write_scores(seen, model.w, model.b, model.Z)
    model.answer(seen)
    T = curvatures_of(seen, model.smoothing, model.Z, model.A)
    p, c = direction(seen, state.columns, model, T)
    wide, S = np.hstack([X, np.ones((N, 1))]), s.sum()
    penalty = np.full(D + 1, 0.01)
    penalty[D] = {"none": 1.0, "regularized": 0.01 / 4.0, "free": 0.0}[bias]
    H = sum(np.kron(curvature(T[i]), np.outer(wide[i], wide[i])) for i in np.flatnonzero(s)) / S
    H += np.diag(np.tile(penalty, K))
    own = np.vstack([model.w, model.b - m @ model.w])
    G = penalty[:, None] * own - wide.T @ (s[:, None] * model.A) / S
    used = np.tile(np.arange(D + 1) < D + (bias != "none"), K)
    step = -np.linalg.lstsq(H[np.ix_(used, used)], G.T.ravel()[used], rcond=1e-13)[0]
    found = np.vstack([p, c - m @ p]).T.ravel()[used]
    np.testing.assert_allclose(found, step, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_distance_and_objective_of_all_classes_are_those_of_rows_as_they_are(bias):
    X, s, y, problem = posed(np.asarray, SOFTMAX, bias)
    state = started(problem, columns_of(problem, bias != "none"), None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    model, m = state.models[0], state.columns.m
    model.w[:], model.b[:] = np.arange(-10.0, 10.0).reshape(D, K) / 9.0, 0.3 * (bias != "none")
    write_scores(seen, model.w, model.b, model.Z)
    model.answer(seen)
    S, A, b = s.sum(), model.A, model.b - m @ model.w
    off = model.w - (X - (m if bias == "free" else 0.0)).T @ (s[:, None] * A) / (0.01 * S)
    rest, square = 0.005 * np.sum(off**2), np.sum(model.w**2)
    if bias == "free":
        rest += np.abs(s @ A).sum() / S
    if bias == "regularized":
        rest += 0.005 * np.sum((b / 2.0 - 2.0 * (s @ A) / (0.01 * S)) ** 2)
        square += np.sum((b / 2.0) ** 2)
    Z = X @ model.w + b
    losses = np.log(np.exp(Z - Z[np.arange(N), y][:, None]).sum(axis=1))
    found = proof_of(seen, state.columns, model)
    np.testing.assert_allclose([found.rest, found.primal], [rest, s @ losses / S + 0.005 * square])


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize(("loss", "q"), WAYS)
def test_a_line_search_of_all_classes_ends_where_the_slope_is_small(loss, q, bias):
    _, _, _, problem = posed(np.asarray, loss, bias)
    state = started(problem, columns_of(problem, bias != "none"), None)
    seen = problem._replace(rows=problem.rows._replace(centre=state.centre))
    model = state.models[0]
    model.q = q
    model.answer(seen)
    T = curvatures_of(seen, model.smoothing, model.Z, model.A)
    p, c = direction(seen, state.columns, model, T)
    write_scores(seen, p, c, model.D)
    u = line_search(seen, state.columns, model, p, c)
    lam, along = problem.lam, float(np.vdot(p, p))
    if bias == "regularized":
        along += float(np.sum((c - state.columns.m @ p) ** 2)) / 4.0
    line = line_of(seen, model.smoothing, model.Z, model.D, (0.0, lam * along))
    (begin, _), (end, _) = line.rise(0.0), line.rise(u)
    assert begin < 0.0 < u
    assert abs(end) <= -(FLAT + 1e-9) * begin
    assert search(line) == pytest.approx(u)


def test_the_unit_is_the_mean_cost():
    assert unit_of(np.ones((2, K)), HINGE) == pytest.approx(1.5)
    assert unit_of(np.ones((2, K)), SOFTMAX) == 1.0
    assert unit_of(np.ones((2, K)), JointHinge(np.zeros((K, K)))) == 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("changed", [[], [3], range(8, 20), [0, 1, 5, 6, 7, 30, 39]])
def test_rows_that_do_not_change_add_nothing(changed, weighted, monkeypatch):
    monkeypatch.setattr(block_products, "NARROW", 1)
    monkeypatch.setattr(block_products, "BLOCK", 7)
    X, s, _, problem = posed(np.asarray, HINGE, weighted=weighted)
    A, V = np.zeros((N, K)), np.zeros((D, K))
    A[list(changed)] = np.random.default_rng(0).standard_normal((len(changed), K))
    read, some = [], block_products.values
    monkeypatch.setattr(
        block_products, "values", lambda *given: read.append(some(*given)) or read[-1]
    )
    block_products.add_sums(problem, (0, N), A, V)
    np.testing.assert_allclose(V, X.T @ (s[:, None] * A), atol=1e-12)
    assert sum(map(len, read)) == len(changed)
