"""log(1 + e): within three units in the last place of the truth, for 0 <= e <= 1."""

import numpy as np
import pytest

from pegasos.dispatch import compiled
from pegasos.problem.logarithm import SPLIT, log_1_plus


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
