"""Labellers and structured SVMs keep the contract of all estimators."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from examples.matching import Matching
from pegasos import PegasosSequenceLabeler, PegasosStructured
from pegasos.errors import InvalidParameter, ToleranceNotReached
from tests.estimators.test_sequence_labeler import draw


def matchings():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((3, 3, 2)) for _ in range(5)]
    return X, [rng.permutation(3) for _ in X]


EVERY = [(PegasosSequenceLabeler, {}, draw), (PegasosStructured, Matching(), matchings)]


def new(kind, own, **options):
    return kind(**own, **options) if isinstance(own, dict) else kind(own, **options)


@pytest.mark.parametrize(("kind", "own", "data"), EVERY)
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"verbose": "x"}, "verbose must be 0 or 1; got 'x'"),
        ({"verbose": -1}, "verbose must be 0 or 1"),
        ({"max_iter": 2.5}, "max_iter must be a whole number"),
        ({"max_time": 0}, "max_time must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"random_state": "x"}, "random_state must be"),
        ({"C": -1.0}, "C must be"),
        ({"on_interrupt": "stop"}, "on_interrupt must be"),
    ],
)
def test_all_check_the_same_parameters(kind, own, data, options, match):
    with pytest.raises(InvalidParameter, match=match):
        new(kind, own, **options).fit(*data())


@pytest.mark.parametrize(("kind", "own", "data"), EVERY)
def test_a_missing_certificate_is_explained(kind, own, data):
    for name in ("certificate_", "history_"):
        with pytest.raises(NotFittedError, match=rf"{name} comes with a fit; this {kind.__name__}"):
            getattr(new(kind, own), name)
    with pytest.raises(AttributeError, match="coef_"):
        _ = new(kind, own).coef_


@pytest.mark.parametrize(("kind", "own", "data"), EVERY)
def test_a_name_of_a_solver_has_no_options(kind, own, data):
    with pytest.raises(InvalidParameter, match="solver"):
        new(kind, own, solver="pegasos").set_params(solver__passes=3)


def test_tags_say_that_sequences_may_be_sparse():
    tags = get_tags(PegasosSequenceLabeler())
    assert tags.input_tags.sparse
    assert not tags.input_tags.two_d_array
    assert tags.target_tags.required


@pytest.mark.parametrize(("kind", "own", "data"), EVERY)
def test_a_limit_is_explained_as_everywhere(kind, own, data):
    with pytest.warns(ToleranceNotReached, match=r"tol=1e-09 was asked for; stopped after 2 epoch"):
        new(kind, own, tol=1e-9, max_iter=2, random_state=0).fit(*data())


class Recorder:
    """Write down every hook; stop after some epochs."""

    def __init__(self, stop_after=None):
        self.events, self.stop_after, self.scores = [], stop_after, []

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator.score(X, y))
        return self.stop_after is not None and self.events.count("end epoch") >= self.stop_after

    def teardown(self, estimator, context):
        self.events.append("teardown")


@pytest.mark.parametrize(("kind", "own", "data"), EVERY)
def test_callbacks_follow_every_epoch_and_may_end_the_fit(kind, own, data):
    pytest.importorskip("sklearn.callback")
    X, y = data()
    plain = new(kind, own, tol=0.05, random_state=0).fit(X, y)
    watched, recorder = new(kind, own, tol=0.05, random_state=0), Recorder()
    watched.set_callbacks(recorder).fit(X, y)
    tasks = ["begin epoch", "end epoch"] * watched.n_iter_
    assert recorder.events == ["setup", "begin fit", *tasks, "end fit", "teardown"]
    assert recorder.scores[-1] == pytest.approx(watched.score(X, y))
    assert watched.n_iter_ <= plain.n_iter_  # all epochs are certified, so that it may end earlier
    stopped = new(kind, own, tol=1e-9, random_state=0).set_callbacks(Recorder(stop_after=2))
    stopped.fit(X, y)
    assert stopped.n_iter_ == 2
    assert "callback" in stopped.certificate_.reason
