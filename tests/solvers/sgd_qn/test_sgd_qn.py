"""SGD-QN: an estimate of curvature by hand, the rule row by row, gains between their bounds."""

import numpy as np
import pytest

from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge, Logistic
from pegasos.solvers.catalogue import resolve
from pegasos.solvers.sgd_qn.sgd_qn import MOST, SGDQN, curvature
from pegasos.solvers.svmsgd.run import T0, N
from pegasos.solvers.svmsgd.svmsgd import SVMSGD
from tests.conftest import draw
from tests.reference import svmsgd as reference


def epochs_of(problem, solver, epochs, seed=0):
    state, orders = solver.start(problem, seed, None), []
    for _ in range(epochs):
        assert solver.advance(problem, state).ends_epoch
        orders.append(list(state.order))
    return state, orders


@pytest.mark.fast
def test_curvature_by_hand():
    # lam = 1/2. From below to satisfied, y x_j = 2: the gradient grows by 2 while w_j grew by 4.
    assert curvature(0.5, 2.0, 4.0) == 0.5  # beyond lam
    assert curvature(0.5, 2.0, -4.0) == 0.0  # less than lam is not believed
    assert curvature(0.5, 2.0, 1e-9) == (MOST - 1.0) * 0.5
    assert curvature(0.5, 0.0, 0.0) == curvature(0.5, 0.0, 1.0) == 0.0


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("skip", [1, 7])
def test_three_epochs_are_those_of_the_rule(kind, bias, weighted, skip):
    drawn = draw(Hinge(), 3, kind=kind, bias=bias, weighted=weighted)
    state, orders = epochs_of(drawn.problem, SGDQN(skip=skip), 3)
    X = drawn.X
    if bias == "regularized":
        X = np.column_stack([X, np.full(len(X), drawn.bias_scale)])
    w, gains, taken = reference.sgd_qn(
        X, drawn.y[:, 0], drawn.weights, drawn.lam, state.clock[T0], skip, orders
    )
    mine = state.W[:, 0] if bias == "none" else np.append(state.W[:, 0], state.beta)
    np.testing.assert_allclose(mine, w, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(state.B[: len(w), 0], gains, rtol=1e-8)
    own = drawn.weights > 0.0
    tail = np.sum(taken[state.tail.first :], axis=0)
    np.testing.assert_array_equal(state.tail.sums.older[own, 0], tail[own])


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "free"])
def test_gains_fall_like_one_over_t(bias):
    drawn = draw(Hinge(), 4, n=80, bias=bias)
    state, _ = epochs_of(drawn.problem, SGDQN(skip=3), 20)
    most = 1.0 / (drawn.lam * (state.clock[N] + state.clock[T0]))
    assert state.B.min() >= most / MOST
    assert state.B.max() <= 1.0 / (drawn.lam * (state.times[1] + state.clock[T0])) * (1.0 + 1e-9)


@pytest.mark.fast
def test_without_curvature_the_method_is_svmsgd():
    # One epoch, in which weights are shrunk at the end only: no curvature is measured, and gains
    # stay what they were: steps of a constant size. SVMSGD's time stands still for that.
    drawn = draw(Hinge(), 5, lam=1e-4)
    state, orders = epochs_of(drawn.problem, SGDQN(skip=1000), 1)
    other = SVMSGD(skip=1000)
    begun = other.start(drawn.problem, 0, None)
    begun.clock[-1] = 0.0
    other.advance(drawn.problem, begun)
    assert orders[0] == list(begun.order)
    np.testing.assert_allclose(state.W, begun.W, rtol=1e-12)


@pytest.mark.fast
def test_options_are_checked():
    with pytest.raises(InvalidParameter, match="skip must be None or a whole number from 1 on"):
        resolve(SGDQN(skip=0), Hinge(), "free")
    with pytest.raises(InvalidParameter, match='solver="sgd_qn" has no loss='):
        resolve("sgd_qn", Logistic(), "free")
