"""A solver step by step: its current iterate at chosen steps, as the papers draw it.

Nothing is tuned and nothing is kept but what the method itself hands out then. Seconds are CPU
seconds of the steps: without compiling, certificates and records (`pegasos.Recorder`).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers.harness.data import Split
from papers.harness.report import Scale
from pegasos import (
    OCAS,
    Decomposition,
    KernelPegasosClassifier,
    PegasosClassifier,
    Recorder,
    SVMPerf,
)
from pegasos.errors import ToleranceNotReached

FINEST = 1e-5  # relative gap at which a run is over
Floats = NDArray[np.float64]
WITHOUT_CHANCE = (SVMPerf, OCAS, Decomposition)  # every seed is the same run
WARM: set[Any] = set()  # kinds of runs that were made before


class Course(NamedTuple):
    """What a run's model was worth after so many steps; one array per quantity.

    `test_error` is in percent, `evaluations` are kernel values (nan without a kernel).
    """

    steps: Floats
    rows: Floats
    seconds: Floats
    objective: Floats
    test_error: Floats
    test_loss: Floats
    evaluations: Floats

    def first_below(self, value: float) -> int | None:
        """Return the place of the first record whose objective is at most `value`."""
        below = np.flatnonzero(self.objective <= value)
        return int(below[0]) if len(below) else None


def marks(first: int, last: int, per_decade: int = 6) -> list[int]:
    """Return numbers of steps from `first` to `last`, equally spaced on a logarithmic axis."""
    count = max(2, round(np.log10(last / first) * per_decade) + 1)
    return sorted({int(round(step)) for step in np.geomspace(first, last, count)})


def course(
    split: Split,
    lam: float,
    solver: Any,
    steps: list[int],
    *,
    seed: int = 0,
    max_time: float | None = None,
    gamma: float | None = None,
    kernel: str = "rbf",
    bias: str = "none",
) -> Course:
    """Run a solver and record it; with `gamma`, under the Gaussian kernel.

    Before the first run of its kind a few steps are taken on a few rows, for what is compiled to be
    loaded.
    """
    kind = (type(solver), type(split.X), split.X.dtype, gamma is None, kernel, bias)
    if kind not in WARM:
        WARM.add(kind)
        options = {"gamma": gamma, "kernel": kernel, "bias": bias}
        course(split.few(200, 20), 0.01, solver, [20, 400], **options)
    given = {
        "solver": solver, "lam": lam, "bias": bias, "tol": FINEST, "max_iter": 10**9,
        "max_steps": max(steps), "max_time": max_time, "random_state": seed,
        "record": Recorder(steps, split.X_test, split.y_test, clock="cpu"),
    }  # fmt: skip
    if gamma is not None or kernel != "rbf":
        model = KernelPegasosClassifier(kernel=kernel, gamma=gamma or 1.0, **given)
    else:
        model = PegasosClassifier(**given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceNotReached)  # the limit is on the steps
        known = model.fit(split.X, split.y).records_
    return as_course(known)


def not_run() -> Course:
    """Return the course of a method that is not run, or not far enough: it arrives nowhere."""
    nothing, never, unknown = np.zeros(1), np.array([np.inf]), np.array([np.nan])
    return Course(nothing, nothing, never, never, np.array([100.0]), unknown, unknown)


def as_course(known: dict[str, Any]) -> Course:
    """Return a recorder's records, errors in percent; without any, the run had no time for one."""
    if len(known["step"]) == 0:
        return not_run()
    unknown = np.full(len(known["step"]), np.nan)
    return Course(
        known["step"], known["rows_visited"], known["seconds"], known["objective"],
        100.0 * known.get("test_error", unknown), known.get("test_loss", unknown),
        known.get("evaluations", unknown),
    )  # fmt: skip


def seeds_of(solver: Any, scale: Scale) -> range:
    """Return the seeds to run a solver with: one, where chance plays no part."""
    return range(1) if isinstance(solver, WITHOUT_CHANCE) else scale.seeds


def mean(courses: list[Course]) -> Course:
    """Return the mean course over seeds, as far as all of them went."""
    length = min(len(one.steps) for one in courses)
    return Course(
        *(
            np.mean([part[:length] for part in parts], axis=0)
            for parts in zip(*courses, strict=True)
        )
    )
