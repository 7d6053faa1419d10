"""Free biases of joint models: bounds by pairs of classes hold the optimum's, and labels follow."""

import numpy as np
import pytest

from pegasos.certificate.joint_biases import shortest
from pegasos.certificate.leads import Pairs, ends
from pegasos.certificate.stopping import Stopping
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from tests.joint_problems import LOSSES, draw_joint
from tests.reference.joint import optimum

CLOSE = 1e-4  # what the independent solver's weights and biases may be off by


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", LOSSES)
def test_bounds_on_differences_of_biases_hold_those_of_the_optimum(name, seed):
    drawn = draw_joint(name, seed, "free", n=60, d=3, lam=0.03, weighted=seed % 2 > 0)
    _, W, b = optimum(*drawn.given("free"))
    b = b - b.mean()
    exact, shares = drawn.X @ W + b, []
    for epochs in (1, 5, 30, 300):
        found = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=epochs))
        known = found.ball
        c = b + known.origin @ (W - found.W)
        assert np.all(c[:, None] - c <= known.pairs.above + CLOSE)
        low, high = known.bounds(drawn.problem.rows)
        assert np.all((low <= exact + CLOSE) & (exact <= high + CLOSE))
        leaders = known.sure_leaders(drawn.problem.rows)
        ordered = np.sort(exact, axis=1)
        checked = (leaders >= 0) & (ordered[:, -1] - ordered[:, -2] > CLOSE)
        assert np.array_equal(leaders[checked], exact.argmax(axis=1)[checked])
        shares.append(np.mean(leaders >= 0))
    assert shares[-1] > 0.4


@pytest.mark.fast
def test_bounds_follow_over_a_third_class():
    above = np.array([[0.0, 1.0, np.inf], [np.inf, 0.0, 2.0], [0.5, np.inf, 0.0]])
    found = shortest(above)
    assert found[0, 2] == pytest.approx(3.0)
    assert found[1, 0] == pytest.approx(2.5)
    assert np.array_equal(np.diagonal(found), np.zeros(3))


@pytest.mark.fast
def test_biases_that_sum_to_zero_are_means_of_their_differences():
    b = np.array([0.5, -1.0, 0.5])
    low, high = ends(Pairs(b, b[:, None] - b))
    assert low == pytest.approx(b)
    assert high == pytest.approx(b)
