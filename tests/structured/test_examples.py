"""Any structure: rounding is on the safe side of its certificate."""

from fractions import Fraction

import numpy as np
import pytest

from pegasos.structured.examples import DualSums, evaluate, make_examples
from pegasos.structured.solvers import AnyFrankWolfe, begin

pytestmark = pytest.mark.fast


class OneOrOther:
    """Two answers, whose features are the rows of x."""

    def features(self, x, y):
        return x[y]

    def cost(self, y, other):
        return float(y != other)

    def decode(self, w, x):
        return int(np.argmax(x @ w))

    def decode_augmented(self, w, x, y):
        return 1 - y  # where that is the larger


@pytest.mark.parametrize("seed", range(8))
def test_rounding_of_long_sums_that_cancel_is_on_the_safe_side(seed):
    rng = np.random.default_rng(seed)
    half, w = rng.standard_normal(200), 1e6 * rng.standard_normal(200)
    x = np.vstack([np.zeros(400), np.concatenate([half, half])])
    w = np.concatenate([w, -w])[rng.permutation(400)] if seed % 2 else np.concatenate([w, -w])
    if x[1] @ w < 0.0:
        w = -w
    problem = make_examples(OneOrOther(), [x], [0], None, 1e-30)
    found = evaluate(problem, w, DualSums(0.0, np.zeros(400)))
    exact = 1 + sum(Fraction(a) * Fraction(b) for a, b in zip(x[1], w, strict=True))
    assert Fraction(found.primal) >= exact
    assert found.primal <= float(exact) * (1.0 + 1e-9) + 1e-2
    assert found.dual <= 0.0


def exactly(values):
    return [Fraction(float(v)) for v in values]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_claimed_is_true_without_rounding(seed, C, offset):
    rng = np.random.default_rng(seed)
    X = [offset + rng.standard_normal((2, 5)) for _ in range(4)]
    lam = 1.0 / (4.0 * C)
    problem = make_examples(Sure(), X, [0, 1, 0, 1], None, lam)
    state, solver = begin(problem, seed), AnyFrankWolfe()
    for _ in range(8):
        solver.advance(problem, state)
    found = solver.certify(problem, state)
    w, exact_lam, losses = exactly(state.w), Fraction(lam), Fraction(0)
    gain, psi = Fraction(0), [Fraction(0)] * 5
    for x, y, corners, mass in zip(X, problem.y, state.corners, state.mass, strict=True):
        change = [b - a for a, b in zip(exactly(x[y]), exactly(x[1 - y]), strict=True)]
        losses += max(Fraction(0), 1 + dot(w, change))
        whole = sum(exactly(mass))
        for corner, m in zip(corners, exactly(mass), strict=True):
            if corner.cost:
                gain += m / whole
                psi = [p - m / whole * c for p, c in zip(psi, change, strict=True)]
    own = [p / (4 * exact_lam) for p in psi]
    assert Fraction(found.primal) >= exact_lam / 2 * dot(w, w) + losses / 4
    assert Fraction(found.dual) <= gain / 4 - exact_lam / 2 * dot(own, own)


class Sure(OneOrOther):
    """The same with decoding that finds the maximum."""

    def decode_augmented(self, w, x, y):
        return 1 - y if 1.0 + x[1 - y] @ w > x[y] @ w else y
