"""The interval that holds P*, certified by a duality gap; found once per state of the data.

Suboptimality is taken against the *dual* end, so that it is never understated. Values are kept in
.cache/bench/<file>.json under a checksum of the data.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from bench.harness import files

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


def remembered(
    file: str,
    key: str,
    data: files.Data,
    compute: Callable[[], Any],
    is_kept: Callable[[Any], bool] = lambda value: True,
) -> Any:
    """Return compute(), as JSON keeps it, from the file when it knows this state of the data."""
    path = files.CACHE / f"{file}.json"
    key = f"{key} {files.checksum(*data):08x}"
    known = json.loads(path.read_text()) if path.exists() else {}
    if key in known:
        return known[key]
    value = compute()
    if is_kept(value):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**known, key: value}, indent=1))
    return value
