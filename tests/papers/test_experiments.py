"""Every experiment of the list is a file that declares its claims; runs name what they lack."""

import ast
from pathlib import Path

import pytest

from bench.harness.files import ROOT, MissingData, open_data
from papers.harness.run import chosen, experiments

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("name", experiments())
def test_an_experiment_declares_title_claims_differences_and_run(name):
    path = Path(ROOT, "papers", *name.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text())
    stored = (n for n in ast.walk(tree) if isinstance(n, ast.Name))
    names = {n.id for n in stored if isinstance(n.ctx, ast.Store)}
    names |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    names |= {a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert {"TITLE", "CLAIMS", "DIFFERS", "run"} <= names
    assert "alone(__spec__.name)" in path.read_text()


def test_some_experiments_can_be_chosen():
    assert chosen(["pegasos_2011.figure_4"]) == ["pegasos_2011.figure_4"]
    assert len(chosen(["oco_2020"])) == 4
    with pytest.raises(SystemExit, match="no 'figure_99'"):
        chosen(["figure_99"])


def test_missing_data_are_named_with_the_place_to_put_them(monkeypatch, tmp_path):
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    with pytest.raises(MissingData, match=r"a9a/a9a.xz is missing: put it at .*a9a"):
        open_data("a9a", "a9a.xz")
    monkeypatch.delenv("PEGASOS_DATA")
    with pytest.raises(MissingData, match="set PEGASOS_DATA"):
        open_data("a9a", "a9a.xz")
