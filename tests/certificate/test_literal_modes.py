"""What the papers do, step for step: [dual, primal] holds an independent solver's optimum.

All methods that `test_compared_methods` and `test_interval_contains_optimum` do not try.
"""

import numpy as np
import pytest

from pegasos import (
    LASVM,
    SDCA,
    BatchPerceptron,
    Decomposition,
    KernelPegasos,
    KernelPerceptron,
    KernelSDCA,
    Newton,
    Pegasos,
    Perceptron,
)
from pegasos.certificate.stopping import Stopping
from pegasos.problem.losses import Hinge
from pegasos.solve import solve
from tests.certificate.test_compared_methods import BIASES, SOLVERS_OWN, problem
from tests.reference.kernel_optimum import kernel_optimum
from tests.solvers.kernel_problems import kernel_problem, whole_matrix

ALL = tuple(BIASES)
LINEAR = {  # and the biases that they can do
    "pegasos, last": (Pegasos(sampling="iid", output="last"), ALL),
    "pegasos, projected": (Pegasos(sampling="iid", projection=True, output="last"), ALL),
    "pegasos, average": (Pegasos(sampling="permutation", output="average"), ALL),
    "pegasos, multiset": (Pegasos(5, "multiset", output="last"), ALL),
    "pegasos, random": (Pegasos(output="random", candidates=3), ALL),
    "pegasos, one order": (Pegasos(sampling="fixed", output="last"), ALL),
    "sdca, iid": (SDCA(sampling="iid", shrinking=False), ALL),
    "perceptron": (Perceptron(), ("none", "regularized")),
    "newton": (Newton(), ALL),
}
KERNEL = [
    KernelSDCA(sampling="iid"), KernelPegasos(sampling="iid", output="last"), LASVM(),
    Decomposition(), Decomposition(working_set=2), KernelPerceptron(), BatchPerceptron(),
]  # fmt: skip


def check(found, best):
    slack = SOLVERS_OWN * max(1e-3, best)
    assert found.certificate.dual <= best + slack
    assert found.certificate.primal >= best - slack
    assert found.certificate.gap >= 0.0


@pytest.mark.parametrize("name", LINEAR)
def test_the_interval_of_a_literal_run_contains_the_optimum(name):
    solver, biases = LINEAR[name]
    for number in range(20):
        drawn, best = problem(number)
        if drawn.bias in biases:
            for epochs in (1, 20):
                limits = Stopping(tol=1e-12, max_iter=epochs)
                check(solve(drawn.problem, solver, limits, seed=number), best)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_the_interval_of_a_kernel_method_contains_the_optimum(bias):
    for number in range(20):
        n, d = 10 + number, 1 + number % 5
        lam = float(10.0 ** np.random.default_rng(number).uniform(-3, 0))
        drawn = kernel_problem(Hinge(), number, n=n, d=d, bias=bias, lam=lam)
        K = whole_matrix(drawn)
        best, _ = kernel_optimum(K, drawn.y[:, 0], drawn.weights, lam, "hinge", bias)
        for solver in KERNEL:
            for epochs in (1, 20):
                limits = Stopping(tol=1e-12, max_iter=epochs)
                check(solve(drawn.problem, solver, limits, seed=number), best)
