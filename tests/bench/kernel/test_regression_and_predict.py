"""The judge of kernel regression, worked by hand and against libsvm; the pages; predictions."""

import numpy as np
import pytest
from sklearn.svm import SVR

from bench.harness.results import Results
from bench.kernel import predict, regression
from bench.kernel.classes import ClassSet
from bench.kernel.regression import EPSILON, Judge, feasible


class Model:
    """Two points, K = I: f = 0.5 at the first and -0.5 at the second; b = 0.25."""

    support_ = np.array([0, 1])
    dual_coef_ = np.array([[0.5, -0.5]])
    intercept_ = np.array([0.25])


def test_primal_and_dual_by_hand():
    # Residuals 1 - 0.5 - 0.25 and -1 + 0.5 - 0.25: 1/4 and 3/4, less epsilon = 0.1; ||f||^2 = 1/2.
    judge = Judge(np.array([[0.0], [100.0]]), np.array([1.0, -1.0]), 2.0, 1.0)
    value = judge.value(Model())
    assert value == pytest.approx(0.25 + 2.0 * (0.15 + 0.65))
    # D = 1/2 + 1/2 - 0.1 (1/2 + 1/2) - 1/4.
    assert judge.bound == pytest.approx(1.0 - EPSILON - 0.25)
    assert judge.suboptimality(value) == pytest.approx(value / 0.65 - 1)


def test_feasible_coefficients_are_in_the_box_and_balanced():
    c = feasible(np.array([3.0, -0.5, 0.25, 0.0]), 1.0)
    assert c.sum() == pytest.approx(0.0, abs=1e-15)
    assert np.abs(c).max() <= 1.0
    assert c[1] == -0.5  # the lighter side stays


@pytest.mark.parametrize("C", [0.5, 5.0])
def test_a_tight_fit_of_libsvm_is_its_own_proof(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=80)
    judge = Judge(X, y, C, 0.4)
    value = judge.value(SVR(C=C, gamma=0.4, epsilon=EPSILON, tol=1e-8).fit(X, y))
    assert 0.0 <= judge.suboptimality(value) + 1e-12 < 1e-6
    other = judge.value(SVR(C=3 * C, gamma=0.4, epsilon=EPSILON, tol=1e-8).fit(X, y))
    assert judge.suboptimality(other) > 1e-2


def rows_of(**more):
    return [
        {"solver": name, "seconds": s, "support": 7, **more}
        for name, s in (("pegasos", 1.0), ("intelex", 2.0))
    ]


def test_regression_page_and_summary():
    rows = rows_of(effort="tol 1", gap=1e-4, proven=None)
    results = Results("r", {"processor": "abacus"}, {"abalone C=1": {"shape": "3", "rows": rows}})
    assert "| intelex | tol 1 | 2 | 0.50 | 7 | 1.0e-04 | - |" in regression.page(results)
    # Ours counts by what it has proven, the peers by what they have reached.
    assert "| abalone C=1, 3 | 1 (only -) | 2 | - |" in regression.summary(results)
    rows[0]["proven"], rows[1]["gap"] = 1e-4, 2e-3
    assert "| abalone C=1, 3 | 1 | 2 (only 2.0e-03) | - |" in regression.summary(results)


def test_predict_page_and_summary():
    rows = rows_of(agrees=0.5)
    rows[0]["solver"] = "pegasos-auto"
    results = Results("p", {"processor": "abacus"}, {"letter": {"shape": "3", "rows": rows}})
    assert "| intelex | 7 | 2 | 0.50 | 0.5000 |" in predict.page(results)
    assert "| letter, 3, 7 support vectors | 1 | 2 | - |" in predict.summary(results)


def test_labels_by_chance_make_every_row_a_support_vector(monkeypatch):
    monkeypatch.setattr(predict, "IJCNN1", (50, 120, 22))
    data = predict.ijcnn1()
    (row,) = predict.measured(data, ["libsvm"], 1)
    assert row["support"] == 120
    assert row["agrees"] == 1.0


def test_predictions_are_compared_with_those_of_the_first(monkeypatch):
    class Says:
        support_ = np.arange(3)

        def __init__(self, labels):
            self.labels = np.array(labels)

        def predict(self, X):
            return self.labels

    models = {"pegasos-auto": Says([1, 1, 0, 0]), "libsvm": Says([1, 1, 1, 0])}
    monkeypatch.setattr(predict, "model_of", lambda name, data, limit: models[name])
    X, y = np.zeros((4, 2)), np.zeros(4)
    rows = predict.measured(ClassSet(X, y, X, y), list(models), 1)
    assert [row["agrees"] for row in rows] == [1.0, 0.75]


@pytest.mark.parametrize("module", [regression, predict])
def test_unknown_names_are_refused(module):
    with pytest.raises(SystemExit):
        module.parse(["--only", "a9b"])
