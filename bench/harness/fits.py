"""Single fits, timed: the best of a few, with the warnings they raise."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.harness.ladder import SHORT
from bench.harness.limited import within


@dataclass
class Fit:
    """The shortest time, the last model, and the kinds of warnings it raised."""

    seconds: float
    model: Any
    warnings: list[str]


def fitted(make: Callable[[], Any], X: Any, y: Any, repeats: int = 3, least: int = 2) -> Fit:
    """Fit a new estimator a few times; a long fit twice, as the first may have compiled."""
    best = Fit(float("inf"), None, [])
    turns = 0
    while turns < repeats and (turns < least or best.seconds < SHORT):
        one = timed_fit(make(), X, y)
        best = Fit(min(best.seconds, one.seconds), one.model, one.warnings)
        turns += 1
    return best


def timed_fit(model: Any, X: Any, y: Any) -> Fit:
    """Fit once."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    return Fit(seconds, model, sorted({warning.category.__name__ for warning in raised}))


def fitted_within(
    limit: float, make: Callable[[], Any], X: Any, y: Any, repeats: int = 3
) -> Fit | None:
    """Fit a few times in processes of their own; None if the first takes longer than `limit`."""
    best = None
    for _ in range(repeats):
        _, fit = within(limit, lambda: ((one := timed_fit(make(), X, y)).seconds, one))
        if fit is not None and (best is None or fit.seconds < best.seconds):
            best = fit
        if fit is None or fit.seconds >= SHORT:
            break
    return best


def proven_gap(model: Any) -> float | None:
    """Return the relative gap that a model of ours has proven, the largest of several."""
    certificate = getattr(model, "certificate_", None)
    return None if certificate is None else float(np.max(certificate.relative_gap))
