"""The two recipes of CONTRIBUTING.md are true: what is added by their steps alone works everywhere.

A process of its own adds a loss and a solver (`smooth_hinge`, `cyclic`) and trains with them: their
tags must not come into the disk cache of others.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def in_a_process(**environment):
    """Call the functions below in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.recipes.test_recipes"],
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_the_recipes_add_works_uncompiled():
    in_a_process(NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_what_the_recipes_add_works_compiled(tmp_path):
    in_a_process(NUMBA_CACHE_DIR=str(tmp_path))


def overlapping_classes(n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, np.digitize(X[:, 0] + rng.standard_normal(n), [-0.5, 0.5])


def try_the_loss():
    """Step 5 of the recipe: the loss against its definition."""
    from pegasos.problem.losses import dual_step, gain, gap_term, response, slope, value
    from tests.recipes.smooth_hinge import SmoothHinge

    loss = SmoothHinge(0.5)
    for y in (-1.0, 1.0):
        for z in np.linspace(-2.0, 3.0, 21).tolist():
            steep = (value(loss, z + 1e-6, y) - value(loss, z - 1e-6, y)) / 2e-6
            assert abs(slope(loss, z, y) - steep) < 1e-5
            a = -slope(loss, z, y)
            assert abs(value(loss, z, y) + a * z - gain(loss, a, y)) < 1e-12  # Fenchel-Young
            for b in np.linspace(0.0, 1.0, 5).tolist():
                term = value(loss, z, y) - gain(loss, y * b, y) + y * b * z
                assert abs(gap_term(loss, z, y * b, y) - term) < 1e-12
                assert gap_term(loss, z, y * b, y) >= 0.0
                c, grid = dual_step(loss, z, y * b, 0.7, y), y * np.linspace(0.0, 1.0, 201)
                rise = [gain(loss, g, y) - z * (g - y * b) - 0.35 * (g - y * b) ** 2 for g in grid]
                assert abs(c - grid[int(np.argmax(rise))]) <= 5.1e-3
                if 1e-3 < abs(c) < 1.0 - 1e-3:
                    moved = dual_step(loss, z + 1e-6, y * b, 0.7, y)
                    assert abs(response(loss, z, y * b, c, 0.7, y) + (moved - c) / 1e-6) < 1e-4


def try_the_loss_everywhere():
    """Train the loss by name and as an object, with every solver that takes every loss."""
    import tests.recipes.smooth_hinge as recipe
    from pegasos import KernelPegasosClassifier, PegasosClassifier
    from pegasos.errors import InvalidParameter
    from pegasos.solvers.catalogue import KERNEL_SOLVERS, LINEAR_SOLVERS

    X, y = overlapping_classes()
    for Estimator, solvers in (
        (PegasosClassifier, LINEAR_SOLVERS),
        (KernelPegasosClassifier, KERNEL_SOLVERS),
    ):
        found = []
        for solver, ability in [("auto", None), *solvers.items()]:
            if ability is not None and "free" not in ability.biases:
                continue  # of another problem
            model = Estimator(loss="smooth_hinge", solver=solver, C=0.1, tol=1e-2, random_state=0)
            if ability is None or ability.losses is None:
                found.append(model.fit(X, y).certificate_)
                assert found[-1].is_within_tol
            else:
                with pytest.raises(InvalidParameter, match='solver="|judged by'):
                    model.fit(X, y)
        # All of them are of the same problem: every bound is below every objective.
        assert max(known.dual for known in found) <= min(known.primal for known in found)
    wide = PegasosClassifier(loss=recipe.SmoothHinge(1.0), tol=1e-3).fit(X, y > 0)
    assert wide.certificate_.is_within_tol
    wide.partial_fit(X, y > 0)
    with pytest.raises(InvalidParameter, match='"smooth_hinge" or a CustomLoss; got'):
        wide.set_params(loss="rounded").fit(X, y > 0)


def try_the_solver():
    """Train with the solver by name and as an object: weights, several models, a warm start."""
    from pegasos import PegasosClassifier, PegasosRegressor
    from pegasos.errors import InvalidParameter
    from tests.recipes.cyclic import Cyclic

    X, y = overlapping_classes()
    for loss in ("hinge", "squared_hinge", "logistic"):
        model = PegasosClassifier(
            loss=loss, bias="none", tol=1e-2, C=0.1, random_state=0, multiclass="ovr"
        )
        other = model.fit(X, y, np.arange(40) % 3).certificate_
        ours = model.set_params(solver="cyclic").fit(X, y, np.arange(40) % 3).certificate_
        assert ours.is_within_tol
        assert max(ours.dual, other.dual) <= min(ours.primal, other.primal)
    model = PegasosRegressor(solver=Cyclic(), bias="none", warm_start=True, tol=1e-3)
    assert model.fit(X, X[:, 0]).certificate_.is_within_tol
    assert model.set_params(solver="sdca").fit(X, X[:, 0]).certificate_.is_within_tol
    with pytest.raises(
        InvalidParameter, match='solver="cyclic" has no bias="free"; use bias="none"'
    ):
        PegasosRegressor(solver="cyclic").fit(X, X[:, 0])
    with pytest.raises(InvalidParameter, match='"perceptron", "cyclic" or an object; got'):
        PegasosClassifier(solver="simplex").fit(X, y)
    with pytest.raises(InvalidParameter, match="partial_fit takes Pegasos steps; got solver="):
        PegasosClassifier(solver="cyclic").partial_fit(X, y, classes=[0, 1, 2])


if __name__ == "__main__":
    try_the_loss()
    try_the_loss_everywhere()
    try_the_solver()
