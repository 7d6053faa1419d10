"""Ascents in parts end where an ascent on all rows does."""

import numpy as np
import pytest

from pegasos.solvers.decomposition import parts as module
from pegasos.solvers.decomposition.parts import Parts
from pegasos.solvers.decomposition.smo import Box, ascend_pairs, ascend_singles, new_ascent, whole

TOL = 1e-6


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 16)
    monkeypatch.setattr(module, "FEW", 1000)


def drawn(dtype, m=90, ridge=0.0, C=2.0, seed=0):
    """A matrix, a box and residuals at 0."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((m, 2)), rng.standard_normal(m)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(dtype)
    box = Box(np.full(m, -C), np.full(m, C), 0.1, np.full(m, ridge))
    return whole(K, np.ones(m)), box, y


def in_parts(ascend, K, box, y):
    ascent = new_ascent(np.zeros(len(y)), y.copy(), box)
    parts, count = Parts(ascend, K, ascent, box), 0
    while parts.pays:
        parts.go_on(TOL, 100_000)
        count += 1
    return ascent, count


def gain(K, box, y, beta):
    square = beta @ K.values.astype(float) @ beta + box.ridge @ beta**2
    return y @ beta - box.epsilon * np.abs(beta).sum() - 0.5 * square


@pytest.mark.parametrize("ascend", [ascend_pairs, ascend_singles])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_parts_reach_the_optimum_of_all_rows(ascend, dtype, ridge):
    K, box, y = drawn(dtype, ridge=ridge)
    mine, count = in_parts(ascend, K, box, y)
    assert count > 5
    whole_ascent, rows = new_ascent(np.zeros(len(y)), y.copy(), box), np.arange(len(y))
    ascend(K, whole_ascent, box, rows, TOL, 1_000_000)
    best = gain(K, box, y, whole_ascent.beta)
    assert gain(K, box, y, mine.beta) == pytest.approx(best, rel=1e-5)
    steps, violation, _, _ = ascend(K, mine, box, rows, 2.0 * TOL, 10)
    assert steps == 0
    assert violation <= 2.0 * TOL


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_residuals_and_the_sum_of_coefficients_are_kept(ridge):
    K, box, y = drawn(np.float64, ridge=ridge)
    ascent, _ = in_parts(ascend_pairs, K, box, y)
    expected = y - K.values @ ascent.beta - ridge * ascent.beta
    np.testing.assert_allclose(ascent.r, expected, atol=1e-10)
    assert abs(ascent.beta.sum()) <= 1e-10
    assert (np.abs(ascent.beta) <= 2.0).all()


def test_rows_between_bounds_stay_for_the_next_part():
    K, box, y = drawn(np.float64)
    ascent = new_ascent(np.zeros(len(y)), y.copy(), box)
    parts = Parts(ascend_pairs, K, ascent, box)
    parts.go_on(TOL, 100_000)
    first = parts.last
    free = first[(np.abs(ascent.beta[first]) < 2.0) & (ascent.beta[first] != 0.0)]
    parts.go_on(TOL, 100_000)
    assert len(parts.last) <= 16
    assert np.isin(free, parts.last).sum() >= min(8, len(free))


def test_few_rows_and_short_parts_are_left_to_an_ascent_on_all(monkeypatch):
    K, box, y = drawn(np.float64, m=module.MANY * 16 - 1)
    parts = Parts(ascend_pairs, K, new_ascent(np.zeros(len(y)), y, box), box)
    assert not parts.pays
    monkeypatch.setattr(module, "FEW", 1)
    K, box, y = drawn(np.float64)
    parts = Parts(ascend_pairs, K, new_ascent(np.zeros(len(y)), y, box), box)
    parts.go_on(TOL, 3)
    assert not parts.pays


def test_pauses_after_parts_that_do_not_pay_get_longer(monkeypatch):
    monkeypatch.setattr(module, "FEW", 1)
    K, box, y = drawn(np.float64)
    parts = Parts(ascend_pairs, K, new_ascent(np.zeros(len(y)), y.copy(), box), box)
    pauses = []
    for _ in range(3):
        parts.go_on(TOL, 3)
        assert not parts.pays
        pauses.append(parts.pause)
    assert pauses == [32, 64, 128]
    monkeypatch.setattr(module, "FEW", 1000)
    parts.go_on(TOL, 3)
    assert parts.pays
    assert parts.pause == 16
