"""The exact step of LASVM on a pair, by hand: it ends at the first bound it meets."""

import numpy as np
import pytest

from pegasos.solvers.decomposition.smo import Box, new_ascent
from pegasos.solvers.lasvm.process import Square, take_step


@pytest.mark.fast
@pytest.mark.parametrize(
    ("beta", "after"),
    [
        ([0.0, 1.0], [0.5, 0.5]),  # violation 1, curvature 1 + 1: a step of 1/2
        ([0.0, 0.1], [0.1, 0.0]),  # the one that falls is at its bound first
        ([0.8, 1.0], [1.0, 0.8]),  # the one that rises is
    ],
)
def test_a_step_ends_at_the_first_bound_and_keeps_the_sum(beta, after):
    m = 2
    box = Box(np.zeros(m), np.ones(m), 0.0, np.zeros(m))
    ascent = new_ascent(np.array(beta), np.array([0.5, -0.5]), box)
    getattr(take_step, "py_func", take_step)(Square(np.eye(m)), np.ones(m), ascent, box, 0, 1)
    np.testing.assert_allclose(ascent.beta, after, atol=1e-15)
