"""The picture of an online learner: its lines are its history."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import pegasos
from pegasos import OnlineClassifier

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module", name="model")
def _model():
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = X[:, 0] > 0.0
    return OnlineClassifier("pegasos", lam=0.1, random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_the_lines_are_the_history_per_step(model):
    display = pegasos.RegretDisplay.from_estimator(model)
    history = model.history_
    for line, name in (
        (display.cost_line_, "cost"),
        (display.regret_line_, "regret_upper"),
        (display.bound_line_, "bound"),
    ):
        np.testing.assert_array_equal(line.get_xdata(), history["step"])
        np.testing.assert_allclose(line.get_ydata(), history[name] / history["step"])
    assert display.ax_.get_xscale() == display.regret_ax_.get_yscale() == "log"
    display.figure_.canvas.draw()


def test_a_given_place_is_divided_and_infinite_bounds_are_left_out(model):
    import matplotlib.pyplot as plt

    figure, (_, right) = plt.subplots(1, 2)
    history = model.history_ | {"bound": np.full(len(model.history_["step"]), np.inf)}
    display = pegasos.RegretDisplay(history).plot(ax=right)
    assert display.figure_ is figure
    assert np.all(np.isnan(display.bound_line_.get_ydata()))
    figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused(model, monkeypatch):
    with pytest.raises(NotFittedError):
        pegasos.RegretDisplay.from_estimator(OnlineClassifier())
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"RegretDisplay needs.*pip install 'pegasos\[plot\]'"):
        pegasos.RegretDisplay.from_estimator(model)
