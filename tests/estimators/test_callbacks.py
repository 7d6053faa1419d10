"""Callbacks of scikit-learn 1.9: one task per epoch, no cost without them."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosRegressor
from pegasos.estimators import callbacks

sklearn_callback = pytest.importorskip("sklearn.callback")


class Recorder:
    """Write down every hook; stop after some epochs."""

    def __init__(self, stop_after=None):
        self.events, self.stop_after = [], stop_after

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name}")
        return self.stop_after is not None and self.epochs() >= self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def epochs(self):
        return self.events.count("end epoch")


class Scorer(Recorder):
    """Score the model of every epoch."""

    def __init__(self):
        super().__init__()
        self.scores = []

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator.score(X, y))


@pytest.fixture(scope="module", name="iris")
def _iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("estimator", [PegasosClassifier, PegasosRegressor])
def test_every_epoch_begins_and_ends_once(estimator, iris):
    recorder = Recorder()
    model = estimator(solver="sdca", random_state=0).set_callbacks(recorder).fit(*iris)
    epochs = model.n_iter_
    assert recorder.events == [
        "setup",
        "begin fit",
        *["begin epoch", "end epoch"] * epochs,
        "end fit",
        "teardown",
    ]


def test_callbacks_do_not_change_the_model(iris):
    plain = PegasosClassifier(solver="sdca", random_state=0).fit(*iris)
    watched = PegasosClassifier(solver="sdca", random_state=0).set_callbacks(Recorder()).fit(*iris)
    np.testing.assert_array_equal(plain.coef_, watched.coef_)


def test_a_callback_ends_the_fit(iris):
    model = PegasosClassifier(solver="sdca", tol=1e-9, random_state=0)
    model.set_callbacks(Recorder(stop_after=2)).fit(*iris)
    assert model.n_iter_ == 2
    assert "callback" in model.certificate_.reason
    assert np.isfinite(model.certificate_.gap)


def test_max_iter_limits_the_tasks(iris):
    recorder = Recorder()
    model = PegasosClassifier(solver="sdca", tol=1e-12, max_iter=3).set_callbacks(recorder)
    with pytest.warns(UserWarning, match="max_iter was reached"):
        model.fit(*iris)
    assert recorder.epochs() == 3


def test_pairs_of_classes_are_the_epochs_of_a_one_vs_one_fit(iris):
    scorer = Scorer()
    plain = KernelPegasosClassifier(tol=1e-3, random_state=0).fit(*iris)
    watched = KernelPegasosClassifier(tol=1e-3, random_state=0).set_callbacks(scorer).fit(*iris)
    assert scorer.epochs() == 3
    assert scorer.scores[-1] == pytest.approx(watched.score(*iris))
    np.testing.assert_array_equal(plain.dual_coef_, watched.dual_coef_)
    stopped = KernelPegasosClassifier().set_callbacks(Recorder(stop_after=1)).fit(*iris)
    assert "callback" in stopped.certificate_.reason
    assert np.count_nonzero(np.isinf(stopped.certificate_.models["relative_gap"])) == 2


@pytest.mark.parametrize("estimator", [PegasosClassifier, PegasosRegressor])
def test_callbacks_may_score_the_model_of_every_epoch(estimator, iris):
    scorer = Scorer()
    model = estimator(solver="sdca", tol=0.2, random_state=0).set_callbacks(scorer).fit(*iris)
    assert len(scorer.scores) == model.n_iter_ + 1  # and the fit itself
    assert scorer.scores[-1] == pytest.approx(model.score(*iris))
    assert min(scorer.scores) > 0.3


def test_the_callbacks_of_scikit_learn_work(iris, capsys):
    monitor = sklearn_callback.ScoringMonitor(scoring="accuracy")
    bar = sklearn_callback.ProgressBar()
    model = PegasosClassifier(solver="sdca", tol=0.2).set_callbacks(monitor, bar).fit(*iris)
    log = monitor.get_logs()
    assert len(log.data if hasattr(log, "data") else log) >= model.n_iter_
    assert "PegasosClassifier" in capsys.readouterr().out


def test_callbacks_reach_into_a_pipeline(iris, capsys):
    pipeline = make_pipeline(StandardScaler(), PegasosClassifier(solver="sdca", tol=0.2))
    pipeline.set_callbacks(sklearn_callback.ProgressBar()).fit(*iris)
    assert "PegasosClassifier" in capsys.readouterr().out
    assert make_pipeline(StandardScaler(), PegasosClassifier()).fit(*iris).score(*iris) > 0.8


def test_without_callbacks_no_context_is_made(iris, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a callback context was made")

    monkeypatch.setattr(callbacks.CallbackSupport, "_init_callback_context", refuse)
    PegasosClassifier(tol=1e-2).fit(*iris)


def test_a_failing_fit_still_closes_its_callbacks(iris):
    recorder = Recorder()

    class Fails(Recorder):
        def on_fit_task_begin(self, estimator, context):
            if context.task_name == "epoch":
                raise RuntimeError("on purpose")

    model = PegasosClassifier().set_callbacks(recorder, Fails())
    with pytest.raises(RuntimeError, match="on purpose"):
        model.fit(*iris)
    assert recorder.events[-1] == "teardown"


def test_before_scikit_learn_1_9_there_is_nothing_to_set():
    code = (
        "import sys\n"
        "sys.modules['sklearn.callback'] = None\n"
        "from pegasos import PegasosClassifier\n"
        "assert not hasattr(PegasosClassifier, 'set_callbacks')\n"
        "PegasosClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
