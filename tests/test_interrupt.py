"""Ctrl-C: a fit ends soon and keeps its model; a second one ends it at once."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from pegasos import PegasosClassifier
from pegasos.data.rows import as_rows
from pegasos.errors import FitInterrupted
from pegasos.interrupt import Interrupted, Interrupts
from pegasos.problem.losses import Hinge
from pegasos.problem.objective import make_problem
from pegasos.progress import Watch


@pytest.fixture(autouse=True)
def _default_handler():
    """Give SIGINT its usual meaning, which test runners may have changed."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


def long_problem(n=200_000, d=50):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0.0, 1, -1)
    return X, y


class Killer(Watch):
    """Have another thread send SIGINT to this process while the next epoch runs."""

    def __init__(self, after=2):
        self.after, self.ripe, self.sent = after, threading.Event(), None
        threading.Thread(target=self.kill, daemon=True).start()

    def kill(self):
        self.ripe.wait()
        self.sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    def epoch(self, epochs, model):
        if epochs == self.after:
            self.ripe.set()
        return False


@pytest.mark.fast
def test_the_first_interrupt_is_noted_and_the_second_raises():
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert interrupts.pending
        with pytest.raises(KeyboardInterrupt):
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


def test_ctrl_c_ends_a_fit_within_half_a_second_and_keeps_the_model(monkeypatch):
    X, y = long_problem()
    killer = Killer()
    from pegasos.estimators import base

    watch_for = base.watch_for
    monkeypatch.setattr(base, "watch_for", lambda *rest: watch_for(*rest, killer))
    model = PegasosClassifier(C=100.0, tol=1e-9, random_state=0)
    with pytest.warns(FitInterrupted, match="model so far is kept: objective"):
        model.fit(X, y)
    assert time.perf_counter() - killer.sent < 0.5
    assert "interrupted" in model.certificate_.reason
    assert model.certificate_.primal >= model.certificate_.dual > 0.0
    assert model.score(X, y) > 0.6
    assert model.certain(X).shape == y.shape
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_first_certificate_still_leaves_one():
    from pegasos.certificate.stopping import Outcome, Stopping
    from pegasos.solve import solve
    from pegasos.solvers.linear.sdca import SDCA

    class Impatient(Watch):
        def epoch(self, epochs, model):
            signal.raise_signal(signal.SIGINT)
            return False

    X, y = long_problem(n=200, d=3)
    problem = make_problem(Hinge(), as_rows(X), y[:, None].astype(float), None, 0.1, "free")
    solution = solve(problem, SDCA(), Stopping(tol=1e-9), watch=Impatient())
    assert solution.outcome is Outcome.INTERRUPT
    assert solution.certificate.epochs == 1
    assert np.isfinite(solution.certificate.gap)
