"""Problems for the solvers of label sequences, and their epochs one by one."""

import numpy as np

from tests.reference.sequences import draw, drawn_from


def two_labels(kind):
    """One token x = 1 with the first of two labels, lam = 1: the features of its labels are

        phi(0) - phi(1) = (1, -1) for the emission, (1, -1) first, (1, -1) last.
    """  # fmt: skip
    return drawn_from(kind, [np.ones((1, 1))], [np.array([0])], 1.0 - np.eye(2), lam=1.0)


def without_ties(kind, seed, weighted):
    """Draw a problem whose features have no two label sequences in common."""
    drawn = draw(kind, seed, weighted=weighted, K=3, n=5)
    rng = np.random.default_rng(seed)
    Xs = [X + 0.1 * rng.standard_normal(X.shape) for X in drawn.Xs]
    weights = drawn.weights if weighted else None
    return drawn_from(kind, Xs, drawn.ys, drawn.cost, drawn.lam, weights)


def run(drawn, solver, epochs, seed=3):
    """Return the state after so many epochs, and the order of each."""
    state, orders = solver.start(drawn.problem, drawn.K, seed), []
    for _ in range(epochs):
        while not solver.advance(drawn.problem, state).ends_epoch:
            pass
        orders.append(state.visits.order.copy())
    return state, orders


def weights(drawn, solver, state):
    """Return the weights as the oracle has them."""
    return np.vstack(solver.iterate(drawn.problem, state))
