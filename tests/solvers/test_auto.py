"""The choice of a solver: who is expected to end first, and a change of mind."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import PegasosClassifier
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.problem.joint_losses import JointHinge, Softmax, zero_one
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.progress import Watch
from pegasos.solve import solve
from pegasos.solvers import auto, auto_joint
from pegasos.solvers.auto import (
    RUN,
    RUNS,
    Auto,
    Facts,
    facts_of,
    mean_square,
    seconds_of_newton,
    seconds_of_sdca,
)
from tests.joint_problems import targets


def facts(**changes):
    return Facts(
        **{"n": 30_000, "d": 100, "values": 3_000_000, "models": 1, "kappa": 100.0,
           "is_smooth": False, "is_sparse": False, **changes}
    )  # fmt: skip


def posed(n=400, d=5, scale=1.0, lam=1e-3):
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((n, d))
    Y = np.where(X[:, [0]] + scale * rng.standard_normal((n, 1)) > 0.0, 1.0, -1.0)
    return make_problem(Hinge(), as_rows(X), Y, None, lam, "free")


class Plans(Watch):
    """Keep what was planned."""

    def __init__(self):
        self.texts = []

    def planned(self, text):
        self.texts.append(text)


@pytest.mark.fast
def test_texts_go_to_sdca_and_tables_to_newton():
    text = facts(n=200_000, d=47_000, values=15_000_000, kappa=1.0, is_sparse=True)
    assert seconds_of_sdca(text, 1e-3) < seconds_of_newton(text, 1e-3) == np.inf
    table = facts(kappa=1e5)
    assert seconds_of_newton(table, 1e-3) < seconds_of_sdca(table, 1e-3)


@pytest.mark.fast
def test_predictions_grow_with_the_work():
    for seconds in (seconds_of_sdca, seconds_of_newton):
        known = seconds(facts(), 1e-3)
        for harder in ({"n": 60_000}, {"values": 6_000_000}, {"models": 2}):
            assert seconds(facts(**harder), 1e-3) > known
        assert seconds(facts(), 1e-6) > known
    assert seconds_of_sdca(facts(kappa=200.0), 1e-3) > seconds_of_sdca(facts(), 1e-3)
    assert seconds_of_newton(facts(d=200), 1e-3) > seconds_of_newton(facts(), 1e-3)


@pytest.mark.fast
@pytest.mark.parametrize("loss", auto.EPOCHS)
def test_the_largest_penalties_and_units_are_predicted_too(loss):
    seconds = [seconds_of_sdca(facts(loss=loss, kappa=kappa), 1e-3) for kappa in (1e6, 1e300)]
    assert seconds[0] < seconds[1] < np.inf


@pytest.mark.fast
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_kappa_is_the_square_length_of_rows_seen_from_their_mean_times_c(container):
    X = np.random.default_rng(0).standard_normal((50, 3)) + 100.0
    Y = np.where(np.arange(50)[:, None] % 2, 1.0, -1.0)
    found = facts_of(make_problem(Hinge(), as_rows(container(X)), Y, None, 0.01, "free"))
    expected = np.sum((X - X.mean(axis=0)) ** 2) / 50 / (0.01 * 50)
    assert found.kappa == pytest.approx(expected)
    assert found[:4] == (50, 3, 150, 1)


@pytest.mark.fast
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_runs_of_rows_tell_the_mean_square_of_many(container, bias):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3)) * np.linspace(1.0, 2.0, 5000)[:, None] + 3.0
    Y, s = np.where(X[:, [0]] > 3.0, 1.0, -1.0), rng.integers(0, 3, 5000).astype(float)
    problem = make_problem(Hinge(), as_rows(container(X)), Y, s, 0.01, bias)
    starts = np.linspace(0, 5000 - RUN, RUNS).astype(int)
    some = np.concatenate([np.arange(start, start + RUN) for start in starts])
    x, t = X[some], s[some, None]
    m = (t * x).sum(axis=0) / t.sum() if bias == "free" else 0.0
    expected = (t * (x - m) ** 2).sum() / t.sum()
    assert mean_square(problem) == pytest.approx(expected)


def test_the_choice_is_told():
    plans = Plans()
    solve(posed(scale=100.0), Auto(), Stopping(), watch=plans)
    assert len(plans.texts) == 1
    assert plans.texts[0].startswith("newton: 400 x 5, C R^2 = ")


def test_a_wrong_choice_is_changed_mid_way(monkeypatch):
    few = {"Hinge": auto.EPOCHS["Hinge"]._replace(first=1e-9)}
    hopeful = auto.RATES._replace(epochs=few)
    monkeypatch.setattr(auto.seconds_of_sdca, "__defaults__", (hopeful,))
    plans = Plans()
    found = solve(posed(scale=1e3), Auto(), Stopping(), watch=plans)
    assert [text.split(":")[0].split(",")[0] for text in plans.texts] == ["sdca", "newton"]
    assert found.certificate.relative_gap <= 1e-3
    assert found.trace.records[-1].epoch == found.certificate.epochs


def test_seeds_repeat_whatever_was_chosen():
    X = np.random.default_rng(0).standard_normal((300, 4))
    y = X[:, 0] > 0.3
    for C in (1e-3, 1e3):
        one, other = (PegasosClassifier(C=C, random_state=3).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.fast
def test_joint_models_of_tables_go_to_newton_and_of_texts_to_sdca():
    letter = facts(n=15_000, d=16, values=240_000, models=26, kappa=16.0)
    text = facts(n=12_000, d=62_000, values=960_000, models=20, kappa=1.0, is_sparse=True)
    images = facts(n=60_000, d=784, values=47_000_000, models=10, kappa=50.0, is_smooth=True)
    for known in (letter, letter._replace(is_smooth=True), images):
        assert auto_joint.seconds_of_newton(known, 1e-3) < auto_joint.seconds_of_sdca(known, 1e-3)
    assert auto_joint.seconds_of_newton(text, 1e-3) == np.inf
    assert auto_joint.seconds_of_sdca(text, 1e-3) < np.inf
    for seconds in (auto_joint.seconds_of_sdca, auto_joint.seconds_of_newton):
        for harder in ({"n": 30_000}, {"values": 480_000}, {"models": 52}):
            assert seconds(letter._replace(**harder), 1e-3) > seconds(letter, 1e-3)
        assert seconds(letter, 1e-6) > seconds(letter, 1e-3)


def test_a_joint_problem_gets_a_solver():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.standard_normal((400, 3)) + y[:, None]
    watch = Plans()
    for loss in (JointHinge(zero_one(3)), Softmax()):
        problem = make_problem(loss, as_rows(X), targets(y, 3), None, 1e-4, "free")
        assert solve(problem, Auto(), Stopping(tol=1e-3), watch=watch).certificate.is_within_tol
    assert all("newton" in text for text in watch.texts)
