"""Dual ascent on random fields: a step by hand, and the algorithm as an oracle has it."""

import numpy as np
import pytest

from pegasos.problem.sequence_duals import combination
from pegasos.solvers.chain.sdca import ChainSDCA
from tests.reference import chain_solvers as reference
from tests.solvers.chain.epochs import run, two_labels, weights, without_ties

pytestmark = pytest.mark.fast


def test_a_first_step_by_hand():
    # The goal is B at the true label, and p(0) = 1 / (1 + exp(-B)) has B = 1 - p(0), for C, L and
    # ||x|| are 1. The weights that follow are 1 - p(0) = B for the emission, first and last.
    drawn = two_labels("logistic")
    state, _ = run(drawn, ChainSDCA(), 1)
    B = state.model.U[0, 0]
    assert pytest.approx(1.0 / (1.0 + np.exp(B)), abs=1e-5) == B
    np.testing.assert_allclose(state.model.U, [[B, -B]])
    np.testing.assert_allclose(state.model.V, [[0, 0], [0, 0], [B, -B], [B, -B]], atol=1e-15)


@pytest.mark.parametrize("epochs", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(5))
def test_epochs_are_those_of_the_algorithm(seed, epochs):
    drawn = without_ties("logistic", seed, weighted=seed % 2 == 1)
    state, orders = run(drawn, ChainSDCA(), epochs)
    W, scores = reference.sdca(drawn, orders)
    np.testing.assert_allclose(weights(drawn, ChainSDCA(), state), W, atol=1e-9)
    starts = drawn.problem.starts
    for i, (theta, edges) in enumerate(scores):
        np.testing.assert_allclose(state.dual.nodes[starts[i] : starts[i + 1]], theta, atol=1e-9)
        np.testing.assert_allclose(state.dual.edges[i], edges, atol=1e-9)


def test_a_weak_penalty_is_approached_from_a_stronger_one():
    drawn = without_ties("logistic", 2, weighted=False)
    weak = drawn.problem._replace(lam=1e-3)
    solver = ChainSDCA()
    state, seen = solver.start(weak, drawn.K, 0), []
    while len(seen) < 200:
        step = solver.advance(weak, state)
        seen.append(state.lam)
        if state.lam > weak.lam:
            assert np.isnan(step.estimate)  # it is of another problem
    assert seen[0] > 3.0 * weak.lam
    assert seen[-1] == weak.lam
    assert np.all(np.diff(seen) <= 0.0)
    own = combination(weak, state.dual, drawn.K)
    np.testing.assert_allclose(np.vstack(state.model), np.vstack(own), rtol=1e-6, atol=1e-9)
    stronger = solver.start(drawn.problem._replace(lam=1.0), drawn.K, 0, state)
    assert stronger.lam == 1.0  # at once, where a warm start asks for more
    assert solver.start(weak, drawn.K, 0, stronger).lam == 1.0
