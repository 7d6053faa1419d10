"""Methods that the papers compare with: [dual, primal] holds an independent solver's optimum."""

import functools

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import Hinge
from pegasos.solve import solve
from pegasos.solvers.catalogue import LINEAR_SOLVERS, resolve
from tests.conftest import draw
from tests.reference.certificate import optimum

SMALL = {  # the relative gap that is asked of a method
    "svm_perf": 1e-6,
    "ocas": 1e-6,
    "svmsgd": 1e-2,
    "sgd_qn": 1e-2,
    "mpu": 1e-2,
    "simba": 1e-2,
}
BIASES = ["none", "regularized", "free"]
SOLVERS_OWN = 1e-7  # relative accuracy of the independent solver


@functools.cache
def problem(number, has_weights=True):
    """Draw one of 20 problems; return it with its optimum."""
    kind, dtype = [("dense", np.float64), ("csr", np.float64)][number // 3 % 2]
    rng = np.random.default_rng(100 + number)
    drawn = draw(
        Hinge(),
        seed=100 + number,
        n=int(rng.integers(8, 60)),
        d=int(rng.integers(1, 9)),
        kind=kind,
        dtype=dtype,
        weighted=number >= 10 and has_weights,
        bias=BIASES[number % 3],
        lam=float(10.0 ** rng.uniform(-3, 0)),
    )
    best, _, _ = optimum(
        "hinge", drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, drawn.bias, drawn.bias_scale
    )
    return drawn, best


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.parametrize("number", range(20))
def test_the_certified_interval_contains_the_optimum(name, number):
    drawn, best = problem(number)
    if not LINEAR_SOLVERS[name].sample_weights and number >= 10:
        drawn, best = problem(number, has_weights=False)
    if not LINEAR_SOLVERS[name].sparse_rows:
        drawn = drawn._replace(problem=drawn.problem._replace(rows=as_rows(drawn.X)))
    slack = SOLVERS_OWN * max(1e-3, best)
    ability, solver = LINEAR_SOLVERS[name], resolve(name, Hinge(), drawn.bias)
    assert drawn.bias in ability.biases
    for epochs in (1, 5, 1500 if SMALL[name] <= 1e-6 else 60):
        tol = SMALL[name]
        found = solve(drawn.problem, solver, Stopping(tol=tol, max_iter=epochs), seed=number)
        assert found.certificate.dual <= best + slack
        assert found.certificate.primal >= best - slack
        assert found.certificate.gap >= 0.0
    if SMALL[name] <= 1e-6:
        assert found.certificate.is_within_tol
