"""Solvers for any structure are those of label sequences, if the structure is one."""

import numpy as np
import pytest

from pegasos.structured.examples import make_examples
from pegasos.structured.solvers import AnyFrankWolfe, AnyPegasos, begin, task_of
from tests.reference import chain, chain_solvers
from tests.solvers.chain.epochs import without_ties

pytestmark = pytest.mark.fast


class Chain:
    """Labels of a sequence, all of them written out."""

    def __init__(self, drawn):
        self.drawn = drawn

    def features(self, x, y):
        return chain.phi(x, y, self.drawn.K).ravel()

    def cost(self, y, other):
        return float(self.drawn.cost[y, other].sum())

    def decode(self, w, x):
        return chain.best(*chain_solvers.node_scores(x, w.reshape(-1, self.drawn.K)))[0]

    def decode_augmented(self, w, x, y):
        z, T = chain_solvers.node_scores(x, w.reshape(-1, self.drawn.K))
        return chain.best(z + self.drawn.cost[y], T)[0]


def after(drawn, solver, epochs):
    """Return the problem, the state after so many epochs, and the order of each."""
    weights = drawn.weights if np.any(drawn.weights != 1.0) else None
    problem = make_examples(Chain(drawn), drawn.Xs, drawn.ys, weights, drawn.lam)
    state, orders = begin(problem, 3), []
    for _ in range(epochs):
        while not solver.advance(problem, state).ends_epoch:
            pass
        orders.append(state.order.copy())
    return problem, state, orders


@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_frank_wolfe_is_that_of_sequences(seed, epochs):
    drawn = without_ties("hinge", seed, weighted=seed % 2 == 1)
    problem, state, orders = after(drawn, AnyFrankWolfe(), epochs)
    W, corners = chain_solvers.frank_wolfe(drawn, orders, room=1000)
    np.testing.assert_allclose(state.w, W.ravel(), atol=1e-9)
    for known, mass in zip(corners, state.mass, strict=True):
        assert sorted(mass) == pytest.approx(sorted(known.values()), abs=1e-9)
    found = AnyFrankWolfe().certify(problem, state)
    own = (drawn.cost, drawn.Xs, drawn.ys, drawn.weights, drawn.lam)
    assert found.primal == pytest.approx(chain.objective("hinge", *own, W), rel=1e-9)
    assert found.dual <= found.primal


@pytest.mark.parametrize("epochs", [1, 4])
@pytest.mark.parametrize("seed", range(4))
def test_pegasos_is_that_of_sequences(seed, epochs):
    drawn = without_ties("hinge", seed, weighted=seed % 2 == 1)
    problem, state, orders = after(drawn, AnyPegasos(), epochs)
    W, means = chain_solvers.pegasos(drawn, orders)
    np.testing.assert_allclose(state.w, W.ravel(), atol=1e-9)
    features = [
        s * (chain.phi(X, y, drawn.K) - chain_solvers.expected_features(X, *mean))
        for X, y, s, mean in zip(drawn.Xs, drawn.ys, drawn.weights, means, strict=True)
    ]
    visits = state.epochs - state.tail_began
    np.testing.assert_allclose(state.taken.psi / visits, sum(features).ravel(), atol=1e-9)


def test_equal_seeds_give_equal_orders_and_every_example_its_turn():
    drawn = without_ties("hinge", 0, weighted=False)
    _, state, orders = after(drawn, AnyFrankWolfe(), 2)
    _, again, _ = after(drawn, AnyFrankWolfe(), 2)
    np.testing.assert_array_equal(state.w, again.w)
    assert state.random.dtype == np.uint64
    assert all(sorted(order) == list(range(len(drawn.Xs))) for order in orders)


def test_a_task_knows_how_many_examples_there_are():
    drawn = without_ties("hinge", 0, weighted=False)
    problem = make_examples(Chain(drawn), drawn.Xs, drawn.ys, None, drawn.lam)
    assert task_of(problem, AnyPegasos()).n == len(drawn.Xs)
