"""Pages and tables as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bench.harness.ladder import Measurement
from bench.harness.results import Results

Lines = list[list[str]]


def heading(threshold: float) -> str:
    """Return the head of a column of times to a relative suboptimality."""
    return f"seconds to {threshold:.0e}".replace("e-0", "e-")


def table(rows: Lines) -> str:
    """Write rows of cells as Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def head(first: str, *numbers: str, words: int = 0) -> Lines:
    """Return the head of a table: a name, then `words` columns of words, then numbers."""
    return [[first, *numbers], ["---"] * (1 + words) + ["---:"] * (len(numbers) - words)]


def number(value: float | None, form: str = ".3g") -> str:
    """Write a number, or a dash where there is none."""
    return "-" if value is None else f"{value:{form}}"


def gap_text(gap: float | None) -> str:
    """Write a relative gap."""
    return number(gap, ".1e")


def missed(gap: float | None, threshold: float) -> str:
    """Return how far a fit is off where it is further than a threshold, for a cell of a table."""
    return "" if gap is not None and gap <= threshold else f" (only {gap_text(gap)})"


def seconds(m: Measurement, threshold: float) -> float | None:
    """Return the seconds to a threshold, or None where it was not reached."""
    rung = m.best(threshold)
    return rung.seconds if rung else None


def compared(value: float | None, base: float | None, form: str = ".3g") -> str:
    """Write a number and how many times the base it is, or a dash."""
    factor = f" ({value / base:.1f}x)" if value is not None and base else ""
    return number(value, form) + factor


def reached(m: Measurement, form: str = ".6f") -> str:
    """Return the lowest objective over all efforts tried, and its suboptimality."""
    lowest = m.lowest
    return f"{lowest.objective:{form}} ({lowest.suboptimality:.0e})" if lowest else "-"


def measurements_of(part: dict) -> list[Measurement]:
    return [Measurement.from_dict(m) for m in part["measurements"]]


def facts_text(results: Results) -> str:
    """Return the facts as a list; where parts come from several runs, which from which."""
    runs: dict[str, list[str]] = {}
    for key, part in results.parts.items():
        runs.setdefault(part.get("run", ""), []).append(key)
    lines = [f"- {name}: {fact}" for name, fact in results.facts.items()]
    if len(runs) > 1:
        lines += [f"- run: {run}: {'; '.join(keys)}" for run, keys in runs.items()]
    return "\n".join(lines)


def page(introduction: str, results: Results, *pieces: str) -> str:
    """Return a document: what it is about, where and how it was measured, and the rest."""
    opening = f"{introduction}\nWhere and how:\n\n{facts_text(results)}\n"
    return "\n".join([opening, *pieces])


def page_of_parts(results: Results, introduction: str, lines: Callable[[list[dict]], Lines]) -> str:
    """Return a document with one table per part, its cells made of the part's rows."""
    pieces = []
    for key, part in results.parts.items():
        shape = part["shape"] if isinstance(part["shape"], str) else shape_text(part["shape"])
        pieces.append(f"## {key}, {shape}\n\n{table(lines(part['rows']))}\n")
    return page(introduction, results, *pieces)


def shape_text(shape: Sequence[int]) -> str:
    """Write numbers of rows and columns."""
    return " x ".join(f"{size:,}" for size in shape)


def table_of_parts(
    results: Results, first: str, names: Sequence[str], cell: Callable[[dict], str]
) -> str:
    """Return a table with a line per part and a column per solver."""
    lines = head(first, *names)
    for key, part in results.parts.items():
        by_name = {row["solver"]: row for row in part["rows"]}
        cells = [cell(by_name[name]) if name in by_name else "-" for name in names]
        lines.append([f"{key}, {part['shape']}", *cells])
    return table(lines) + "\n"


def names_of(parts: Iterable[Sequence[Measurement]]) -> list[str]:
    """Return the names of all solvers measured, each once."""
    return list(dict.fromkeys(m.solver for found in parts for m in found))
