"""Results as Markdown: docs/benchmarks/kernel.md.

Results are kept in .cache/bench/kernel_results.json, dataset by dataset, so that a run of some of
them replaces their part only.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import date

from bench.datasets.base import CACHE
from bench.kernel.datasets import DATASETS, KernelDataset
from bench.kernel.measure import KernelMeasurement
from bench.kernel.optimum import Known
from bench.kernel.solvers import REFERENCES
from bench.kernel.table2 import COMPETITORS, PAPER, Arrival, Row
from bench.ladder import THRESHOLDS, best
from bench.markdown import heading, table
from bench.process import ROOT

PAGE = ROOT / "docs" / "benchmarks" / "kernel.md"
RESULTS = CACHE / "kernel_results.json"
COMMAND = "PEGASOS_DATA=<folder> python -m bench.kernel"

INTRODUCTION = """\
# Kernel SVM, side by side

Everyone solves lam/2 ||f||^2 + mean hinge loss with a Gaussian kernel exp(-gamma ||x - z||^2) and a
bias that is not penalised; C = 1/(lam n). Everyone may use two threads and 2000 MB of kernel cache,
and gets the rows in the container and precision that it is fastest with, converted beforehand.

- *Seconds to 1e-k*: the fastest fit from scratch whose true relative suboptimality is at most 1e-k.
  In brackets: how many times faster than {references}.
  The objective is recomputed in float64 from support vectors, coefficients and bias; the optimum is
  bracketed by a feasible dual point, whose value is recomputed too.
- *Reached*: the lowest objective over all efforts tried, and its suboptimality.
- *Evaluations*, *support*, *error*: kernel values computed (not counting those found in the cache),
  support vectors and percentage of wrong test labels, of the fit whose time stands under 1e-3 (if
  none does, of the lowest objective).
- *Extra MB*: peak resident memory during that fit in a fresh process, less that before it.
- A dash: not reached within the seconds per fit that the heading gives, or not known.

ThunderSVM is `thundersvm-cpu` 0.3.3, given CSR rows with labels that survive its reading int32 as
float32; `thundersvm` 0.3.12 does not load without CUDA 9 (libcusparse.so.9.0). The adapters in
`bench/kernel/solvers` say more.

Where and how:

"""

TABLE_2 = """\
## Table 2 of [SSSC11]

Without bias. Each cell: seconds, kernel evaluations and test error when the primal objective is
first within epsilon of the optimum. Epsilon is the paper's: an absolute suboptimality P - P*, which
it chose such that getting below it guarantees a test error at most 1.1 times that of the optimum
(Sec. 7.2; "linear SVM" in its caption is a slip, the table is about Gaussian kernels). Beside it:
the seconds and test error that the paper reports, on hardware of its time and, for USPS, on another
split.

"""


@dataclass
class Section:
    """One dataset with its optimum and the measurements on it."""

    name: str
    title: str
    subtitle: str
    optimum: tuple[float, float]
    source: str
    test_error: float  # in percent, at the optimum
    measurements: list[KernelMeasurement]
    limit: float  # seconds per fit
    date: str

    @classmethod
    def of(
        cls, dataset: KernelDataset, known: Known, found: list[KernelMeasurement], limit: float
    ) -> Section:
        subtitle = f"{dataset.note}; {dataset.shape_text}; {len(dataset.y_test):,} test rows"
        return cls(
            dataset.name, dataset.key, subtitle, tuple(known.optimum), known.source,
            known.test_error, found, limit, date.today().isoformat(),
        )  # fmt: skip

    @classmethod
    def from_dict(cls, record: dict) -> Section:
        found = [KernelMeasurement.from_dict(m) for m in record["measurements"]]
        return cls(**{**record, "optimum": tuple(record["optimum"]), "measurements": found})


@dataclass
class Results:
    """All that has been measured so far, by dataset."""

    facts: dict[str, str] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)


def save(results: Results) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(asdict(results), indent=1, default=lambda number: number.item()))


def load() -> Results:
    """Read back what `save` wrote; nothing if it never did."""
    if not RESULTS.exists():
        return Results()
    record = json.loads(RESULTS.read_text())
    return Results(
        record["facts"],
        {name: Section.from_dict(section) for name, section in record["sections"].items()},
        {name: Row.from_dict(row) for name, row in record["rows"].items()},
    )


def page(results: Results) -> str:
    """Return the whole document."""
    lines = [INTRODUCTION.format(references=" / than ".join(f"`{name}`" for name in REFERENCES))]
    lines += [f"- {name}: {fact}" for name, fact in results.facts.items()] + [""]
    parts = [section_table(results.sections[n]) for n in DATASETS if n in results.sections]
    rows = [results.rows[n] for n in DATASETS if n in results.rows]
    if rows:
        parts.append(TABLE_2 + paper_table(rows) + "\n")
    return "\n".join(lines) + "\n" + "\n".join(parts)


def section_table(section: Section) -> str:
    """Return the table of one dataset."""
    names = [heading(t) for t in THRESHOLDS]
    names += ["reached", "evaluations", "support", "error, %", "extra MB"]
    rows = [["solver", *names], ["---", *["---:"] * len(names)]]
    taken_part = [m for m in section.measurements if m.rungs]
    peers = [m for name in REFERENCES for m in taken_part if m.solver == name]
    rows += [cells(m, peers) for m in taken_part]
    dual, primal = section.optimum
    facts = (
        f"{section.subtitle}. P* in [{dual:.8f}, {primal:.8f}] by {section.source}; test error "
        f"there: {section.test_error:.2f} %. Limit: {section.limit:g} s per fit. {section.date}."
    )
    refused = [m for m in section.measurements if m.refusal]
    left_out = [f"\n{m.solver} is left out: {m.refusal}\n" for m in refused]
    return f"## {section.title}\n\n{facts}\n\n{table(rows)}\n{''.join(left_out)}"


def cells(m: KernelMeasurement, peers: list[KernelMeasurement]) -> list[str]:
    """Return one solver's row."""
    lowest = min(m.rungs, key=lambda rung: rung.objective)
    typical = m.typical
    return [
        m.solver,
        *(seconds(m, peers, threshold) for threshold in THRESHOLDS),
        f"{lowest.objective:.6f} ({lowest.suboptimality:.0e})",
        "-" if typical.evaluations is None else f"{typical.evaluations:.2e}",
        f"{int(typical.n_support):,}",
        f"{typical.test_error:.2f}",
        "-" if m.extra_bytes is None else f"{m.extra_bytes / 1e6:,.0f}",
    ]


def seconds(m: KernelMeasurement, peers: list[KernelMeasurement], threshold: float) -> str:
    """Return the time to a threshold and how many times faster it is than each peer's."""
    rung = best(m.rungs, threshold)
    if rung is None:
        return "-"
    others = [best(peer.rungs, threshold) for peer in peers]
    factors = [times(other.seconds / rung.seconds) if other else "-" for other in others]
    return f"{rung.seconds:.3g}" + (f" ({' / '.join(factors)})" if factors else "")


def times(factor: float) -> str:
    """Return a factor with two digits that count, one of them behind the point if it is large."""
    return f"{factor:.1f}x" if factor >= 0.95 else f"{factor:.2g}x"


def paper_table(rows: list[Row]) -> str:
    """Return our Table 2 beside the paper's."""
    names = [name.removeprefix("pegasos-") for name in COMPETITORS]
    head = ["dataset", "epsilon", *(p for name in names for p in (name, "paper")), "error at P*"]
    lines = [[*head, "paper"], ["---", *["---:"] * len(head)]]
    for row in rows:
        *papers, optimum = PAPER[row.dataset]
        pairs = zip((row.arrivals.get(name) for name in COMPETITORS), papers, strict=True)
        both = [cell for a, paper in pairs for cell in (arrived(a), paper)]
        lines.append([row.dataset, f"{row.epsilon:g}", *both, f"{row.test_error:.2f} %", optimum])
    return table(lines)


def arrived(a: Arrival | None) -> str:
    """Return seconds, kernel evaluations and test error."""
    if a is None:
        return "-"
    evaluations = "" if a.evaluations is None else f", {a.evaluations:.1e}"
    return f"{a.seconds:.3g}{evaluations} ({a.test_error:.2f} %)"
