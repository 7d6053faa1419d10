"""Pegasos on label sequences: steps by hand, and the algorithm as an oracle has it."""

import numpy as np
import pytest

from pegasos.solvers.chain import pegasos
from pegasos.solvers.chain.pegasos import ChainPegasos
from tests.reference import chain_solvers as reference
from tests.solvers.chain.epochs import run, two_labels, weights, without_ties

pytestmark = pytest.mark.fast


def test_two_steps_by_hand():
    # Step 1 goes from 0 all the way to phi(0) - phi(1). There the true label is ahead by 6, more
    # than its cost of 1: step 2 only shrinks, by 1 - 1/2.
    drawn = two_labels("hinge")
    for epochs, w in ((1, 1.0), (2, 0.5)):
        state, _ = run(drawn, ChainPegasos(), epochs)
        found = weights(drawn, ChainPegasos(), state)
        np.testing.assert_allclose(found, w * np.outer([1, 0, 0, 1, 1], [1, -1]))


@pytest.mark.parametrize("smallest", [1e-8, 0.3])
@pytest.mark.parametrize("epochs", [1, 2, 5])
@pytest.mark.parametrize("kind", ["hinge", "logistic"])
@pytest.mark.parametrize("seed", range(4))
def test_epochs_are_those_of_the_algorithm(kind, seed, epochs, smallest, monkeypatch):
    if hasattr(pegasos.pegasos_pass, "py_func") and smallest != pegasos.SMALLEST:
        pytest.skip("constants are compiled in")
    monkeypatch.setattr(pegasos, "SMALLEST", smallest)
    drawn = without_ties(kind, seed, weighted=seed % 2 == 1)
    state, orders = run(drawn, ChainPegasos(), epochs)
    W, means = reference.pegasos(drawn, orders)
    np.testing.assert_allclose(weights(drawn, ChainPegasos(), state), W, atol=1e-9)
    if kind == "hinge":
        starts, visits = drawn.problem.starts, len(orders) - state.tail_began
        for i, (nodes, edges) in enumerate(means):
            own = state.counts.nodes[starts[i] : starts[i + 1]]
            np.testing.assert_allclose(own / visits, nodes)
            np.testing.assert_allclose(state.counts.edges[i] / visits, edges)
