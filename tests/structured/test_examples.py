"""Any structure: rounding is on the safe side of its certificate."""

from fractions import Fraction

import numpy as np
import pytest

from pegasos.structured.examples import DualSums, evaluate, make_examples

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
