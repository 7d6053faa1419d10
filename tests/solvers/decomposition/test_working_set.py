"""Working sets: which rows are looked at next, and which class they follow."""

import numpy as np
import pytest

from pegasos.problem.kernels import Gaussian, Laplacian
from pegasos.problem.losses import EpsilonInsensitive, Hinge
from pegasos.solvers.decomposition import working_set as working_sets
from pegasos.solvers.decomposition.working_set import (
    Wishes,
    first_set,
    largest_of,
    least_size,
    limits_of_size,
    next_size,
    pilot_size,
    rare_rows,
    starts_small,
    working_set,
)
from tests.solvers.kernel_problems import kernel_problem


@pytest.mark.fast
def test_a_working_set_holds_the_largest_violations():
    violations = np.array([0.3, -1.0, 0.9, 0.1, -np.inf, 0.5, 0.4, 0.2])
    rises = np.array([True, False, True, False, False, True, False, True])
    wishes = Wishes(violations, rises, free=2, violating=6)
    assert working_set(wishes, 4).tolist() == [0, 2, 5, 6]
    assert working_set(wishes, 8).tolist() == list(range(8))
    # 2 and 5 both rise: 5 makes room for the one that falls and violates most.
    assert working_set(wishes, 2).tolist() == working_set(wishes, 1).tolist() == [2, 6]
    assert sorted(largest_of(violations, 3).tolist()) == [2, 5, 6]
    assert len(largest_of(np.zeros(7), 3)) == 3
    assert len(largest_of(np.zeros(7), 0)) == 0
    assert next_size(Wishes(violations, rises, 5000, 300), 8, 10_000) == 6300
    assert next_size(wishes, 8, 10_000) == 8
    assert [least_size(n) for n in (100, 2500, 12_000, 100_000)] == [100, 2000, 3000, 6000]
    assert next_size(Wishes(np.zeros(5000), np.zeros(5000, dtype=bool), 9, 9), 2000, 400) == 400


@pytest.mark.fast
def test_a_working_set_follows_the_rarer_class_and_begins_with_its_rows():
    rare = np.array([7, 9000])
    assert least_size(10_000, rare) == 500
    assert least_size(10_000, np.arange(400)) == 1600
    assert least_size(10_000, np.arange(5000)) == 2500
    random = np.random.default_rng(0)
    first = first_set(10_000, 500, rare, random)
    assert len(np.unique(first)) == 500
    assert set(rare) <= set(first)
    half = first_set(10_000, 500, np.arange(400), random)
    assert len(np.unique(half)) == 500
    assert np.count_nonzero(half < 400) == 250
    assert len(first_set(10_000, 500, None, random)) == 500
    assert first_set(300, 300, None, random).tolist() == list(range(300))


@pytest.mark.fast
@pytest.mark.parametrize("bias", ["none", "free"])
def test_rare_rows_are_those_of_the_rarer_class_under_a_free_bias(bias, monkeypatch):
    drawn = kernel_problem(Hinge(), 0, bias=bias)
    assert rare_rows(drawn.problem) is None  # so few rows are all in the working set
    monkeypatch.setattr(working_sets, "FEW_ROWS", 5)
    y = drawn.problem.costs.Y[:, 0]
    found = rare_rows(drawn.problem)
    if bias == "none":
        assert found is None
    else:
        assert len(found) <= len(y) / 2
        assert len(set(y[found])) == 1
        assert len(found) == np.count_nonzero(y == y[found[0]])


def test_a_working_set_fits_the_block():
    rng = np.random.default_rng(0)
    for size in (2, 3, 8, 40):
        rises = rng.random(50) < 0.1
        wishes = Wishes(rng.standard_normal(50), rises)
        found = working_set(wishes, size)
        assert len(found) == len(set(found.tolist())) == size
        assert rises[found].sum() >= min(rises.sum(), max(1, size // 4))


@pytest.mark.fast
def test_a_classifier_whose_kernel_values_are_quick_to_compute_starts_with_few_rows():
    quick = kernel_problem(Hinge(), 0, kernel=Gaussian(0.5)).problem
    assert starts_small(quick)
    assert [pilot_size(quick, least) for least in (6000, 3000, 1200, 400)] == [2000, 1000, 500, 400]
    assert pilot_size(quick, len(quick.costs.Y)) == len(quick.costs.Y)  # all rows
    beta = np.zeros(9000)
    assert limits_of_size(quick, (6000, 20_000), beta, 2000) == (500, 6000)
    beta[:300] = 1.0
    assert limits_of_size(quick, (6000, 20_000), beta, 4000) == (1200, 12_000)
    beta[:] = 1.0
    assert limits_of_size(quick, (6000, 20_000), beta, 9000) == (6000, 20_000)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("loss", "kernel"),
    [(EpsilonInsensitive(0.1), Gaussian(0.5)), (Hinge(), Laplacian(0.5))],
)
def test_other_runs_start_with_a_large_working_set(loss, kernel):
    problem = kernel_problem(loss, 0, kernel=kernel).problem
    assert pilot_size(problem, 6000) == 6000
    assert limits_of_size(problem, (6000, 20_000), np.zeros(9), 10) == (6000, 20_000)
