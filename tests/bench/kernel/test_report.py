"""The tables of the kernel page, what is kept, and the command line."""

from dataclasses import asdict

import pytest

from bench.harness import files
from bench.harness.ladder import Measurement, Rung
from bench.harness.results import Results
from bench.kernel import __main__ as command
from bench.kernel.report import NAME, page, paper_table, row_key, section
from bench.kernel.table2 import COMPETITORS, EPSILONS, LAMS, PAPER, Arrival, Row

OURS = [Rung("tol 1", 0.5, 1.0005, 5e-4, None, 12_000, 30, 1.25)]
LIBSVM = [Rung("tol 1", 2.0, 1.0005, 5e-4, None, None, 31, 1.5)]
INTELEX = [Rung("tol 1", 1.0, 1.005, 5e-3, None, None, 31, 1.5)]
FOUND = [
    Measurement("ours", rungs=OURS, extra_bytes=2e6),
    Measurement("libsvm", rungs=LIBSVM),
    Measurement("intelex", rungs=INTELEX),
    Measurement("shy", refusal="no bias"),
]
PART = {
    "title": "usps8 gamma=2",
    "subtitle": "3 x 2",
    "optimum": (1.0, 1.0 + 1e-8),
    "source": "somebody",
    "test_error": 1.4,
    "measurements": [m.as_dict() for m in FOUND],
    "limit": 60.0,
    "date": "yesterday",
}
ROW = Row("usps8", 0.000381, (1.0, 1.0), 1.4, {COMPETITORS[0]: Arrival(3, 0.25, 1_500_000, 1.45)})
FACTS = {"processor": "abacus", "command": "python -m bench.kernel --slow"}
RESULTS = Results(NAME, FACTS, {"usps8": PART, row_key("usps8"): asdict(ROW)})


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_section_shows_seconds_factors_dashes_and_models():
    text = section(PART)
    lines = [cells(line) for line in text.splitlines() if line.startswith("| ")]
    ours, libsvm, intelex = lines[2:]
    assert ours == ["ours", "0.5 (4.0x / 2.0x)", "0.5 (4.0x / -)", "-", "1.000500 (5e-04)",
                    "1.20e+04", "30", "1.25", "2"]  # fmt: skip
    assert libsvm[1:4] == ["2 (1.0x / 0.5x)", "2 (1.0x / -)", "-"]
    assert intelex[1:4] == ["1 (2.0x / 1.0x)", "-", "-"]
    assert intelex[5] == "-"
    assert "shy is left out: no bias" in text


def test_paper_table_shows_ours_beside_the_papers():
    head, _, row = (cells(line) for line in paper_table([ROW]).splitlines())
    assert len(head) == len(row)
    assert row[:4] == ["usps8", "0.000381", "0.25, 1.5e+06 (1.45 %)", PAPER["usps8"][0]]
    assert row[4] == "-"  # not arrived, or not there


def test_paper_values_cover_the_same_datasets():
    assert set(EPSILONS) == set(LAMS) == set(PAPER)


def test_page_names_machine_command_and_every_dataset():
    text = page(RESULTS)
    for part in ("abacus", "python -m bench.kernel", "## usps8 gamma=2", "P* in [1.00000000",
                 "60 s", "yesterday", "Table 2 of [SSSC11]", "1.1 times",
                 "libcusparse"):  # fmt: skip
        assert part in text


def test_results_survive_being_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CACHE", tmp_path)
    monkeypatch.setattr(files, "PAGES", tmp_path)
    assert Results.load(NAME) == Results(NAME)
    results = Results(NAME, FACTS)
    for key, part in RESULTS.parts.items():
        results.put(key, part, page)
    assert page(Results.load(NAME)) == page(RESULTS)
    assert Row.from_dict(Results.load(NAME).parts[row_key("usps8")]) == ROW


def test_a_run_of_some_solvers_writes_nothing(monkeypatch, tmp_path):
    for name in ("CACHE", "PAGES"):
        monkeypatch.setattr(files, name, tmp_path)
    monkeypatch.setattr(command, "one_part", lambda *a: PART)
    monkeypatch.setattr(command, "THREADS", 10_000)  # leave the tests their cores
    command.main(["--only", "usps8", "--solvers", "libsvm"])
    assert not list(tmp_path.iterdir())
    command.main(["--only", "usps8", "--tables", "1"])
    assert {path.name for path in tmp_path.iterdir()} == {"kernel.md", "kernel_results.json"}


def test_table_2_leaves_mnist_out_unless_slow(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(command, "measure_row", lambda name, *a: asked.append(name) or ROW)
    for name in ("CACHE", "PAGES"):
        monkeypatch.setattr(files, name, tmp_path)
    monkeypatch.setattr(command, "THREADS", 10_000)  # leave the tests their cores
    command.main(["--tables", "2"])
    assert "mnist8" not in asked
    assert "usps8" in asked
    command.main(["--tables", "2", "--slow", "--only", "mnist8"])
    assert asked[-1] == "mnist8"


def test_unknown_names_are_refused():
    for arguments in (["--only", "a9b"], ["--solvers", "svmlight"], ["--tables", "3"]):
        with pytest.raises(SystemExit):
            command.parse(arguments)
