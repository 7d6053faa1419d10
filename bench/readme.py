"""Put the summaries of the last runs into README.md, each between two markers of its own.

    <!-- bench:ordinary:begin -->  ...  <!-- bench:ordinary:end -->

A table is refreshed if its results are there; the others stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench import joint, linear, scale, sequences, sweep
from bench.harness.files import ROOT
from bench.harness.results import Results
from bench.kernel import classes, predict, regression
from bench.ordinary import defaults
from bench.ordinary import report as ordinary

PAGES = (  # ordinary data first
    ordinary, defaults, joint, sweep, scale, linear, classes, regression, predict, sequences,
)  # fmt: skip
SUMMARIES: dict[str, Callable[[Results], str]] = {page.NAME: page.summary for page in PAGES}


def refresh(path: Path = ROOT / "README.md") -> list[str]:
    """Rewrite what stands between the markers, and nothing else; return what was refreshed."""
    found = summaries()
    text = path.read_text()
    for name, summary in found.items():
        text = with_summary(text, name, summary)
    path.write_text(text)
    return list(found)


def summaries() -> dict[str, str]:
    """Return the summaries of all results that are there."""
    found = {name: Results.load(name) for name in SUMMARIES}
    return {name: SUMMARIES[name](results) for name, results in found.items() if results.parts}


def with_summary(text: str, name: str, table: str) -> str:
    """Return the text with a new table between the markers of that name."""
    begin, end = f"<!-- bench:{name}:begin -->", f"<!-- bench:{name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"The text must hold {begin} once and {end} once after it.")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    return f"{before}{begin}\n{table}{end}{after}"
