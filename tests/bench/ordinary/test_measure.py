"""Limits, proofs and ratios, on competitors whose speed and progress are made up."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bench.harness import files, ladder, page
from bench.harness.competitor import Effort
from bench.harness.ladder import Measurement, Rung
from bench.harness.measure import fastest_peer, measure
from bench.harness.optimum import Optimum
from bench.harness.results import Results
from bench.optimum import SECOND, TINY, certified_optimum, dual_bound, peers_fit
from bench.ordinary import __main__ as command
from bench.ordinary import report
from bench.ordinary.solvers import SOLVERS
from bench.ordinary.tables import TABLES
from bench.solvers import LinearSolver
from bench.task import LOSSES, Model, Task

X, y = np.eye(4), np.array([1, -1, 1, -1])
LAM = 0.25  # = 1/n: the optimum is w = y, b = 0, since each row then sits exactly at its margin
TASK = Task("toy-raw", X, y, LAM, setting="lam=0.25", bias="regularized")
OPTIMUM = Optimum(0.5, 0.5)


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


class MadeUp(LinearSolver):
    """Reaches w = (1 - e) y, whose suboptimality is e^2, with e = 0.9 sqrt(tol), in 1/tol ms."""

    package = "numpy"
    problems = (("hinge", "regularized"),)
    tols = (1e-2, 1e-3, 1e-5)

    def __init__(self, name, clock, is_ours=False, pace=1e-3):
        self.name, self.clock, self.is_ours, self.pace, self.calls = name, clock, is_ours, pace, []

    def run(self, X, problem, effort):
        self.calls.append(effort.tol)
        self.clock.now += self.pace / effort.tol
        proven = effort.tol if self.is_ours else None
        return Model(
            (1 - 0.9 * np.sqrt(effort.tol)) * (X.T @ problem.y)[:, None], np.zeros(1), proven
        )


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(ladder, "time", clock)
    return clock


def measured(solvers, repeats=1):
    return measure(
        TASK, solvers, OPTIMUM, limit=1e9, repeats=repeats, thresholds=report.THRESHOLDS,
        patience=command.PATIENCE, say=lambda line: None,
    )  # fmt: skip


def run(solvers):
    return {m.solver: m for m in measured(solvers)}


def test_seconds_are_those_of_the_fastest_rung_below_a_threshold(clock):
    found = run([MadeUp("ours", clock, True), MadeUp("peer", clock)])
    assert [found["peer"].best(t).seconds for t in (1e-3, 1e-5)] == pytest.approx([1, 100])
    assert found["ours"].best(1e-5).proven == 1e-5


def test_peers_get_ten_times_what_ours_took(clock):
    found = run([MadeUp("ours", clock, True, 1e-6), MadeUp("peer", clock)])
    assert [rung.seconds for rung in found["peer"].rungs] == pytest.approx([0.1, 1.0])
    assert found["peer"].best(1e-5) is None


def test_ours_counts_only_what_it_has_proven():
    close = Rung("tol 0.001", 1.0, 0.5, 1e-9, proven=2e-3)
    assert Measurement("ours", True, [close]).best(1e-3) is None
    assert Measurement("peer", False, [close]).best(1e-3) is close


def test_those_near_the_fastest_peer_are_timed_again(clock):
    solvers = [MadeUp("a", clock), MadeUp("b", clock, pace=1.9e-3), MadeUp("c", clock, pace=2.1e-3)]
    measured(solvers, repeats=2)
    assert [len(solver.calls) for solver in solvers] == [5, 5, 4]  # the rung below 3 s


def test_the_fastest_peer_is_not_ours():
    rung = Rung("tol 1", 1.0, 0.5, 0.0, 0.0)
    slow = Rung("tol 1", 2.0, 0.5, 0.0)
    both = [Measurement("ours", True, [rung]), Measurement("peer", False, [slow])]
    assert fastest_peer(both, 1e-3) == ("peer", slow)
    assert fastest_peer(both[:1], 1e-3) is None


def test_objective_of_a_regression_by_hand():
    # Scores 1, 2 with b = 1: residuals |3-2|, |0-3|, less epsilon 1/2: 1/2 and 5/2.
    task = Task("t", np.array([[1.0], [2.0]]), np.array([3.0, 0.0]), 0.5,
                loss="epsilon_insensitive", bias="regularized", epsilon=0.5)  # fmt: skip
    model = Model(np.ones((1, 1)), np.ones(1))
    assert task.objective(model) == pytest.approx(0.25 * 2 + 1.5)


def test_certified_optimum_of_a_problem_solved_by_hand():
    optimum = certified_optimum(TASK, 20.0)
    assert optimum.dual - 1e-12 <= 0.5 <= optimum.primal + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("loss", "bias"), list(SECOND))
def test_margins_of_a_tight_fit_bound_the_optimum(loss, bias, n_classes):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 3)) + 1.0
    best = np.argmax(rows @ rng.normal(size=(3, n_classes)) + rng.normal(size=(80, n_classes)), 1)
    labels = best if n_classes > 2 else 2 * best - 1
    task = Task("t", rows, labels, 0.01, loss=loss, bias=bias)
    optimum = certified_optimum(task, 20.0)
    model = peers_fit(task, SECOND[loss, bias], 20.0)
    assert optimum.dual * (1 - 1e-6) < dual_bound(task, model) <= optimum.primal * (1 + 1e-12)
    elsewhere = Model(model.W + 0.3, model.b - 0.2)
    assert dual_bound(task, elsewhere) < optimum.dual


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_few_rows_keep_container_and_type(container):
    rows = container(np.arange(8, dtype=np.float32).reshape(4, 2))
    few = Task("t", rows, np.array([1, -1, 1, -1]), 0.1).few(2)
    assert type(few.X) is type(rows)
    assert few.X.dtype == np.float32
    assert few.X.max() == 1.0


def test_a_useless_bound_leaves_everybody_far_away():
    assert Optimum(TINY, 1.0).suboptimality(1.0) > 1e100


def saved(clock, table="toy-raw", pace=1e-3):
    found = run([MadeUp("ours", clock, True, pace), MadeUp("peer", clock)])
    part = report.part(TASK, OPTIMUM, list(found.values()), 20.0)
    return part | {"table": table}


def test_page_and_summary_show_ours_the_fastest_peer_and_the_ratio(clock):
    parts = {f"toy-{s} lam=1 hinge": saved(clock, f"toy-{s}", p) for s, p in
             (("raw", 1e-3), ("std", 5e-4))}  # fmt: skip
    results = Results("ordinary", {"processor": "abacus", "date": "today"}, parts)
    text = report.page(results)
    assert "| toy-std lam=0.25 | 0.5 | 1 peer | 0.50 | 50 | 100 peer | 0.50 | 1e-05 |" in text
    short = report.summary(results)
    assert "| toy-std lam=0.25 | 0.5 (0.50) / 50 (0.50) |  |  |  |" in short
    assert "abacus" in text
    assert "abacus" in short
    for shown in (text, short):  # raw against scaled
        assert "| toy lam=0.25 | 1 / 0.5 (2.00) |  |  |  |  |" in shown


def test_summary_tells_who_did_not_get_there():
    close = Rung("tol", 2.0, 0.5, 1e-4, proven=5e-4)
    ours = Measurement("ours", True, [close])
    assert report.crossing(report.part(TASK, OPTIMUM, [ours], 20.0)) == "2 (alone) / -"
    peer = Measurement("peer", False, [close])
    assert report.crossing(report.part(TASK, OPTIMUM, [peer], 20.0)) == "- (peer 2) / -"


def test_an_optimum_that_is_badly_known_is_said_to_be(clock):
    assert report.doubt(saved(clock)) == ""
    assert "1e-02" in report.doubt({"optimum": [1.0, 1.01]})


def test_results_keep_the_parts_of_earlier_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CACHE", tmp_path)
    monkeypatch.setattr(files, "PAGES", tmp_path)
    first = {"date": "yesterday", "processor": "abacus", "command": "x --only a"}
    Results("x", first).put("a", {"seconds": 1}, lambda results: "first")
    again = Results.load("x")
    again.facts = first | {"date": "today", "command": "x"}
    again.put("b", {"seconds": 2}, lambda results: " ".join(results.parts))
    kept = Results.load("x")
    assert [part["seconds"] for part in kept.parts.values()] == [1, 2]
    assert (tmp_path / "x.md").read_text() == "a b"
    # Every part is listed under the run that it comes from.
    text = page.facts_text(kept)
    assert "- run: yesterday, abacus, x --only a: a" in text
    assert "- run: today, abacus, x: b" in text


def test_only_takes_families_losses_and_solvers(capsys):
    tables, losses, solvers = command.chosen(command.parse(["--only", "letter,hinge,snapml"]))
    assert (tables, losses, solvers) == (["letter-raw", "letter-std"], ["hinge"], ["snapml"])
    assert command.chosen(command.parse([])) == (list(TABLES), list(LOSSES), list(SOLVERS))
    with pytest.raises(SystemExit):
        command.parse(["--only", "a9b"])
    assert "got a9b" in capsys.readouterr().err


def test_a_task_that_fails_is_named_and_the_others_are_measured(tmp_path, monkeypatch, clock):
    monkeypatch.setattr(files, "CACHE", tmp_path)
    monkeypatch.setattr(files, "PAGES", tmp_path)

    def one_part(task, solvers, options):
        if task.loss == "hinge":
            raise RuntimeError("the certificate is wrong")
        return saved(clock) | {"table": task.name, "problem": f"{task.loss} {task.bias}"}

    monkeypatch.setattr(command, "one_part", one_part)
    with pytest.raises(SystemExit, match="wine-raw C=1 hinge regularized"):
        command.main(["--only", "wine-raw,hinge,squared_hinge"])
    assert list(Results.load("ordinary").parts) == ["wine-raw C=1 squared_hinge regularized"]


@pytest.mark.parametrize("name", ["breast_cancer-raw", "wine-std", "diabetes-raw"])
def test_tables_of_scikit_learn_make_tasks(name):
    tasks = list(TABLES[name].tasks(name, LOSSES))
    assert len(tasks) == len(TABLES[name].problems)
    for task in tasks:
        assert task.C == pytest.approx(1.0)
        assert (task.epsilon > 0.0) == task.is_regression
        few = task.few(30)
        assert np.abs(few.X).max() == 1.0
        assert few.is_regression or set(few.y.tolist()) == set(task.y.tolist())


def test_every_table_is_there_raw_and_scaled():
    families = {name.split("-")[0] for name in TABLES} - {"a9a"}  # all its columns are 0 or 1
    assert len(families) == 10
    for family in families:
        assert f"{family}-raw" in TABLES
        assert f"{family}-std" in TABLES or f"{family}-unit" in TABLES


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_tables_have_finite_numbers_and_their_scale(name):
    X, _ = TABLES[name].load()
    values = X if isinstance(X, np.ndarray) else X.data
    assert np.isfinite(values).all()
    if name.endswith("-std"):
        assert np.abs(X.mean(axis=0, dtype=np.float64)).max() < 0.1 * np.finfo(X.dtype).eps ** 0.5
    if name.endswith("-unit"):
        assert (values.min(), values.max()) == (0.0, 1.0)


def test_an_effort_is_asked_with_its_limit():
    assert SOLVERS["pegasos"].ladder(7.0)[0] == Effort(tol=1e-3, seconds=7.0)
