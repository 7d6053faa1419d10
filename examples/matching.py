"""Learn to match: a structure that is neither a class nor a chain, trained with a certificate.

Two pictures show the same points, moved and blurred. Every point has a few descriptors (colour,
brightness, texture, ...), some reliable, some not. Which points belong together? The answer is a
permutation, and all that `PegasosStructured` has to be told about permutations is how to score, how
to compare and how to find the best of them, which SciPy's assignment solver does.

    python examples/matching.py
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from pegasos import PegasosStructured

POINTS = 12
NOISE = np.array([0.1, 0.3, 1.0, 3.0, 10.0])  # of each descriptor, from one picture to the other


class Matching:
    """x[r, c] are the features of matching point r of one picture with point c of the other.

    y[r] is the point that r is matched with. The score adds up over the points, so that the best
    matching is an assignment problem, and a cost that adds up, too, leaves it one.
    """

    def features(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def cost(self, y, other):
        return float(np.mean(np.asarray(y) != other))

    def decode(self, w, x):
        return linear_sum_assignment(x @ w, maximize=True)[1]

    def decode_augmented(self, w, x, y):
        costs = np.full(x.shape[:2], 1.0 / len(y))
        costs[np.arange(len(y)), y] = 0.0
        return linear_sum_assignment(x @ w + costs, maximize=True)[1]

    def is_feasible(self, x, y):
        return sorted(y) == list(range(len(x)))


def draw(rng, count):
    """Draw pairs of pictures, and which points of them are the same."""
    X, y = [], []
    for _ in range(count):
        one = rng.standard_normal((POINTS, len(NOISE)))
        way = rng.permutation(POINTS)
        other = np.empty_like(one)
        other[way] = one + NOISE * rng.standard_normal(one.shape)
        X.append(-np.abs(one[:, None] - other[None]))
        y.append(way)
    return X, y


def main():
    rng = np.random.default_rng(0)
    X, y = draw(rng, 50)
    X_new, y_new = draw(rng, 200)
    matching = Matching()
    found = [matching.decode(np.ones(len(NOISE)), x) for x in X_new]
    wrong = np.mean([matching.cost(*pair) for pair in zip(y_new, found, strict=True)])
    model = PegasosStructured(matching, C=0.1, random_state=0).fit(X, y)
    print(f"wrongly matched, all descriptors alike:  {wrong:.1%}")
    print(f"wrongly matched, descriptors weighed:    {-model.score(X_new, y_new):.1%}")
    print("weights of the descriptors:             ", model.coef_.round(2))
    print(model.certificate_)


if __name__ == "__main__":
    main()
