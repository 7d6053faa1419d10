"""Compiled variants are a budget: only row containers, losses and the shape of weights make them.

Run as a script, this file fits a list of problems in a process of its own and prints, per kernel,
how many variants were compiled and how many differ in what may differ.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

PER_CONTAINER_AND_LOSS = {"sdca_pass"}
PER_CONTAINER = {"square_norms", "all_scores", "add_combination"}
PER_LOSS = {"write_feasible", "add_gains", "add_terms", "slope_sum", "signed_sums"}


def int64(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


CONTAINERS = [
    (layout, dtype)
    for layout in (np.ascontiguousarray, np.asfortranarray, sparse.csr_array, int64)
    for dtype in (np.float32, np.float64)
]


def fit_all(containers, models):
    """Fit every container and loss, with and without weights, for every bias."""
    from pegasos.certificate.stopping import Stopping
    from pegasos.data.rows import as_rows
    from pegasos.problem import losses
    from pegasos.problem.objective import make_problem
    from pegasos.solve import solve
    from pegasos.solvers.sdca.linear import SDCA

    every = [
        losses.Hinge(), losses.Logistic(), losses.SquaredHinge(), losses.EpsilonInsensitive(0.1),
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5))
    X[np.abs(X) < 0.5] = 0.0
    for layout, dtype in containers:
        rows = as_rows(layout(X.astype(dtype)))
        for loss in every if len(containers) > 2 else every[:2]:
            for K in models:
                Y = np.where(rng.standard_normal((20, K)) > 0.0, 1.0, -1.0)
                Y[:2] = [[1.0], [-1.0]]
                for weights in (None, rng.random(20)):
                    for bias in ("none", "regularized", "free"):
                        problem = make_problem(loss, rows, Y, weights, 0.1, bias)
                        solution = solve(problem, SDCA(), Stopping(tol=1e-9, max_iter=6))
                        solution.ball.bounds(rows)


def is_of_kernels(module):
    """Whether a module is of kernels or of sequences: its functions are not counted."""
    rooms = ("batch_perceptron", "chain", "decomposition", "lasvm", "responses")
    if "kernel_matrix" in module or "sequence" in module or "chain" in module:
        return True
    return module.endswith(".kernel") or module.startswith(
        tuple(f"pegasos.solvers.{room}" for room in rooms)
    )


def kernels():
    """All compiled functions of the linear half of the package, by name."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("pegasos") and not is_of_kernels(name):
            for thing in vars(module).values():
                if hasattr(thing, "signatures") and thing.__module__ == name:
                    found[thing.__name__] = thing
    return found


def allowed_difference(kernel, signature):
    """What may tell two variants apart: row containers, loss tags, and the shape of weights."""
    from numba import types

    parts = []

    def visit(kind):
        if isinstance(kind, types.BaseTuple):
            tag = getattr(kind, "instance_class", tuple).__name__
            if tag in ("DenseRows", "CsrRows"):
                parts.append(str(kind))
                return
            if tag not in ("Problem", "Costs", "Weights", "Balance", "DualBias", "tuple"):
                parts.append(tag)
            for part in kind:
                visit(part)

    for name, kind in zip(kernel.py_func.__code__.co_varnames, signature, strict=False):
        visit(kind)
        if name in ("W", "w"):
            parts.append(f"{kind.ndim}-d weights")
        if name in ("X", "indptr", "indices", "array", "i"):  # parts of rows; a row's number
            parts.append(str(kind))
    return tuple(parts)


def counts():
    return {
        name: (
            len(kernel.signatures),
            len({allowed_difference(kernel, signature) for signature in kernel.signatures}),
        )
        for name, kernel in kernels().items()
    }


def run(which, **environment):
    """Fit in a fresh process; return the counts."""
    done = subprocess.run(
        [sys.executable, __file__, which],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(found, containers, losses, shapes):
    for name, (variants, differences) in found.items():
        assert variants == differences, f"{name}: needless variants"
    for name in PER_CONTAINER_AND_LOSS:
        assert found[name][0] == containers * losses * shapes
    for name in PER_CONTAINER:
        expected = containers * (1 if name == "square_norms" else shapes)
        assert found[name][0] == expected, name
    assert found["add_distances"][0] == containers
    for name in PER_LOSS:
        assert found[name][0] == losses, name


def test_labels_weights_and_biases_make_no_variants():
    found = run("small")
    check(found, containers=2, losses=2, shapes=1)


@pytest.mark.slow
def test_all_containers_losses_and_shapes_make_no_needless_variants(tmp_path):
    found = run("all", NUMBA_CACHE_DIR=str(tmp_path))
    check(found, containers=8, losses=4, shapes=2)
    print(f"compiled {sum(n for n, _ in found.values())} variants")


if __name__ == "__main__":
    if sys.argv[1] == "all":
        fit_all(CONTAINERS, models=(1, 3))
    else:
        fit_all([CONTAINERS[1], CONTAINERS[5]], models=(1,))
    print(json.dumps(counts()))
