"""Section 17 of docs/mathematics.md on random numbers, all label sequences written out."""

import numpy as np
import pytest

from tests.reference import chain
from tests.reference.sequences import draw

pytestmark = pytest.mark.fast


class Written:
    """A small problem with psi and cost of every label sequence, and random distributions."""

    def __init__(self, kind, seed):
        self.drawn = drawn = draw(kind, seed, weighted=True)
        self.rng, self.S, self.lam = np.random.default_rng(seed), drawn.weights.sum(), drawn.lam
        self.psi, self.cost = [], []
        for X, y in zip(drawn.Xs, drawn.ys, strict=True):
            every = chain.paths(len(X), drawn.K)
            truth = chain.phi(X, y, drawn.K)
            self.psi.append(np.array([(truth - chain.phi(X, r, drawn.K)).ravel() for r in every]))
            costs = [drawn.cost[y, r].sum() if kind == "hinge" else 0.0 for r in every]
            self.cost.append(np.array(costs))
        self.w = self.rng.standard_normal(self.psi[0].shape[1])

    def distributions(self):
        return [self.rng.dirichlet(np.ones(len(psi))) for psi in self.psi]

    def mean(self, values):
        return sum(s * v for s, v in zip(self.drawn.weights, values, strict=True)) / self.S

    def own(self, p):
        return self.mean([q @ psi for q, psi in zip(p, self.psi, strict=True)]) / self.lam

    def values(self, w):
        return [c - psi @ w for c, psi in zip(self.cost, self.psi, strict=True)]

    def primal(self, w):
        losses = [
            v.max() if self.drawn.kind == "hinge" else np.log(np.exp(v).sum())
            for v in self.values(w)
        ]
        return 0.5 * self.lam * w @ w + self.mean(losses)

    def dual(self, p):
        own = self.own(p)
        gains = [
            q @ c if self.drawn.kind == "hinge" else -np.sum(q * np.log(q))
            for q, c in zip(p, self.cost, strict=True)
        ]
        return self.mean(gains) - 0.5 * self.lam * own @ own


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["hinge", "logistic"])
def test_17_gap_is_a_sum_of_shares_that_are_not_negative(kind, seed):
    written = Written(kind, seed)
    w, p = written.w, written.distributions()
    shares = []
    for q, v in zip(p, written.values(w), strict=True):
        model = np.exp(v - v.max())
        model /= model.sum()
        shares.append(v.max() - q @ v if kind == "hinge" else np.sum(q * np.log(q / model)))
    off = w - written.own(p)
    gap = written.mean(shares) + 0.5 * written.lam * off @ off
    assert written.primal(w) - written.dual(p) == pytest.approx(gap, rel=1e-9)
    assert min(shares) >= -1e-12
    objective = chain.objective(
        kind, *written.drawn[1:6], w.reshape(-1, written.drawn.K)
    )  # the sums written out are those of the definition
    assert written.primal(w) == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_17_frank_wolfe_goes_to_the_top_of_a_parabola(seed):
    written = Written("hinge", seed)
    p = written.distributions()
    w, i = written.own(p), 0
    v = written.values(w)[i]
    best, worst = int(np.argmax(v)), int(np.argmin(v))
    change = written.psi[i][best] - written.psi[i][worst]
    c = written.drawn.weights[i] / (written.lam * written.S)
    m = (v[best] - v[worst]) / (c * change @ change)

    def after(step):
        q = p[i].copy()
        q[best], q[worst] = q[best] + step, q[worst] - step  # feasible or not: D is a parabola
        return written.dual([q, *p[1:]])

    assert after(m) >= max(after(m - 1e-3), after(m + 1e-3))
    assert after(m - 0.1) == pytest.approx(after(m + 0.1), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_17_two_divergences_are_a_difference_of_expected_scores(seed):
    rng = np.random.default_rng(seed)
    z, theta = rng.standard_normal((2, 7))
    p, q = (np.exp(s) / np.exp(s).sum() for s in (theta, z))
    J = np.sum(p * np.log(p / q)) + np.sum(q * np.log(q / p))
    assert q @ (z - theta) - p @ (z - theta) == pytest.approx(J)


@pytest.mark.parametrize("seed", range(6))
def test_17_step_of_dual_ascent_has_the_slope_of_its_model(seed):
    written = Written("logistic", seed)
    p, i, h = written.distributions(), 0, 1e-6
    v = written.values(written.own(p))[i]
    q = np.exp(v - v.max())
    q /= q.sum()
    J = np.sum(p[i] * np.log(p[i] / q)) + np.sum(q * np.log(q / p[i]))
    moved = written.dual([p[i] + h * (q - p[i]), *p[1:]])
    slope = (moved - written.dual(p)) / h
    assert slope == pytest.approx(written.drawn.weights[i] / written.S * J, rel=1e-3, abs=1e-6)
