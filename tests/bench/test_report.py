"""The tables, and what is replaced in the README."""

import pytest

from bench import report
from bench.__main__ import chosen
from bench.ladder import Rung
from bench.measure import Measurement
from bench.process import ROOT
from bench.readme import LINEAR, SUMMARIES, refresh, with_summary
from bench.report import Section, load, page, save, section_table, summary
from bench.solvers import REFERENCE

OURS = Measurement("d", REFERENCE, [Rung("tol 0.01", 0.5, 1.0005, 5e-4)], 1.25, 0.5, 2_000_000)
PEER = Measurement("d", "peer", [Rung("4 epochs", 2.0, 1.005, 5e-3)])
SECTION = Section("d lam=1", "3 x 2", (1.0, 1.0 + 1e-8), [OURS, PEER])
FACTS = {"date": "today", "processor": "abacus"}
BEGIN, END = "<!-- bench:x:begin -->", "<!-- bench:x:end -->"


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_section_shows_seconds_factors_dashes_and_objectives():
    ours, peer = (cells(line) for line in section_table(SECTION).splitlines()[-2:])
    assert ours == [REFERENCE, "0.5", "0.5", "-", "1.000500 (5e-04)", "1.25", "2.0", "0.50"]
    assert peer == ["peer", "2 (4.0x)", "-", "-", "1.005000 (5e-03)", "-", "-", "-"]


def test_page_names_machine_command_and_every_dataset():
    text = page([SECTION], FACTS, 60)
    for part in ("abacus", "python -m bench", "## d lam=1", "P* in [1.00000000", "60 s"):
        assert part in text


def test_summary_has_a_row_per_dataset_and_a_column_per_solver():
    lines = [cells(line) for line in summary([SECTION], FACTS, threshold=1e-2).splitlines()]
    assert ["dataset", REFERENCE, "peer"] in lines
    assert ["d lam=1", "0.5", "2 (4.0x)"] in lines


def test_summary_shows_row_rates_of_those_who_have_one():
    lines = [cells(line) for line in summary([SECTION], FACTS).splitlines()]
    assert ["dataset", REFERENCE] in lines
    assert ["d lam=1", "1.25"] in lines


def test_results_survive_being_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    with pytest.raises(FileNotFoundError, match="run the whole benchmark first"):
        load()
    save([SECTION], FACTS, 60.0)
    assert load() == ([SECTION], FACTS, 60.0)


def test_readme_is_replaced_between_its_markers_only():
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = with_summary(text, "x", "new\n")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert with_summary(once, "x", "new\n") == once


@pytest.mark.parametrize("text", ["", BEGIN, f"{END} {BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_readme_without_its_markers_is_refused(text):
    with pytest.raises(ValueError, match="must hold"):
        with_summary(text, "x", "new\n")


def test_readme_has_a_place_for_every_summary():
    text = (ROOT / "README.md").read_text()
    for name in (*SUMMARIES, LINEAR):
        assert with_summary(text, name, "new\n").count("new\n") == text.count("new\n") + 1


def test_refresh_changes_only_what_there_are_results_for(tmp_path, monkeypatch):
    from bench import results

    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(results, "CACHE", tmp_path)
    path = tmp_path / "README.md"
    text = "".join(
        f"<!-- bench:{name}:begin -->\nold {name}\n<!-- bench:{name}:end -->\n"
        for name in (*SUMMARIES, LINEAR)
    )
    path.write_text(text)
    assert refresh(path) == []
    assert path.read_text() == text
    save([SECTION], FACTS, 60.0)
    assert refresh(path) == [LINEAR]
    assert "old linear" not in path.read_text()
    assert "old ordinary" in path.read_text()


def test_only_chooses_datasets_and_solvers_and_refuses_other_names():
    datasets, solvers = chosen("a9a,linearsvc", is_quick=False)
    assert datasets == ["a9a"]
    assert [solver.name for solver in solvers] == ["linearsvc"]
    with pytest.raises(SystemExit, match="got a9b"):
        chosen("a9b", is_quick=False)
