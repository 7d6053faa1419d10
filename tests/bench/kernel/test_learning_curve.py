"""Courses of our solvers, and the figure drawn from them."""

import numpy as np
import pytest

from bench.kernel import learning_curve as module
from bench.kernel.learning_curve import SOLVERS_DRAWN, averaged, course, kernel_of_test_rows
from bench.kernel.objective import dense, gaussian
from tests.bench.kernel.test_objective import drawn


@pytest.mark.parametrize("label", module.SOLVERS_DRAWN)
def test_courses_grow_and_learn(label):
    dataset = drawn(n=200, has_bias=False)
    K_test = kernel_of_test_rows(dataset)
    first, second = (course(SOLVERS_DRAWN[label], dataset, K_test, seed) for seed in (0, 1))
    counted, computed, errors = np.array(first).T
    assert np.all(np.diff(counted) > 0.0)
    assert np.all(np.diff(computed) >= 0.0)
    assert np.all((errors >= 0.0) & (errors <= 100.0))
    assert averaged([first, second]).shape == (min(len(first), len(second)), 3)


def test_the_matrix_of_test_rows_holds_kernel_values():
    dataset = drawn(has_bias=False)
    expected = gaussian(dataset.X_test, dense(dataset.X), dataset.gamma)
    np.testing.assert_allclose(kernel_of_test_rows(dataset), expected, rtol=1e-5)


def test_figure_has_a_panel_per_dataset_and_a_label_per_line():
    pytest.importorskip("matplotlib")
    from bench.kernel.plot import draw

    points = [[1e3, 1e3, 20.0], [1e4, 5e3, 16.0], [1e5, 8e3, 15.0]]
    figure = draw({"a9a": {"SBP": points, "SDCA": points}, "money-fx": {"Perceptron": points}})
    words = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert words == 2 * [["Perceptron"], ["SBP", "SDCA"]]
    assert all(axes.get_xscale() == "log" for axes in figure.axes)
