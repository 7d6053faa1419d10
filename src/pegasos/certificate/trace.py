"""The history of a fit: one record per certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from pegasos.data.rows import FloatArray


@dataclass(frozen=True)
class Record:
    """State of a fit when it was certified; sums over models, the worst relative gap."""

    epoch: int
    seconds: float
    rows_visited: int
    primal: float
    dual: float
    gap: float
    relative_gap: float
    evaluations: int | None = None  # kernel values computed so far; None without a kernel
    is_proven: bool = True  # False where a kernel is not positive semi-definite


@dataclass
class Trace:
    """Records in the order of time."""

    records: list[Record] = field(default_factory=list)

    def as_dict(self) -> dict[str, FloatArray]:
        """Return one array per quantity."""
        names = [field.name for field in fields(Record) if field.name != "is_proven"]
        columns = {name: [vars(record)[name] for record in self.records] for name in names}
        return {name: np.array(known) for name, known in columns.items() if None not in known}

    def epochs_to(self, tol: float) -> float:
        """Forecast the epochs still needed to reach `tol`, from the last records; nan if unknown.

        The gap of a first-order method falls like a power of the epochs: a line in log-log axes.
        """
        known = [r for r in self.records if 0.0 < r.relative_gap < np.inf]
        if len(known) < 2:
            return float("nan")
        now = known[-1]
        earlier = next((r for r in reversed(known[:-1]) if r.epoch <= 0.7 * now.epoch), known[0])
        fall = np.log(earlier.relative_gap / now.relative_gap)
        if fall <= 0.0 or now.epoch <= earlier.epoch:
            return float("nan")
        power = fall / np.log(now.epoch / earlier.epoch)
        growth = np.log(now.relative_gap / tol) / power
        return float(max(0.0, now.epoch * np.expm1(growth))) if growth < 100.0 else float("inf")
