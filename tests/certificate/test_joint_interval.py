"""Joint losses: on random small problems, [dual, primal] holds the optimum by Clarabel."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from tests.joint_problems import BIASES, LOSSES, draw_joint
from tests.reference.joint import optimum

SOLVERS_OWN = 1e-7  # relative accuracy of the independent solver


def drawn_as(number):
    """Draw one of 24 problems: every loss, bias, container, with and without weights."""
    bias = BIASES[number // 3 % 3]
    kind, dtype = (("dense", np.float64), ("csr", np.float32))[number % 2]
    name = LOSSES[number % 3]
    return bias, draw_joint(name, number, bias, kind=kind, dtype=dtype, weighted=number % 4 > 1)


@pytest.mark.parametrize("number", range(24))
def test_certified_interval_of_a_joint_loss_contains_the_optimum(number):
    bias, drawn = drawn_as(number)
    best, W, b = optimum(*drawn.given(bias))
    slack = SOLVERS_OWN * max(1e-3, best)
    exact = drawn.X @ W + b
    ordered = np.sort(exact, axis=1)
    reach = 2.0 * np.sqrt(slack / drawn.problem.lam) * np.sqrt((drawn.X**2).sum(axis=1) + 4.0)
    is_known = ordered[:, -1] - ordered[:, -2] > reach + 1e-4
    for epochs in (1, 3, 30):
        found = solve(drawn.problem, SDCA(), Stopping(tol=1e-14, max_iter=epochs), seed=number)
        certificate = found.certificate
        assert len(certificate.models["gap"]) == 1
        assert certificate.dual <= best + slack
        assert certificate.primal >= best - slack
        assert certificate.gap >= 0.0
        leaders = found.ball.sure_leaders(drawn.problem.rows)
        checked = is_known & (leaders >= 0)
        assert np.array_equal(leaders[checked], exact.argmax(axis=1)[checked])


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("bias", BIASES)
def test_sdca_proves_a_joint_loss_to_tolerance(name, bias):
    drawn = draw_joint(name, 1, bias, n=60, d=4, lam=0.05)
    found = solve(drawn.problem, SDCA(), Stopping(tol=1e-4, max_iter=1000))
    assert found.certificate.is_within_tol
    assert abs(found.W.sum(axis=1)).max() <= 1e-12  # dual numbers of a row sum to 0
