"""Sequence problems meant to hurt: what is claimed of them is true, to the last bit.

Objective and dual value are computed without rounding (`tests.reference.chain_exact`): the claimed
objective must not be below the one, the claimed bound not above the other.
"""

from fractions import Fraction

import numpy as np
import pytest

from pegasos.certificate.sequences import evaluate
from tests.certificate.test_sequences import WAYS
from tests.reference import chain_exact as exact
from tests.reference.sequences import draw, drawn_from


def problem(kind, seed, change=None, C=1.0, repeat=False, lengths=None):
    """Draw a small problem and make it hostile."""
    drawn = draw(kind, seed, n=3, K=2)
    rng = np.random.default_rng(seed)
    Xs = [np.hstack([X, rng.standard_normal((len(X), 1))]) for X in drawn.Xs]
    ys = list(drawn.ys)
    if lengths is not None:
        Xs = [rng.standard_normal((L, 2)) for L in lengths]
        ys = [rng.integers(0, 2, L) for L in lengths]
    if repeat:
        Xs, ys = Xs + Xs, ys + [1 - y for y in ys]
    Xs = [X if change is None else change(X) for X in Xs]
    return drawn_from(kind, Xs, ys, drawn.cost, 1.0 / (C * len(Xs)))


def uneven(X):
    return X * np.logspace(-6, 6, X.shape[1])


HOSTILE = {
    "offset 1e6": {"change": lambda X: X + 1e6},
    "columns 1e-6 to 1e6": {"change": uneven},
    "C=1e-6": {"C": 1e-6},
    "C=1e6": {"C": 1e6},
    "C=1e6, offset 1e6": {"C": 1e6, "change": lambda X: X + 1e6},
    "C=1e6, columns 1e-6 to 1e6": {"C": 1e6, "change": uneven},
    "float32": {"change": lambda X: X.astype(np.float32).astype(np.float64), "C": 1e3},
    "opposite labels": {"repeat": True, "C": 1e3},
    "length 1": {"lengths": (1, 1, 1)},
    "length 2": {"lengths": (2, 2, 1), "C": 1e3},
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(("kind", "solver"), WAYS, ids=lambda x: getattr(x, "__name__", x))
def test_what_is_claimed_of_hostile_problems_is_true(kind, solver, name, seed):
    drawn = problem(kind, seed, **HOSTILE[name])
    method = solver()
    state = method.start(drawn.problem, drawn.K, seed)
    for epoch in range(1, 21):
        while not method.advance(drawn.problem, state).ends_epoch:
            pass
        if epoch in (1, 20):
            model = method.iterate(drawn.problem, state)
            dual = method.dual_point(drawn.problem, state)
            found = evaluate(drawn.problem, model, dual)
            P, (D, _) = exact.primal(drawn, model), exact.dual_value(drawn, model, dual)
            assert Fraction(found.primal) >= P, float(P) - found.primal
            assert Fraction(found.dual) <= D, found.dual - float(D)
