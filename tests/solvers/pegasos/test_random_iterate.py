"""The random iterate of Lemma 3: any of them as likely, at any time; the best of a few."""

import numpy as np
import pytest

from pegasos.certificate.stopping import Stopping
from pegasos.problem.losses import Hinge, value
from pegasos.solve import solve
from pegasos.solvers.pegasos import random_iterate
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.pegasos.random_iterate import Candidates, best_of, new_candidates
from tests.conftest import draw
from tests.reference import objective

pytestmark = pytest.mark.fast


def chosen_after(T, seed):
    """Return which of the iterates 1, ..., T a candidate is."""
    nothing, random = np.zeros((1, 1)), np.array([seed], dtype=np.uint64)
    candidates = new_candidates(1, nothing, np.zeros(1))
    for t in range(1, T + 1):
        if candidates.steps_to_next() == 0:
            candidates.keep(np.full((1, 1), t), np.zeros(1), random)
        candidates.taken += 1
    return int(candidates.chosen[0][0][0, 0])


@pytest.mark.parametrize("T", [1, 2, 5, 12])
def test_every_iterate_is_as_likely_after_any_number_of_steps(T):
    counts = np.bincount([chosen_after(T, seed) for seed in range(1200)], minlength=T + 1)
    assert counts[0] == 0
    expected = 1200.0 / T
    assert np.abs(counts[1:] - expected).max() <= 5.0 * np.sqrt(expected)  # standard deviations


def test_two_candidates_are_chosen_independently():
    solver, same = Pegasos(output="random", candidates=2), 0
    problem = draw(Hinge(), 0, n=10).problem
    for seed in range(60):
        state = solver.start(problem, seed, None)
        while not solver.advance(problem, state).ends_epoch:
            pass
        (first, _), (second, _) = state.candidates.chosen
        same += np.array_equal(first, second)
    assert same < 25  # of ten equally likely iterates, the last of which is often 0 steps old


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_the_best_candidate_has_the_least_objective(bias, monkeypatch):
    drawn = draw(Hinge(), 1, K=2, bias=bias, weighted=True)
    rng = np.random.default_rng(0)
    chosen = [(rng.standard_normal((6, 2)), rng.standard_normal(2)) for _ in range(5)]
    if bias == "none":
        chosen = [(W, np.zeros(2)) for W, _ in chosen]
    random = np.array([7], dtype=np.uint64)
    W, b = best_of(drawn.problem, Candidates(0, [], chosen), random)
    scale = 1.5 if bias == "regularized" else 0.0

    def worth(w, b, k):
        return objective.primal(
            lambda z, y: value(Hinge(), z, y), drawn.X, drawn.y[:, k], drawn.weights, drawn.lam,
            w, b, scale,
        )  # fmt: skip

    for k in range(2):
        least = min(worth(V[:, k], c[k], k) for V, c in chosen)
        assert worth(W[:, k], b[k], k) == pytest.approx(least, rel=1e-12)
    monkeypatch.setattr(random_iterate, "FEWEST", 7)  # a sample: the same each time it is asked
    monkeypatch.setattr(random_iterate, "ACCURACY", 1e9)
    first = best_of(drawn.problem, Candidates(0, [], chosen), random)
    again = best_of(drawn.problem, Candidates(0, [], chosen), random)
    np.testing.assert_array_equal(first[0], again[0])


def test_a_few_candidates_are_better_than_one():
    problem = draw(Hinge(), 2, n=60).problem
    ends = {
        count: [
            solve(
                problem, Pegasos(output="random", candidates=count),
                Stopping(tol=1e-9, max_iter=3), seed=seed,
            ).certificate.primal
            for seed in range(12)
        ]
        for count in (1, 8)
    }  # fmt: skip
    assert np.mean(ends[8]) < np.mean(ends[1])
