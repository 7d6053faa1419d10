"""On random small kernel problems, [dual, primal] holds the optimum of an independent solver."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.problem.kernels import Gaussian, Laplacian, Linear, Polynomial
from pegasos.problem.losses import Hinge, Logistic
from pegasos.solve import solve
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.sdca.kernel import KernelSDCA
from tests.reference.kernel_optimum import kernel_optimum
from tests.solvers.kernel_problems import kernel_problem, whole_matrix

SOLVERS = [KernelSDCA(), KernelPegasos()]
SOLVERS_OWN = 1e-7  # relative accuracy of the independent solver
PARTS = [range(0, 10), range(10, 20), range(20, 30)]  # 30 problems per kernel and bias
KERNELS = {
    "linear": lambda rng: Linear(),
    "gaussian": lambda rng: Gaussian(float(10.0 ** rng.uniform(-2, 0.5))),
    "polynomial": lambda rng: Polynomial(
        float(rng.uniform(0.1, 1.0)), float(rng.uniform(0.0, 2.0)), int(rng.integers(1, 4))
    ),
    "laplacian": lambda rng: Laplacian(float(10.0 ** rng.uniform(-2, 0.5))),
}


def check(kernel, bias, loss, name, number):
    """Draw a problem; certificates after few and many epochs must hold its optimum."""
    rng = np.random.default_rng(number)
    drawn = kernel_problem(
        loss, number, KERNELS[kernel](rng), n=int(rng.integers(10, 40)), d=int(rng.integers(1, 6)),
        weighted=number % 2 == 1, bias=bias, lam=float(10.0 ** rng.uniform(-3, 0)),
    )  # fmt: skip
    best, exact = kernel_optimum(
        whole_matrix(drawn), drawn.y[:, 0], drawn.weights, drawn.lam, name, bias
    )
    slack = SOLVERS_OWN * max(1e-3, best)
    reach = np.sqrt(2.0 * slack / drawn.lam) * np.sqrt(drawn.problem.rows.diagonal + 1.0)
    for solver in SOLVERS:
        for epochs in (1, 20):
            found = solve(drawn.problem, solver, Stopping(tol=1e-14, max_iter=epochs), seed=number)
            certificate = found.certificate
            assert certificate.dual <= best + slack
            assert certificate.primal >= best - slack
            assert certificate.gap >= 0.0
            low, high = (bound[:, 0] for bound in found.ball.bounds(drawn.problem.rows))
            checked = (np.abs(exact) > reach) & ((low > 0.0) | (high < 0.0))
            assert np.all((exact > 0.0)[checked] == (low > 0.0)[checked])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("numbers", PARTS, ids=str)
def test_certified_interval_contains_the_optimum(kernel, bias, numbers):
    for number in numbers:
        check(kernel, bias, Hinge(), "hinge", number)


@pytest.mark.parametrize("kernel", KERNELS)
def test_certified_interval_contains_the_optimum_of_logistic_regression(kernel):
    for number, bias in ((1, "none"), (2, "free"), (3, "none")):
        check(kernel, bias, Logistic(), "logistic", number)
