"""Solvers are tested as estimators run them: with one thread of BLAS.

More would wait for each other where several processes compute.
"""

import pytest

from pegasos.parallel import one_blas_thread


@pytest.fixture(autouse=True)
def _one_blas_thread():
    with one_blas_thread:
        yield
