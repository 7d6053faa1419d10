"""The centre of a bias: where it comes to rest, and what a long constant feature costs."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.solve import solve
from pegasos.solvers.offsets import centred
from pegasos.solvers.sdca.centres import beta_and_lacking, kept, move_centre, shorter_scale
from pegasos.solvers.sdca.coordinate import DualBias
from pegasos.solvers.sdca.linear import SDCA
from tests.joint_problems import draw_joint


@pytest.mark.fast
def test_a_centre_comes_to_rest_at_the_bias_of_the_dual_numbers():
    problem, squares = centred(draw_joint("joint hinge", 3, "regularized").problem)
    scale, total = shorter_scale(problem, squares), np.array([0.4, -0.3, -0.1])
    assert 0.0 < scale < problem.bias_scale
    bias = DualBias(scale, scale * total, np.zeros(3))
    for _ in range(2000):
        move_centre(problem, bias)
    beta, lacking = beta_and_lacking(problem, bias)
    np.testing.assert_allclose(bias.offset + scale * bias.beta, problem.bias_scale**2 * total)
    np.testing.assert_allclose(beta, problem.bias_scale * total)
    np.testing.assert_allclose(lacking, 0.0, atol=1e-12)


@pytest.mark.fast
def test_a_bias_without_a_proximal_term_has_no_centre():
    problem = draw_joint("joint hinge", 3, "regularized").problem
    assert kept(problem, problem.bias_scale) == 0.0
    assert kept(draw_joint("joint hinge", 3, "free").problem, 0.3) == 1.0


@pytest.mark.fast
def test_a_long_constant_feature_costs_no_epochs():
    problem = draw_joint("joint hinge", 5, "regularized", n=30, d=4, K=3, lam=0.05).problem
    limits = Stopping(tol=1e-2, max_iter=60)
    short, long = (
        solve(problem._replace(bias_scale=scale), SDCA(), limits) for scale in (1.0, 30.0)
    )
    assert short.certificate.is_within_tol
    assert long.certificate.is_within_tol
