"""Results as Markdown: one table per dataset for the docs, one summary for the README.

The results of a full run are kept in .cache/bench/results.json, so that the text can be written
again without measuring again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.datasets.base import CACHE, Dataset
from bench.ladder import THRESHOLDS
from bench.markdown import heading, table
from bench.measure import Measurement
from bench.optimum import Optimum
from bench.process import ROOT
from bench.solvers import REFERENCE

PAGE = ROOT / "docs" / "benchmarks" / "linear.md"
RESULTS = CACHE / "results.json"
COMMAND = "PEGASOS_DATA=<folder> python -m bench"
STEPPER = "pegasos-pegasos"  # whose row rate others are compared with

INTRODUCTION = """\
# Linear SVM, side by side

Everyone solves lam/2 ||w||^2 + mean hinge loss, without bias, in one thread.

- *Seconds to 1e-k*: the fastest fit from scratch whose true relative suboptimality, against an
  optimum certified by a duality gap, is at most 1e-k. In brackets: relative to `{reference}`.
- *Reached*: the lowest objective over all efforts tried, and its suboptimality.
- *ns*: nanoseconds per stored entry, epoch and model (3 epochs less 1).
- *Extra MB*: peak resident memory during a fit, less that before it.
- *First call*: seconds of a fit of a few rows in a new process: import, and compilation or loading
  what an earlier process compiled.
- A dash: not reached within the seconds per fit that the heading gives, or not measurable.

Where and how:

"""


@dataclass
class Section:
    """One dataset with its optimum and the measurements on it."""

    title: str
    subtitle: str
    optimum: tuple[float, float]
    measurements: list[Measurement]
    limit: float = 60.0  # seconds per fit

    @classmethod
    def of(
        cls, dataset: Dataset, optimum: Optimum, measurements: list[Measurement], limit: float
    ) -> Section:
        subtitle = f"{dataset.note}; {dataset.shape_text}"
        return cls(dataset.key, subtitle, tuple(optimum), measurements, limit)


def save(sections: Sequence[Section], facts: dict[str, str], limit: float) -> None:
    """Keep the results of a full run."""
    record = {"facts": facts, "limit": limit, "sections": [asdict(s) for s in sections]}
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=1))


def merged(sections: Sequence[Section]) -> list[Section]:
    """Return the sections of the last full run with new ones in the place of their namesakes."""
    new = {section.title: section for section in sections}
    return [new.get(section.title, section) for section in load()[0]]


def load() -> tuple[list[Section], dict[str, str], float]:
    """Read back what `save` wrote."""
    if not RESULTS.exists():
        raise FileNotFoundError(f"{RESULTS} does not exist; run the whole benchmark first.")
    record = json.loads(RESULTS.read_text())
    sections = [
        Section(
            s["title"],
            s["subtitle"],
            tuple(s["optimum"]),
            [Measurement.from_dict(m) for m in s["measurements"]],
            s.get("limit", record["limit"]),
        )
        for s in record["sections"]
    ]
    return sections, record["facts"], record["limit"]


def page(sections: Sequence[Section], facts: dict[str, str], limit: float) -> str:
    """Return the whole document."""
    lines = [INTRODUCTION.format(reference=REFERENCE)]
    lines += [f"- {name}: {fact}" for name, fact in facts.items()]
    lines += [f"- command: `{COMMAND} --limit {limit:g}`", ""]
    return "\n".join(lines) + "\n" + "\n".join(section_table(section) for section in sections)


def section_table(section: Section) -> str:
    """Return the table of one dataset."""
    dual, primal = section.optimum
    head = [heading(t) for t in THRESHOLDS]
    rows = [
        ["solver", *head, "reached", "ns", "extra MB", "first call, s"],
        ["---", *["---:"] * (len(head) + 4)],
    ]
    ours = next((m for m in section.measurements if m.solver == REFERENCE), None)
    for m in section.measurements:
        lowest = min(m.rungs, key=lambda rung: rung.objective)
        rows.append(
            [
                m.solver,
                *(seconds(m, ours, threshold) for threshold in THRESHOLDS),
                f"{lowest.objective:.6f} ({lowest.suboptimality:.0e})",
                "-" if m.ns_per_entry is None else f"{m.ns_per_entry:.2f}",
                "-" if m.extra_bytes is None else f"{m.extra_bytes / 1e6:.1f}",
                "-" if m.first_call is None else f"{m.first_call:.2f}",
            ]
        )
    interval = f"P* in [{dual:.8f}, {primal:.8f}]. Limit: {section.limit:g} s per fit"
    return f"## {section.title}\n\n{section.subtitle}. {interval}.\n\n{table(rows)}\n"


def seconds(m: Measurement, ours: Measurement | None, threshold: float) -> str:
    """Return the time to a threshold with its factor, or a dash."""
    rung = m.best(threshold)
    if rung is None:
        return "-"
    base = ours.best(threshold) if ours is not None and ours is not m else None
    factor = f" ({rung.seconds / base.seconds:.1f}x)" if base else ""
    return f"{rung.seconds:.3g}{factor}"


def summary(sections: Sequence[Section], facts: dict[str, str], threshold: float = 1e-3) -> str:
    """Return the README's table: seconds to 1e-3, a row per dataset, a column per solver."""
    names = list(dict.fromkeys(m.solver for s in sections for m in s.measurements))
    rows = [["dataset", *names], ["---", *["---:"] * len(names)]]
    for section in sections:
        by_name = {m.solver: m for m in section.measurements}
        ours = by_name.get(REFERENCE)
        cells = [seconds(by_name[n], ours, threshold) if n in by_name else "-" for n in names]
        rows.append([section.title, *cells])
    return (
        f"Seconds until the objective is truly within {threshold:.1%} of the certified optimum "
        f"(hinge loss, no bias, one thread; in brackets: relative to `{REFERENCE}`; a dash: not "
        f"reached in time). {facts['processor']}; {facts['date']}; `{COMMAND}`; all numbers, "
        f"versions and objective values in `docs/benchmarks/linear.md`.\n\n{table(rows)}\n\n"
        "Nanoseconds per stored entry, epoch and model (one step per row; in brackets: relative to "
        f"`{STEPPER}`):\n\n{table(row_rates(sections))}\n"
    )


def row_rates(sections: Sequence[Section]) -> list[list[str]]:
    """Return rows of the README's second table: how fast solvers visit rows."""
    names = list(
        dict.fromkeys(m.solver for s in sections for m in s.measurements if m.ns_per_entry)
    )
    rows = [["dataset", *names], ["---", *["---:"] * len(names)]]
    for section in sections:
        rates = {m.solver: m.ns_per_entry for m in section.measurements if m.ns_per_entry}
        own = rates.get(STEPPER)
        cells = [
            (f"{rates[n]:.2f}" + (f" ({rates[n] / own:.1f}x)" if own and n != STEPPER else ""))
            if n in rates
            else "-"
            for n in names
        ]
        rows.append([section.title, *cells])
    return rows
