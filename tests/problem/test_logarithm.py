"""log(1 + e) for 0 <= e <= 1 and log(x) for 0 < x <= 1: within three units in the last place."""

import numpy as np
import pytest

from pegasos.dispatch import compiled
from pegasos.problem.logarithm import LEAST, SPLIT, log_1_plus, log_up_to_1
from pegasos.problem.losses import entropy


@compiled
def write_logarithms(e, out):
    for i in range(len(e)):
        out[i] = log_1_plus(e[i])


@pytest.mark.fast
def test_three_units_in_the_last_place_at_most():
    around = [np.nextafter(SPLIT, way) for way in (0.0, 1.0)]
    e = np.concatenate([np.linspace(0.0, 1.0, 20_001), np.geomspace(1e-300, 1.0, 5_001), around])
    found, exact = np.empty_like(e), np.log1p(e.astype(np.longdouble))
    write_logarithms(e, found)
    off = (found - exact) / np.spacing(exact.astype(np.float64)).astype(np.longdouble)
    assert np.abs(off).max() <= 3.0
    assert abs(np.mean(off)) <= 0.3  # errors of many values hardly add up


@compiled
def write_logarithms_up_to_1(x, out):
    for i in range(len(x)):
        out[i] = log_up_to_1(x[i])


@compiled
def write_entropies(b, out):
    for i in range(len(b)):
        out[i] = entropy(b[i])


def up_to_1():
    """Return numbers from the least to 1, some of them beside the places where branches change."""
    near = [np.nextafter(x, way) for x in (0.25, 0.5, np.sqrt(0.5), 1.0) for way in (0.0, 1.0)]
    parts = np.linspace(0.0, 1.0, 20_001)[1:], np.geomspace(LEAST, 1.0, 5_001)[1:]
    return np.concatenate([[LEAST], *parts, 1.0 - np.geomspace(1e-16, 0.5, 1_001), near])


@pytest.mark.fast
def test_up_to_1_two_units_in_the_last_place_at_most():
    x = up_to_1()
    found, exact = np.empty_like(x), np.log(x.astype(np.longdouble))
    write_logarithms_up_to_1(x, found)
    off = (found - exact) / np.spacing(np.abs(exact.astype(np.float64))).astype(np.longdouble)
    assert np.abs(off).max() <= 2.0
    assert abs(np.mean(off)) <= 0.1


@pytest.mark.fast
def test_entropies_of_probabilities_are_exact_to_a_few_units():
    b = np.concatenate([up_to_1(), [0.0, 5e-324]])
    b = b[(b <= 0.0) | (b >= 1e-300) | (b == 5e-324)]
    found, p = np.empty_like(b), b.astype(np.longdouble)
    write_entropies(b, found)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = -np.where(p > 0.0, p * np.log(p), 0.0)
        exact -= np.where(p < 1.0, (1.0 - p) * np.log1p(-p), 0.0)
    off = np.abs(found - exact) / np.spacing(np.maximum(exact, 1e-300).astype(np.float64))
    assert off.max() <= 4.0
