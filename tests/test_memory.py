"""A fit by SDCA adds no copy of X: at most 40 bytes per row and per feature, and a constant.

Dense rows that are wide and mostly zeros are compressed, into a quarter of their memory at most.
Compressed rows far from the origin take 8 bytes more each, their product with the centre.

With a kernel: at most `cache_size`, 64 bytes per row and model, and a small constant.
"""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest
from scipy import sparse

from pegasos import (
    Decomposition,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosRegressor,
)
from pegasos.errors import InvalidData
from pegasos.kernel_matrix import gram, memory
from pegasos.solvers.catalogue import KERNEL_SOLVERS
from pegasos.solvers.newton import curved

PER_ROW = PER_FEATURE = 40
PER_ROW_OF_NEWTON = 80
PER_ROW_OF_RUN = 90  # of one of 2 to 12 models, which run on threads
PER_CENTRED_ROW = 8  # compressed ones: <m, x_i>
CONSTANT = 100_000  # history, certificate, buffers of NumPy
PER_ROW_OF_KERNEL = 64
CONSTANT_OF_KERNEL = 1_000_000  # tables of rows that are computed together, and the same
MEGABYTE = 1 << 20


def data(n, d, kind):
    rng = np.random.default_rng(0)
    if kind == "csr":
        X = sparse.random(n, d, density=min(1.0, 20 / d), format="csr", rng=rng)
        return X, np.where(rng.standard_normal(n) > 0.0, 1, 0)
    X = (3.0 * rng.standard_normal((n, d))).astype(np.float32)
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0.0, 1, 0)
    return (np.abs(X) if kind == "uint8" else X).astype(kind), y


def peak(estimator, X, y):
    """Bytes allocated at most during a fit, beyond what was there before."""
    estimator.fit(X[:50], y[:50])  # compiles
    estimator.decision_bounds(X[:50])  # and this what only some fits need
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        estimator.fit(X, y)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("n", "d"), [(100_000, 10), (60, 100_000)])
@pytest.mark.parametrize("kind", ["float32", "float64", "uint8", "csr"])
def test_fit_takes_at_most_40_bytes_per_row_and_feature(kind, n, d):
    X, y = data(n, d, kind)
    used = peak(PegasosClassifier(C=1e-4, solver="sdca", random_state=0), X, y)
    per_row = PER_ROW + PER_CENTRED_ROW * (kind == "csr" and d == 10)  # dense in truth: far off
    assert used <= per_row * n + PER_FEATURE * d + CONSTANT


def test_newton_takes_110_bytes_per_row_where_hessians_of_a_smooth_loss_take_long(monkeypatch):
    monkeypatch.setattr(curved, "DEAR", 0.0)
    X, _ = data(100_000, 10, "float64")
    y = np.arange(100_000) % 2
    logistic = PegasosClassifier(
        C=1.0, loss="logistic", solver="newton", random_state=0, max_iter=4, tol=1e-12
    )
    assert peak(logistic, X, y) <= 110 * len(y) + 10 * CONSTANT


@pytest.mark.parametrize("classes", [2, 3])
def test_newton_takes_80_bytes_per_row_and_model(classes):
    X, _ = data(100_000, 10, "float64")
    y = np.arange(100_000) % classes
    used = peak(PegasosClassifier(C=1.0, solver="newton", random_state=0, max_iter=3), X, y)
    models = 1 if classes == 2 else classes
    few = 0.1 * (X.nbytes + PER_ROW_OF_NEWTON * models * len(y))  # a tenth of the rows comes first
    assert used <= PER_ROW_OF_NEWTON * models * len(y) + few + 10 * CONSTANT


def test_newton_takes_88_bytes_per_compressed_row():
    rng, n = np.random.default_rng(0), 200_000
    X, y = sparse.random(n, 60, density=0.1, format="csr", rng=rng), np.arange(n) % 2
    smooth = PegasosClassifier(
        C=1.0, loss="squared_hinge", solver="newton", random_state=0, max_iter=4, tol=1e-12
    )
    assert peak(smooth, X, y) <= (PER_ROW_OF_NEWTON + 8) * n + 10 * CONSTANT


def test_a_compressed_copy_takes_at_most_a_quarter_of_the_rows():
    rng = np.random.default_rng(0)
    n, d = 2_000, 1_000
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.15)
    y = np.where(X[:, :50].sum(axis=1) > 0.0, 1, 0)
    used = peak(PegasosClassifier(C=1e-4, solver="sdca", random_state=0), X, y)
    promised = PER_ROW * n + PER_FEATURE * d + CONSTANT
    assert promised < used <= 0.25 * X.nbytes + promised


def test_regression_takes_no_more():
    X, _ = data(100_000, 10, "float64")
    y = X[:, 0] + np.random.default_rng(1).standard_normal(100_000)
    used = peak(PegasosRegressor(C=1e-4, solver="sdca", random_state=0), X, y)
    assert used <= PER_ROW * 100_000 + CONSTANT


def test_classes_that_run_alone_take_more_per_model():
    X, _ = data(3_000, 2_000, "float32")
    y = np.arange(3_000) % 5
    used = peak(PegasosClassifier(C=1e-6, solver="sdca", random_state=0, max_iter=3, tol=0.5), X, y)
    assert used <= 5 * (PER_ROW_OF_RUN * 3_000 + PER_FEATURE * 2_000) + CONSTANT


def test_many_classes_take_no_more_per_model():
    X, _ = data(3_000, 2_000, "float32")
    y = np.arange(3_000) % 15
    used = peak(PegasosClassifier(C=1e-6, solver="sdca", random_state=0, max_iter=3, tol=0.5), X, y)
    assert used <= 15 * (PER_ROW * 3_000 + PER_FEATURE * 2_000) + CONSTANT


def separable(n, kind, classes=2):
    """Rows of few support vectors: classes with a gap between them."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 5)), rng.integers(0, classes, n)
    X[:, 0] += 8.0 * y
    if kind == "zeros":  # dense, and compressed by the fit
        X = np.hstack([X, np.zeros((n, 20))]).astype(np.float32)
        return X, y
    if kind == "csr":
        X = sparse.csr_array(X * (np.arange(5) < rng.integers(1, 6, n)[:, None]))
    return X.astype(np.float64 if kind == "csr" else kind), y


def beyond_cache(estimator, X, y, models=1):
    """Bytes that a fit takes at most beyond its cache, less what each row may."""
    estimator.fit(X[:4500], y[:4500])  # compiles what `peak` does not: more rows than one block
    used = peak(estimator, X, y)
    return used - estimator.cache_size * MEGABYTE - PER_ROW_OF_KERNEL * models * len(y)


@pytest.mark.parametrize("kind", ["float32", "float64", "uint8", "zeros", "csr"])
def test_a_kernel_fit_stays_within_its_cache(kind):
    X, y = separable(20_000, kind)
    model = KernelPegasosClassifier(gamma=0.2, cache_size=50.0, random_state=0)
    assert beyond_cache(model, X, y) <= CONSTANT_OF_KERNEL
    assert len(model.support_) < 4000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float32", "zeros", "csr"])
def test_a_hundred_thousand_rows_train_within_a_small_cache(kind):
    X, y = separable(100_000, kind)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.02, 1 - y, y)  # noise
    model = KernelPegasosClassifier(gamma=0.2, cache_size=200.0, random_state=0)
    assert beyond_cache(model, X, y) <= CONSTANT_OF_KERNEL
    assert model.certificate_.relative_gap <= 1e-3
    assert len(model.support_) * len(y) * 4 > 200.0 * MEGABYTE  # their rows do not fit


@pytest.mark.parametrize("solver", [Decomposition(), Decomposition(2)], ids=str)
@pytest.mark.parametrize("cache_size", [4.0, 20.0])
def test_small_caches_are_obeyed_too(solver, cache_size):
    X, y = separable(6_000, "float32")
    model = KernelPegasosClassifier(gamma=0.1, cache_size=cache_size, solver=solver, tol=0.01)
    assert beyond_cache(model, X, y) <= CONSTANT_OF_KERNEL


def test_several_kernel_models_share_one_cache():
    X, y = separable(6_000, "float32", classes=3)
    model = KernelPegasosClassifier(gamma=0.1, cache_size=20.0, random_state=0, tol=0.01)
    assert beyond_cache(model, X, y, models=3) <= CONSTANT_OF_KERNEL


def test_kernel_regression_stays_within_its_cache():
    X, _ = separable(6_000, "float32")
    model = KernelPegasosRegressor(gamma=0.1, epsilon=0.3, cache_size=20.0, random_state=0)
    assert beyond_cache(model, X, 0.2 * X[:, 0] + np.sin(X[:, 1])) <= CONSTANT_OF_KERNEL


@pytest.mark.parametrize("kind", ["float32", "csr"])
def test_predictions_take_little_beside_the_values_that_are_computed_at_a_time(kind):
    X, y = separable(50_000, kind)
    model = KernelPegasosClassifier(gamma=0.1, random_state=0).fit(X[:2000], y[:2000])
    model.certain(X[:2000])  # compiles
    for ask, per_row in ((model.predict, 40), (model.certain, 80)):
        tracemalloc.start()
        try:
            ask(X)
            _, used = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert used <= 60 * MEGABYTE + per_row * 50_000


@pytest.fixture
def grams(monkeypatch):
    """Return references to the kernel matrices that fits make; none is ever collected."""
    found, start = [], gram.Gram.__init__

    def note(self, *arguments):
        start(self, *arguments)
        found.append(weakref.ref(self))

    monkeypatch.setattr(gram.Gram, "__init__", note)
    gc.collect()
    gc.disable()
    yield found
    gc.enable()


@pytest.mark.parametrize("solver", KERNEL_SOLVERS)
@pytest.mark.filterwarnings("ignore")
def test_the_kernel_matrix_is_freed_when_fit_returns(solver, grams):
    X, y = separable(200, "float64")
    for _ in range(2):  # what compiles, if it must, leaves it to the collector
        gc.collect()
        grams.clear()
        KernelPegasosClassifier(solver=solver, max_iter=3, random_state=0).fit(X, y)
        if solver == "decomposition":
            KernelPegasosRegressor(solver=solver, max_iter=3).fit(X, X[:, 0])
    assert grams
    assert not any(reference() for reference in grams)
    assert memory.held() == 0


def test_the_kernel_matrix_is_freed_when_fit_fails(grams):
    X, y = separable(5000, "float64")  # more than one tile: the error comes from another thread
    model = KernelPegasosClassifier(kernel="poly", degree=400.0, gamma=1.0, random_state=0)
    with pytest.raises(InvalidData, match="not finite"):
        model.fit(X, y)
    assert grams
    assert not any(reference() for reference in grams)


@pytest.mark.filterwarnings("ignore")
def test_the_kernel_matrix_is_freed_when_ctrl_c_ends_a_fit(grams, press_ctrl_c):
    X, y = separable(200, "float64")
    press_ctrl_c(Decomposition)
    KernelPegasosClassifier(random_state=0).fit(X, y)
    press_ctrl_c(Decomposition)
    with pytest.raises(KeyboardInterrupt):
        KernelPegasosClassifier(random_state=0, on_interrupt="raise").fit(X, y)
    assert len(grams) == 2
    assert not any(reference() for reference in grams)


def test_the_default_budget_counts_what_other_fits_hold():
    class Store:
        pass

    before, one, other = memory.memory_share(), Store(), Store()
    memory.note_store(one, 3 * MEGABYTE)
    memory.note_store(other, 4 * MEGABYTE)
    assert memory.memory_share() == pytest.approx(max(memory.LEAST_CACHE, before - 7.0))
    del one
    assert memory.memory_share() == pytest.approx(max(memory.LEAST_CACHE, before - 4.0))
    memory.note_store(other, 1 << 60)
    assert memory.memory_share() == memory.LEAST_CACHE
