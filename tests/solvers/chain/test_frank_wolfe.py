"""Frank-Wolfe on label sequences: a step by hand, and the algorithm as an oracle has it."""

import numpy as np
import pytest

from pegasos.solvers.chain.frank_wolfe import ChainFrankWolfe
from tests.reference import chain_solvers as reference
from tests.solvers.chain.epochs import run, two_labels, weights, without_ties

pytestmark = pytest.mark.fast


def test_a_step_by_hand():
    # Label 1 costs 1 and is ahead by 1 at w = 0; ||phi(0) - phi(1)||^2 = 6, so that 1/6 of the
    # mass goes to it and w = (phi(0) - phi(1)) / 6. There both labels score the same: the optimum.
    drawn = two_labels("hinge")
    state, _ = run(drawn, ChainFrankWolfe(), 1)
    np.testing.assert_allclose(state.model.U, [[1 / 6, -1 / 6]])
    np.testing.assert_allclose(state.model.V, [[0, 0], [0, 0], [1 / 6, -1 / 6], [1 / 6, -1 / 6]])
    np.testing.assert_allclose(np.sort(state.dual.mass[0]), [0, 0, 1 / 6, 5 / 6])


# Not seed 1: one sequence is visited twice in a row, and after an exact step two of its label
# sequences are equally good, but for rounding.
@pytest.mark.parametrize("epochs", [1, 2, 8])
@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 7])
def test_epochs_are_those_of_the_algorithm(seed, epochs):
    drawn = without_ties("hinge", seed, weighted=seed % 2 == 1)
    state, orders = run(drawn, ChainFrankWolfe(), epochs)
    W, corners = reference.frank_wolfe(drawn, orders)
    np.testing.assert_allclose(weights(drawn, ChainFrankWolfe(), state), W, atol=1e-9)
    starts = drawn.problem.starts
    for i, known in enumerate(corners):
        own = {
            tuple(path.tolist()): m
            for path, m in zip(
                state.dual.paths[:, starts[i] : starts[i + 1]], state.dual.mass[i], strict=True
            )
            if m > 0.0
        }
        assert own.keys() == known.keys()
        assert [own[path] for path in known] == pytest.approx(list(known.values()), abs=1e-9)
