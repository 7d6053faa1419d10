"""Results that grow: kept in .cache/bench/<name>.json after every part, and written as a page.

A run of some parts replaces theirs and leaves the others, so a page can be made bit by bit.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.datasets.base import CACHE
from bench.markdown import table
from bench.process import ROOT

RUN = ("date", "processor", "command")  # what tells one run from another
PAGES = ROOT / "docs" / "benchmarks"


@dataclass
class Results:
    """Parts by key, as JSON has them, and the facts of the last run."""

    name: str
    facts: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        return CACHE / f"{self.name}_results.json"

    @property
    def page(self) -> Path:
        return PAGES / f"{self.name}.md"

    @classmethod
    def load(cls, name: str) -> Results:
        """Read what earlier runs kept, if any."""
        results = cls(name)
        if results.file.exists():
            record = json.loads(results.file.read_text())
            results.facts, results.parts = record["facts"], record["parts"]
        return results

    def put(self, key: str, part: dict, write: Callable[[Results], str]) -> None:
        """Keep a part, with the run that it comes from, and write the page anew."""
        run = ", ".join(self.facts[k] for k in RUN if k in self.facts)
        self.parts[key] = part | {"run": run}
        replace(self.file, json.dumps({"facts": self.facts, "parts": self.parts}, indent=1))
        replace(self.page, write(self))


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(text)
    unfinished.replace(path)


def page_of_parts(
    results: Results, introduction: str, lines: Callable[[list[dict]], list[list[str]]]
) -> str:
    """Return a document with one table per part, its cells made of the part's rows."""
    pieces = [introduction + "Where and how:\n", facts_text(results), ""]
    for name, part in results.parts.items():
        pieces.append(f"## {name}, {part['shape']}\n\n{table(lines(part['rows']))}\n")
    return "\n".join(pieces)


def parsed(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, known: Iterable[str]
) -> argparse.Namespace:
    """Parse arguments, among them --only; refuse names in it that are not known."""
    parser.add_argument("--only", help=f"comma-separated: {', '.join(known)}")
    options = parser.parse_args(arguments)
    unknown = [n for n in (options.only or "").split(",") if n and n not in known]
    if unknown:
        parser.error(f"--only knows {', '.join(known)}; got {', '.join(unknown)}.")
    return options


def words(arguments: Sequence[str] | None) -> str:
    """Return the arguments as they were typed."""
    return " ".join(sys.argv[1:] if arguments is None else arguments)


def facts_text(results: Results) -> str:
    """Return the facts as a list; where parts come from several runs, which from which."""
    runs: dict[str, list[str]] = {}
    for key, part in results.parts.items():
        runs.setdefault(part.get("run", ""), []).append(key)
    lines = [f"- {name}: {fact}" for name, fact in results.facts.items()]
    if len(runs) > 1:
        lines += [f"- run: {run}: {'; '.join(keys)}" for run, keys in runs.items()]
    return "\n".join(lines)
