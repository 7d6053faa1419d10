"""Ctrl-C: a fit ends soon and keeps its model; a second one ends it at once, and a loop of fits."""

import signal
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosRegressor,
)
from pegasos.data.rows import as_rows
from pegasos.errors import FitInterrupted, InvalidParameter
from pegasos.estimators import fitting
from pegasos.interrupt import Interrupted, Interrupts
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.progress import Watch
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.sdca.linear import SDCA

pytestmark = pytest.mark.usefixtures("press_ctrl_c")


def some_data(n=300, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0.0, 1, -1)
    return X, y


@pytest.mark.fast
def test_the_first_interrupt_is_noted_and_the_second_raises():
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert interrupts.pending
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.fast
@pytest.mark.parametrize(("later", "is_second"), [(0.1, True), (1.9, True), (2.1, False)])
def test_a_second_interrupt_within_two_seconds_ends_the_next_fit_too(later, is_second):
    with Interrupts(clock=lambda: 100.0) as first:
        signal.raise_signal(signal.SIGINT)
    assert first.pending
    with Interrupts(clock=lambda: 100.0 + later) as second:
        if is_second:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)
        assert second.pending is not is_second


@pytest.mark.fast
def test_the_next_interrupt_after_one_that_raised_is_a_first_one():
    with Interrupts(clock=lambda: 100.0):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with Interrupts(clock=lambda: 100.5) as next_fit:
        signal.raise_signal(signal.SIGINT)
    assert next_fit.pending


@pytest.mark.fast
def test_an_interrupt_that_is_to_raise_does_so_at_once():
    with Interrupts(keeps=False), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.fast
def test_an_interrupt_ends_work_that_may_be_thrown_away():
    with Interrupts() as interrupts, pytest.raises(Interrupted), interrupts.raising(True):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.fast
def test_the_handler_is_restored():
    with Interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.fast
def test_a_handler_of_the_application_is_left_alone():
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
    assert seen == [1]
    assert not interrupts.pending


@pytest.mark.fast
def test_other_threads_fit_without_touching_signals():
    seen = []

    def work():
        with Interrupts() as interrupts:
            seen.append(interrupts.pending)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


@pytest.mark.parametrize("solver", [SDCA, Newton])
@pytest.mark.parametrize("epochs", [0, 2])
def test_ctrl_c_ends_a_fit_after_the_advance_it_came_in_and_keeps_the_model(
    press_ctrl_c, epochs, solver
):
    X, y = some_data()
    presses = press_ctrl_c(solver, epochs)
    model = PegasosClassifier(C=100.0, tol=1e-9, solver=solver(), random_state=0)
    with pytest.warns(FitInterrupted, match="model so far is kept: objective"):
        model.fit(X, y)
    assert (presses.left, presses.calls_after) == (0, 0)
    assert "interrupted" in model.certificate_.reason
    assert model.certificate_.primal >= model.certificate_.dual
    assert model.score(X, y) > 0.6
    assert model.certain(X).shape == y.shape
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def search(**options):
    X, y = some_data()
    grid = {"C": [0.1, 1.0, 10.0]}
    return GridSearchCV(
        PegasosClassifier(solver="sdca", random_state=0, **options), grid, cv=2
    ).fit(X, y)


def test_a_search_that_goes_on_after_ctrl_c_says_that_a_model_is_half_trained(press_ctrl_c):
    press_ctrl_c(SDCA)
    with pytest.warns(FitInterrupted, match="half-trained") as caught:
        assert search().best_params_
    (said,) = [w for w in caught if issubclass(w.category, FitInterrupted)]
    assert 'press Ctrl-C twice, or set on_interrupt="raise"' in str(said.message)
    assert said.filename == __file__  # who runs the search is told


@pytest.mark.parametrize("between", [1.0, 5.0])
def test_ctrl_c_twice_within_two_seconds_stops_a_search(press_ctrl_c, between, monkeypatch):
    presses, now = press_ctrl_c(SDCA, times=2), iter([10.0, 10.0 + between])
    monkeypatch.setattr(fitting, "Interrupts", partial(Interrupts, clock=lambda: next(now)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if between < 2.0:
            with pytest.raises(KeyboardInterrupt):
                search()
        else:
            search()
    found = [w for w in caught if issubclass(w.category, FitInterrupted)]
    assert len(found) == (1 if between < 2.0 else 2)
    assert presses.left == 0


def test_one_ctrl_c_stops_a_search_that_asked_for_it(press_ctrl_c):
    press_ctrl_c(SDCA)
    with pytest.raises(KeyboardInterrupt):
        search(on_interrupt="raise")


@pytest.mark.parametrize(
    "estimator",
    [PegasosClassifier, PegasosRegressor, KernelPegasosClassifier, KernelPegasosRegressor],
)
def test_on_interrupt_is_checked(estimator):
    X, y = some_data()
    with pytest.raises(
        InvalidParameter, match='on_interrupt must be "keep" or "raise"; got \'stop\''
    ):
        estimator(on_interrupt="stop").fit(X, y)


def test_ctrl_c_before_the_first_certificate_still_leaves_one():
    from pegasos.certificate.stopping import Outcome, Stopping
    from pegasos.solve import solve

    class Impatient(Watch):
        def epoch(self, epochs, model):
            signal.raise_signal(signal.SIGINT)
            return False

    X, y = some_data(n=200)
    problem = make_problem(Hinge(), as_rows(X), y[:, None].astype(float), None, 0.1, "free")
    solution = solve(problem, SDCA(), Stopping(tol=1e-9), watch=Impatient())
    assert solution.outcome is Outcome.INTERRUPT
    assert solution.certificate.epochs == 1
    assert np.isfinite(solution.certificate.gap)
