"""Votes of pairs of classes, by brute force: values of classes, winners, and what is certain."""

import itertools

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from pegasos.problem import votes
from pegasos.problem.class_pairs import classes_of, pair_numbers, pairs_of

pytestmark = pytest.mark.fast


def drawn(K, n=200, seed=0):
    """Draw decision values of pairs, some of them whole numbers, so that votes and sums tie."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, K * (K - 1) // 2))
    Z[::2] = np.round(Z[::2])
    return Z


@pytest.mark.parametrize("K", [2, 3, 4, 7, 26])
def test_pairs_are_numbered_in_order(K):
    pairs = pairs_of(K)
    assert pairs == sorted(set(pairs)) == list(itertools.combinations(range(K), 2))
    assert classes_of(len(pairs)) == K
    for c, numbers in enumerate(pair_numbers(K)):
        others = [sum(pairs[p]) - c for p in numbers]
        assert others == [other for other in range(K) if other != c]


@pytest.mark.parametrize("K", [3, 4, 7])
def test_values_of_classes_are_those_of_scikit_learn(K):
    Z = drawn(K)
    expected = _ovr_decision_function(Z < 0.0, -Z, K)
    np.testing.assert_allclose(votes.class_values(Z), expected, atol=1e-14)


@pytest.mark.parametrize("K", [3, 4, 6])
def test_most_votes_win_and_ties_go_to_the_largest_sum(K):
    Z = drawn(K, seed=1)
    for z, winner in zip(Z, votes.winners(Z), strict=True):
        count, total = [0] * K, [0.0] * K
        for value, (i, j) in zip(z, pairs_of(K), strict=True):
            count[i if value >= 0.0 else j] += 1
            total[i] += value
            total[j] -= value
        assert count[winner] == max(count)
        assert total[winner] == max(total[c] for c in range(K) if count[c] == max(count))


@pytest.mark.parametrize("K", [3, 4, 5])
def test_a_winner_is_sure_if_no_signs_of_undecided_pairs_make_another(K):
    rng = np.random.default_rng(K)
    Z = drawn(K, 60, seed=2)
    low, high = Z - rng.exponential(0.4, Z.shape), Z + rng.exponential(0.4, Z.shape)
    low[:3], high[:3] = -np.inf, np.inf
    found = votes.sure_winners(low, high)
    assert 0 < np.count_nonzero(found >= 0) < len(found)
    for a, b, sure in zip(low, high, found, strict=True):
        choices = [
            [1] if x > 0.0 else [-1] if y < 0.0 else [1, -1] for x, y in zip(a, b, strict=True)
        ]
        possible = set()
        for signs in itertools.product(*choices):
            count = [0] * K
            for sign, (i, j) in zip(signs, pairs_of(K), strict=True):
                count[i if sign > 0 else j] += 1
            best = [c for c in range(K) if count[c] == max(count)]
            possible |= set(best) if len(best) == 1 else {-1}  # a tie is not sure
        assert sure == (possible.pop() if len(possible) == 1 else -1)


@pytest.mark.parametrize("K", [3, 5])
def test_bounds_on_pairs_bound_the_values_of_classes(K):
    rng = np.random.default_rng(0)
    Z = drawn(K)
    low, high = Z - rng.exponential(0.5, Z.shape), Z + rng.exponential(0.5, Z.shape)
    least, most = votes.class_values(low, high), votes.class_values(high, low)
    for _ in range(50):
        values = votes.class_values(rng.uniform(low, high))
        assert np.all(least <= values + 1e-14)
        assert np.all(values <= most + 1e-14)
    nothing = np.full((1, Z.shape[1]), np.inf)
    third = 1.0 / 3.0
    np.testing.assert_allclose(votes.class_values(-nothing, nothing), [[-third] * K])
    np.testing.assert_allclose(votes.class_values(nothing, -nothing), [[K - 1 + third] * K])


@pytest.mark.parametrize("K", [3, 6])
def test_probabilities_of_pairs_that_agree_are_those_of_the_classes(K):
    P = np.random.default_rng(0).dirichlet(np.ones(K), 20)
    R = np.column_stack([P[:, i] / (P[:, i] + P[:, j]) for i, j in pairs_of(K)])
    np.testing.assert_allclose(votes.coupled(R), P, rtol=1e-9)
    extreme = votes.coupled(np.array([[0.0] * len(pairs_of(K)), [1.0] * len(pairs_of(K))]))
    assert np.isfinite(extreme).all()
    np.testing.assert_allclose(extreme.sum(axis=1), 1.0)
    assert extreme.argmax(axis=1).tolist() == [K - 1, 0]
