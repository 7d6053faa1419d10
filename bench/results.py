"""Results that grow: kept in .cache/bench/<name>.json after every part, and written as a page.

A run of some parts replaces theirs and leaves the others, so a page can be made bit by bit.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.datasets.base import CACHE
from bench.process import ROOT

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

    def put(self, key: str, part: Any, write: Callable[[Results], str]) -> None:
        """Keep a part and write the page anew."""
        self.parts[key] = part
        replace(self.file, json.dumps({"facts": self.facts, "parts": self.parts}, indent=1))
        replace(self.page, write(self))


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    unfinished.write_text(text)
    unfinished.replace(path)


def words(arguments: Sequence[str] | None) -> str:
    """Return the arguments as they were typed."""
    return " ".join(sys.argv[1:] if arguments is None else arguments)


def facts_text(results: Results) -> str:
    """Return the facts as a list."""
    return "\n".join(f"- {name}: {fact}" for name, fact in results.facts.items())
