"""Tables as Markdown."""

from __future__ import annotations


def heading(threshold: float) -> str:
    """Return the head of a column of times to a relative suboptimality."""
    return f"seconds to {threshold:.0e}".replace("e-0", "e-")


def table(rows: list[list[str]]) -> str:
    """Write rows of cells as Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
