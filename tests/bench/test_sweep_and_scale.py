"""The pages of the sweep over C, of growing text and of plain defaults; the timing of fits."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier

from bench import scale, sweep
from bench.harness import files, fits
from bench.harness.fits import fitted, fitted_within, proven_gap
from bench.harness.results import Results
from bench.ordinary import defaults

FACTS = {"processor": "abacus", "date": "today"}


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


class MadeUp(BaseEstimator):
    """Takes the seconds it is told, and warns."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds = clock, seconds

    def fit(self, X, y):
        self.clock.now += self.seconds
        warnings.warn("far from it", UserWarning, stacklevel=1)
        return self


def test_short_fits_are_timed_so_often_and_long_ones_twice(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(fits, "time", clock)
    for durations, best in (([2.0, 1.0, 1.5], 1.0), ([20.0, 9.0], 9.0)):
        left = iter(durations)
        fit = fitted(lambda left=left: MadeUp(clock, next(left)), None, None)
        assert (fit.seconds, fit.warnings) == (best, ["UserWarning"])
        assert next(left, None) is None


class Endless(BaseEstimator):
    def fit(self, X, y):
        threading.Event().wait()


def test_a_fit_that_does_not_end_in_time_is_none():
    assert fitted_within(0.0, Endless, None, None) is None


def test_fits_in_processes_of_their_own_bring_the_model_back():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    fit = fitted_within(60.0, DummyClassifier, X, y, repeats=2)
    assert fit.model.predict(X).tolist() == [0, 0]


def test_everybody_fits_a_table_by_plain_constructors(monkeypatch):
    import pegasos

    for name in defaults.CLASSIFIERS:
        monkeypatch.setattr(pegasos, name, lambda max_time: DummyClassifier())
    monkeypatch.setitem(defaults.PEERS, False, (DummyClassifier,))
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    rows = defaults.measured((X, X, y, y), is_regression=False, limit=60.0, repeats=1)
    assert [(r["solver"], r["score"]) for r in rows] == [
        *((name, 0.5) for name in defaults.CLASSIFIERS), ("DummyClassifier", 0.5)
    ]  # fmt: skip
    monkeypatch.setattr(defaults, "fitted_within", lambda *a: None)  # as if it did not end
    rows = defaults.measured((X, X, y, y), is_regression=False, limit=60.0, repeats=1)
    assert rows[-1]["score"] is None


def test_proven_gap_is_the_largest_of_several():
    class Certificate:
        relative_gap = np.array([1e-4, 2e-4])

    class Model:
        certificate_ = Certificate()

    assert proven_gap(Model()) == 2e-4
    assert proven_gap(object()) is None


def part(C, seconds, gap):
    return {"C": C, "seconds": seconds, "epochs": 3, "gap": gap, "warnings": [], "set": "a9a",
            "shape": [10, 2]}  # fmt: skip


def test_sweep_shows_seconds_by_c_and_what_is_not_proven():
    parts = {"a9a 1": part(1.0, 0.5, 1e-4), "a9a 10": part(10.0, 2.0, 0.25)}
    results = Results("sweep", FACTS, parts)
    row = "| a9a | - | - | - | 0.5 | 2 (2.5e-01) | - | - | - | over 4.0 |"
    assert row in sweep.summary(results)
    assert row in sweep.page(results)
    assert "| 10 | 2 | 3 | 2.5e-01 | none |" in sweep.page(results)


def test_sweep_fits_with_our_defaults():
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = sweep.one_fit(X, np.where(X[:, 0] > 0, 1, -1), 1.0, limit=20.0, repeats=1)
    assert found["gap"] <= 1e-3
    assert found["warnings"] == []


def test_scale_shows_factors_and_what_a_second_thread_brings(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PAGES", tmp_path)
    rungs = {scale.TWO: 1.0, scale.ONE: 1.5, "linearsvc-dual": 8.0}
    measurements = [
        {
            "solver": name,
            "is_ours": name.startswith("pegasos"),
            "rungs": [
                {"effort": "tol", "seconds": s, "objective": 1.0, "suboptimality": 0.0, "proven": 0}
            ],
        }
        for name, s in rungs.items()
    ]
    one = {"rows": 50_000, "lam": 1e-4, "measurements": measurements}
    results = Results("scale", FACTS, {"50000 0.0001": one})
    assert "| 50,000 | 0.0001 | 1 | 1.5 (1.5x) | 8 (8.0x) | - | 1.50 |" in scale.summary(results)
    assert "abacus" in scale.page(results)
    pytest.importorskip("matplotlib")
    scale.draw(results)
    assert (tmp_path / "scale.png").stat().st_size > 0


def test_defaults_show_scores_gaps_warnings_and_dashes():
    rows = [
        defaults.row("PegasosClassifier", 0.5, 0.9, [], 1e-4),
        defaults.row("LinearSVC", 1.0, 0.8, ["ConvergenceWarning"]),
        defaults.row("SVC", 20.0, None, []),
    ]
    results = Results("defaults", FACTS, {"wine": {"shape": [124, 13], "rows": rows}})
    text = defaults.page(results)
    assert "| PegasosClassifier() | 0.5 | 0.900 | 1.0e-04 | none |" in text
    assert "| LinearSVC() | 1 | 0.800 | - | ConvergenceWarning |" in text
    assert "| wine | 0.5 s, 0.900 | 1 s, 0.800 ! | - |" in defaults.summary(results)


def test_scale_tells_how_the_time_per_row_grows():
    def part(n, seconds):
        rung = {"effort": "tol", "seconds": seconds, "objective": 1.0, "suboptimality": 0.0}
        measurement = {"solver": scale.TWO, "is_ours": True, "rungs": [rung | {"proven": 0.0}]}
        return {"rows": n, "lam": 1e-4, "measurements": [measurement]}

    parts = {"a": part(50_000, 1.0), "b": part(200_000, 3.0)}
    assert "0.75 (lam 0.0001, 50,000 to 200,000 rows)" in scale.summary(Results("scale", {}, parts))
    assert scale.growth(Results("scale", {}, {"a": parts["a"]})) == ""


def test_sizes_of_scale_are_measured_and_others_are_trials():
    assert scale.parse([]).sizes == list(scale.SIZES)
    assert not scale.parse(["--only", "50000,100000"]).is_trial
    assert scale.parse(["--only", "3000"]).is_trial


@pytest.mark.parametrize("module", [sweep, scale, defaults])
def test_unknown_names_are_refused(module):
    with pytest.raises(SystemExit):
        module.parse(["--only", "1000000000"])
