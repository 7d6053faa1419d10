"""Results that grow: kept in .cache/bench/<name>_results.json after every part, and as a page.

A run of some parts replaces theirs and leaves the others, so a page can be made bit by bit. A page
whose results are not here (of another checkout) is left as it is until everything is measured, or
until it is begun anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.harness import files

RUN = ("date", "processor", "command")  # what tells one run from another


@dataclass
class Results:
    """Parts by key, as JSON has them, and the facts of the last run."""

    name: str
    facts: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    writes_page: bool = True

    @property
    def file(self) -> Path:
        return files.CACHE / f"{self.name}_results.json"

    @property
    def page(self) -> Path:
        return files.PAGES / f"{self.name}.md"

    @classmethod
    def load(cls, name: str) -> Results:
        """Read what earlier runs kept, if any."""
        results = cls(name)
        results.writes_page = results.file.exists() or not results.page.exists()
        if results.file.exists():
            record = json.loads(results.file.read_text())
            results.facts, results.parts = record["facts"], record.get("parts", {})
            results.writes_page = record.get("writes_page", True)
        return results

    def put(self, key: str, part: dict, write: Callable[[Results], str]) -> None:
        """Keep a part, with the run that it comes from, and write the page anew."""
        run = ", ".join(self.facts[k] for k in RUN if k in self.facts)
        self.parts[key] = part | {"run": run}
        record = {"facts": self.facts, "parts": self.parts, "writes_page": self.writes_page}
        files.write_whole(
            self.file, json.dumps(record, indent=1, default=lambda number: number.item())
        )
        if self.writes_page:
            files.write_whole(self.page, write(self))


def carry_out(
    results: Results,
    jobs: Iterable[tuple[str, Callable[[], dict]]],
    write: Callable[[Results], str],
    show: Callable[[dict], str],
    is_kept: bool = True,
) -> None:
    """Do the jobs, show their parts and keep them; at the end name those that failed."""
    failed = []
    for key, job in jobs:
        try:
            part = job()
        except Exception as error:  # the others are still worth measuring
            print(f"{key} FAILED: {type(error).__name__}: {error}", flush=True)
            failed.append(key)
            continue
        print(f"\n{key}\n{show(part)}\n", flush=True)
        if is_kept:
            results.put(key, part, write)
    if failed:
        raise SystemExit(f"Failed: {'; '.join(failed)}. The reasons are above.")
