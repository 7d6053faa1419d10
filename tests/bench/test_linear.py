"""The page of linear SVMs without bias, its command, and what is replaced in the README."""

import pytest

from bench.__main__ import datasets, main, parse
from bench.harness import command, files
from bench.harness.files import ROOT
from bench.harness.ladder import Measurement, Rung
from bench.harness.results import Results
from bench.linear import NAME, page, section, summary
from bench.readme import SUMMARIES, refresh, with_summary
from bench.solvers import REFERENCE, SOLVERS

KEY = "a9a lam=0.0001"
OURS = Measurement(REFERENCE, True, [Rung("tol 0.01", 0.5, 1.0005, 5e-4)], 1.25, 0.5, 2_000_000)
PEER = Measurement("peer", rungs=[Rung("4 epochs", 2.0, 1.005, 5e-3)])
PART = {
    "title": KEY,
    "subtitle": "3 x 2",
    "optimum": [1.0, 1.0 + 1e-8],
    "limit": 60.0,
    "measurements": [OURS.as_dict(), PEER.as_dict()],
}
FACTS = {"date": "today", "processor": "abacus", "command": "python -m bench"}
RESULTS = Results(NAME, FACTS, {KEY: PART})
BEGIN, END = "<!-- bench:x:begin -->", "<!-- bench:x:end -->"


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_section_shows_seconds_factors_dashes_and_objectives():
    ours, peer = (cells(line) for line in section(PART).splitlines()[-2:])
    assert ours == [REFERENCE, "0.5", "0.5", "-", "1.000500 (5e-04)", "1.25", "2.0", "0.50"]
    assert peer == ["peer", "2 (4.0x)", "-", "-", "1.005000 (5e-03)", "-", "-", "-"]


def test_page_names_machine_command_and_every_dataset():
    text = page(RESULTS)
    for part in ("abacus", "python -m bench", f"## {KEY}", "P* in [1.00000000", "60 s"):
        assert part in text


def test_summary_has_a_row_per_dataset_and_a_column_per_solver():
    lines = [cells(line) for line in summary(RESULTS, threshold=1e-2).splitlines()]
    assert ["dataset", REFERENCE, "peer"] in lines
    assert [KEY, "0.5", "2 (4.0x)"] in lines


def test_summary_shows_row_rates_of_those_who_have_one():
    lines = [cells(line) for line in summary(RESULTS).splitlines()]
    assert ["dataset", REFERENCE] in lines
    assert [KEY, "1.25"] in lines


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder, where pages and results will lie."""
    monkeypatch.setattr(files, "CACHE", tmp_path)
    monkeypatch.setattr(files, "PAGES", tmp_path)
    return tmp_path


def test_results_survive_being_saved(folder):
    assert Results.load(NAME).parts == {}
    Results(NAME, FACTS).put(KEY, PART, page)
    saved = Results.load(NAME)
    assert saved.facts == FACTS
    assert section(saved.parts[KEY]) == section(PART)
    assert (folder / "linear.md").read_text() == page(saved)


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
    for name in SUMMARIES:
        assert with_summary(text, name, "new\n").count("new\n") == text.count("new\n") + 1


def test_refresh_changes_only_what_there_are_results_for(folder):
    path = folder / "README.md"
    text = "".join(
        f"<!-- bench:{name}:begin -->\nold {name}\n<!-- bench:{name}:end -->\n"
        for name in SUMMARIES
    )
    path.write_text(text)
    assert refresh(path) == []
    assert path.read_text() == text
    Results(NAME, FACTS).put(KEY, PART, page)
    assert refresh(path) == [NAME]
    assert "old linear" not in path.read_text()
    assert "old ordinary" in path.read_text()


def test_only_chooses_datasets_and_solvers_and_refuses_other_names(capsys):
    for words in (["a9a,linearsvc"], ["a9a", "linearsvc"]):
        options = parse(["--only", *words])
        assert datasets(options) == ["a9a"]
        assert command.chosen(SOLVERS, options) == ["linearsvc"]
    with pytest.raises(SystemExit):
        parse(["--only", "a9b"])
    assert "got a9b" in capsys.readouterr().err


def test_everybody_of_ours_without_bias_has_one_thread():
    ours = [solver for solver in SOLVERS.values() if solver.is_ours]
    assert {solver.options["n_jobs"] for solver in ours} == {1}


def test_quick_takes_small_sets_unless_others_are_named():
    assert datasets(parse(["--quick"])) == ["a9a", "reuters"]
    assert datasets(parse(["--quick", "--only", "cov1"])) == ["cov1"]
    assert parse(["--quick"]).limit == 2.0


def test_a_run_of_some_solvers_writes_nothing(folder, monkeypatch):
    monkeypatch.setattr("bench.linear.measured", lambda key, *a: PART | {"title": key})
    main(["--only", "a9a,linearsvc"])
    assert not list(folder.iterdir())
    main(["--only", "a9a"])
    assert {path.name for path in folder.iterdir()} == {"linear.md", "linear_results.json"}


def test_a_page_without_its_results_is_left_until_all_is_measured(folder, monkeypatch):
    monkeypatch.setattr("bench.linear.measured", lambda key, *a: PART | {"title": key})
    path = folder / "linear.md"
    path.write_text("of another machine")
    for _ in range(2):
        main(["--only", "a9a"])
        assert path.read_text() == "of another machine"
    assert list(Results.load(NAME).parts) == [KEY]
    main([])
    assert path.read_text() == page(Results.load(NAME))
    assert "## cov1" in path.read_text()


def test_a_page_can_be_begun_anew(folder, monkeypatch):
    monkeypatch.setattr("bench.linear.measured", lambda key, *a: PART | {"title": key})
    (folder / "linear.md").write_text("of another machine")
    main(["--only", "a9a", "--anew"])
    main(["--only", "reuters"])
    assert "## reuters" in (folder / "linear.md").read_text()
