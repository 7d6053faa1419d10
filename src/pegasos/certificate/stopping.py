"""When a fit ends, and what to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np

from pegasos.data.rows import FloatArray

StopRule = Literal["gap", "decisions"]

USELESS = 10.0  # relative gap above which a bound is of no use to anybody


class Outcome(Enum):
    """Why a fit ended, as a sentence."""

    TOLERANCE = "the tolerance was reached"
    DECISIONS = "the labels of the training rows are settled"
    EPOCHS = "max_iter was reached"
    STEPS = "max_steps was reached"
    TIME = "max_time was reached"
    INTERRUPT = "it was interrupted (Ctrl-C)"
    CALLBACK = "a callback asked for it"
    ROUNDING = "rounding hides the rest of the gap"
    BLURRED = "kernel values are too coarse"  # the fit goes on with wider ones
    CHANGED = "another solver is expected to end sooner"  # the fit goes on with that
    INDEFINITE = "the kernel is not positive semi-definite and nothing can be proven"
    DONE = "the method had made its passes"

    @property
    def value_without_proof(self) -> str:
        """The same where a gap proves nothing: the tolerance is one of the gap alone."""
        is_gap = self is Outcome.TOLERANCE
        return "the gap fell to the tolerance" if is_gap else str(self.value)


@dataclass(frozen=True)
class Stopping:
    """Limits of a fit; `wish` is a tolerance worth trying for within `wish_epochs`, no duty."""

    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float = float("inf")
    rule: StopRule = "gap"
    settled: float = 0.999
    wish: float = float("inf")
    wish_epochs: int = 0
    max_steps: float = float("inf")


@dataclass(frozen=True)
class Certificate:
    """How good a fit is, proven.

    Attributes
    ----------
    primal, dual, gap : float
        Objective of the model handed out, the best lower bound known on the optimum, and what is
        left between them. Sums over models where several are trained side by side.
    relative_gap : float
        The objective is proven to be within this fraction of the optimum; for several models, each
        of them.
    tol : float
        The tolerance that was asked for.
    reason : str
        Why the fit ended.
    epochs : int
        Passes over the rows.
    seconds : float
        Time of the fit.
    models : dict of str to ndarray of shape (K,)
        primal, dual, gap and relative_gap of each model.
    is_proven : bool
        False where nothing can be proven, since the kernel is not positive semi-definite: the gap
        is then only a measure of how close the fit is to a stationary point.
    basis : str
        Where the scores behind the certificate come from: "recomputed" from the data, or, with a
        kernel, "audited on N rows": maintained by the solver, compared on N random rows with scores
        computed anew, and trusted no further than that comparison allows.
    kernel_tested_on : str
        For a kernel that only its maker knows to be positive semi-definite: the rows on which it
        was tested. Empty for others.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    tol: float
    reason: str
    epochs: int
    seconds: float
    models: dict[str, Any]
    is_proven: bool = True
    basis: str = "recomputed"
    kernel_tested_on: str = ""

    @property
    def is_within_tol(self) -> bool:
        """Whether the objective is proven to be within `tol` of the optimum."""
        return self.is_proven and self.relative_gap <= self.tol

    def __str__(self) -> str:
        passes = f"{self.epochs:,} epoch" + ("" if self.epochs == 1 else "s")
        condition = ""
        if self.kernel_tested_on:
            condition = f", if the kernel is as semi-definite as {self.kernel_tested_on} show"
        known = f"{self.claim} (at least {self.dual:.6g}{condition})"
        if not self.is_proven:
            known = "with no proof, since the kernel is not positive semi-definite"
        return (
            f"objective {self.primal:.6g}, {known}; stopped after {passes} and "
            f"{plain(self.seconds)} s because {self.reason}"
        )

    @property
    def claim(self) -> str:
        """What is proven, in words; of several models, about the worst."""
        count = len(self.models.get("primal", ()))
        which = f", the worst of {count:,} models" if count > 1 else ""
        if self.relative_gap > USELESS:
            return f"not yet bounded usefully{which}"
        return f"{within(self.relative_gap)}{which}"


def relative(gap: FloatArray, primal: FloatArray, dual: FloatArray) -> FloatArray:
    """Return gap / dual: the objective is within this fraction of the optimum.

    An objective of 0 reports 0, a bound that tells nothing (<= 0) infinity.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(dual > 0.0, gap / dual, np.inf)
    return np.where(primal == 0.0, 0.0, ratio)


def within(gap: float) -> str:
    """Say how far from the optimum an objective is at most, given its relative gap."""
    if gap > 1.0:
        return f"proven to be at most {1.0 + gap:.3g} times the optimum"
    return f"proven within {in_percent(gap)} of the optimum"


def in_percent(fraction: float) -> str:
    """Write a fraction as a percentage a person can read."""
    return f"{plain(100 * fraction)} %" if fraction <= USELESS else "no useful bound"


def plain(number: float, digits: int = 2) -> str:
    """Write a number to a few digits as a person would: no exponent where one can do without."""
    rounded = float(f"{number:.{digits}g}")
    if rounded == 0.0 or not 1e-4 <= abs(rounded) < 1e7:
        return f"{rounded:g}"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(rounded)))))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
