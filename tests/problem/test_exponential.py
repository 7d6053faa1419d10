"""exp(min(x, 0)): within two units in the last place of the truth, whatever x is."""

import numpy as np
import pytest

from pegasos.dispatch import compiled
from pegasos.problem.exponential import LOWEST, exp_up_to_1

pytestmark = pytest.mark.fast
TYPES = [np.float32, np.float64]


@compiled
def write_exponentials(x, out):
    for i in range(len(x)):
        out[i] = exp_up_to_1(x[i])


def exponentials(x):
    out = np.full_like(x, np.nan)
    write_exponentials(x, out)
    return out


def arguments(dtype):
    """Numbers from LOWEST to the smallest there are, dense around the ends of every 2^n."""
    lowest, tiny = LOWEST[np.dtype(dtype)], float(np.finfo(dtype).tiny)
    ends = -np.log(2.0) * (np.arange(int(-lowest / np.log(2.0))) + 0.5)
    near = [np.nextafter(ends.astype(dtype), dtype(way)) for way in (-np.inf, np.inf)]
    rest = [np.linspace(lowest, 0.0, 20_001), -np.geomspace(tiny, -lowest, 5_001)]
    return np.concatenate([part.astype(dtype) for part in (ends, *near, *rest)])


@pytest.mark.parametrize("dtype", TYPES)
def test_two_units_in_the_last_place_at_most_and_half_of_one_typically(dtype):
    x = arguments(dtype)
    x = x[x >= LOWEST[np.dtype(dtype)]]
    exact = np.exp(x.astype(np.longdouble))
    off = (exponentials(x) - exact) / np.spacing(exact.astype(dtype)).astype(np.longdouble)
    assert np.abs(off).max() <= 2.0
    assert np.sqrt(np.mean(off**2)) <= 0.5
    assert abs(np.mean(off)) <= 0.1  # errors of many values do not add up


@pytest.mark.parametrize("dtype", TYPES)
def test_values_grow_with_x_but_for_rounding_and_stay_within_0_and_1(dtype):
    values = exponentials(np.sort(arguments(dtype)))
    assert (values >= 0.0).all()
    assert (values <= 1.0).all()
    assert (np.diff(values) >= -2.0 * np.spacing(values[1:])).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_the_ends_are_exact(dtype):
    lowest = LOWEST[np.dtype(dtype)]
    beyond = np.nextafter(dtype(lowest), dtype(-np.inf))
    far = [beyond, 1.1 * lowest, 2.0 * lowest, -1e30, np.finfo(dtype).min, -np.inf]
    assert not exponentials(np.array(far, dtype=dtype)).any()
    near = [0.0, -0.0, -np.finfo(dtype).smallest_subnormal, 1e-9, 5.0, np.inf, np.nan]
    assert (exponentials(np.array(near, dtype=dtype)) == 1.0).all()
    smallest = exponentials(np.array([lowest], dtype=dtype))[0]
    assert np.finfo(dtype).tiny <= smallest < 100.0 * np.finfo(dtype).tiny
