"""Inside scikit-learn: containers, copies, searches, pipelines, routing."""

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import SDCA, CustomLoss, PegasosClassifier, PegasosRegressor
from pegasos.errors import InvalidParameter


def squared_value(z, y):
    return (z - y) ** 2


def squared_slope(z, y):
    return 2.0 * (z - y)


@pytest.fixture(scope="module", name="iris")
def _iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module", name="model")
def _model(iris):
    return PegasosClassifier(random_state=0).fit(*iris)


def same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_are_taken_with_their_names(frame, iris, model):
    X, y = iris
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    table = frame(dict(zip(names, X.T, strict=True)))
    other = PegasosClassifier(random_state=0).fit(table, y)
    assert other.feature_names_in_.tolist() == names
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(other.predict(table), model.predict(X))


@pytest.mark.parametrize("series", [pd.Series, pl.Series, list])
def test_series_and_lists_are_taken_as_labels_and_weights(series, iris):
    X, y = iris
    weights = np.linspace(1.0, 2.0, len(y))
    plain = PegasosClassifier(random_state=0).fit(X, y, sample_weight=weights)
    other = PegasosClassifier(random_state=0).fit(X, series(y), sample_weight=series(weights))
    same(plain, other)


@pytest.mark.parametrize(
    "container",
    [np.asfortranarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array],
)
def test_containers_agree(container, iris, model):
    X, y = iris
    other = PegasosClassifier(random_state=0).fit(container(X), y)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(other.predict(container(X)), model.predict(X))


@pytest.mark.parametrize("dtype", [np.int32, bool, np.float16, np.float32])
def test_number_types_agree(dtype, iris):
    X, y = (iris[0] > 0.0).astype(dtype), iris[1]
    plain = PegasosClassifier().fit(X.astype(np.float64), y)
    other = PegasosClassifier().fit(X, y)
    assert other.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-5)


def test_read_only_memory_maps_are_taken(iris, model, tmp_path):
    X, y = iris
    np.save(tmp_path / "X.npy", X)
    same(model, PegasosClassifier(random_state=0).fit(np.load(tmp_path / "X.npy", "r"), y))


@pytest.mark.parametrize(
    "duplicate",
    [
        lambda model: pickle.loads(pickle.dumps(model)),
        copy.deepcopy,
        copy.copy,
    ],
)
def test_copies_predict_the_same(duplicate, iris, model):
    X, _ = iris
    other = duplicate(model)
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(other.certain(X), model.certain(X))
    assert str(other.certificate_) == str(model.certificate_)


def test_joblib_files_predict_the_same(iris, model, tmp_path):
    joblib.dump(model, tmp_path / "model.joblib")
    other = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(other.predict(iris[0]), model.predict(iris[0]))


def test_a_warm_state_survives_a_pickle(iris):
    X, y = iris
    model = PegasosClassifier(solver="sdca", warm_start=True, random_state=0).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    same(model.set_params(C=2.0).fit(X, y), other.set_params(C=2.0).fit(X, y))


@pytest.mark.fast
def test_clone_keeps_parameters_and_nothing_else():
    for estimator in (
        PegasosClassifier(C=3.0, solver=SDCA(shrinking=False)),
        PegasosRegressor(loss=CustomLoss(squared_value, squared_slope)),
    ):
        other = clone(estimator)
        assert str(other.get_params()) == str(estimator.get_params())
        assert other.get_params(deep=False).keys() == estimator.get_params(deep=False).keys()
        assert not hasattr(other, "coef_")


@pytest.mark.fast
def test_options_of_a_solver_are_parameters():
    model = PegasosClassifier(solver=SDCA())
    assert model.get_params()["solver__shrinking"] is True
    model.set_params(solver__shrinking=False)
    assert model.solver.shrinking is False
    assert "SDCA(shrinking=False, " in repr(model)


@pytest.mark.fast
def test_options_of_a_name_are_refused_with_advice():
    with pytest.raises(InvalidParameter, match="'auto' is a name without options; give an object"):
        PegasosClassifier().set_params(solver__shrinking=False)
    model = PegasosClassifier().set_params(solver=SDCA(), solver__shrinking=False)
    assert model.solver == SDCA(shrinking=False)


def test_a_grid_search_reaches_the_options_of_a_solver(iris):
    search = GridSearchCV(
        PegasosClassifier(solver=SDCA(), random_state=0),
        {"C": [0.1, 1.0], "solver__shrinking": [True, False]},
        cv=3,
    ).fit(*iris)
    assert search.best_score_ > 0.8
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.certificate_.is_within_tol


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation_in_one_process_and_in_two_is_the_same(iris, n_jobs):
    scores = cross_val_score(PegasosClassifier(random_state=0), *iris, cv=3, n_jobs=n_jobs)
    assert scores.min() > 0.8


def test_threads_fit_side_by_side_with_equal_results(iris):
    X, y = iris
    with joblib.parallel_backend("threading", n_jobs=2):
        models = joblib.Parallel()(
            joblib.delayed(PegasosClassifier(random_state=0).fit)(X, y) for _ in range(4)
        )
    for other in models[1:]:
        same(models[0], other)


def test_a_pipeline_scales_first():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), PegasosClassifier()).fit(X, y)
    assert model.score(X, y) > 0.9


def test_sample_weight_is_routed_on_request(iris):
    X, y = iris
    with sklearn.config_context(enable_metadata_routing=True):
        inner = PegasosClassifier(random_state=0).set_fit_request(sample_weight=True)
        weights = np.linspace(0.5, 2.0, len(y))
        model = make_pipeline(inner).fit(X, y, sample_weight=weights)
    same(model[-1], PegasosClassifier(random_state=0).fit(X, y, sample_weight=weights))


@pytest.mark.fast
def test_representations_show_what_was_changed():
    assert repr(PegasosClassifier(lam=1e-4)) == "PegasosClassifier(lam=0.0001)"
    assert "PegasosRegressor" in PegasosRegressor()._repr_html_()


def test_no_reference_to_the_data_is_kept(iris):
    X, y = iris[0].copy(), iris[1].copy()
    model = PegasosClassifier(warm_start=True).fit(X, y)
    arrays = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    assert not any(np.shares_memory(X, array) for array in arrays)
    assert not any(value is X or value is y for value in vars(model).values())
