"""Pages: a block per experiment, replaced when it runs again; verdicts counted."""

from types import SimpleNamespace

import pytest

from papers.harness import page as module
from papers.harness.report import Claim, Report

pytestmark = pytest.mark.fast


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PAGES", tmp_path)
    return tmp_path


def publish(name, measured, mode="quick"):
    report = Report({"fast": Claim("it is fast", "Sec. 1")})
    report.judge("fast", {"a": True}, measured)
    report.table(["set", "seconds"], [["a9a", "1"]])
    experiment = SimpleNamespace(TITLE=f"Title of {name}", DIFFERS=("another machine",))
    facts = f"`python -m papers.pegasos_2011.{name}`: {mode}, 1 seed(s), 3 CPU s."
    return module.publish("pegasos_2011", name, experiment, report, facts)


def test_an_experiment_replaces_its_own_block_only(folder):
    publish("figure_8", "first")
    publish("figure_7", "other")
    text = publish("figure_8", "second").read_text()
    assert "first" not in text
    assert text.index("Title of figure_7") < text.index("Title of figure_8")  # the paper's order
    assert "| it is fast | Sec. 1 | **holds** | second |" in text
    assert "another machine" in text


def test_verdicts_are_counted_on_the_page_and_over_all(folder):
    publish("figure_8", "x")
    text = publish("figure_7", "y").read_text()
    assert "Claims: 2 holds, 0 holds in part, 0 does not hold, 0 not decided." in text
    assert "(pegasos_2011/index.md) | 2 | 0 | 0 | 0 |" in (folder / "index.md").read_text()


def test_a_page_says_which_runs_are_quick_and_which_are_full(folder):
    assert "Measured: 1 quick." in publish("figure_8", "x").read_text()
    assert "Measured: 1 quick, 1 full." in publish("figure_7", "y", "full").read_text()
    assert "| 1 quick, 1 full |" in (folder / "index.md").read_text()
    assert "Measured: 2 full." in publish("figure_8", "x", "full").read_text()
