"""Streams: blocks add up, weights are time, and what a stream cannot do is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import SDCA, KernelPegasosClassifier, PegasosClassifier, PegasosRegressor
from pegasos.errors import InvalidData, InvalidParameter, NotCertified
from pegasos.solvers.pegasos.linear import Pegasos


def stream(n=2000, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(n) > 0.2).astype(int)


@pytest.mark.fast
def test_two_steps_worked_by_hand():
    # lam = 1/2. N = 1: w = 0 has a loss, so w = (0 + 1 * 2) / (1/2 * 1) = 4.
    # N = 2: y z = 4 * 1 > 1, no loss, so w = (1 - 1/2) * 4 = 2.
    model = PegasosClassifier(lam=0.5, bias="none")
    model.partial_fit([[2.0]], [1], classes=[0, 1])
    assert model.coef_.tolist() == [[4.0]]
    model.partial_fit([[1.0]], [1])
    assert model.coef_.tolist() == [[2.0]]


@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
def test_blocks_add_up(bias, container, classes):
    X, y = stream(300)
    if classes == 3:
        y = y + (X[:, 1] > 1.0)
    names = list(range(classes))
    whole = PegasosClassifier(lam=0.01, bias=bias).partial_fit(container(X), y, classes=names)
    parts = PegasosClassifier(lam=0.01, bias=bias)
    for start in range(0, 300, 70):
        block = slice(start, start + 70)
        parts.partial_fit(container(X[block]), y[block], classes=names)
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    np.testing.assert_array_equal(whole.intercept_, parts.intercept_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("bias", ["regularized", "none"])
def test_a_stream_comes_near_the_optimum(loss, bias):
    X, y = stream(20_000)
    streamed = PegasosClassifier(lam=0.01, loss=loss, bias=bias).partial_fit(X, y, classes=[0, 1])
    optimum = PegasosClassifier(lam=0.01, loss=loss, bias=bias).fit(X, y)
    assert abs(streamed.score(X, y) - optimum.score(X, y)) < 0.02


def test_a_free_bias_follows_its_own_sub_gradient():
    X, y = stream(20_000)
    X += 3.0
    model = PegasosClassifier(lam=0.01).partial_fit(X, y, classes=[0, 1])
    assert model.intercept_[0] < 0.0
    assert model.score(X, y) > 0.85


def test_rows_of_weight_zero_are_as_if_removed():
    X, y = stream(300)
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    one = PegasosClassifier(lam=0.01).partial_fit(X, y, [0, 1], sample_weight=weights)
    other = PegasosClassifier(lam=0.01).partial_fit(X[weights > 0], y[weights > 0], [0, 1])
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_weights_are_time():
    X, y = stream(300)
    model = PegasosClassifier(lam=0.01).partial_fit(X, y, [0, 1], sample_weight=np.full(300, 2.5))
    assert model.C_ == pytest.approx(1.0 / (0.01 * 2.5 * 300))


def test_class_weights_are_sample_weights():
    X, y = stream(300)
    one = PegasosClassifier(lam=0.01, class_weight={1: 3.0}).partial_fit(X, y, [0, 1])
    other = PegasosClassifier(lam=0.01)
    other.partial_fit(X, y, [0, 1], sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_a_stream_goes_on_from_a_fit(bias):
    X, y = stream()
    model = PegasosClassifier(lam=0.01, bias=bias, bias_scale=2.0).fit(X, y)
    before = model.decision_function(X)
    model.partial_fit(X[:1], y[:1])
    moved = np.abs(model.decision_function(X) - before).max()
    assert 0.0 < moved < 0.05 * np.abs(before).max()
    assert model.C_ == pytest.approx(1.0 / (0.01 * 2001))


def test_fit_forgets_a_stream():
    X, y = stream()
    model = PegasosClassifier(lam=0.01, random_state=0).partial_fit(X, y, classes=[0, 1])
    fresh = PegasosClassifier(lam=0.01, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).coef_, fresh.coef_)
    assert model.certificate_.is_within_tol


def test_mini_batches_are_the_solvers_option():
    X, y = stream()
    model = PegasosClassifier(lam=0.01, solver=Pegasos(batch_size=32))
    assert model.partial_fit(X, y, classes=[0, 1]).score(X, y) > 0.85


def test_a_stream_has_no_certificate():
    X, y = stream(100)
    model = PegasosClassifier(lam=0.01).fit(X, y).partial_fit(X, y)
    assert not hasattr(model, "certificate_")
    assert not hasattr(model, "history_")
    with pytest.raises(NotCertified, match="not available after partial_fit"):
        _ = model.certificate_
    with pytest.raises(NotCertified, match="after fit only"):
        model.certain(X)


def test_the_regressor_streams():
    X, _ = stream()
    y = X @ np.arange(5.0) + 1.0
    model = PegasosRegressor(lam=1e-2)
    for start in range(0, 2000, 500):
        model.partial_fit(X[start : start + 500], y[start : start + 500])
    assert model.score(X, y) > 0.95
    assert model.coef_.shape == (5,)


def test_the_default_parameters_stream():
    X, y = stream()
    model, kernel = PegasosClassifier(), KernelPegasosClassifier()
    for start in range(0, 2000, 100):
        block = slice(start, start + 100)
        model.partial_fit(X[block], y[block], classes=[0, 1])
        kernel.partial_fit(X[block], y[block], classes=[0, 1])
    assert model.score(X, y) > 0.85
    assert kernel.score(X, y) > 0.85
    for either in (model, kernel):
        assert either.C_ == 1.0
        assert either.lam_ == pytest.approx(1.0 / 2000)


def test_c_is_the_lam_of_the_rows_so_far():
    X, y = stream(300)
    by_c = PegasosClassifier(C=2.0, bias="none").partial_fit(X, y, [0, 1])
    by_lam = PegasosClassifier(lam=1.0 / 600, bias="none").partial_fit(X, y, [0, 1])
    np.testing.assert_allclose(by_c.coef_, by_lam.coef_, rtol=1e-12)
    by_c.partial_fit(X[:100], y[:100])  # lam falls to 1 / (2 * 400); the weights stay
    by_lam.set_params(lam=1.0 / 800).partial_fit(X[:100], y[:100])
    np.testing.assert_allclose(by_c.coef_, by_lam.coef_, rtol=1e-12)
    assert by_c.lam_ == pytest.approx(1.0 / 800)


def test_c_counts_weights_and_the_rows_of_a_fit():
    X, y = stream(300)
    model = PegasosClassifier(C=0.5).fit(X, y)
    model.partial_fit(X, y, sample_weight=np.full(300, 2.0))
    assert model.lam_ == pytest.approx(1.0 / (0.5 * 900))
    assert model.C_ == 0.5


def test_a_kernel_stream_takes_lam():
    X, y = stream(400)
    streamed = KernelPegasosClassifier(lam=0.01, gamma=0.3)
    for start in range(0, 400, 100):
        streamed.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
        assert pytest.approx(1.0 / (0.01 * (start + 100))) == streamed.C_
        assert np.abs(streamed.dual_coef_).max() <= streamed.C_ * (1.0 + 1e-12)
        assert abs(streamed.dual_coef_.sum()) <= 1e-9  # balanced: the bias is free
    fitted = KernelPegasosClassifier(lam=0.01, gamma=0.3).fit(X, y)
    assert np.mean(streamed.predict(X) == fitted.predict(X)) > 0.97
    assert streamed.lam_ == pytest.approx(0.01)


@pytest.mark.parametrize("C", [0.25, 4.0])
def test_a_kernel_stream_goes_on_under_another_c(C):
    X, y = stream(300)
    model = KernelPegasosClassifier(gamma=0.3).partial_fit(X, y, classes=[0, 1])
    model.set_params(C=C).partial_fit(X, y)
    online, B = model._online, model.dual_coef_
    assert np.abs(B).max() <= C * (1.0 + 1e-12)
    assert (np.abs(B).max() > 1.0) == (C > 1.0)
    K = rbf_kernel(model.support_vectors_, gamma=0.3)
    y_of_support = np.where(online.set.box(0).high > 0.0, 1.0, -1.0)
    np.testing.assert_allclose(online.set.ascent(0).r, y_of_support - B[0] @ K, atol=1e-9)


@pytest.mark.fast
def test_a_stream_needs_classes_at_first():
    with pytest.raises(InvalidParameter, match="classes must be passed on the first call"):
        PegasosClassifier(lam=0.1).partial_fit([[1.0]], [1])


@pytest.mark.fast
def test_what_a_stream_cannot_do_is_refused():
    def refused(message, error=InvalidParameter, **parameters):
        with pytest.raises(error, match=message):
            PegasosClassifier(lam=0.1, **parameters).partial_fit([[1.0]], [1], classes=[0, 1])

    refused("partial_fit takes Pegasos steps", solver=SDCA())
    refused("partial_fit takes Pegasos steps", solver="sdca")
    refused('"balanced" needs all rows', class_weight="balanced")
    refused("which needs all rows", bias="free-search")
    refused("Only batch_size may be set", solver=Pegasos(projection=True))
    refused("Only batch_size may be set", solver=Pegasos(output="average"))


@pytest.mark.fast
def test_labels_that_were_not_announced_are_refused():
    model = PegasosClassifier(lam=0.1, bias="none").partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(InvalidData, match=r"y contains .*'c'.*, which is not among the classes"):
        model.partial_fit([[1.0]], ["c"])
    with pytest.raises(InvalidParameter, match="not the same as on the last call"):
        model.partial_fit([[1.0]], ["a"], classes=["a", "c"])
    with pytest.raises(InvalidParameter, match="at least two classes"):
        PegasosClassifier(lam=0.1).partial_fit([[1.0]], ["a"], classes=["a"])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit([[1.0, 2.0]], ["a"])


def test_a_stream_after_a_fit_keeps_the_weights_under_a_new_lam():
    X, y = load_iris(return_X_y=True)
    model = PegasosClassifier(random_state=0).fit(X, y == 0)
    before = model.coef_.copy()
    model.set_params(lam=1e-4).partial_fit(X[:1], (y == 0)[:1])
    assert np.linalg.norm(model.coef_) <= 3.0 * np.linalg.norm(before)


def test_a_first_block_without_weight_changes_nothing():
    model = PegasosClassifier(lam=0.1, class_weight={0: 0.0, 1: 1.0})
    model.partial_fit([[1.0], [2.0]], [0, 0], classes=[0, 1])
    assert model.coef_.tolist() == [[0.0]]
