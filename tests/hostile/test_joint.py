"""Joint models of cruel data claim what is true: objectives in wide numbers, bounds below models.

No independent solver survives this data. But every model's objective, computed in wider numbers, is
above the optimum: a lower bound that exceeds one of them is false.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse

from pegasos import PegasosClassifier
from pegasos.errors import ToleranceNotReached

WIDE = np.longdouble
K = 4


def rows(seed=0, n=40, d=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    y[: K + 1] = [0, 1, 2, 3, 0]
    return rng.standard_normal((n, d)) + 0.8 * np.eye(K)[y][:, :d], y


def duplicates(seed=0):
    X, y = rows(seed)
    X[20:] = X[:20]
    y[20:] = (y[:20] + 1) % K
    return X, y


def lonely(seed=0):
    X, y = rows(seed)
    y[y == 3] = 2
    y[7] = 3
    return X, y


def scaled(X, y):
    return X * np.array([1e-6, 1.0, 1e6, 1e-3]), y


CASES = {
    "offset 1e6": lambda: (rows()[0] + 1e6, rows()[1], {}),
    "columns from 1e-6 to 1e6": lambda: (*scaled(*rows()), {}),
    "tiny C": lambda: (*rows(), {"C": 1e-6}),
    "large C": lambda: (*rows(), {"C": 1e6}),
    "large C, offset 1e3": lambda: (rows()[0] + 1e3, rows()[1], {"C": 1e6}),
    "duplicates of other labels": lambda: (*duplicates(), {}),
    "a class of one row": lambda: (*lonely(), {}),
    "rows of zeros": lambda: (np.zeros((12, 3)), np.arange(12) % K, {}),
    "tiny rows": lambda: (1e-9 * rows()[0], rows()[1], {}),
    "large costs": lambda: (*rows(), {"cost": 1e6 * (1.0 - np.eye(K))}),
    "no costs": lambda: (*rows(), {"cost": np.zeros((K, K))}),
}
WEIGHTS = {
    "weights of 0": lambda n: (np.arange(n) % 3 > 0) * 1.0,
    "a class of weight 0": None,
    "weights over 12 decades": lambda n: 10.0 ** np.linspace(-6, 6, n),
}


def objective(model, X, y, s, bias):
    """The objective of a fitted model, in wide numbers."""
    X, W, b = (np.asarray(part, dtype=WIDE) for part in (X, model.coef_, model.intercept_))
    Z, own = X @ W.T + b, np.arange(len(y))
    S, lam = WIDE(s.sum()), WIDE(model.lam_)
    if model.loss == "logistic":
        top = Z.max(axis=1)
        losses = np.log(np.exp(Z - top[:, None]).sum(axis=1)) + top - Z[own, y]
    else:
        cost = 1.0 - np.eye(K) if model.cost is None else model.cost
        losses = (np.asarray(cost, dtype=WIDE)[y] + Z).max(axis=1) - Z[own, y]
    square = (W**2).sum() + ((b**2).sum() if bias == "regularized" else 0)
    return lam / 2 * square + (s * losses).sum() / S


def check(X, y, s, bias, parameters):
    """Fit in several ways; hold every bound against every model's objective."""
    found, bounds, seen = [], [], X.toarray() if sparse.issparse(X) else X
    labels = np.full(len(y), -1)  # those that some fit is certain of
    ways = [("sdca", 1), ("sdca", 4), ("sdca", 300), ("pegasos", 5), ("pegasos", 60)]
    ways += [("newton", 2), ("newton", 100)]
    for solver, epochs in ways:
        model = PegasosClassifier(
            multiclass="joint", solver=solver, bias=bias, max_iter=epochs, tol=1e-12,
            random_state=0, **parameters,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ToleranceNotReached)
            model.fit(X, y, sample_weight=s)
        exact = objective(model, seen, y, s, bias)
        assert exact <= WIDE(model.certificate_.primal) * (1 + WIDE(1e-15)), (solver, epochs)
        found.append(exact)
        bounds.append(model.certificate_.dual)
        sure = np.where(model.certain(X), model.predict(X), -1)
        assert np.all((sure < 0) | (labels < 0) | (sure == labels)), (solver, epochs)
        labels = np.maximum(labels, sure)
    assert max(bounds) <= min(found) * (1 + WIDE(1e-15))
    return max(bounds), min(found)


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", pytest.param("logistic", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_joint_models_of_cruel_data_claim_what_is_true(name, loss, bias):
    X, y, parameters = CASES[name]()
    if loss == "logistic" and "cost" in parameters:
        pytest.skip("no costs")
    check(X, y, np.ones(len(y)), bias, {"loss": loss, **parameters})


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", pytest.param("logistic", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", WEIGHTS)
def test_joint_models_of_cruel_weights_claim_what_is_true(name, loss, bias):
    X, y = rows(1)
    s = (y != 2) * 1.0 if WEIGHTS[name] is None else WEIGHTS[name](len(y))
    check(sparse.csr_array(X), y, s, bias, {"loss": loss})
