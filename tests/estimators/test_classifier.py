"""The classifier: what is fitted, what is predicted, what is certain."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC, LinearSVC

from pegasos import (
    SDCA,
    CustomLoss,
    KernelPegasosClassifier,
    PegasosClassifier,
    PegasosRegressor,
)
from pegasos.data.compress import quickest
from pegasos.data.rows import CsrRows
from pegasos.estimators import classifier
from pegasos.problem.losses import Hinge, Logistic, SquaredHinge


def binary(dtype=np.float64):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X.astype(dtype), y


def three():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def objective(model, X, y, C):
    """The textbook objective of a binary hinge model, from its attributes alone."""
    margins = np.where(y == model.classes_[1], 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    square = model.coef_[0] @ model.coef_[0]
    return 0.5 * square + C * np.maximum(0.0, 1.0 - margins).sum()


def test_the_default_is_the_textbook_svm():
    X, y = binary()
    ours = PegasosClassifier(C=0.1, tol=1e-6).fit(X, y)
    libsvm = SVC(C=0.1, kernel="linear", tol=1e-9).fit(X, y)
    assert objective(ours, X, y, 0.1) == pytest.approx(objective(libsvm, X, y, 0.1), rel=1e-6)


def test_a_regularized_bias_is_that_of_liblinear():
    X, y = binary()
    ours = PegasosClassifier(C=0.1, bias="regularized", bias_scale=2.0, tol=1e-6).fit(X, y)
    liblinear = LinearSVC(
        C=0.1, loss="hinge", intercept_scaling=2.0, tol=1e-8, max_iter=1_000_000
    ).fit(X, y)

    def penalised(model):
        return objective(model, X, y, 0.1) + 0.5 * (model.intercept_[0] / 2.0) ** 2

    assert penalised(ours) == pytest.approx(penalised(liblinear), rel=1e-5)


def test_the_certificate_brackets_the_objective():
    X, y = binary()
    model = PegasosClassifier(C=1.0).fit(X, y)
    certificate, n = model.certificate_, len(y)
    assert certificate.primal == pytest.approx(objective(model, X, y, 1.0) / n, rel=1e-9)
    assert certificate.dual <= certificate.primal
    assert certificate.relative_gap <= 1e-3
    assert certificate.is_within_tol


def test_shapes_for_two_classes():
    X, y = binary()
    model = PegasosClassifier().fit(X, y)
    assert model.coef_.shape == (1, X.shape[1])
    assert model.intercept_.shape == (1,)
    assert model.decision_function(X).shape == (len(X),)
    assert model.certain(X).shape == (len(X),)
    assert all(bound.shape == (len(X),) for bound in model.decision_bounds(X))
    assert model.n_features_in_ == X.shape[1]


def test_shapes_for_three_classes():
    X, y = three()
    model = PegasosClassifier().fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (150, 3)
    assert model.certain(X).shape == (150,)
    assert all(bound.shape == (150, 3) for bound in model.decision_bounds(X))


def test_one_vs_rest_equals_separate_binary_fits():
    X, y = three()
    joint = PegasosClassifier(C=0.5, multiclass="ovr").fit(X, y)
    for k in range(3):
        alone = PegasosClassifier(C=0.5).fit(X, y == k)
        np.testing.assert_allclose(joint.coef_[k], alone.coef_[0], rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(joint.intercept_[k], alone.intercept_[0], atol=1e-6)
        models = joint.certificate_.models
        assert models["primal"][k] == pytest.approx(alone.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_multilabel_equals_separate_binary_fits(container):
    X, Y = make_multilabel_classification(80, 10, n_classes=4, random_state=0)
    X = X / 10.0
    joint = PegasosClassifier().fit(container(X), Y)
    assert joint.predict(container(X)).shape == Y.shape
    assert joint.certain(container(X)).shape == Y.shape
    for k in range(4):
        alone = PegasosClassifier().fit(X, Y[:, k])
        np.testing.assert_allclose(joint.coef_[k], alone.coef_[0], rtol=1e-5, atol=1e-6)


def test_multilabel_takes_a_sparse_indicator_matrix():
    X, Y = make_multilabel_classification(60, 8, n_classes=3, random_state=1)
    dense = PegasosClassifier(random_state=0).fit(X, Y)
    other = PegasosClassifier(random_state=0).fit(X, sparse.csr_matrix(Y))
    np.testing.assert_array_equal(dense.coef_, other.coef_)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [2.0, 7.0]])
def test_labels_of_any_type_come_back(labels):
    X, y = binary()
    named = np.array(labels)[y]
    model = PegasosClassifier().fit(X, named)
    assert set(model.predict(X)) <= set(named)
    assert model.score(X, named) > 0.95


@pytest.mark.parametrize(
    ("name", "tag"),
    [("hinge", Hinge()), ("squared_hinge", SquaredHinge()), ("logistic", Logistic())],
)
def test_a_loss_may_be_a_name_or_an_object(name, tag):
    X, y = binary()
    one = PegasosClassifier(loss=name, random_state=0).fit(X, y)
    other = PegasosClassifier(loss=tag, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_a_custom_loss_equals_the_built_in_one():
    loss = CustomLoss(
        lambda z, y: max(0.0, 1.0 - y * z) ** 2, lambda z, y: -2.0 * y * max(0.0, 1.0 - y * z)
    )
    X, y = three()
    own = PegasosClassifier(loss=loss, tol=1e-6).fit(X, y)
    built_in = PegasosClassifier(loss="squared_hinge", tol=1e-6).fit(X, y)
    assert own.certificate_.is_within_tol
    assert own.certificate_.primal == pytest.approx(built_in.certificate_.primal, rel=2e-6)


def test_a_solver_may_be_a_name_or_an_object():
    X, y = binary()
    one = PegasosClassifier(solver="sdca", random_state=0).fit(X, y)
    other = PegasosClassifier(solver=SDCA(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_agree_with_labels(classes):
    X, y = three()
    X, y = X[y < classes], y[y < classes]
    model = PegasosClassifier(loss="logistic").fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (len(X), classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert not hasattr(PegasosClassifier(), "predict_proba")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("bias", ["free", "regularized", "none"])
def test_bounds_hold_for_the_optimum_and_certain_labels_are_its_labels(loss, bias):
    X, y = three()
    rough = PegasosClassifier(loss=loss, bias=bias, solver="sdca", tol=0.05, random_state=0)
    rough.fit(X, y)
    exact = PegasosClassifier(loss=loss, bias=bias, tol=1e-9).fit(X, y)
    lower, upper = rough.decision_bounds(X)
    optimum = exact.decision_function(X)
    assert np.all(lower <= optimum + 1e-6)
    assert np.all(optimum <= upper + 1e-6)
    sure = rough.certain(X)
    np.testing.assert_array_equal(rough.predict(X)[sure], exact.predict(X)[sure])


def test_all_labels_are_certain_at_machine_precision():
    X, y = binary()
    model = PegasosClassifier().fit(X, y)
    assert model.certain(X).mean() > 0.99


def test_float32_data_gives_float32_weights():
    X, y = binary(np.float32)
    model = PegasosClassifier().fit(X, y)
    assert model.coef_.dtype == np.float32
    assert PegasosClassifier().fit(X.astype(np.float64), y).coef_.dtype == np.float64


def test_equal_seeds_give_equal_bits():
    X, y = three()
    one, other = (PegasosClassifier(solver="sdca", random_state=7).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert one.n_iter_ == other.n_iter_


def test_no_bias_means_an_intercept_of_zero():
    X, y = three()
    np.testing.assert_array_equal(PegasosClassifier(bias="none").fit(X, y).intercept_, 0.0)


def test_stopping_on_decisions_is_earlier_and_right():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4)) + np.repeat([[2.0], [-2.0]], 1500, axis=0)
    y = np.repeat([1, 0], 1500)
    y[::50] = 1 - y[::50]
    model = PegasosClassifier(lam=1e-3, solver="sdca", tol=1e-10, random_state=0)
    patient = model.fit(X, y)
    settled = PegasosClassifier(**{**model.get_params(), "stop": "decisions"}).fit(X, y)
    assert settled.n_iter_ < patient.n_iter_
    assert "settled" in settled.certificate_.reason
    sure = settled.certain(X)
    assert sure.mean() >= 0.999
    np.testing.assert_array_equal(settled.predict(X)[sure], patient.predict(X)[sure])


def test_stopping_on_decisions_counts_labels_not_models():
    X, y = three()
    model = PegasosClassifier(C=0.1, solver="sdca", tol=1e-12, stop="decisions", max_iter=20_000)
    model.fit(X, y)
    assert model.certain(X).mean() >= 0.999 or "settled" not in model.certificate_.reason


def test_the_history_has_one_entry_per_certificate():
    X, y = binary()
    history = PegasosClassifier(solver="sdca", tol=1e-6).fit(X, y).history_
    names = {"epoch", "seconds", "rows_visited", "primal", "dual", "gap", "relative_gap"}
    assert set(history) == names
    assert len({len(values) for values in history.values()}) == 1
    for name in ("epoch", "seconds", "rows_visited"):
        assert np.all(np.diff(history[name]) > 0.0)
    assert np.all(np.diff(history["dual"]) >= 0.0)
    assert np.all(history["gap"] >= 0.0)
    assert history["relative_gap"][-1] <= 1e-6


def test_wide_rows_of_zeros_are_trained_in_compressed_form(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 400)) * (rng.random((120, 400)) < 0.05)
    y = np.where(X[:, :40].sum(axis=1) > 0.0, 1, 0)
    seen = []

    def spy(rows):
        seen.append(quickest(rows))
        return seen[-1]

    monkeypatch.setattr(classifier, "quickest", spy)
    compressed = PegasosClassifier(tol=1e-8, random_state=0).fit(X, y)
    assert isinstance(seen[0], CsrRows)
    monkeypatch.setattr(classifier, "quickest", lambda rows: rows)
    whole = PegasosClassifier(tol=1e-8, random_state=0).fit(X, y)
    assert compressed.certificate_.is_within_tol
    assert compressed.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=2e-8)
    np.testing.assert_allclose(compressed.coef_, whole.coef_, atol=1e-3 * np.abs(whole.coef_).max())


@pytest.mark.fast
@pytest.mark.parametrize("name", ["certificate_", "history_"])
@pytest.mark.parametrize(
    "Estimator", [PegasosClassifier, PegasosRegressor, KernelPegasosClassifier]
)
def test_a_certificate_before_a_fit_is_not_there(Estimator, name):
    with pytest.raises(NotFittedError, match=f"{name} comes with a fit; .* not fitted yet. Call"):
        getattr(Estimator(), name)
    assert not hasattr(Estimator(), name)
    with pytest.raises(AttributeError, match="certificat"):
        Estimator().certificat  # noqa: B018
