"""Write the tables of solvers in README.md and docs/solvers.md from the catalogue.

    python docs/tables.py           write them (`make docs-tables`)
    python docs/tables.py --check   say which pages are out of date

A page says where a table belongs: between `<!-- solvers:NAME:begin -->` and `<!-- solvers:NAME:end
-->`, with the indentation of these lines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from pegasos.problem.kernels import KERNELS
from pegasos.problem.losses import MARGIN_LOSSES, REGRESSION_LOSSES
from pegasos.solvers.catalogue import (
    BIASES,
    KERNEL_AUTO,
    KERNEL_SOLVERS,
    LINEAR_AUTO,
    LINEAR_SOLVERS,
    Ability,
)

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/solvers.md")
PLACE = re.compile(
    r"^(?P<indent> *)<!-- solvers:(?P<name>\w+):begin -->\n.*?^ *<!-- solvers:(?P=name):end -->\n",
    re.DOTALL | re.MULTILINE,
)
NAMES = {type(tag): name for name, tag in MARGIN_LOSSES.items()} | {
    tag: name for name, tag in REGRESSION_LOSSES.items()
}


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("| --- ", "|---")


def shown(ability: Ability) -> str:
    """Return how a solver with options is written."""
    options = [field.name for field in fields(ability.solver) if field.init]
    return f"`{ability.solver.__name__}({', '.join(options)})`"


def choice(auto: tuple[str, str], solvers: dict[str, Ability]) -> str:
    """Return what the solvers are and when to use them."""
    rows = [['`"auto"`', *auto]]
    rows += [
        [f'`"{name}"`, {shown(ability)}', ability.what, ability.use]
        for name, ability in solvers.items()
    ]
    return table(["solver", "what it is", "use it"], rows)


def abilities(solvers: dict[str, Ability]) -> str:
    """Return what the solvers can do."""
    head = ["solver", "losses", "bias", "sample weights", "sparse rows", "several models"]
    head += ["`partial_fit`", "approaches the optimum"]
    has_kernels = any(ability.kernels for ability in solvers.values())
    has_joint = any(ability.joint_biases for ability in solvers.values())
    if has_kernels:
        head += ["kernels"]
    if has_joint:
        head += ["classes jointly, with bias"]
    rows = [
        [
            f'`"{name}"`',
            "every one" if ability.losses is None else listed(NAMES[tag] for tag in ability.losses),
            every(ability.biases, BIASES),
            *map(
                yes,
                (
                    ability.sample_weights,
                    ability.sparse_rows,
                    ability.several_models,
                    ability.streams,
                    ability.approaches_optimum,
                ),
            ),
            *([every(ability.kernels, KERNELS)] if has_kernels else []),
            *([listed(ability.joint_biases) or "no"] if has_joint else []),
        ]
        for name, ability in solvers.items()
    ]
    return table(head, rows)


def listed(names: Iterable[str]) -> str:
    return ", ".join(f'`"{name}"`' for name in names)


def every(names: tuple[str, ...], known: tuple[str, ...]) -> str:
    return "every one" if names == known else listed(names)


def yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


TABLES = {
    "linear": choice(LINEAR_AUTO, LINEAR_SOLVERS),
    "kernel": choice(KERNEL_AUTO, KERNEL_SOLVERS),
    "linear_abilities": abilities(LINEAR_SOLVERS),
    "kernel_abilities": abilities(KERNEL_SOLVERS),
}


def brought_up_to_date(text: str) -> str:
    """Return a page with the tables as the catalogue has them."""

    def block(found: re.Match[str]) -> str:
        name, indent = found["name"], found["indent"]
        begin, end = (f"<!-- solvers:{name}:{which} -->" for which in ("begin", "end"))
        return "".join(f"{indent}{line}\n" for line in [begin, *TABLES[name].split("\n"), end])

    return PLACE.sub(block, text)


def outdated() -> list[str]:
    """Return the pages whose tables differ from the catalogue."""
    pages = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    return [page for page, text in pages.items() if brought_up_to_date(text) != text]


def main() -> int:
    pages = outdated()
    if "--check" in sys.argv[1:]:
        for page in pages:
            print(f"{page}: out of date; run `make docs-tables`")
        return bool(pages)
    for page in pages:
        path = ROOT / page
        path.write_text(brought_up_to_date(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{page}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
