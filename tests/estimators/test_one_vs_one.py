"""One-vs-one kernel classification: held against SVC, a fit per pair, and a convex solver."""

import os
import pickle
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from pegasos import (
    BatchPerceptron,
    Decomposition,
    KernelPegasosClassifier,
)
from pegasos.errors import (
    FitInterrupted,
    IndefiniteKernel,
    InvalidParameter,
    ToleranceNotReached,
)
from pegasos.estimators import kernel_pairs
from pegasos.one_vs_one.models import values_of_pairs
from pegasos.problem.class_pairs import pairs_of
from tests.reference.kernel_optimum import kernel_optimum

TIGHT = {"tol": 1e-9, "random_state": 0}
ROUGH = {"solver": Decomposition(), "random_state": 0}  # no wish for more than `tol`


def four_classes(n=120, seed=0):
    """Rows of classes "a" to "d", the last of them rare."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    codes = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.0)
    codes[rng.choice(n, 6, replace=False)] = 3
    return X, np.array(list("abcd"))[codes]


# ---- held against others


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_attributes_and_values_are_those_of_svc(load, container):
    X, y = load(return_X_y=True)
    mine = KernelPegasosClassifier(C=2.0, **TIGHT).fit(container(X), y)
    theirs = SVC(C=2.0, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(mine.support_, theirs.support_)
    np.testing.assert_array_equal(mine.n_support_, theirs.n_support_)
    np.testing.assert_allclose(mine.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, atol=1e-4)
    vectors = mine.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    np.testing.assert_array_equal(vectors, X[mine.support_])
    for shape in ("ovr", "ovo"):
        mine.set_params(decision_function_shape=shape)
        theirs.set_params(decision_function_shape=shape)
        np.testing.assert_allclose(
            mine.decision_function(container(X)), theirs.decision_function(X), atol=1e-4
        )


def test_labels_of_many_classes_are_those_of_svc_but_for_ties():
    X, y = load_digits(return_X_y=True)
    mine = KernelPegasosClassifier(random_state=0).fit(X[:900], y[:900])
    theirs = SVC(break_ties=True, tol=1e-6).fit(X[:900], y[:900])
    assert mine.certificate_.is_within_tol
    assert np.mean(mine.predict(X) == theirs.predict(X)) > 0.995
    is_certain = mine.certain(X)
    assert is_certain.mean() > 0.7
    np.testing.assert_array_equal(mine.predict(X)[is_certain], theirs.predict(X)[is_certain])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_every_pair_is_proven_to_be_near_its_optimum(loss, bias, weighted):
    X, y = four_classes(40)
    s = np.random.default_rng(1).uniform(0.1, 2.0, 40) if weighted else np.ones(40)
    options = {"C": 2.0, "gamma": 0.4, "loss": loss, "bias": bias, "tol": 1e-4}
    model = KernelPegasosClassifier(**options).fit(X, y, s if weighted else None)
    found = model.certificate_.models
    for p, (i, j) in enumerate(pairs_of(4)):
        rows = np.isin(y, model.classes_[[i, j]])
        signs, weights = np.where(y[rows] == model.classes_[i], 1.0, -1.0), s[rows]
        K, lam = pairwise.rbf_kernel(X[rows], gamma=0.4), 1.0 / (2.0 * weights.sum())
        best, _ = kernel_optimum(K, signs, weights, lam, loss, bias)
        assert found["dual"][p] <= best * (1.0 + 1e-7)
        assert best * (1.0 - 1e-7) <= found["primal"][p] <= best * (1.0 + 1.01e-4)
    assert model.certificate_.primal == pytest.approx(found["primal"].sum())
    assert model.certificate_.relative_gap == found["relative_gap"].max() <= 1e-4


@pytest.mark.parametrize("kernel", ["rbf", "callable", "precomputed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pair_is_a_fit_of_its_two_classes(kernel, dtype):
    X, y = four_classes()
    X = X.astype(dtype)
    K = pairwise.rbf_kernel(X, gamma=0.5)
    rows = K if kernel == "precomputed" else X
    tol = 1e-5 if dtype == np.float64 else 1e-3
    options = {"kernel": kernel, "gamma": 0.5, "C": 3.0, "tol": tol}
    if kernel == "callable":
        options["kernel"] = lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.5)
    together = KernelPegasosClassifier(decision_function_shape="ovo", **options).fit(rows, y)
    values = together.decision_function(rows)
    for p, (i, j) in enumerate(pairs_of(4)):
        some = np.isin(y, together.classes_[[i, j]])
        one = rows[np.ix_(some, some)] if kernel == "precomputed" else X[some]
        alone = KernelPegasosClassifier(**options).fit(one, y[some])
        assert together.certificate_.models["primal"][p] == pytest.approx(
            alone.certificate_.primal, rel=tol
        )
        np.testing.assert_allclose(-values[some, p], alone.decision_function(one), atol=0.1)


# ---- labels and bounds


def test_predictions_are_the_classes_of_largest_value():
    X, y = four_classes()
    model = KernelPegasosClassifier(C=10.0, gamma=1.0, **ROUGH).fit(X, y)
    new = np.random.default_rng(1).standard_normal((300, 3))
    values = model.decision_function(new)
    assert values.shape == (300, 4)
    np.testing.assert_array_equal(model.predict(new), model.classes_[values.argmax(axis=1)])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_labels_do_not_depend_on_how_many_rows_are_scored_together(container, monkeypatch):
    X, y = four_classes()
    model = KernelPegasosClassifier(**ROUGH).fit(container(X), y)
    labels, values = model.predict(container(X)), model.decision_function(container(X))
    monkeypatch.setattr(kernel_pairs, "VALUES_AT_A_TIME", 100)  # of 6 pairs: 16 rows
    np.testing.assert_array_equal(model.predict(container(X)), labels)
    np.testing.assert_allclose(model.decision_function(container(X)), values, atol=1e-12)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_bounds_hold_the_values_of_the_optimum(bias, shape):
    X, y = four_classes()
    options = {"C": 2.0, "gamma": 0.5, "bias": bias, "decision_function_shape": shape}
    exact = KernelPegasosClassifier(tol=1e-11, solver=Decomposition(), **options).fit(X, y)
    new = np.random.default_rng(1).standard_normal((200, 3))
    widths = []
    for tol in (0.05, 1e-3, 1e-6):
        rough = KernelPegasosClassifier(tol=tol, **ROUGH, **options).fit(X, y)
        low, high = rough.decision_bounds(new)
        truth, own = exact.decision_function(new), rough.decision_function(new)
        is_sure = np.abs(truth - np.round(truth)) > 1e-4 if shape == "ovr" else truth < np.inf
        assert np.all((low <= truth + 1e-5) | ~is_sure)
        assert np.all((truth <= high + 1e-5) | ~is_sure)
        assert np.all((low <= own) & (own <= high))
        is_certain = rough.certain(new)
        np.testing.assert_array_equal(
            rough.predict(new)[is_certain], exact.predict(new)[is_certain]
        )
        widths.append(np.median(high - low))
    assert widths[2] < widths[1] < widths[0]
    assert 0.5 < is_certain.mean()


def test_probabilities_of_pairs_are_brought_together():
    X, y = four_classes()
    model = KernelPegasosClassifier(loss="logistic", C=5.0, tol=1e-3).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (120, 4)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.mean(model.classes_[P.argmax(axis=1)] == model.predict(X)) > 0.9


# ---- rows, weights and penalties


def test_a_class_without_weight_is_never_predicted():
    X, y = four_classes()
    s = np.where(np.isin(y, ["b", "d"]), 0.0, 1.0)
    options = {"gamma": 0.5, **TIGHT}
    model = KernelPegasosClassifier(**options).fit(X, y, s)
    left = s > 0.0
    few = KernelPegasosClassifier(**options).fit(X[left], y[left])
    np.testing.assert_array_equal(model.predict(X), few.predict(X))
    assert model.certificate_.is_within_tol
    assert model.certificate_.models["primal"][pairs_of(4).index((1, 3))] == 0.0
    by_class = KernelPegasosClassifier(class_weight={"b": 0.0, "d": 0.0}, **options).fit(X, y)
    np.testing.assert_array_equal(by_class.predict(X), few.predict(X))


def test_classes_of_one_row():
    X = np.eye(5)
    model = KernelPegasosClassifier(gamma=1.0).fit(X, np.arange(5))
    np.testing.assert_array_equal(model.predict(X), np.arange(5))
    assert model.certificate_.is_within_tol
    assert model.n_support_.tolist() == [1] * 5


def test_a_weight_counts_rows_and_lam_is_the_same_penalty_for_all_pairs():
    X, y = four_classes()
    s = 1 + np.arange(120) % 2
    options = {"gamma": 0.5, **TIGHT}
    weighted = KernelPegasosClassifier(C=2.0, **options).fit(X, y, s)
    repeated = KernelPegasosClassifier(C=2.0, **options).fit(np.repeat(X, s, 0), np.repeat(y, s))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5
    )
    other = KernelPegasosClassifier(lam=1.0 / (2.0 * s.sum()), **options).fit(X, y, s)
    assert other.C_ == pytest.approx(2.0)
    assert other.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=1e-8)


def test_a_penalty_that_a_solver_finds_is_one_per_pair():
    X, y = four_classes(60)
    model = KernelPegasosClassifier(solver=BatchPerceptron(nu=0.1), max_iter=200, tol=0.1).fit(X, y)
    assert model.C_.shape == model.lam_.shape == (6,)
    np.testing.assert_allclose(model.C_ * model.lam_, 1.0 / 60)
    assert (model.C_ > 0.0).all()


# ---- life


def test_two_classes_and_labels_are_trained_as_ever():
    X, y = four_classes()
    is_a, Y = y == "a", np.column_stack([y == "a", y == "b"]).astype(int)
    for target in (is_a, Y):
        one, other = (
            KernelPegasosClassifier(multiclass=way, random_state=0).fit(X, target)
            for way in ("ovo", "ovr")
        )
        np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_history_has_an_entry_per_pair():
    X, y = four_classes()
    model = KernelPegasosClassifier(**ROUGH).fit(X, y)
    history, found = model.history_, model.certificate_.models
    assert {len(column) for column in history.values()} == {6}
    np.testing.assert_allclose(history["primal"], np.cumsum(found["primal"]))
    np.testing.assert_array_equal(
        history["relative_gap"], np.maximum.accumulate(found["relative_gap"])
    )
    assert np.all(np.diff(history["seconds"]) >= 0.0)
    assert model.n_kernel_evaluations_ >= history["evaluations"][-1]


def test_a_warm_start_goes_on_from_all_pairs():
    X, y = four_classes()
    model = KernelPegasosClassifier(
        warm_start=True, solver=Decomposition(10), tol=1e-6, random_state=0
    ).fit(X, y)
    first = model.history_["epoch"][-1]
    assert model.fit(X, y).history_["epoch"][-1] < first
    model.set_params(multiclass="ovr").fit(X, y)
    assert model.dual_coef_.shape[0] == 4
    assert model.set_params(multiclass="ovo", C=5.0).fit(X, y).certificate_.is_within_tol
    assert model.fit(X[:80], y[:80]).certificate_.is_within_tol


def test_a_pickle_predicts_the_same():
    X, y = four_classes()
    model = KernelPegasosClassifier(**ROUGH).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(copy.certain(X), model.certain(X))


def test_a_stream_after_a_fit_is_one_against_the_rest():
    X, y = four_classes()
    model = KernelPegasosClassifier(tol=0.01).fit(X, y)
    score = model.score(X, y)
    model.partial_fit(X, y)
    assert model.dual_coef_.shape[0] == 4
    assert model.score(X, y) > score - 0.1
    model.decision_function_shape = "ovo"
    with pytest.raises(InvalidParameter, match='fit with multiclass="ovo"'):
        model.decision_function(X)
    assert model.fit(X, y).decision_function(X).shape == (120, 6)


# ---- limits


def test_too_few_epochs_are_said_so():
    X, y = four_classes()
    model = KernelPegasosClassifier(solver=Decomposition(4), max_iter=1, tol=1e-6)
    with pytest.warns(ToleranceNotReached, match="The worst of 6 models is .*max_iter was reached"):
        model.fit(X, y)
    assert model.n_iter_ == 1


def test_pairs_that_time_left_out_are_models_of_nothing():
    X, y = four_classes()
    KernelPegasosClassifier(**ROUGH).fit(X, y)  # compiled, if it was not
    model = KernelPegasosClassifier(max_time=1e-9)
    with pytest.warns(ToleranceNotReached, match="max_time was reached"):
        model.fit(X, y)
    assert model.certificate_.models["primal"].tolist() == [1.0] * 6
    assert model.certificate_.relative_gap == np.inf
    assert set(model.predict(X)) == {"a"}
    assert not model.certain(X).any()


def test_ctrl_c_keeps_the_pairs_so_far():
    X, y = four_classes()
    calls = []

    def kernel(A, B):
        calls.append(len(A))
        if len(calls) == 125:  # after the test of symmetry and the diagonal
            os.kill(os.getpid(), signal.SIGINT)
        return pairwise.rbf_kernel(A, B)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in some workers
    try:
        with pytest.warns(FitInterrupted):
            model = KernelPegasosClassifier(kernel=kernel).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupted" in model.certificate_.reason
    assert model.predict(X).shape == (120,)


def test_an_indefinite_kernel_is_said_so_once():
    X, y = four_classes()
    with pytest.warns(IndefiniteKernel) as heard:
        model = KernelPegasosClassifier(kernel="sigmoid", gamma=1.0, **ROUGH).fit(X, y)
    assert len(heard) == 1
    assert not model.certificate_.is_proven


def test_progress_counts_pairs(capsys):
    X, y = four_classes()
    KernelPegasosClassifier(verbose=1, **ROUGH).fit(X, y)
    assert "the worst of 6 models" in capsys.readouterr().err


@pytest.mark.fast
def test_values_of_pairs_are_those_of_their_kernel_matrices():
    codes = np.repeat([0, 1, 2, 3], [5, 1, 7, 2])
    counts = np.bincount(codes)
    expected = sum((counts[i] + counts[j]) ** 2 for i in range(4) for j in range(i + 1, 4))
    assert values_of_pairs(codes, 4) == expected
