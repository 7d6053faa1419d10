"""On random small problems, [dual, primal] holds the optimum of an independent solver."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.solve import solve
from pegasos.solvers.sdca.linear import SDCA
from tests.conftest import draw
from tests.reference.certificate import optimum
from tests.reference.losses import smoothed_hinge, smoothed_hinge_slope

LOSSES = {
    "hinge": lambda: Hinge(),
    "squared_hinge": lambda: SquaredHinge(),
    "logistic": lambda: Logistic(),
    "epsilon_insensitive": lambda: EpsilonInsensitive(0.1),
    "smoothed_hinge": lambda: CustomLoss(smoothed_hinge, smoothed_hinge_slope).tag([-1.0, 1.0]),
}
BIASES = ["none", "regularized", "free"]
SOLVERS_OWN = 1e-7  # relative accuracy of the independent solver


def loss_of(number):
    return list(LOSSES)[number % 5]


def problem(number):
    """Draw one of 60 problems: 5 losses x 3 biases x 2 containers x with and without weights.

    The one loss that no cache keeps is compiled for one container.
    """
    name, bias = loss_of(number), BIASES[number // 5 % 3]
    kind = ("dense", "csr")[number // 15 % 2 if name != "smoothed_hinge" else 0]
    dtype = np.float32 if (name, kind) == ("hinge", "csr") else np.float64
    rng = np.random.default_rng(number)
    return name, draw(
        LOSSES[name](),
        seed=number,
        n=int(rng.integers(8, 50)),
        d=int(rng.integers(1, 9)),
        kind=kind,
        dtype=dtype,
        weighted=number >= 30,
        bias=bias,
        lam=float(10.0 ** rng.uniform(-3, 0)),
        regression=name == "epsilon_insensitive",
    )


@pytest.mark.parametrize("number", range(60), ids=lambda number: f"{number}-{loss_of(number)}")
def test_certified_interval_contains_the_optimum(number):
    name, drawn = problem(number)
    best, w, b = optimum(
        name, drawn.X, drawn.y[:, 0], drawn.weights, drawn.lam, drawn.bias, drawn.bias_scale
    )
    slack = SOLVERS_OWN * max(1e-3, best)
    exact = drawn.X @ w + b
    reach = np.sqrt(2.0 * slack / drawn.lam) * np.sqrt((drawn.X**2).sum(axis=1) + 1.0)
    for epochs in (1, 3, 20):
        found = solve(drawn.problem, SDCA(), Stopping(tol=1e-14, max_iter=epochs), seed=number)
        certificate = found.certificate
        assert certificate.dual <= best + slack
        assert certificate.primal >= best - slack
        assert certificate.gap >= 0.0
        low, high = (bound[:, 0] for bound in found.ball.bounds(drawn.problem.rows))
        is_known = np.abs(exact) > reach  # where the independent solver's label is beyond doubt
        is_certain = (low > 0.0) | (high < 0.0)
        checked = is_known & is_certain
        assert np.all((exact > 0.0)[checked] == (low > 0.0)[checked])


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "epsilon_insensitive"])
def test_certain_labels_are_those_of_a_solution_at_1e_9(name):
    # More rows and features than above, so that a few epochs settle some labels and not all.
    for seed, bias in enumerate(BIASES):
        drawn = draw(LOSSES[name](), seed=seed, n=120, bias=bias, lam=0.05)
        best = solve(drawn.problem, SDCA(), Stopping(tol=1e-9, max_iter=20_000))
        assert best.certificate.is_within_tol
        labels = (drawn.X @ best.W + best.b)[:, 0] > 0.0
        shares = []
        for epochs in (1, 3, 10, 30, 300):
            short = solve(drawn.problem, SDCA(), Stopping(tol=1e-12, max_iter=epochs))
            low, high = (bound[:, 0] for bound in short.ball.bounds(drawn.problem.rows))
            is_certain = (low > 0.0) | (high < 0.0)
            assert np.array_equal(labels[is_certain], low[is_certain] > 0.0)
            shares.append(is_certain.mean())
        assert shares[-1] >= 0.9
