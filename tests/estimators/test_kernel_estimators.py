"""The kernel estimators: attributes as SVC names them, models, searches, limits and refusals."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from pegasos import (
    Decomposition,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
)
from pegasos.errors import (
    InvalidParameter,
    NotCertified,
)

TIGHT = {"tol": 1e-9, "random_state": 0}


def moons(n=120, noise=0.25, seed=0):
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, y


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.array(["ash", "elm", "oak"])[(X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.0)]


def labels(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X + 0.5 * rng.standard_normal((n, 3)) > 0.2).astype(int)


def waves(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 6.0, (n, 1))
    return X, np.sin(X[:, 0]) + 0.2 * rng.standard_normal(n)


# ---- attributes


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_binary_attributes_are_those_of_svc(container):
    X, y = moons()
    mine = KernelPegasosClassifier(C=2.0, gamma=1.5, **TIGHT).fit(container(X), y)
    theirs = SVC(C=2.0, gamma=1.5, tol=1e-9).fit(X, y)
    m = len(mine.support_)
    assert set(mine.support_) == set(theirs.support_)
    assert mine.dual_coef_.shape == (1, m) == theirs.dual_coef_.shape
    assert mine.n_support_.tolist() == theirs.n_support_.tolist()
    assert mine.intercept_.shape == (1,)
    assert mine.support_.dtype == theirs.support_.dtype
    vectors = mine.support_vectors_
    assert sparse.issparse(vectors) == sparse.issparse(container(X))
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    np.testing.assert_array_equal(vectors, X[mine.support_])
    order = np.argsort(theirs.support_)
    np.testing.assert_allclose(mine.dual_coef_[0], theirs.dual_coef_[0][order], atol=1e-3)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(
        mine.decision_function(container(X)), theirs.decision_function(X), atol=1e-4
    )


def test_regression_attributes_are_those_of_svr():
    X, y = waves()
    mine = KernelPegasosRegressor(C=2.0, gamma=0.5, epsilon=0.1, **TIGHT).fit(X, y)
    theirs = SVR(C=2.0, gamma=0.5, epsilon=0.1, tol=1e-9).fit(X, y)
    assert set(mine.support_) == set(theirs.support_)
    assert mine.dual_coef_.shape == (1, len(mine.support_))
    assert mine.n_support_.tolist() == [len(mine.support_)]
    assert mine.intercept_.shape == (1,)
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-4)


def test_multiclass_attributes():
    X, y = three_classes()
    model = KernelPegasosClassifier(C=2.0, gamma=0.5, multiclass="ovr", **TIGHT).fit(X, y)
    m = len(model.support_)
    assert model.classes_.tolist() == ["ash", "elm", "oak"]
    assert model.dual_coef_.shape == (3, m)
    assert model.intercept_.shape == (3,)
    assert model.support_vectors_.shape == (m, 3)
    assert model.n_support_.tolist() == [np.sum(y[model.support_] == c) for c in model.classes_]
    assert model.decision_function(X).shape == (150, 3)


def test_multilabel_attributes():
    X, Y = labels()
    model = KernelPegasosClassifier(C=2.0, gamma=0.5, **TIGHT).fit(X, Y)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.n_support_.tolist() == np.count_nonzero(model.dual_coef_, axis=1).tolist()
    assert model.decision_function(X).shape == model.predict(X).shape == (100, 3)
    assert set(np.unique(model.predict(X))) == {0, 1}


def test_a_label_that_all_rows_have_does_not_spoil_the_others():
    X, Y = labels()
    Y[:, 1] = 1
    model = KernelPegasosClassifier(gamma=0.5, random_state=0).fit(X, Y)
    assert model.certificate_.is_within_tol
    assert model.predict(X)[:, 1].all()


def test_what_a_fit_tells_about_itself():
    X, y = moons()
    model = KernelPegasosClassifier(C=2.0, tol=1e-4, random_state=0).fit(X, y)
    history = model.history_
    assert {"epoch", "seconds", "primal", "dual", "gap", "relative_gap", "evaluations"} <= set(
        history
    )
    assert np.all(np.diff(history["evaluations"]) >= 0)
    assert 0 < history["evaluations"][-1] <= model.n_kernel_evaluations_
    assert model.cache_misses_ > 0
    assert model.cache_hits_ >= 0
    assert model.n_iter_ == model.certificate_.epochs == history["epoch"][-1]
    assert model.certificate_.is_within_tol
    assert model.certificate_.is_proven
    assert pytest.approx(1.0 / (model.lam_ * 120)) == model.C_
    assert not hasattr(model, "_rows")  # nothing of X is kept but the support vectors


# ---- decision values


KERNELS = {
    "linear": ({}, pairwise.linear_kernel),
    "rbf": ({"gamma": 0.7}, lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.7)),
    "poly": (
        {"gamma": 0.7, "coef0": 1.0, "degree": 2},
        lambda A, B: pairwise.polynomial_kernel(A, B, degree=2, gamma=0.7, coef0=1.0),
    ),
    "laplacian": ({"gamma": 0.7}, lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.7)),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_decision_values_are_rebuilt_from_the_attributes(name, kind):
    X, y = {"binary": moons, "multiclass": three_classes, "multilabel": labels}[kind]()
    options, kernel = KERNELS[name]
    options = {"kernel": name, "multiclass": "ovr", **options}
    model = KernelPegasosClassifier(random_state=0, **options).fit(X, y)
    new = np.random.default_rng(1).standard_normal((17, X.shape[1]))
    by_hand = kernel(new, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    found = model.decision_function(new)
    np.testing.assert_allclose(found if found.ndim == 2 else found[:, None], by_hand, atol=1e-10)
    for other in (sparse.csr_array(new), np.asfortranarray(new)):
        np.testing.assert_allclose(model.decision_function(other), found, atol=1e-10)
    expected = {
        "binary": lambda: model.classes_[(by_hand[:, 0] > 0.0).astype(int)],
        "multiclass": lambda: model.classes_[by_hand.argmax(axis=1)],
        "multilabel": lambda: (by_hand > 0.0).astype(int),
    }[kind]()
    np.testing.assert_array_equal(model.predict(new), expected)


def test_one_vs_rest_equals_a_fit_per_class():
    X, y = three_classes()
    together = KernelPegasosClassifier(C=2.0, gamma=0.5, multiclass="ovr", **TIGHT).fit(X, y)
    for k, label in enumerate(together.classes_):
        alone = KernelPegasosClassifier(C=2.0, gamma=0.5, **TIGHT).fit(X, y == label)
        assert together.certificate_.models["primal"][k] == pytest.approx(
            alone.certificate_.primal, rel=1e-8
        )
        np.testing.assert_allclose(
            together.decision_function(X)[:, k], alone.decision_function(X), atol=1e-4
        )


@pytest.mark.parametrize("Estimator", [KernelPegasosClassifier, KernelPegasosRegressor])
def test_a_fit_on_sparse_rows_predicts_for_dense_ones_and_the_other_way_round(Estimator):
    X, y = moons() if Estimator is KernelPegasosClassifier else waves()
    X = X * (np.abs(X) > 0.3)
    dense = Estimator(gamma=0.7, **TIGHT).fit(X, y)
    thin = Estimator(gamma=0.7, **TIGHT).fit(sparse.csr_array(X), y)
    for given in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        np.testing.assert_allclose(dense.predict(given), thin.predict(given), atol=1e-4)


def test_float32_rows_give_nearly_the_same():
    X, y = moons()
    single = KernelPegasosClassifier(C=2.0, tol=1e-6).fit(X.astype(np.float32), y)
    double = KernelPegasosClassifier(C=2.0, tol=1e-6).fit(X, y)
    assert single.support_vectors_.dtype == np.float32
    assert single.certificate_.primal == pytest.approx(double.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(
        single.decision_function(X), double.decision_function(X.astype(np.float32)), atol=1e-2
    )


def test_a_model_without_support_vectors_predicts_the_bias():
    X, _ = waves()
    model = KernelPegasosRegressor(epsilon=0.5, random_state=0).fit(X, np.full(100, 3.0))
    assert len(model.support_) == 0
    assert model.support_vectors_.shape == (0, 1)
    np.testing.assert_allclose(model.predict(X), 3.0, atol=0.5)
    low, high = model.decision_bounds(X)
    assert np.all(low <= model.predict(X))
    assert np.all(model.predict(X) <= high)


def test_a_kernel_of_the_users_own():
    X, y = moons()
    own = KernelPegasosClassifier(
        C=2.0, kernel=lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.7), **TIGHT
    ).fit(X, y)
    named = KernelPegasosClassifier(C=2.0, gamma=0.7, **TIGHT).fit(X, y)
    assert own.certificate_.primal == pytest.approx(named.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(own.certain(X), named.certain(X))


# ---- life with scikit-learn


@pytest.mark.parametrize("kind", ["binary", "multiclass", "regression"])
def test_a_pickle_predicts_the_same_and_goes_on(kind):
    X, y = {"binary": moons, "multiclass": three_classes, "regression": waves}[kind]()
    Estimator = KernelPegasosRegressor if kind == "regression" else KernelPegasosClassifier
    model = Estimator(warm_start=True, random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(copy.decision_bounds(X), model.decision_bounds(X))
    assert str(copy.certificate_) == str(model.certificate_)
    assert copy.fit(X, y).certificate_.is_within_tol


def test_a_clone_has_the_parameters_and_nothing_else():
    X, y = moons()
    model = KernelPegasosClassifier(C=3.0, solver=Decomposition(working_set=10)).fit(X, y)
    copy = clone(model)
    assert copy.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert copy.C == 3.0
    assert copy.get_params()["solver__working_set"] == 10
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_a_search_reaches_the_penalty_and_the_options_of_the_solver():
    X, y = moons()
    grid = {"C": [0.1, 10.0], "solver__working_set": [2, 20, "auto"], "gamma": ["scale", 2.0]}
    model = KernelPegasosClassifier(solver=Decomposition(), tol=1e-5, random_state=0)
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    scores = np.asarray(search.cv_results_["mean_test_score"]).reshape(2, 2, 3)
    assert np.ptp(scores, axis=2).max() < 0.03  # the working set does not matter
    assert search.best_score_ > 0.8
    with pytest.raises(InvalidParameter, match="is a name without options"):
        KernelPegasosClassifier(solver="decomposition").set_params(solver__working_set=3)


def test_a_precomputed_kernel_is_cut_by_rows_and_columns():
    X, y = moons()
    K = pairwise.rbf_kernel(X, gamma=1.5)
    options = {"C": 2.0, "tol": 1e-6, "random_state": 0}
    of_matrix = cross_val_score(KernelPegasosClassifier(kernel="precomputed", **options), K, y)
    of_rows = cross_val_score(KernelPegasosClassifier(gamma=1.5, **options), X, y)
    np.testing.assert_array_equal(of_matrix, of_rows)
    model = KernelPegasosClassifier(kernel="precomputed", **options).fit(K, y)
    assert model.__sklearn_tags__().input_tags.pairwise
    assert model.support_vectors_.shape == (0, 0)
    same = KernelPegasosClassifier(gamma=1.5, **options).fit(X, y)
    np.testing.assert_allclose(model.decision_function(K), same.decision_function(X), atol=1e-3)
    new = pairwise.rbf_kernel(X[:7] + 0.1, X, gamma=1.5)
    np.testing.assert_allclose(
        model.decision_function(new), same.decision_function(X[:7] + 0.1), atol=1e-3
    )


def test_a_pipeline_scales_before_the_kernel():
    X, y = moons()
    model = make_pipeline(StandardScaler(), KernelPegasosClassifier(C=2.0, **TIGHT))
    wild = X * [1000.0, 0.001]
    inner = KernelPegasosClassifier(C=2.0, **TIGHT).fit(StandardScaler().fit_transform(X), y)
    found = model.fit(wild, y)[-1].certificate_.primal
    assert found == pytest.approx(inner.certificate_.primal, rel=1e-7)


def test_rows_of_equal_seeds_are_equal_and_random_states_advance():
    X, y = moons()
    first, again = (KernelPegasosClassifier(random_state=3).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.dual_coef_, again.dual_coef_)


# ---- warm starts


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("C", [0.2, 20.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_warm_start_after_a_change_of_penalty_reaches_the_new_optimum(bias, C, loss):
    X, y = moons()
    options = {"bias": bias, "loss": loss, "gamma": 1.0, **TIGHT, "solver": Decomposition()}
    warm = KernelPegasosClassifier(C=2.0, warm_start=True, **options).fit(X, y)
    warm.set_params(C=C).fit(X, y)
    cold = KernelPegasosClassifier(C=C, **options).fit(X, y)
    assert warm.certificate_.is_within_tol
    assert warm.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=3e-9)


def test_a_warm_start_saves_work_and_forgets_rows_of_another_number():
    X, y = moons()
    model = KernelPegasosClassifier(warm_start=True, random_state=0, solver=Decomposition())
    first = model.fit(X, y).n_iter_
    assert model.fit(X, y).n_iter_ <= first
    few = model.fit(X[:80], y[:80])
    fresh = KernelPegasosClassifier(random_state=0, solver=Decomposition()).fit(X[:80], y[:80])
    np.testing.assert_array_equal(few.dual_coef_, fresh.dual_coef_)


# ---- certified predictions


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_bounds_hold_the_decision_values_of_the_optimum_on_new_rows(bias, loss, kernel):
    X, y = moons()
    options = {"C": 2.0, "kernel": kernel, "gamma": 1.0, "coef0": 1.0, "bias": bias, "loss": loss}
    q = "auto" if kernel == "poly" else 20
    exact = KernelPegasosClassifier(tol=1e-10, solver=Decomposition(), **options).fit(X, y)
    new = np.vstack([X, np.random.default_rng(1).uniform(-2.0, 3.0, (300, 2))])
    truth = exact.decision_function(new)
    shares = []
    for tol in (0.5, 0.05, 1e-3, 1e-6):
        rough = KernelPegasosClassifier(
            tol=tol, solver=Decomposition(q), random_state=0, **options
        ).fit(X, y)
        low, high = rough.decision_bounds(new)
        slack = 1e-4 if bias == "free" else 1e-5  # of the truth itself
        assert np.all(low <= truth + slack)
        assert np.all(truth <= high + slack)
        assert np.all(low <= rough.decision_function(new) + 1e-12)
        assert np.all(rough.decision_function(new) <= high + 1e-12)
        is_certain = rough.certain(new)
        np.testing.assert_array_equal(
            rough.predict(new)[is_certain], exact.predict(new)[is_certain]
        )
        np.testing.assert_array_equal(is_certain, (low > 0.0) | (high < 0.0))
        shares.append(is_certain.mean())
    assert shares[-1] > 0.9
    assert shares[-1] > shares[0]


@pytest.mark.parametrize("bias", ["none", "free"])
def test_bounds_hold_the_predictions_of_the_optimum_of_regression(bias):
    X, y = waves()
    options = {"C": 2.0, "gamma": 0.5, "bias": bias}
    exact = KernelPegasosRegressor(tol=1e-10, solver=Decomposition(), **options).fit(X, y)
    new = np.linspace(-1.0, 8.0, 200)[:, None]
    widths = []
    for tol in (0.5, 1e-2, 1e-5):
        rough = KernelPegasosRegressor(
            tol=tol, solver=Decomposition(working_set=20), random_state=0, **options
        ).fit(X, y)
        low, high = rough.decision_bounds(new)
        assert np.all(low <= exact.predict(new) + 1e-4)
        assert np.all(exact.predict(new) <= high + 1e-4)
        widths.append(np.median(high - low))
    assert widths[-1] < 0.1 * widths[0]


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_certain_labels_of_several_classes_are_those_of_the_optimum(multiclass):
    X, y = three_classes()
    options = {"C": 2.0, "gamma": 0.5, "multiclass": multiclass}
    exact = KernelPegasosClassifier(tol=1e-10, solver=Decomposition(), **options).fit(X, y)
    rough = KernelPegasosClassifier(tol=0.01, solver=Decomposition(20), **options).fit(X, y)
    new = np.random.default_rng(1).standard_normal((300, 3))
    is_certain = rough.certain(new)
    assert is_certain.shape == (300,)
    assert 0.3 < is_certain.mean() < 1.0
    np.testing.assert_array_equal(rough.predict(new)[is_certain], exact.predict(new)[is_certain])


def test_a_fit_may_end_once_its_decisions_are_settled():
    X, y = moons(noise=0.1)
    options = {"C": 1.0, "gamma": 1.0, "tol": 1e-12, "solver": Decomposition(working_set=20)}
    model = KernelPegasosClassifier(stop="decisions", random_state=0, **options).fit(X, y)
    assert "settled" in model.certificate_.reason
    assert model.certain(X).mean() >= 0.999
    exact = KernelPegasosClassifier(**{**options, "tol": 1e-9}).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))


def test_a_precomputed_kernel_has_no_bounds_for_new_rows():
    X, y = moons()
    model = KernelPegasosClassifier(kernel="precomputed").fit(X @ X.T, y)
    for ask in (model.certain, model.decision_bounds):
        with pytest.raises(NotCertified, match=r"need the values K\(x, x\) .* as a function"):
            ask(X @ X.T)
