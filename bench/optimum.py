"""The optimum that everybody is measured against, certified by a duality gap.

P* lies in [dual, primal]; suboptimality is taken against the *dual* end, so that it is never
understated, and the two ends are at most 1e-6 (relative) apart or the dataset is refused. The
primal end is recomputed by `bench.objective`, not taken from the solver. Values are kept in
.cache/bench/optimum.json under a checksum of the data.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.datasets.base import CACHE, Dataset, checksum
from bench.objective import Matrix, objective, signs

AIM, ENOUGH = 1e-7, 1e-6  # relative gap asked for, and the largest one accepted
ROUNDING = 1e-10  # relative error allowed to sums over all rows


class Optimum(NamedTuple):
    """An interval that holds P*."""

    dual: float
    primal: float

    @property
    def relative_gap(self) -> float:
        return (self.primal - self.dual) / self.dual

    def suboptimality(self, value: float) -> float:
        """Return (P - P*)/P*, at most `relative_gap` too large and never too small."""
        return (value - self.dual) / self.dual

    def checked_suboptimality(self, value: float, key: str) -> float:
        """Return the same; refuse an optimum that somebody has beaten: it cannot be one."""
        suboptimality = self.suboptimality(value)
        if suboptimality < -ROUNDING:
            raise RuntimeError(
                f"An objective of {value!r} on {key} lies below the certified lower bound "
                f"{self.dual!r}: the certificate is wrong."
            )
        return suboptimality


def certified_optimum(X: Matrix, y: NDArray[np.int64], lam: float) -> Optimum:
    """Solve to a relative gap of 1e-7, one class at a time, and return the interval."""
    from pegasos import PegasosClassifier

    dual = primal = 0.0
    for sign in signs(y).T.astype(np.int64):
        svm = PegasosClassifier(
            lam=lam, bias="none", solver="sdca", tol=AIM, max_iter=100_000, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the gap is judged below
            svm.fit(X, sign)
        dual += float(np.sum(svm.certificate_.dual))
        primal += objective(X, sign, lam, svm.coef_[0])
    optimum = Optimum(dual, primal)
    if not -1e-12 <= optimum.relative_gap <= ENOUGH:
        raise RuntimeError(
            f"The optimum is only known to a relative gap of {optimum.relative_gap:.1e}; "
            f"measuring down to 1e-4 needs {ENOUGH:g}."
        )
    return optimum


def remembered_optimum(dataset: Dataset) -> Optimum:
    """Return the certified optimum of a dataset, solved once per state of its data."""
    key = f"{dataset.key} {checksum(dataset.X, dataset.y):08x}"
    solve = lambda: certified_optimum(dataset.X, dataset.y, dataset.lam)  # noqa: E731
    return Optimum(*remembered(CACHE / "optimum.json", key, solve))


def remembered(path: Path, key: str, compute: Callable[[], Any]) -> Any:
    """Return compute(), as JSON keeps it, from the file when it holds the key."""
    known = json.loads(path.read_text()) if path.exists() else {}
    if key not in known:
        known[key] = compute()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(known, indent=1))
    return known[key]
