"""Chains against every label sequence written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.problem.chain import decode, make_room, marginals
from tests.reference import chain as reference

pytestmark = pytest.mark.fast


def draw(seed, L, K, span=1.0, whole=False):
    rng = np.random.default_rng(seed)
    z, T = span * rng.standard_normal((L, K)), span * rng.standard_normal((K, K))
    return (np.round(z), np.round(T)) if whole else (z, T)


chains = st.tuples(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 4))


@given(chains, st.booleans())
def test_best_path_is_that_of_enumeration_ties_included(chain, whole):
    z, T = draw(*chain, whole=whole)
    path = np.zeros(len(z), dtype=np.uint16)
    score = decode(z, T, make_room(*z.shape), path)
    best, its_score = reference.best(z, T)
    assert score == pytest.approx(its_score, abs=1e-12)
    assert path.tolist() == best.tolist()


@given(chains, st.sampled_from([0.1, 1.0, 20.0, 100.0, 400.0]))
def test_marginals_are_those_of_enumeration_however_far_apart_scores_are(chain, span):
    z, T = draw(*chain, span=span)
    nodes, edges = np.zeros(z.shape), np.zeros(T.shape)
    log_sum = marginals(z, T, make_room(*z.shape), nodes, edges)
    expected = reference.marginals(z, T)
    assert log_sum == pytest.approx(expected[0], rel=1e-13, abs=1e-12)
    np.testing.assert_allclose(nodes, expected[1], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(edges, expected[2], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("L", [1, 2])
def test_of_equal_sequences_the_one_with_the_first_labels_is_best(L):
    path = np.full(L, 9, dtype=np.uint16)
    assert decode(np.zeros((L, 3)), np.zeros((3, 3)), make_room(L, 3), path) == 0.0
    assert path.tolist() == [0] * L


def test_a_chain_of_two_by_hand():
    # Scores of 00, 01, 10, 11: 0 + 0 + log 2, 0 + 0 + 0, log 3 + 0 + 0, log 3 + 0 + log 2;
    # their exponentials 2, 1, 3, 6 sum to 12.
    z, T = np.array([[0.0, np.log(3.0)], [0.0, 0.0]]), np.array([[np.log(2.0), 0], [0, np.log(2)]])
    nodes, edges = np.zeros((2, 2)), np.zeros((2, 2))
    log_sum = marginals(z, T, make_room(2, 2), nodes, edges)
    assert log_sum == pytest.approx(np.log(12.0))
    np.testing.assert_allclose(nodes, np.array([[3, 9], [5, 7]]) / 12)
    np.testing.assert_allclose(edges, np.array([[2, 1], [3, 6]]) / 12)


def test_long_chains_neither_overflow_nor_underflow():
    z, T = draw(0, 5000, 3, span=50.0)
    nodes, edges = np.zeros(z.shape), np.zeros(T.shape)
    log_sum = marginals(z, T, make_room(*z.shape), nodes, edges)
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, rtol=1e-12)
    assert edges.sum() == pytest.approx(4999.0)
    path = np.zeros(len(z), dtype=np.uint16)
    assert decode(z, T, make_room(*z.shape), path) <= log_sum
