"""docs/online.md names every preset and part, cites known works, and its code runs."""

import re
from pathlib import Path

import pytest

from pegasos import online

pytestmark = pytest.mark.fast

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "online.md").read_text(encoding="utf-8")


def test_every_preset_and_part_is_on_the_page():
    for name in online.PRESETS:
        assert f'`"{name}"`' in TEXT
        assert f"| `{name}` |" in TEXT  # in the measured tables
    hidden = {"PRESETS", "Cost", "Hindsight", "Regret", "RowCosts", "StepSize", "best_fixed_point"}
    for name in set(online.__all__) - hidden:
        assert name in TEXT, name


def test_works_that_are_cited_are_known():
    keys = set(re.findall(r"@\w+\{(\w+),", (DOCS / "references.bib").read_text(encoding="utf-8")))
    folder = Path(online.__file__).parent
    cited = {
        key
        for text in [TEXT, *(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))]
        for key in re.findall(r"\[([A-Z][A-Za-z]*\d\d)\]", text)
    }
    assert cited
    assert cited <= keys


def test_the_code_on_the_page_runs():
    examples = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(examples[1], {})
