"""Why a fit ended above its tolerance: what it guarantees all the same, the cause, one remedy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.certificate.stopping import USELESS, Certificate, Outcome, plain, within
from pegasos.data.rows import CsrRows, Rows, float_type
from pegasos.data.scales import Scales, column_scales
from pegasos.one_vs_one.together import Together
from pegasos.progress import duration
from pegasos.solve import Solution

UNEVEN = 100.0  # largest over smallest column scale from which scaling is advised
LARGE = 10.0  # scale of a column from which scaling is advised, where C is held responsible
FAR = 10.0  # mean over spread of a column from which offsets are held responsible
HUGE = 1e3  # C ||x||^2 from which C is held responsible
WORTH_WAITING = 5.0  # as many times what was done is worth waiting for


def diagnosis(estimator: Any, solution: Solution | Together, rows: Rows | None) -> str:
    """Return the text of the warning for a fit that ended above its tolerance.

    Of sequences and other structures there are no `rows` to look at.
    """
    certificate = solution.certificate
    return (
        f"{guarantee(certificate)} (tol={certificate.tol:g} was asked for; stopped after "
        f"{certificate.epochs:,} epochs and {duration(certificate.seconds)} because "
        f"{certificate.reason}). {advice(estimator, solution, rows)}"
    )


def guarantee(certificate: Certificate) -> str:
    """Say what is proven about the model."""
    gap = certificate.relative_gap
    if not certificate.is_proven:
        return (
            f"The objective is {certificate.primal:.4g}, with no proof, since the kernel is not "
            "positive semi-definite"
        )
    count = len(certificate.models.get("primal", ()))
    which = "The objective is" if count < 2 else f"The worst of {count:,} models is"
    if gap > USELESS:
        return f"{which} not yet bounded usefully"
    return f"{which} {within(gap)}"


def advice(estimator: Any, solution: Solution | Together, rows: Rows | None) -> str:
    """Name the most likely cause and one remedy."""
    certificate = solution.certificate
    if solution.outcome is Outcome.ROUNDING:
        is_coarse = (
            rows is not None and float_type(rows) == np.float32 and not estimator._has_kernel
        )
        return (
            "Numbers of this size are not exact enough for this tolerance: scale the columns, or "
            f"lower C{', or pass float64 data' if is_coarse else ''}."
        )
    if solution.outcome is Outcome.STEPS:
        return f"Too few steps; raise max_steps={estimator.max_steps}, or leave it out."
    epochs = solution.trace.epochs_to(certificate.tol)
    is_near = epochs <= WORTH_WAITING * certificate.epochs  # nan, a forecast unknown, is not
    if is_near:
        return _wait(solution, epochs)
    if rows is not None and (cause := _cause(estimator, rows)):
        return cause
    if np.isfinite(epochs) and epochs <= 1000.0 * certificate.epochs:
        return _wait(solution, epochs)
    if certificate.relative_gap <= 1.0:
        return (
            "The gap falls too slowly for a forecast. If this accuracy is enough, set "
            f"tol={_rounded_up(certificate.relative_gap):g}."
        )
    if solution.outcome is Outcome.TIME:
        seconds = max(1.0, _rounded_up(10.0 * certificate.seconds))
        return f"Too little time; set max_time={seconds:.0f}."
    return f"Too few epochs; set max_iter={10 * certificate.epochs}."


def _cause(estimator: Any, rows: Rows) -> str:
    """Name what is wrong with the scale of the columns or the penalty, if anything."""
    scales = column_scales(rows)
    if scales.offset >= FAR and estimator.bias in ("none", "regularized"):
        return _centre(estimator, scales)
    is_weak = estimator.C_ * scales.mean_square >= HUGE
    is_large, is_sparse = scales.most >= LARGE, isinstance(rows, CsrRows)
    if (scales.ratio >= UNEVEN and (is_large or not is_sparse)) or (is_weak and is_large):
        return _scale(estimator, scales, rows)
    return _weaken(estimator, scales.mean_square) if is_weak else ""


def _wait(solution: Solution | Together, epochs: float) -> str:
    certificate = solution.certificate
    seconds = epochs * certificate.seconds / max(1, certificate.epochs)
    # Forecasts are rough: ask for half as much again.
    if solution.outcome is Outcome.TIME:
        cause, budget = "Too little time", certificate.seconds + 1.5 * seconds
        remedy = f"max_time={max(1.0, _rounded_up(budget)):.0f}"
    else:
        cause, budget = "Too few epochs", certificate.epochs + 1.5 * epochs
        remedy = f"max_iter={_rounded_up(budget):.0f}"
    return (
        f"{cause}: about {plain(max(1.0, epochs))} epochs ({duration(seconds)}) more should reach "
        f"tol. Set {remedy}."
    )


def _scale(estimator: Any, scales: Scales, rows: Rows) -> str:
    scaler = "MaxAbsScaler()" if isinstance(rows, CsrRows) else "StandardScaler()"
    most = f"{plain(scales.most)} in {_column(estimator, scales.most_column)}"
    least = f"{plain(scales.least)} in {_column(estimator, scales.least_column)}"
    cause = "columns differ in scale" if scales.ratio >= UNEVEN else "columns are large"
    return (
        f"The most likely cause is that {cause}: {most}, {least}. Scale them: "
        f"make_pipeline({scaler}, {type(estimator).__name__}(...))."
    )


def _centre(estimator: Any, scales: Scales) -> str:
    column = _column(estimator, scales.offset_column)
    return (
        f"The most likely cause is that columns are far from 0: the mean of {column} is "
        f"{plain(scales.offset)} times its spread, which bias={estimator.bias!r} cannot follow. "
        'Use bias="free", or centre the columns.'
    )


def _weaken(estimator: Any, mean_square: float) -> str:
    C = _rounded_down(0.1 * HUGE / mean_square)
    name, value = ("C", C) if estimator.lam is None else ("lam", estimator.C_ * estimator.lam_ / C)
    given = estimator.C if estimator.lam is None else estimator.lam
    return (
        f"The most likely cause is the penalty, too weak for rows of length "
        f"{plain(np.sqrt(mean_square))}: {name}={given:g}. Try {name}={float(f'{value:.1g}'):g}, "
        "and weaken it only while validation improves."
    )


def _column(estimator: Any, j: int) -> str:
    names = vars(estimator).get("feature_names_in_")
    return f"column {j}" if names is None else repr(str(names[j]))


def _rounded_up(number: float) -> float:
    """Round up to two digits."""
    unit = 10.0 ** np.floor(np.log10(number) - 1.0)
    return float(f"{np.ceil(number / unit) * unit:.2g}")


def _rounded_down(number: float) -> float:
    """Round down to one digit."""
    unit = 10.0 ** np.floor(np.log10(number))
    return float(f"{np.floor(number / unit) * unit:.1g}")
