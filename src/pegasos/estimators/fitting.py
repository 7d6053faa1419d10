"""The steps of a fit that all estimators share: solve, keep what was found, warn.

Every `fit` reads the same way, in one function: check the parameters, look at the data, make the
problem, solve it, keep what was found, warn. Nothing of an estimator changes before its problem is
solved, so that a fit that fails leaves the one before as it was.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from pegasos.around import Around, Decided
from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.rows import FloatArray, Rows, shape
from pegasos.errors import FitInterrupted, IndefiniteKernel, ToleranceNotReached
from pegasos.estimators.callbacks import EpochCallbacks
from pegasos.estimators.diagnosis import diagnosis
from pegasos.estimators.parameters import seeded, threads_of
from pegasos.interrupt import Interrupts
from pegasos.parallel import limited_to, one_blas_thread
from pegasos.problem.objective import Problem
from pegasos.progress import watch_for
from pegasos.recorder import Recording
from pegasos.solve import Solution, solve


def passed(X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """Return what callbacks may see: data as the user passed it."""
    return {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}


def total_weight(rows: Rows, sample_weight: FloatArray | None) -> float:
    """Return S, the sum of the weights of the rows."""
    return float(shape(rows)[0]) if sample_weight is None else float(sample_weight.sum())


def interrupts_of(estimator: Any) -> Interrupts:
    """Return what Ctrl-C is to do to a fit."""
    return Interrupts(keeps=estimator.on_interrupt == "keep")


def around_fit(
    estimator: Any, compiles: str, stopping: Stopping, callbacks: EpochCallbacks
) -> Around:
    """Return what is around a fit to sequences or structures: progress, callbacks, Ctrl-C."""
    watch = watch_for(estimator.verbose, stopping.tol, callbacks)
    return Around(compiles, watch, interrupts=interrupts_of(estimator))


@one_blas_thread
def solved(
    estimator: Any,
    problem: Problem,
    solver: Any,
    stopping: Stopping,
    callbacks: EpochCallbacks,
    *,
    previous: Any | None = None,
    decided: Decided | None = None,
    recording: Recording | None = None,
) -> Solution:
    """Solve a problem with an estimator's seed, threads, progress, callbacks and Ctrl-C."""
    with limited_to(threads_of(estimator)):
        return solve(
            problem,
            solver,
            stopping,
            seed=seeded(estimator.random_state).randint(2**31 - 1),
            previous=previous,
            watch=watch_for(estimator.verbose, stopping.tol, callbacks),
            decided=decided,
            interrupts=interrupts_of(estimator),
            recording=recording,
        )


def penalty_found(C: float, problem: Problem, solution: Solution) -> dict[str, Any]:
    """Return the penalty on both scales; a solver may have been given another measure of it."""
    if solution.lam != problem.lam:
        C = 1.0 / (solution.lam * problem.S)
    return {"C_": C, "lam_": solution.lam}


def certificate_found(solution: Any) -> dict[str, Any]:
    """Return the fitted attributes that say how good a fit is."""
    return {
        "certificate_": solution.certificate,
        "history_": solution.trace.as_dict(),
        "n_iter_": solution.certificate.epochs,
    }


def keep(estimator: Any, *found: dict[str, Any]) -> None:
    """Set the fitted attributes."""
    for attributes in found:
        for name, value in attributes.items():
            setattr(estimator, name, value)


def forget_certificate(estimator: Any) -> None:
    """Drop what a fit left that no longer holds once a stream goes on from it."""
    for name in ("certificate_", "history_", "records_"):
        vars(estimator).pop(name, None)
    estimator._ball = estimator._state = None


def warn_of_end(estimator: Any, solution: Any, rows: Rows | None = None) -> None:
    """Warn of an interrupted fit, or of one that a limit ended above the tolerance."""
    if solution.outcome is Outcome.INTERRUPT:
        warnings.warn(
            "Fit interrupted by Ctrl-C, half-trained; the model so far is kept: "
            f"{solution.certificate}. To stop a search or another loop of fits, press Ctrl-C "
            'twice, or set on_interrupt="raise".',
            FitInterrupted,
            stacklevel=stack_level(),
        )
    elif solution.outcome in (Outcome.EPOCHS, Outcome.STEPS, Outcome.TIME, Outcome.ROUNDING):
        text = diagnosis(estimator, solution, rows)
        warnings.warn(text, ToleranceNotReached, stacklevel=stack_level())


def warn_of_kernel(estimator: Any, is_indefinite: bool) -> None:
    """Warn of a kernel that turned out not to be one: nothing is proven."""
    certificate = estimator.certificate_
    if is_indefinite or (certificate.kernel_tested_on and not certificate.is_proven):
        warnings.warn(
            f"The kernel is not positive semi-definite ({estimator.kernel!r} on these rows): the "
            "fit is a stationary point, not a proven optimum, and certain(X) has no answer. "
            'Check the kernel, or use one that is, such as kernel="rbf".',
            IndefiniteKernel,
            stacklevel=stack_level(),
        )


def stack_level() -> int:
    """Return the stack level of the first caller outside the library, for a warning from here."""
    frame, level = inspect.currentframe(), 0
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("pegasos.", "sklearn.", "joblib.", "contextlib")):
            return level
        frame, level = frame.f_back, level + 1
    return 1
