"""Steps in one call: the algebra against NumPy, the step against that of ordinary passes."""

import numpy as np
import pytest

from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.solvers.newton import hessian, passes
from pegasos.solvers.newton import model as of_models
from pegasos.solvers.newton.envelope import Smoothing
from pegasos.solvers.newton.equations import add_penalty, lacking_of, terms_of
from pegasos.solvers.newton.hessian import SHORT
from pegasos.solvers.newton.model import small_way, solution, step, way
from pegasos.solvers.newton.newton import Newton, problem_of
from pegasos.solvers.newton.small_step import (
    factor_in_place,
    is_small,
    solve_in_place,
)
from pegasos.solvers.offsets import seen
from tests.conftest import draw

LOSSES = {
    "hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic(),
    "epsilon_insensitive": EpsilonInsensitive(0.1),
}  # fmt: skip


def begun(name, steps=2, **options):
    """Return a problem as a run sees it, the run's columns and its model after some steps."""
    problem = draw(LOSSES[name], 3, regression=name == "epsilon_insensitive", **options).problem
    state = Newton().start(problem, 0, None)
    model = state.models[0]
    posed = problem_of(seen(problem, state.centre), model)
    for _ in range(steps):
        step(posed, state.columns, model)
    return posed, state.columns, model


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_a_step_in_one_call_is_that_of_ordinary_passes(name, bias):
    problem, columns, model = begun(name, n=150, bias=bias, weighted=True)
    h, P, factor, (p, c, u) = small_way(problem, columns, model)
    D = model.D.copy()
    usual_h = passes.curvatures_of(problem, model.smoothing, model.Z, model.A)
    usual_P, usual_factor = solution(problem, columns, model, usual_h)
    usual = way(problem, columns, model, usual_P)
    assert np.array_equal(h, usual_h)
    for found, known in ((P, usual_P), (np.tril(factor), np.tril(usual_factor)), (D, model.D)):
        assert found == pytest.approx(known, rel=1e-9, abs=1e-12 * np.abs(known).max())
    for found, known in zip((p, c, u), usual, strict=True):
        assert found == pytest.approx(known, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("kind", ["dense", "fortran"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_kinds_of_dense_rows_take_the_same_steps(monkeypatch, kind, dtype):
    options = {"n": 150, "bias": "free", "kind": kind, "dtype": dtype, "steps": 4}
    _, _, model = begun("hinge", **options)
    monkeypatch.setattr(of_models, "is_small", lambda problem: False)
    monkeypatch.setattr(passes, "is_small", lambda problem: False)
    _, _, usual = begun("hinge", **options)
    for name in ("w", "b", "Z", "A", "v", "sums"):
        assert getattr(model, name) == pytest.approx(getattr(usual, name), rel=1e-7, abs=1e-9)
    assert (model.q, model.steps, model.damping) == (usual.q, usual.steps, usual.damping)


@pytest.mark.fast
def test_rows_move_as_part_by_part(monkeypatch):
    problem, _, model = begun("hinge", n=150, bias="free", weighted=True)
    found = {}
    for is_one in (True, False):
        monkeypatch.setattr(passes, "is_small", lambda problem, is_one=is_one: is_one)
        Z, A, D = model.Z.copy(), model.A.copy(), model.D.copy()
        smoothing = Smoothing(model.B, 0.5 * model.q)
        sums, change = passes.move_rows(problem, smoothing, Z, A, D, 0.7)
        found[is_one] = (Z, A, D, sums, change)
    for own, known in zip(found[True], found[False], strict=True):
        assert own == pytest.approx(known, rel=1e-12, abs=1e-12)


@pytest.mark.fast
def test_what_fits_no_cache_and_other_rows_and_losses_are_not_small():
    assert is_small(draw(Hinge(), n=100, d=20).problem)
    assert not is_small(draw(Hinge(), n=100, d=20, kind="csr").problem)
    assert not is_small(draw(Hinge(), n=20, d=101).problem)
    long = draw(Hinge(), n=10).problem._replace(rows=as_rows(np.zeros((20_001, 10))))
    assert not is_small(long)


@pytest.mark.fast
@pytest.mark.parametrize("count", [0, 1, 3, 4, SHORT, SHORT + 5])
def test_products_of_narrow_rows_are_those_of_blas(monkeypatch, count):
    problem, columns, _ = begun("hinge", n=2 * SHORT, bias="free")
    rng, h = np.random.default_rng(0), np.zeros(2 * SHORT)
    h[rng.choice(len(h), count, replace=False)] = rng.random(count)
    found = hessian.hessian(problem, columns, h)
    monkeypatch.setattr(hessian, "NARROW", 0)
    assert found == pytest.approx(hessian.hessian(problem, columns, h), rel=1e-12, abs=1e-14)


@pytest.mark.fast
@pytest.mark.parametrize("size", [1, 2, 17])
def test_factor_and_solution_are_those_of_numpy(size):
    rng = np.random.default_rng(size)
    X = rng.standard_normal((size + 3, size))
    H, G, p = X.T @ X, rng.standard_normal((size + 1, 1)), np.zeros(size)
    L = np.tril(H)  # what is above the diagonal is not read
    assert factor_in_place(L)
    assert np.tril(L) == pytest.approx(np.linalg.cholesky(H), rel=1e-9, abs=1e-12)
    solve_in_place(L, G, p)
    assert p == pytest.approx(np.linalg.solve(H, -G[:size, 0]), rel=1e-8)


@pytest.mark.fast
@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan])
def test_no_factor_of_what_is_not_positive_definite(bad):
    assert not factor_in_place(np.array([[1.0, 0.0], [0.0, bad]]))
    assert not factor_in_place(np.array([[1.0, 0.0], [2.0, 1.0]]))


@pytest.mark.fast
def test_without_a_factor_the_ordinary_step_is_taken():
    problem, columns, model = begun("hinge", n=150, bias="free")
    model.damping = np.nan  # as where rounding leaves nothing of H
    assert small_way(problem, columns, model) is None


@pytest.mark.fast
def test_lacking_is_what_a_column_alone_needs_for_a_short_step():
    problem, columns, model = begun("hinge", n=150, bias="free")
    terms, rng = terms_of(problem, model.unit), np.random.default_rng(0)
    G, H = 100.0 * rng.standard_normal((7, 2)), np.zeros((7, 7))
    add_penalty(terms, columns, H)
    diagonal = np.column_stack([H.diagonal(), 2.0 * H.diagonal()])
    within = np.append(columns.reach, 1.0)[:, None]
    expected = np.maximum(0.0, np.abs(G) * within / (16.0 * model.unit) - diagonal)
    assert lacking_of(terms, columns, diagonal, G) == pytest.approx(expected, rel=1e-12)
