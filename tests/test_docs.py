"""Documentation that is written from the code is up to date with it."""

import re

import pytest

from docs import tables
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosRegressor
from pegasos.solvers.catalogue import KERNEL_SOLVERS, LINEAR_SOLVERS

pytestmark = pytest.mark.fast


def test_the_tables_of_solvers_are_those_of_the_catalogue():
    assert tables.outdated() == [], "run `make docs-tables`"


@pytest.mark.parametrize("page", tables.PAGES)
def test_every_solver_is_on_the_page(page):
    text = (tables.ROOT / page).read_text(encoding="utf-8")
    for solvers in (LINEAR_SOLVERS, KERNEL_SOLVERS):
        for name, ability in solvers.items():
            assert f'`"{name}"`, `{ability.solver.__name__}(' in text


def test_a_page_with_another_table_is_found_out():
    page = "a\n  <!-- solvers:kernel:begin -->\n  old\n  <!-- solvers:kernel:end -->\nb\n"
    new = tables.brought_up_to_date(page)
    assert new != page
    assert "  | solver | what it is | use it |\n  |---|---|---|\n" in new
    assert new.startswith("a\n")
    assert new.endswith("<!-- solvers:kernel:end -->\nb\n")
    assert tables.brought_up_to_date(new) == new


@pytest.mark.parametrize("Estimator", [PegasosClassifier, PegasosRegressor])
def test_partial_fit_is_there_for_a_solver_with_streams(Estimator):
    assert any(ability.streams for ability in LINEAR_SOLVERS.values())
    assert hasattr(Estimator, "partial_fit")


def test_kernel_streams_are_those_of_one_solver():
    assert [name for name, ability in KERNEL_SOLVERS.items() if ability.streams] == ["lasvm"]
    assert hasattr(KernelPegasosClassifier, "partial_fit")


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/solvers.md", "docs/online.md"]
)
def test_files_and_commands_that_a_page_names_are_there(page):
    text = (tables.ROOT / page).read_text(encoding="utf-8")
    files = re.findall(r"(?:docs|examples|bench|papers|tests)/[\w/.-]*\w\.(?:py|md|png|bib)", text)
    modules = re.findall(r"python -m ((?:bench|papers|tests)[\w.]*\w)", text)
    files += [f"{name.replace('.', '/')}.py" for name in modules]
    missing = [
        name
        for name in files
        if not (tables.ROOT / name).exists()
        and not (tables.ROOT / name.removesuffix(".py") / "__main__.py").exists()
    ]
    assert missing == []
