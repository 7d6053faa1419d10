"""The perceptron against a slow one, and the figure drawn from courses."""

import numpy as np
import pytest

from bench.kernel import course as module
from bench.kernel.course import averaged, course
from bench.kernel.objective import dense, gaussian
from bench.kernel.perceptron import perceptron
from tests.bench.kernel.test_objective import drawn


def slow_perceptron(dataset, epochs, seed):
    """Return coefficients and kernel evaluations, one row at a time."""
    rng = np.random.default_rng(seed)
    X = dense(dataset.X)
    K = gaussian(X, X, dataset.gamma)
    coef, evaluations = np.zeros(len(X)), 0
    for _ in range(epochs):
        for i in rng.permutation(len(X)):
            evaluations += np.count_nonzero(coef)
            if dataset.y[i] * (K[i] @ coef) <= 0.0:
                coef[i] += dataset.y[i]
    return coef, evaluations


@pytest.mark.parametrize("block", [1, 7, 40, 512])
def test_perceptron_in_blocks_equals_one_row_at_a_time(block):
    dataset = drawn(has_bias=False)
    coef, evaluations = slow_perceptron(dataset, 3, seed=1)
    *_, (steps, model) = perceptron(dataset, 3, seed=1, block=block)
    assert steps == 120
    assert model.evaluations == evaluations
    assert np.array_equal(model.support, np.flatnonzero(coef))
    assert np.array_equal(model.coef, coef[model.support])


def test_course_of_the_perceptron_grows_and_has_equal_lengths():
    dataset = drawn(n=2000, has_bias=False)
    first, second = (course("perceptron", dataset, seed, epochs=(1, 2)) for seed in (0, 1))
    assert len(first) == len(second) > 2
    evaluations = [point[0] for point in first]
    assert evaluations == sorted(evaluations)
    assert averaged([first, second]).shape == (len(first), 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in module.SOLVERS_DRAWN.values() if n != "perceptron"])
def test_course_of_our_solvers_costs_more_with_every_epoch(name):
    if not module.is_there(name):
        pytest.skip(f"{name} is not there")
    points = course(name, drawn(n=200, has_bias=False), 0, epochs=(1, 2, 3))
    evaluations = [point[0] for point in points]
    assert evaluations == sorted(evaluations)
    assert all(0.0 <= point[1] <= 100.0 for point in points)


def test_figure_has_a_panel_per_dataset_and_a_label_per_line():
    pytest.importorskip("matplotlib")
    from bench.kernel.plot import draw

    points = [[1e3, 20.0], [1e4, 16.0], [1e5, 15.0]]
    figure = draw({"a9a": {"SBP": points, "SDCA": points}, "money-fx": {"Perceptron": points}})
    words = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert words == [["Perceptron"], ["SBP", "SDCA"]]
    assert all(axes.get_xscale() == "log" for axes in figure.axes)
