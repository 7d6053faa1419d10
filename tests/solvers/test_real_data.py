"""Proven accuracy on real data, for every solver, loss and bias that the catalogue allows."""

import functools
import lzma
import os
from pathlib import Path

import numpy as np
import pytest

from bench.datasets import a9a, cov1, reuters
from bench.harness.files import cached, open_data
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.solve import solve
from pegasos.solvers.catalogue import LINEAR_SOLVERS, resolve
from pegasos.solvers.cutting_plane.ocas import OCAS
from pegasos.solvers.cutting_plane.svm_perf import SVMPerf
from pegasos.solvers.sgd.sgd import SGD

pytestmark = [pytest.mark.data, pytest.mark.slow]

CLASSIFICATION = [Hinge(), SquaredHinge(), Logistic()]
EXEMPT = ("free-subgradient", "free-batch")  # valid, but not meant to be small
SLOW = ("scheduled_sgd",)  # gaps fall like 1/sqrt(t)
CASES = [
    (data, solver, loss, bias)
    for data, losses in (
        ("a9a", CLASSIFICATION),
        ("reuters", CLASSIFICATION),
        ("cal_housing", [EpsilonInsensitive(0.1)]),
    )
    for solver, ability in LINEAR_SOLVERS.items()
    if ability.approaches_optimum and solver not in SLOW
    for loss in losses
    if ability.losses is None or isinstance(loss, ability.losses)
    for bias in ability.biases
    if bias not in EXEMPT
]


@functools.cache
def load(name):
    """Return rows, targets (n, 1) and lam."""
    if name == "cal_housing":
        with lzma.open(Path(os.environ["PEGASOS_DATA"], name, f"{name}.csv.xz"), "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1)
        table = (table - table.mean(axis=0)) / table.std(axis=0)
        return as_rows(np.ascontiguousarray(table[:, :-1])), table[:, -1:].copy(), 1e-4
    dataset = {"a9a": a9a, "reuters": reuters}[name].load(1e-4)
    return as_rows(dataset.X), dataset.y[:, None].astype(np.float64), 1e-4


def pose(data, loss, bias):
    rows, Y, lam = load(data)
    return make_problem(loss, rows, Y, None, lam, "free" if bias.startswith("free") else bias)


@pytest.mark.parametrize(("data", "solver", "loss", "bias"), CASES, ids=str)
def test_promised_accuracy_is_reached(data, solver, loss, bias):
    tol = 1e-6 if solver == "sdca" else 1e-2
    problem = pose(data, loss, bias)
    solution = solve(problem, resolve(solver, loss, bias), Stopping(tol=tol, max_iter=4000))
    print(f"{data} {solver} {loss} {bias}: {solution.certificate}")
    assert solution.certificate.relative_gap <= tol


@pytest.mark.parametrize("data", ["a9a", "reuters"])
@pytest.mark.parametrize("variant", ["r", "m"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_other_variants_of_sgd_reach_a_percent(data, variant, bias):
    solver = resolve(SGD(variant=variant), Hinge(), bias)
    solution = solve(pose(data, Hinge(), bias), solver, Stopping(tol=1e-2, max_iter=4000))
    print(f"{data} sgd-{variant} {bias}: {solution.certificate}")
    assert solution.certificate.relative_gap <= 1e-2


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_cuts_to_a_certified_thousandth_on_a9a(bias):
    # 54, 53 and 50 by OCAS; 156, 159 and 151 by SVM-Perf, which takes 571, 636 and 559 without its
    # path: of these 571 the lower bound alone needs 511.
    taken = {}
    for solver in (OCAS(), SVMPerf(), SVMPerf(path=False)):
        found = solve(pose("a9a", Hinge(), bias), solver, Stopping(tol=1e-3, max_iter=4000))
        assert found.certificate.is_within_tol
        taken[str(solver)] = found.certificate.epochs
    print(f"a9a, bias {bias}, cuts to a certified 1e-3: {taken}")
    ocas, svm_perf, literal = taken.values()
    assert ocas < 100 < svm_perf < 200
    assert svm_perf < 0.4 * literal


@functools.cache
def rows_left_for_testing():
    """Return the rows that the paper's split leaves for testing."""

    def parse():
        with open_data("covtype", "covtype.csv.xz") as file:
            file.readline()
            table = np.loadtxt(file, delimiter=",", dtype=np.float64)
        X, kind = table[:, :-1], table[:, -1]
        low, high = X.min(axis=0), X.max(axis=0)
        X = (X - low) / np.where(high > low, high - low, 1.0)
        chosen = np.random.default_rng(0).permutation(len(X))[cov1.TRAINING_ROWS :]
        return np.ascontiguousarray(X[chosen]), np.where(kind[chosen] == 1, 1, -1)

    return cached("cov1-test", parse)


def test_cov1_as_in_the_paper():
    # [SSSC11] Table 1: cov1, lam 1e-6, no bias; suboptimality 0.0449 is where test errors settle.
    dataset = cov1.load(1e-6)
    rows, Y = as_rows(dataset.X), dataset.y[:, None].astype(np.float64)
    problem = make_problem(Hinge(), rows, Y, None, dataset.lam)
    best = solve(problem, resolve("sdca", Hinge(), "none"), Stopping(tol=1e-3, max_iter=3000))
    found = solve(problem, resolve("pegasos", Hinge(), "none"), Stopping(tol=0.01, max_iter=100))
    X, y = rows_left_for_testing()
    errors = [float(np.mean(np.sign(X @ s.W[:, 0]) != y)) for s in (found, best)]
    print(f"cov1: {found.certificate}; optimum {best.certificate}; test errors {errors}")
    assert found.certificate.primal - best.certificate.dual < 0.0449
    assert errors[0] <= 1.1 * errors[1]
