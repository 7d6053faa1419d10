"""Certified labels of tokens: against all label sequences written out, and the true optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos import PegasosSequenceLabeler
from pegasos.certificate.sequence_predictions import ROOT, write_leads
from pegasos.problem.chain import make_room
from tests.reference import chain as reference
from tests.reference import chain_solvers
from tests.reference.sequences import draw

pytestmark = pytest.mark.fast


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(2, 4))
def test_leads_are_those_of_enumeration(seed, L, K):
    rng = np.random.default_rng(seed)
    z, T, c = rng.standard_normal((L, K)), rng.standard_normal((K, K)), rng.random(L)
    path, edge, leads = reference.best(z, T)[0], float(rng.random()), np.zeros(L)
    write_leads(z.copy(), T, path.astype(np.uint16), c, edge, make_room(L, K), leads)
    for t in range(L):
        best = -np.inf
        for other in reference.paths(L, K):
            if other[t] != path[t]:
                differ = other != path
                steps = np.count_nonzero(differ[1:] | differ[:-1])
                gain = c @ differ + edge * steps
                best = max(best, reference.score(z, T, other) + gain)
        assert leads[t] == pytest.approx(reference.score(z, T, path) - best, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 3))
def test_what_places_have_one_by_one_bounds_the_change_of_features(seed, L, K):
    rng = np.random.default_rng(seed)
    X, (y, other) = rng.standard_normal((L, 2)), rng.integers(0, K, (2, L))
    differ = y != other
    norms, steps = np.linalg.norm(X, axis=1), np.count_nonzero(differ[1:] | differ[:-1])
    bound = ROOT * (norms @ differ + steps + differ[0] + differ[-1])
    change = reference.phi(X, y, K) - reference.phi(X, other, K)
    assert np.linalg.norm(change) <= bound * (1.0 + 1e-12)


def weights(model):
    return np.vstack([model.coef_.T, model.transitions_, model.start_, model.end_])


def labels_at(W, X):
    return reference.best(*chain_solvers.node_scores(X, W))[0]


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize(
    ("kind", "solver"),
    [("hinge", "frank_wolfe"), ("hinge", "pegasos"), ("logistic", "sdca"), ("logistic", "pegasos")],
)
@pytest.mark.filterwarnings("ignore::pegasos.errors.ToleranceNotReached")
def test_labels_that_are_certain_are_those_of_the_optimum(kind, solver, number):
    drawn = draw(kind, number, n=8)
    own = (drawn.cost, drawn.Xs, drawn.ys, drawn.weights, drawn.lam)
    _, optimum = reference.optimum(kind, *own)
    options = {"loss": kind, "lam": drawn.lam, "solver": solver, "random_state": 0}
    cost = drawn.cost if kind == "hinge" else None
    rng = np.random.default_rng(number)
    new = [rng.standard_normal((L, drawn.Xs[0].shape[1])) for L in (1, 2, 3, 4)]
    for epochs in (2, 10, 60):
        model = PegasosSequenceLabeler(**options, cost=cost, tol=1e-7, max_iter=epochs)
        model.fit(drawn.Xs, [y.tolist() for y in drawn.ys])
        if len(model.classes_) < drawn.K:
            return
        W, off = weights(model), rng.standard_normal(optimum.shape)
        assert np.linalg.norm(W - optimum) <= model._radius + 1e-5  # the oracle's own accuracy
        edge = W + model._radius * off / np.linalg.norm(off)
        for X, is_certain, labels in zip(new, model.certain(new), model.predict(new), strict=True):
            for other in (optimum, edge):
                same = labels_at(other, X) == np.array(labels)
                assert np.all(same | ~is_certain)


@pytest.mark.filterwarnings("ignore::pegasos.errors.ToleranceNotReached")
def test_most_labels_become_certain():
    drawn = draw("logistic", 3, n=8)
    model = PegasosSequenceLabeler(lam=drawn.lam, tol=1e-10, random_state=0)
    model.fit(drawn.Xs, [y.tolist() for y in drawn.ys])
    certain = model.certain(drawn.Xs)
    assert [len(one) for one in certain] == [len(y) for y in drawn.ys]
    assert np.concatenate(certain).mean() > 0.9
    assert certain[0].dtype == bool
    model.set_params(tol=10.0, max_iter=1).fit(drawn.Xs, [y.tolist() for y in drawn.ys])
    assert np.concatenate(model.certain(drawn.Xs)).mean() < 0.9
