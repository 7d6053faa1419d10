"""Pages: docs/papers/<paper>/index.md has a block per experiment, replaced when it runs again.

The counts of verdicts at the head of a page and in docs/papers/index.md are taken from the blocks,
and so is how many of them are of a quick run, and how many of a full one: a block tells it itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from bench.harness.files import ROOT, write_whole
from papers import PAPERS
from papers.harness.report import FAILS, HOLDS, IN_PART, OPEN, Report

PAGES = ROOT / "docs" / "papers"
VERDICTS = (HOLDS, IN_PART, FAILS, OPEN)
MODES = ("quick", "full")
DPI = 80


def block(name: str, module: Any, report: Report, facts: str) -> str:
    """Return an experiment's part of the page."""
    lines = [
        f"## {module.TITLE}",
        "",
        "| claim | where | verdict | measured |",
        "|---|---|---|---|",
    ]
    for key, (words, where) in report.claims.items():
        found = report.judged[key]
        lines.append(f"| {words} | {where} | **{found.verdict}** | {found.measured} |")
    for k, (_, caption) in enumerate(report.figures):
        lines += ["", f"![{caption}]({picture(name, k)})", "", caption]
    for part in report.parts:
        lines += ["", part]
    if module.DIFFERS:
        lines += ["", "What differs from the paper:", ""]
        lines += [f"- {words}" for words in module.DIFFERS]
    return "\n".join([*lines, "", facts])


def picture(name: str, k: int) -> str:
    """Return the file name of an experiment's k-th figure."""
    return f"{name}.png" if k == 0 else f"{name}_{k + 1}.png"


def publish(paper: str, name: str, module: Any, report: Report, facts: str) -> Path:
    """Write an experiment's figures and its block, and the heads of the pages."""
    folder = PAGES / paper
    folder.mkdir(parents=True, exist_ok=True)
    for k, (figure, _) in enumerate(report.figures):
        figure.savefig(folder / picture(name, k), dpi=DPI)
    path = folder / "index.md"
    blocks = blocks_of(path.read_text() if path.exists() else "")
    blocks[name] = block(name, module, report, facts)
    write_whole(path, page(paper, blocks))
    write_whole(PAGES / "index.md", overview())
    return path


def blocks_of(text: str) -> dict[str, str]:
    """Return the blocks of a page by the names of their experiments."""
    found = re.findall(r"<!-- begin (\w+) -->\n(.*?)\n<!-- end \1 -->", text, re.DOTALL)
    return dict(found)


def page(paper: str, blocks: dict[str, str]) -> str:
    """Return a paper's page, its experiments in the paper's order."""
    title, names = PAPERS[paper]
    known = [name for name in names if name in blocks]
    parts = [f"# {title}", "", introduction(paper, blocks)]
    for name in known:
        parts += ["", f"<!-- begin {name} -->", blocks[name], f"<!-- end {name} -->"]
    return "\n".join(parts) + "\n"


def introduction(paper: str, blocks: dict[str, str]) -> str:
    """Return what the page is, and how many claims hold."""
    counts = counted("\n".join(blocks.values()))
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return (
        "Every experiment of the paper, made again with this library. Verdicts are computed from "
        f"the measurement. Claims: {words}. Measured: {measured(' '.join(blocks.values()))}.\n\n"
        f"All of it: `make papers` (quick) or `make papers-full`; a part: "
        f"`python -m papers.{paper}.<name>`, the names being those of the files in "
        f"`papers/{paper}/`. Data that cannot be had is replaced by a stand-in, named as such."
    )


def counted(text: str) -> dict[str, int]:
    """Return how often each verdict was given."""
    return {verdict: text.count(f"| **{verdict}** |") for verdict in VERDICTS}


def measured(text: str) -> str:
    """Return how many experiments are of a quick run, and how many of a full one."""
    counts = {mode: len(re.findall(rf"`: {mode}, \d+ seed", text)) for mode in MODES}
    return ", ".join(f"{number} {mode}" for mode, number in counts.items() if number) or "none"


def overview() -> str:
    """Return the page of all papers."""
    lines = [
        "# The five papers, experiment by experiment",
        "",
        "Claims of the papers and whether they hold on our data; the pages say what differs.", "",
        "| paper | " + " | ".join(VERDICTS) + " | experiments |",
        "|---" + "|---:" * len(VERDICTS) + "|---|",
    ]  # fmt: skip
    for paper, (title, _) in PAPERS.items():
        path = PAGES / paper / "index.md"
        if path.exists():
            text = path.read_text()
            cells = [f"[{title}]({paper}/index.md)", *counted(text).values()]
            cells.append(measured("".join(blocks_of(text).values())))
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"
