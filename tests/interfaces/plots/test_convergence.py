"""The picture of a fit: lines, axes, and where matplotlib is needed."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import pegasos
from pegasos import PegasosClassifier
from pegasos.errors import InvalidParameter, NotCertified

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module", name="model")
def _model():
    X, y = load_iris(return_X_y=True)
    return PegasosClassifier(solver="sdca", random_state=0).fit(X / X.max(axis=0), y)


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("x", ["seconds", "epoch"])
def test_the_lines_are_the_history(model, x):
    display = pegasos.ConvergenceDisplay.from_estimator(model, x=x)
    for line, name in (
        (display.primal_line_, "primal"),
        (display.dual_line_, "dual"),
        (display.gap_line_, "relative_gap"),
    ):
        np.testing.assert_array_equal(line.get_xdata(), model.history_[x])
        np.testing.assert_array_equal(line.get_ydata(), model.history_[name])
    assert display.gap_ax_.get_yscale() == "log"
    assert display.gap_ax_.get_xlabel() in ("seconds", "epochs")
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()


def test_a_given_place_is_divided(model):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2)
    display = pegasos.ConvergenceDisplay.from_estimator(model, ax=right)
    assert display.figure_ is figure
    assert not right.axison
    assert left.axison
    assert display.ax_.get_position().x0 > left.get_position().x1
    figure.canvas.draw()


def test_infinite_and_zero_gaps_are_left_out():
    history = {
        "seconds": np.array([0.1, 0.2, 0.3]),
        "primal": np.array([3.0, 2.0, 2.0]),
        "dual": np.array([-1.0, 1.5, 2.0]),
        "relative_gap": np.array([np.inf, 1 / 3, 0.0]),
    }
    display = pegasos.ConvergenceDisplay(history).plot()
    np.testing.assert_array_equal(display.gap_line_.get_ydata(), [np.nan, 1 / 3, np.nan])
    display.figure_.canvas.draw()


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(InvalidParameter, match='x must be "seconds" or "epoch"; got'):
        pegasos.ConvergenceDisplay.from_estimator(model, x="rows")
    with pytest.raises(NotFittedError):
        pegasos.ConvergenceDisplay.from_estimator(PegasosClassifier())
    stream = PegasosClassifier(lam=0.1).partial_fit([[1.0]], [1], classes=[0, 1])
    with pytest.raises(NotCertified):
        pegasos.ConvergenceDisplay.from_estimator(stream)


def test_without_matplotlib_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'pegasos\[plot\]'"):
        pegasos.ConvergenceDisplay.from_estimator(model)


@pytest.mark.fast
def test_names_that_do_not_exist_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = pegasos.Nothing
