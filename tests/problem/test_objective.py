"""The problem as kernels see it: weights, blocks and w(a)."""

import numpy as np
import pytest

from pegasos import parallel
from pegasos.problem import objective
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import (
    combination,
    flat,
    make_problem,
    parts,
    row_square_norms,
    typical_length,
    weight,
)
from tests.reference import objective as reference


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_combination_matches_the_sum_row_by_row(draw, kind, weighted):
    drawn = draw(Hinge(), kind=kind, weighted=weighted)
    A = np.random.default_rng(0).standard_normal(drawn.y.shape)
    expected = reference.combination(drawn.X, drawn.weights, drawn.lam, A[:, 0])
    np.testing.assert_allclose(combination(drawn.problem, A)[:, 0], expected, atol=1e-12)


def test_combination_of_many_models_is_that_of_each(draw):
    drawn = draw(Hinge(), K=3, weighted=True)
    A = np.random.default_rng(0).standard_normal(drawn.y.shape)
    W = combination(drawn.problem, A)
    for k in range(3):
        expected = reference.combination(drawn.X, drawn.weights, drawn.lam, A[:, k])
        np.testing.assert_allclose(W[:, k], expected, atol=1e-12)


@pytest.mark.fast
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("K", [1, 3])
def test_sums_over_parts_are_the_same_bits_on_any_number_of_threads(draw, monkeypatch, kind, K):
    drawn = draw(Hinge(), kind=kind, K=K, n=2000, d=2, weighted=True)
    A, found = np.random.default_rng(0).standard_normal(drawn.y.shape), []
    monkeypatch.setattr(objective, "VALUES_PER_PART", 10)
    assert parts(drawn.problem.rows)[0][0] == 0
    assert parts(drawn.problem.rows)[-1][1] == 2000
    assert objective.sum_places(drawn.problem.rows, 2, K) > 2
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "cores", lambda threads=threads: threads)
        monkeypatch.setattr(parallel, "_pools", {})
        found.append(combination(drawn.problem, A))
    for k in range(K):
        expected = reference.combination(drawn.X, drawn.weights, drawn.lam, A[:, k])
        np.testing.assert_allclose(found[0][:, k], expected, atol=1e-11)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@pytest.mark.fast
def test_places_for_sums_stay_within_their_room(draw, monkeypatch):
    rows = draw(Hinge(), n=300).problem.rows
    monkeypatch.setattr(objective, "VALUES_PER_PART", 1)
    monkeypatch.setattr(objective, "ROOM_FOR_SUMS", 3 * 6)
    assert objective.sum_places(rows, 6, 1) == 3
    assert objective.sum_places(rows, 6, 50) == 1


@pytest.mark.fast
def test_equal_weights_are_stored_once_and_others_in_full(draw):
    equal, other = draw(Hinge()).problem, draw(Hinge(), weighted=True)
    assert equal.costs.weights.values.size == 1
    assert equal.S == 30.0
    assert all(weight(equal.costs.weights, i) == 1.0 for i in range(30))
    assert other.problem.S == other.weights.sum()
    found = [weight(other.problem.costs.weights, i) for i in range(30)]
    assert found == other.weights.tolist()


@pytest.mark.fast
def test_only_a_regularised_bias_has_a_scale(draw):
    problem = draw(Hinge()).problem
    costs, rows = problem.costs, problem.rows
    for bias, scale, is_free in (
        ("none", 0.0, False),
        ("regularized", 2.0, False),
        ("free", 0.0, True),
    ):
        made = make_problem(costs.loss, rows, costs.Y, None, 0.1, bias, 2.0)
        assert (made.bias_scale, made.is_free) == (scale, is_free)


@pytest.mark.fast
def test_one_model_is_seen_as_a_vector_that_shares_memory():
    W = np.zeros((4, 1))
    assert flat(W).shape == (4,)
    assert np.shares_memory(flat(W), W)
    assert flat(np.zeros((4, 2))).shape == (4, 2)


@pytest.mark.fast
@pytest.mark.parametrize("weighted", [False, True])
def test_the_typical_length_is_the_root_mean_square_counting_weights(draw, weighted):
    drawn = draw(Hinge(), weighted=weighted)
    expected = np.sqrt(np.average((drawn.X**2).sum(axis=1), weights=drawn.weights))
    squares = row_square_norms(drawn.problem)
    np.testing.assert_allclose(typical_length(drawn.problem, squares), expected, rtol=1e-12)
