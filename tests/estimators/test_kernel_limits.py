"""Kernel estimators at their limits: indefinite kernels, too little time, Ctrl-C."""

import signal

import numpy as np
import pytest

from pegasos import (
    Decomposition,
    KernelPegasosClassifier,
)
from pegasos.errors import (
    FitInterrupted,
    IndefiniteKernel,
    NotCertified,
    ToleranceNotReached,
)
from tests.estimators.test_kernel_estimators import moons

# ---- kernels that are not positive semi-definite


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_indefinite_matrix_warns_and_proves_nothing(bias, loss):
    rng = np.random.default_rng(0)
    K = rng.standard_normal((60, 60))
    model = KernelPegasosClassifier(
        kernel="precomputed", bias=bias, loss=loss, max_iter=50, random_state=0
    )
    with pytest.warns() as caught:
        model.fit(K + K.T, np.arange(60) % 2)
    assert "semi-definite ('precomputed' on" in str(caught.pop(IndefiniteKernel).message)
    assert all("with no proof" in str(warning.message) for warning in caught.list)
    assert model.n_iter_ <= 50
    assert not model.certificate_.is_proven
    assert not model.certificate_.is_within_tol
    assert "with no proof" in str(model.certificate_)
    assert np.isfinite(model.decision_function(K)).all()
    for ask in (model.certain, model.decision_bounds):
        with pytest.raises(NotCertified, match="not positive semi-definite"):
            ask(K)


def test_a_sigmoid_proves_nothing_even_where_nothing_was_noticed():
    X, y = moons()
    model = KernelPegasosClassifier(kernel="sigmoid", gamma=0.1, coef0=1.0).fit(X, y)
    assert not model.certificate_.is_proven
    with pytest.raises(NotCertified):
        model.certain(X)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("error::pegasos.errors.IndefiniteKernel")
def test_rounding_raises_no_alarm(kernel, dtype):
    X = np.repeat(np.random.default_rng(0).standard_normal((40, 3)), 2, axis=0).astype(dtype)
    model = KernelPegasosClassifier(C=10.0, kernel=kernel, gamma=0.5, max_iter=30)
    model.fit(X + dtype(3.0), np.tile([0, 1], 40))  # every row also with the other label: w = 0
    assert model.certificate_.is_proven
    assert model.certificate_.primal == pytest.approx(1.0, rel=1e-3)


# ---- limits


def test_too_few_epochs_are_a_warning_with_the_gap():
    X, y = moons(400)
    model = KernelPegasosClassifier(C=100.0, max_iter=2, tol=1e-9, solver=Decomposition(10))
    with pytest.warns(ToleranceNotReached, match=r"tol=1e-09 was asked for; stopped after 2 epo"):
        model.fit(X, y)
    assert model.certificate_.reason == "max_iter was reached"
    assert model.certificate_.gap > 0.0
    assert model.predict(X).shape == (400,)


@pytest.mark.parametrize("q", [2, 20, "auto"])
def test_too_little_time_is_a_warning_with_the_gap(q, clock):
    X, y = moons(400)
    X = np.hstack([X, np.random.default_rng(0).standard_normal((400, 8))])
    clock(0.01)  # passes between looks
    model = KernelPegasosClassifier(C=1e5, max_time=0.3, tol=1e-12, solver=Decomposition(q))
    with pytest.warns(ToleranceNotReached, match=r"because max_time was reached"):
        model.fit(X, y)
    assert np.isfinite(model.certificate_.primal)
    assert model.predict(X).shape == (400,)


@pytest.mark.parametrize("q", [2, 20, "auto"])
def test_time_enough_is_used(q, clock):
    X, y = moons(300)
    clock(1e-6)
    model = KernelPegasosClassifier(max_time=60.0, solver=Decomposition(q)).fit(X, y)
    assert model.certificate_.is_within_tol
    assert model.certificate_.reason == "the tolerance was reached"


@pytest.mark.parametrize("q", [2, 50, "auto"])
@pytest.mark.parametrize("after", [0, 1])
def test_ctrl_c_ends_a_fit_after_the_advance_it_came_in_and_keeps_the_model(q, after, press_ctrl_c):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 10))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(600) > 0.0, 1, 0)
    presses = press_ctrl_c(Decomposition, after)
    model = KernelPegasosClassifier(C=1e6, tol=1e-12, solver=Decomposition(q), random_state=0)
    with pytest.warns(FitInterrupted, match="model so far is kept: objective"):
        model.fit(X, y)
    assert (presses.left, presses.calls_after) == (0, 0)
    assert "interrupted" in model.certificate_.reason
    assert model.certificate_.primal >= model.certificate_.dual
    assert model.predict(X).shape == y.shape
    assert model.certain(X).shape == y.shape
    assert after == 0 or model.certificate_.dual > 0.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_verbose_writes_to_stderr_and_silence_is_the_default(capfd):
    X, y = moons()
    KernelPegasosClassifier(random_state=0).fit(X, y)
    assert capfd.readouterr() == ("", "")
    KernelPegasosClassifier(random_state=0, verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "proven" in err or "gap" in err
