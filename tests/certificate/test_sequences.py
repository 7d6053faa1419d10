"""On small random sequence problems, [dual, primal] holds the optimum over all label sequences."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from pegasos.certificate.sequences import evaluate
from pegasos.problem.sequences import Model
from pegasos.solvers.chain.frank_wolfe import ChainFrankWolfe
from pegasos.solvers.chain.pegasos import ChainPegasos
from pegasos.solvers.chain.sdca import ChainSDCA
from tests.reference import chain as reference
from tests.reference.sequences import draw, drawn_from

WAYS = [
    ("hinge", ChainFrankWolfe),
    ("hinge", ChainPegasos),
    ("logistic", ChainSDCA),
    ("logistic", ChainPegasos),
]
SOLVERS_OWN = 1e-7  # relative accuracy of the independent solver


@functools.cache
def case(kind, number):
    drawn = draw(kind, number, weighted=number % 4 >= 2)
    own = (drawn.cost, drawn.Xs, drawn.ys, drawn.weights, drawn.lam)
    return drawn, reference.optimum(kind, *own)[0]


def after_epochs(drawn, solver, counts, seed=0):
    """Yield certificates after so many epochs."""
    state = solver.start(drawn.problem, drawn.K, seed)
    for epoch in range(1, max(counts) + 1):
        while not solver.advance(drawn.problem, state).ends_epoch:
            pass
        if epoch in counts:
            model = solver.iterate(drawn.problem, state)
            yield evaluate(drawn.problem, model, solver.dual_point(drawn.problem, state))


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize(("kind", "solver"), WAYS, ids=lambda x: getattr(x, "__name__", x))
def test_certified_interval_contains_the_optimum(kind, solver, number):
    drawn, best = case(kind, number)
    slack = SOLVERS_OWN * max(1e-3, best)
    for found in after_epochs(drawn, solver(), (1, 3, 20)):
        assert found.dual <= best + slack
        assert found.primal >= best - slack
        assert found.gap >= 0.0
        W = np.vstack(found.model)
        own = (drawn.cost, drawn.Xs, drawn.ys, drawn.weights, drawn.lam)
        assert found.primal == pytest.approx(reference.objective(kind, *own, W), rel=1e-12)


def exact_loss(drawn, U):
    """Return the hinge of one sequence without transitions, in exact arithmetic."""
    (X,), (y,), total = drawn.Xs, drawn.ys, Fraction(0)
    for x, own in zip(X, y, strict=True):
        z = [sum(Fraction(a) * Fraction(b) for a, b in zip(x, u, strict=True)) for u in U.T]
        cost = [Fraction(c) for c in drawn.cost[own]]
        total += max(c + v for c, v in zip(cost, z, strict=True)) - z[own]
    return total


@pytest.mark.parametrize("seed", range(8))
def test_rounding_of_long_sums_that_cancel_is_on_the_safe_side(seed):
    rng = np.random.default_rng(seed)
    X, U = rng.standard_normal((40, 6)), 1e6 * rng.standard_normal((6, 2))
    y = np.argmax(X @ U, axis=1)
    U = np.vstack([U, -U])
    U[-1] += 1e-3
    X = np.hstack([X, X])  # what is left of the scores is small
    drawn = drawn_from("hinge", [X], [y], 1.0 - np.eye(2), lam=1e-30)
    model = Model(U, np.zeros((4, 2)))
    solver = ChainFrankWolfe()
    found = evaluate(drawn.problem, model, solver.start(drawn.problem, 2, 0).dual)
    exact = exact_loss(drawn, U)
    assert Fraction(found.primal) >= exact
    assert found.primal <= float(exact) + 1e-3
    assert found.dual <= 0.0


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(
    ("kind", "solver", "epochs", "tol"),
    [
        ("hinge", ChainFrankWolfe, 1500, 1e-6),
        ("logistic", ChainSDCA, 300, 1e-9),
        ("hinge", ChainPegasos, 2000, 5e-2),
        ("logistic", ChainPegasos, 2000, 1e-3),
    ],
)
def test_the_gap_closes(kind, solver, epochs, tol, number):
    drawn, best = case(kind, number)
    (found,) = after_epochs(drawn, solver(), (epochs,))
    assert found.gap <= tol * max(best, 0.1)


@pytest.mark.parametrize(("kind", "solver"), WAYS, ids=lambda x: getattr(x, "__name__", x))
def test_equal_seeds_give_equal_bits(kind, solver):
    drawn, _ = case(kind, 5)
    (first,) = after_epochs(drawn, solver(), (10,))
    (again,) = after_epochs(drawn, solver(), (10,))
    np.testing.assert_array_equal(np.vstack(first.model), np.vstack(again.model))
    assert first.gap == again.gap


@pytest.mark.parametrize(("kind", "solver"), WAYS[::2], ids=lambda x: getattr(x, "__name__", x))
def test_a_run_goes_on_where_another_ended(kind, solver):
    drawn, _ = case(kind, 4)
    state = solver().start(drawn.problem, drawn.K, 0)
    for _ in range(5):
        solver().advance(drawn.problem, state)
    next_state = solver().start(drawn.problem, drawn.K, 1, state)
    for before, after in zip(state.model, next_state.model, strict=True):
        np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kind", "solver"), WAYS, ids=lambda x: getattr(x, "__name__", x))
def test_certificates_hold_in_the_middle_of_an_epoch(kind, solver, monkeypatch):
    monkeypatch.setattr("pegasos.solvers.chain.visits.stretches", lambda problem, K: 1)
    drawn, best = case(kind, 6)
    state = solver().start(drawn.problem, drawn.K, 0)
    for _ in range(4 * len(drawn.ys) + 1):
        point = solver().iterate(drawn.problem, state), solver().dual_point(drawn.problem, state)
        assert evaluate(drawn.problem, *point).dual <= best * (1.0 + SOLVERS_OWN)
        solver().advance(drawn.problem, state)


def test_dual_ascent_never_descends():
    drawn, _ = case("logistic", 3)
    duals = [found.dual for found in after_epochs(drawn, ChainSDCA(), range(1, 30))]
    assert np.all(np.diff(duals) >= -1e-12)
    drawn, _ = case("hinge", 3)
    duals = [found.dual for found in after_epochs(drawn, ChainFrankWolfe(), range(1, 30))]
    assert np.all(np.diff(duals) >= -1e-12)


def test_frank_wolfe_makes_room_for_a_few_hard_sequences_among_many_easy_ones():
    rng = np.random.default_rng(0)
    easy = [np.array([[3.0 - 6.0 * (i % 2), 0.0]]) for i in range(149)]
    Xs, ys = [*easy, rng.standard_normal((8, 2))], [np.array([i % 2]) for i in range(149)]
    ys.append(rng.integers(0, 3, 8))
    drawn = drawn_from("hinge", Xs, ys, 1.0 - np.eye(3), lam=1.0 / 150.0)
    (found,) = after_epochs(drawn, ChainFrankWolfe(), (150,))
    assert found.gap <= 1e-2 * found.dual


def test_frank_wolfe_takes_all_mass_where_the_dual_is_linear():
    # 0 2 0 1 0 has the features of the true labels, and costs 2.
    cost = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    drawn = drawn_from("hinge", [np.zeros((5, 1))], [np.array([0, 1, 0, 2, 0])], cost, lam=1.0)
    with np.errstate(divide="raise"):  # as compiled code does
        (found,) = after_epochs(drawn, ChainFrankWolfe(), (1,))
    assert found.dual == pytest.approx(2.0)
    assert found.primal == pytest.approx(2.0)
