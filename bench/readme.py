"""Put the summary of the last full run into README.md, between its two markers."""

from __future__ import annotations

from pathlib import Path

from bench.process import ROOT
from bench.report import load, summary

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def refresh(path: Path = ROOT / "README.md") -> None:
    """Rewrite what stands between the markers, and nothing else."""
    sections, facts, _ = load()
    path.write_text(with_summary(path.read_text(), summary(sections, facts)))


def with_summary(text: str, table: str) -> str:
    """Return the text with a new table between the markers."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"The text must hold {BEGIN} once and {END} once after it.")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table}{END}{after}"
