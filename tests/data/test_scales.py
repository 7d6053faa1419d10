"""Scales of columns: the extremes and where they are."""

import numpy as np
import pytest
from scipy import sparse

from pegasos.data.rows import as_rows
from pegasos.data.scales import column_scales


@pytest.mark.fast
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_column_scales_find_the_extremes(container):
    X = np.tile([[3.0, 0.0, 100.0, 0.5]], (50, 1))
    scales = column_scales(as_rows(container(X)))
    assert (scales.least_column, scales.most_column) == (3, 2)
    assert (scales.least, scales.most) == (0.5, 100.0)
    assert scales.ratio == 200.0
    assert scales.mean_square == pytest.approx(9.0 + 1e4 + 0.25)


@pytest.mark.fast
def test_column_scales_of_nothing_are_nothing():
    assert column_scales(as_rows(np.zeros((5, 3)))).ratio == 1.0
    assert column_scales(as_rows(sparse.csr_array((5, 3)))).ratio == 1.0
