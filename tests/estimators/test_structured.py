"""Any structure: the interval holds the optimum, and what is wrong with a structure is found."""

import ctypes
import itertools
import pickle
import warnings

import cvxpy
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from examples.matching import Matching
from pegasos import PegasosStructured
from pegasos.errors import InvalidData, InvalidParameter, InvalidType, ToleranceNotReached
from pegasos.progress import Compilation

pytestmark = pytest.mark.fast
POINTS, D = 3, 2


def draw(seed, n=4):
    rng = np.random.default_rng(seed)
    X = [np.round(rng.standard_normal((POINTS, POINTS, D)), 2) for _ in range(n)]
    return X, [rng.permutation(POINTS) for _ in range(n)], rng.integers(1, 3, n) + 0.0


def optimum(X, y, weights, lam):
    """Return the optimal value, all matchings written out."""
    structure, w, total = Matching(), cvxpy.Variable(D), 0.0
    for x, one, s in zip(X, y, weights, strict=True):
        every = [np.array(other) for other in itertools.permutations(range(POINTS))]
        change = [structure.features(x, r) - structure.features(x, one) for r in every]
        costs = [structure.cost(one, r) for r in every]
        total += s * cvxpy.max(np.array(change) @ w + np.array(costs))
    objective = 0.5 * lam * cvxpy.sum_squares(w) + total / np.sum(weights)
    return cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver=cvxpy.CLARABEL)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("solver", ["frank_wolfe", "pegasos"])
@pytest.mark.filterwarnings("ignore::pegasos.errors.ToleranceNotReached")
def test_certified_interval_contains_the_optimum(solver, seed):
    X, y, weights = draw(seed)
    lam = 10.0 ** np.random.default_rng(seed).uniform(-2, 0)
    best = optimum(X, y, weights, lam)
    slack = 1e-6 * max(1e-3, best)
    for epochs in (1, 3, 20):
        model = PegasosStructured(
            Matching(), lam=lam, solver=solver, max_iter=epochs, random_state=seed
        ).fit(X, y, sample_weight=weights)
        certificate = model.certificate_
        assert certificate.dual <= best + slack
        assert certificate.primal >= best - slack


def test_frank_wolfe_reaches_the_tolerance_and_predicts():
    X, y, _ = draw(0)
    model = PegasosStructured(Matching(), C=0.3, tol=1e-4, random_state=0).fit(X, y)
    assert model.certificate_.is_within_tol
    assert all(Matching().is_feasible(x, r) for x, r in zip(X, model.predict(X), strict=True))
    assert -1.0 <= model.score(X, y) <= 0.0
    again = PegasosStructured(Matching(), C=0.3, tol=1e-4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


class SameFeatures:
    """One of three answers, of the same features; only costs tell them apart."""

    def features(self, x, y):
        return np.ones(1)

    def cost(self, y, other):
        return float(abs(y - other))

    def decode(self, w, x):
        return 0

    def decode_augmented(self, w, x, y):
        return 2 if y < 2 else 0


def test_frank_wolfe_takes_all_mass_where_the_dual_is_linear():
    model = PegasosStructured(SameFeatures(), random_state=0).fit([0, 0], [0, 1])
    assert model.certificate_.is_within_tol
    assert model.certificate_.dual == pytest.approx(1.5)


def test_what_is_said_of_compiling_names_structures(monkeypatch):
    said = []

    def noted(announce, text, clock):
        said.append(text)
        return Compilation(announce, text)

    monkeypatch.setattr("pegasos.around.Compilation", noted)
    X, y, _ = draw(0)
    PegasosStructured(Matching(), C=0.3).fit(X, y)
    assert said[0].startswith("compiling for structures")


def test_limits_end_a_fit():
    X, y, _ = draw(0)
    with pytest.warns(ToleranceNotReached, match="max_time"):
        PegasosStructured(Matching(), tol=1e-12, max_time=1e-9).fit(X, y)


class Broken(Matching):
    """A matching with one method replaced."""

    def __init__(self, name, function):
        setattr(self, name, function)


@pytest.mark.parametrize(
    ("name", "function", "match"),
    [
        ("decode_augmented", lambda w, x, y: np.zeros(POINTS, dtype=int), "infeasible for example"),
        ("decode_augmented", lambda w, x, y: (np.asarray(y) + 1) % POINTS, "find the maximum"),
        ("features", lambda x, y: np.full(D, np.nan), "NaN or infinity"),
        ("features", lambda x, y: np.full(D, 1e200), "too large .* Rescale"),
        ("features", lambda x, y: np.zeros((D, D)), "must have shape"),
        ("features", lambda x, y: np.zeros(1 + int(y[0])), "must have shape"),
        ("features", lambda x, y: "text", "must return numbers"),
        ("cost", lambda y, other: -1.0, "not below 0"),
        ("cost", lambda y, other: np.inf, "finite"),
        ("cost", lambda y, other: 1.0, r"cost\(y, y\) must be 0"),
    ],
)
def test_a_structure_that_breaks_its_promises_is_found_out(name, function, match):
    X, y, _ = draw(1)
    with pytest.raises(InvalidData, match=match):
        PegasosStructured(Broken(name, function)).fit(X, y)


def test_a_fit_that_is_refused_leaves_the_estimator_as_it_was():
    X, y, _ = draw(1)
    model = PegasosStructured(Broken("features", lambda x, y: "text"))
    with pytest.raises(InvalidType):
        model.fit(X, y)
    assert set(vars(model)) == set(model.get_params())
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_bad_parameters_are_refused():
    X, y, _ = draw(0)
    half = type("Half", (), {name: id for name in ("features", "cost", "decode")})
    with pytest.raises(InvalidParameter, match="lacks decode_augmented"):
        PegasosStructured(half()).fit(X, y)
    with pytest.raises(InvalidParameter, match="solver must be"):
        PegasosStructured(Matching(), solver="sdca").fit(X, y)
    with pytest.raises(InvalidData, match="pair up"):
        PegasosStructured(Matching()).fit(X, y[:-1])
    with pytest.raises(InvalidType, match="X must be a list"):
        PegasosStructured(Matching()).fit(iter(X), y)


def fitted(model, *data, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceNotReached)
        return model.fit(*data, **given)


@pytest.mark.parametrize("solver", ["frank_wolfe", "pegasos"])
def test_a_warm_start_goes_on_where_the_last_fit_ended(solver):
    X, y, weights = draw(3, n=8)
    given = {"lam": 0.05, "solver": solver, "random_state": 0, "tol": 1e-9}
    model = fitted(PegasosStructured(Matching(), max_iter=30, warm_start=True, **given), X, y)
    reached = model.certificate_
    fitted(model.set_params(max_iter=1), X, y)
    once = fitted(PegasosStructured(Matching(), max_iter=1, **given), X, y)
    assert model.certificate_.gap < once.certificate_.gap
    assert model.certificate_.primal <= 1.2 * reached.primal
    if solver == "frank_wolfe":  # the dual point is where it was
        assert model.certificate_.dual >= reached.dual - 1e-12
    for lam, s in ((0.3, None), (0.05, weights)):  # another penalty, other weights
        fitted(model.set_params(lam=lam, max_iter=3), X, y, sample_weight=s)
        best = optimum(X, y, np.ones(8) if s is None else s, lam)
        assert model.certificate_.dual - 1e-6 <= best <= model.certificate_.primal + 1e-6


def test_a_solver_goes_on_from_the_other_and_models_are_pickled():
    X, y, _ = draw(4, n=6)
    model = PegasosStructured(Matching(), lam=0.1, warm_start=True, random_state=0, max_iter=20)
    best = optimum(X, y, np.ones(6), 0.1)
    for solver in ("pegasos", "frank_wolfe", "pegasos"):
        model = pickle.loads(pickle.dumps(fitted(model.set_params(solver=solver), X, y)))
        assert model.certificate_.dual - 1e-6 <= best <= model.certificate_.primal + 1e-6


def test_what_cannot_be_pickled_is_begun_anew():
    X, y, _ = draw(5, n=6)
    structure = Matching()
    structure.handle = ctypes.c_void_p(3)  # pickle raises ValueError
    model = PegasosStructured(structure, warm_start=True, random_state=0, max_iter=2, tol=1e-9)
    once, again = (fitted(model, X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_other_examples_or_structures_are_begun_anew():
    class Another(Matching):
        pass

    X, y, _ = draw(5, n=6)
    given = {"lam": 0.1, "random_state": 0, "max_iter": 2, "tol": 1e-9}
    warm = fitted(PegasosStructured(Matching(), warm_start=True, **given), X, y)
    for structure, rows in ((Another(), X), (Matching(), [1.0 + x for x in X])):
        again = fitted(warm.set_params(structure=structure), rows, y)
        alone = fitted(PegasosStructured(structure, **given), rows, y)
        np.testing.assert_array_equal(again.coef_, alone.coef_)
