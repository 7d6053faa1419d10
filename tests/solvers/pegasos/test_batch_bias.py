"""The best bias of a mini-batch: a weighted median, and dual numbers that balance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.data.rows import as_rows
from pegasos.problem.losses import EpsilonInsensitive, Hinge, slope, value
from pegasos.problem.objective import make_problem
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.pegasos.batch_bias import Kinks, first_kink, second_kink, weighted_quantile
from pegasos.solvers.pegasos.linear import Pegasos
from tests.conftest import draw

LOSSES = [Hinge(), EpsilonInsensitive(0.2), EpsilonInsensitive(0.0)]
PLACES = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=40
)  # few values: ties are frequent


@pytest.mark.fast
@given(pairs=PLACES, share=st.floats(0.0, 1.0))
def test_quantile_is_the_first_place_that_reaches_the_target(pairs, share):
    places = np.array([float(place) for place, _ in pairs])
    weights = np.array([float(weight) for _, weight in pairs])
    target = float(np.floor(share * weights.sum()))
    found = weighted_quantile(Kinks(places.copy(), weights.copy()), len(pairs), target)
    reaching = [p for p in places if weights[places <= p].sum() >= target]
    assert found == min(reaching)


@pytest.mark.fast
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3)], ids=str)
def test_slopes_rise_at_the_kinks(loss):
    for y in (-1.0, 1.0):
        for kink, before, after in (
            (first_kink(loss, y), -1.0, 0.0),
            (second_kink(loss, y), 0.0, 1.0),
        ):
            if np.isfinite(kink):
                assert slope(loss, kink - 1e-6, y) == before
                assert slope(loss, kink + 1e-6, y) == after


@pytest.mark.fast
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_each_batch_is_balanced_at_its_best_bias(loss, weighted):
    is_regression = isinstance(loss, EpsilonInsensitive)
    for seed in range(5):
        drawn = draw(loss, seed, n=12, bias="free", regression=is_regression, weighted=weighted)
        solver = resolve(Pegasos(batch_size=12), loss, "free-batch")
        state = solver.start(drawn.problem, seed, None)
        for _ in range(4):
            W = state.V[:, 0] / (drawn.lam * max(state.scaling.N[0], 1e-300))
            z = drawn.X @ W
            solver.advance(drawn.problem, state)
            b = float(state.bias.offset[0])
            assert abs(state.bias.total[0]) <= 1e-9 * state.scaling.N[0]  # sum s_i a_i = 0
            total = sum_of_losses(loss, drawn, z, b)
            around = np.concatenate([b + np.linspace(-3, 3, 601), [b - 1e-7, b + 1e-7]])
            others = [sum_of_losses(loss, drawn, z, other) for other in around]
            assert total <= min(others) + 1e-9


@pytest.mark.fast
def test_a_row_at_both_kinks_may_fall_too():
    # epsilon = 0, targets 0 and 1, w = 0: b = 0 is the first best bias, where row 0 has both of its
    # kinks. Row 1 pulls with a = 1, so row 0 must take on -1.
    loss = EpsilonInsensitive(0.0)
    rows, Y = as_rows(np.eye(2)), np.array([[0.0], [1.0]])
    problem = make_problem(loss, rows, Y, None, 0.1, "free")
    solver = resolve(Pegasos(batch_size=2), loss, "free-batch")
    state = solver.start(problem, 0, None)
    solver.advance(problem, state)
    assert state.tail.sums.older.ravel().tolist() == [-1.0, 1.0]


def sum_of_losses(loss, drawn, z, b):
    costs = [value(loss, float(t + b), float(y)) for t, y in zip(z, drawn.y[:, 0], strict=True)]
    return float(drawn.weights @ costs)


@pytest.mark.fast
def test_a_batch_of_one_class_satisfies_all_its_rows():
    drawn = draw(Hinge(), 1, n=6, bias="free")
    Y = np.ones((6, 1))
    problem = make_problem(Hinge(), drawn.problem.rows, Y, None, 0.1, "free")
    solver = resolve(Pegasos(batch_size=6), Hinge(), "free-batch")
    state = solver.start(problem, 0, None)
    solver.advance(problem, state)
    assert state.bias.offset[0] == 1.0
    assert (state.V == 0.0).all()
