"""The batch perceptron's plain average, alpha-bar / gamma: what [CSS12] Lemma 3.2 is about."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge
from pegasos.solve import solve
from pegasos.solvers.batch_perceptron.batch_perceptron import BatchPerceptron
from tests.reference.batch_perceptron import batch_perceptron, gamma_for_lam, gamma_for_nu
from tests.reference.kernel_optimum import kernel_optimum
from tests.solvers.kernel_problems import kernel_problem, whole_matrix

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # uncompiled uint64 wraps
BIASES = ["none", "free"]


def stepped(solver, problem, steps):
    """Take single steps; return the state and the rows they were on."""
    state, choices = solver.start(problem, 1, None), []
    for _ in range(steps):
        before = state.runs[0].path.visits.copy()
        while solver.advance_by(problem, state, 1).rows_visited == 0:
            pass
        choices.append(int(np.argmax(state.runs[0].path.visits - before)))
    return state, choices


@pytest.mark.fast
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("nu", [0.2, None])
def test_average_equals_the_transcription(nu, bias):
    drawn = kernel_problem(Hinge(), 3, n=14, d=3, bias=bias, lam=0.05)
    K, y, free = whole_matrix(drawn), drawn.y[:, 0], bias == "free"
    solver = BatchPerceptron(nu=nu, step="root", output="average")
    state, choices = stepped(solver, drawn.problem, 40)
    _, alpha_sum, _, _ = batch_perceptron(K, y, choices, nu=nu, lam=drawn.lam, free=free)
    alpha = alpha_sum / 40
    c = y * (K @ (y * alpha))
    if nu is None:
        gamma = gamma_for_lam(c, y, free, drawn.lam, alpha @ c)
    else:
        gamma = gamma_for_nu(c, y, free, nu)
    assert gamma > 0.0
    W, _ = solver.iterate(drawn.problem, state)
    np.testing.assert_allclose(W[:, 0], y * alpha / gamma, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bias", BIASES)
def test_certified_interval_of_the_average_contains_the_optimum(bias):
    for seed in range(20):
        nu = 0.2 if seed % 2 == 0 else None
        drawn = kernel_problem(Hinge(), seed, n=20, d=3, bias=bias, lam=0.05)
        solver = BatchPerceptron(nu=nu, step="root", output="average")
        limits = Stopping(tol=1e-9, max_steps=37 + 10 * seed)
        found = solve(drawn.problem, solver, limits, seed=seed)
        best, _ = kernel_optimum(
            whole_matrix(drawn), drawn.y[:, 0], drawn.weights, found.lam, "hinge", bias
        )
        accuracy = 1e-6 * (1.0 + best)
        certificate = found.certificate
        assert certificate.dual - accuracy <= best <= certificate.primal + accuracy
        K, W = whole_matrix(drawn), found.W[:, 0]
        hinges = np.maximum(0.0, 1.0 - drawn.y[:, 0] * (K @ W + found.b[0])).mean()
        primal = 0.5 * found.lam * W @ K @ W + hinges
        assert certificate.primal == pytest.approx(primal, rel=1e-6)


@pytest.mark.fast
def test_unknown_outputs_are_refused():
    with pytest.raises(InvalidParameter, match='output must be one of "best", "average"; got'):
        BatchPerceptron(output="last").check()
