"""What an experiment found: tables, figures, and a verdict per claim, from what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

HOLDS, IN_PART, FAILS, OPEN = "holds", "holds in part", "does not hold", "not decided"


class Claim(NamedTuple):
    """What a paper says, in words and numbers, and where."""

    words: str
    where: str


class Scale(NamedTuple):
    """How much to measure: small sizes and one seed, or all sizes and several."""

    is_full: bool = False

    @property
    def seeds(self) -> range:
        return range(5 if self.is_full else 1)

    @property
    def name(self) -> str:
        """What the pages call it."""
        return "full" if self.is_full else "quick"

    def pick(self, quick: Any, full: Any) -> Any:
        """Return the value for this scale."""
        return full if self.is_full else quick


class Judged(NamedTuple):
    """A claim's verdict and what was measured."""

    verdict: str
    measured: str


def verdict(checks: Mapping[str, bool | None]) -> str:
    """Return what checks come to: all hold, some do, or none; None, not decided, does not count."""
    decided = [bool(is_met) for is_met in checks.values() if is_met is not None]
    if not decided:
        return OPEN
    return HOLDS if all(checks.values()) else IN_PART if any(decided) else FAILS


def below(a: float, b: float) -> bool | None:
    """Whether a < b; None where neither is a number to compare, as two runs that never arrived."""
    return None if math.isnan(a - b) else a < b


@dataclass
class Report:
    """What one experiment writes into its page; `say` tells whoever waits how far it is."""

    claims: Mapping[str, Claim]
    parts: list[str] = field(default_factory=list)
    figures: list[tuple[Any, str]] = field(default_factory=list)
    judged: dict[str, Judged] = field(default_factory=dict)

    def say(self, words: str) -> None:
        print(f"    {words}", flush=True)

    def text(self, words: str) -> None:
        """Add a paragraph."""
        self.parts.append(words)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> None:
        """Add a table, the first column words and the others numbers."""
        rule = ["---"] + ["---:"] * (len(head) - 1)
        lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, rule, *rows)]
        self.parts.append("\n".join([f"{caption}\n"] * bool(caption) + lines))
        for row in rows:
            self.say("  ".join(map(str, row)))

    def figure(self, figure: Any, caption: str) -> None:
        """Add a figure of matplotlib."""
        self.figures.append((figure, caption))

    def judge(self, claim: str, checks: Mapping[str, bool | None], measured: str = "") -> None:
        """Judge a claim by named checks; those that fail or stay open are named on the page."""
        if claim not in self.claims:
            raise KeyError(f"{claim!r} is not among the claims: {', '.join(self.claims)}.")
        words, known = measured, {k: None if c is None else bool(c) for k, c in checks.items()}
        if len(checks) > 1:
            for name, sought in (("Not met", False), ("Not decided", None)):
                some = [check for check, is_met in known.items() if is_met is sought]
                words = f"{words} {name}: {'; '.join(some)}.".strip() if some else words
        self.judged[claim] = Judged(verdict(checks), words)
        self.say(f"{claim}: {self.judged[claim].verdict}. {words}")

    def check_complete(self) -> None:
        """Refuse a report that leaves a claim without its verdict."""
        missing = [name for name in self.claims if name not in self.judged]
        if missing:
            raise RuntimeError(f"These claims have no verdict: {', '.join(missing)}.")
