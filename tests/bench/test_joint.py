"""The benchmark of joint models: its objective, its adapters, its page."""

import numpy as np
import pytest

from bench import joint
from bench.harness.competitor import Effort
from bench.harness.ladder import Measurement, Rung
from bench.harness.results import Results
from bench.joint_problem import OURS, SOLVERS, JointTask, joint_losses

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 90)
X = RNG.standard_normal((90, 2)) + Y[:, None]
PART = {
    "title": "letter-raw hinge", "shape": "2 x 3", "optimum": [0.5, 0.5001], "limit": 9.0,
    "measurements": [
        Measurement("pegasos", True, [Rung("tol 0.001", 0.5, 0.5, 1e-4, 5e-4, test_error=21.5)]),
        Measurement("linearsvc-crammer-singer", False, [
            Rung("tol 1", 2.0, 0.6, 0.2, test_error=30.0),
            Rung("tol 0.1", 4.0, 0.5002, 4e-4, test_error=21.25),
        ]),
        Measurement("slow", False, [Rung("tol 1", 8.0, 0.6, 0.2)]),
    ],
}  # fmt: skip
COSTS = {
    "title": "costs",
    "rows": [{"split": k, "costs": 0.1, "zero-one": 0.2 + 0.01 * k} for k in range(3)],
}


@pytest.mark.fast
def test_losses_are_those_of_the_most_wrong_class_and_of_softmax():
    Z = np.array([[2.0, 1.5, 0.0], [0.0, 3.0, 0.0]])
    np.testing.assert_allclose(joint_losses(Z, np.array([0, 1]), "hinge"), [0.5, 0.0])
    expected = [-np.log(np.exp(z[k]) / np.exp(z).sum()) for z, k in zip(Z, (0, 1), strict=True)]
    np.testing.assert_allclose(joint_losses(Z, np.array([0, 1]), "logistic"), expected)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_adapters_solve_the_same_problem(loss):
    task = JointTask("drawn", X, Y, 1.0 / 90, loss=loss, test=(X, Y))
    found = [
        task.judge(solver.run(X, task, Effort(tol=1e-6)))["objective"]
        for solver in SOLVERS
        if solver.supports(task)
    ]
    assert len(found) == (2 if loss == "hinge" else 3)
    np.testing.assert_allclose(found, found[0], rtol=1e-4)
    assert OURS.is_ours


@pytest.mark.fast
def test_page_shows_seconds_accuracy_and_costs():
    part = PART | {"measurements": [m.as_dict() for m in PART["measurements"]]}
    results = Results(
        "joint", {"date": "today", "processor": "one"}, {"letter-raw hinge": part, "costs": COSTS}
    )
    text = joint.page(results)
    assert "| pegasos | 0.5 | 78.50 | tol 0.001 |" in text
    assert "| linearsvc-crammer-singer | 4 | 78.75 | tol 0.1 |" in text
    assert "| slow | - | - | - |" in text
    assert "| 2 | 0.1000 | 0.2200 |" in text
    assert "The difference is 0.1100" in text
    line = "| letter-raw hinge | 0.5 | 78.50 | linearsvc-crammer-singer | 4 | 78.75 |"
    assert line in joint.summary(results)
