"""Panels of Gaussian kernel values, written or summed, equal those of scikit-learn."""

import re

import numba
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import parallel
from pegasos.data.rows import as_rows, read_only
from pegasos.kernel_matrix import blocks
from pegasos.kernel_matrix import gaussian_panels as module
from pegasos.kernel_matrix.gaussian_panels import (
    LEFT,
    RIGHT,
    add_gaussian,
    add_panel,
    fill_gaussian,
)
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.parallel import one_blas_thread
from pegasos.problem.gaussian import to_gaussian
from pegasos.problem.kernels import Gaussian

GAMMA, TYPES = 0.4, [np.float32, np.float64]
SIZES = [(1, 1), (3, 5), (LEFT + 1, RIGHT + 1), (2 * LEFT, RIGHT)]
TOLERANCE = {np.float32: 2e-6, np.float64: 1e-14}


def drawn(q, m, dtype, d=3):
    """Rows of both sides as the panels take them, and the matrix of scikit-learn."""
    rng = np.random.default_rng(q + m)
    X, Z = (rng.standard_normal((n, d)).astype(dtype) for n in (q, m))
    of = [(-GAMMA * np.einsum("ij,ij->i", A, A)).astype(dtype) for A in (X, Z)]
    left = (2.0 * GAMMA * X).astype(dtype)
    return (left, read_only(Z), *of), rbf_kernel(X.astype(float), Z.astype(float), GAMMA)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("q", "m"), SIZES)
def test_values_are_written_into_place(q, m, dtype):
    sides, K = drawn(q, m, dtype)
    out, places = np.full((q + 2, m + 5), -7.0, dtype), np.random.default_rng(0).permutation(q + 2)
    fill_gaussian(*sides, out, places[:q], 4)
    np.testing.assert_allclose(out[places[:q], 4:-1], K, atol=TOLERANCE[dtype])
    assert (out[places[q:]] == -7.0).all()  # nothing else was written
    assert (out[:, :4] == -7.0).all()
    assert (out[:, -1] == -7.0).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("q", "m"), SIZES)
@pytest.mark.parametrize("models", [1, 3])
def test_values_are_weighted_and_added_up(q, m, models, dtype):
    sides, K = drawn(q, m, dtype)
    c = np.random.default_rng(1).standard_normal((q, models))
    Z = np.ones((m, models))
    add_gaussian(*sides, c, Z)
    np.testing.assert_allclose(Z, 1.0 + K.T @ c, atol=10 * np.sqrt(q) * TOLERANCE[dtype])


@pytest.mark.fast
@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="constants of compiled code")
@pytest.mark.parametrize("models", [1, 2])
def test_panels_of_any_size_give_the_same_sums(models, monkeypatch):
    monkeypatch.setattr(module, "LEFT", 3)
    monkeypatch.setattr(module, "RIGHT", 4)
    sides, K = drawn(8, 9, np.float64)
    c, Z = np.ones((8, models)), np.zeros((9, models))
    add_gaussian(*sides, c, Z)
    np.testing.assert_allclose(Z, K.T @ c, rtol=1e-12)


@pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK), reason="about quick code"
)
@pytest.mark.parametrize("dtype", TYPES)
def test_loops_run_over_several_numbers_at_a_time(dtype):
    panel, of, c = np.zeros((4, 8), dtype), np.zeros(8, dtype), np.ones((4, 1))
    for loop, arguments in (
        (to_gaussian.py_func, (panel, of, of)),
        (lambda a, b, c, d, e: add_panel(a, b, c, 0, d, e), (panel, of, of, c, np.zeros(8))),
    ):
        own = numba.njit(loop)
        own(*arguments)
        (code,) = own.inspect_llvm().values()
        assert re.search(r"shl <\d+ x i(32|64)>", code)  # 2^n
        kind = {np.float32: "float", np.float64: "double"}[dtype]
        assert re.search(rf"fmul contract <\d+ x {kind}>", code)


@pytest.mark.parametrize("models", [1, 3])
def test_predictions_do_not_depend_on_the_number_of_threads(models, monkeypatch):
    rng = np.random.default_rng(0)
    X, S = rng.standard_normal((3 * blocks.GAUSSIAN_ROWS + 7, 5)), rng.standard_normal((1100, 5))
    B, found = rng.standard_normal((1100, models)), []
    for count in (1, 2, 5):
        monkeypatch.setattr(parallel, "cores", lambda count=count: count)
        monkeypatch.setattr(parallel, "_pools", {})
        Z = np.zeros((len(X), models))
        Cross(Gaussian(GAMMA), as_rows(X), as_rows(S)).add_scores(B, Z)
        found.append(Z)
    np.testing.assert_allclose(found[0], rbf_kernel(X, S, GAMMA) @ B, atol=1e-10)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_products_inside_compiled_code_take_the_threads_they_are_given():
    with one_blas_thread:
        libraries = parallel.libraries(False)
        assert any("scipy" in library.filepath for library in libraries)
        assert all(library.num_threads == 1 for library in libraries)
