"""Shared by all tests: skips, the settings of property tests, small random problems."""

import gc
import os
import signal
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from scipy import sparse

from pegasos import interrupt
from pegasos.data.rows import as_rows
from pegasos.problem.objective import make_problem

os.environ.setdefault("PEGASOS_QUIET", "1")  # no word about compiling

# The compiler makes millions of small objects: looking for cycles among them after every 700, in
# memory that holds the modules and tests for ever, took a seventh of its time.
gc.set_threshold(100_000, 50, 50)

settings.register_profile("pegasos", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("pegasos")


@pytest.fixture(autouse=True)
def same_seeds():
    """What random_state=None draws from begins every test alike: no test fails by chance."""
    np.random.seed(0)  # noqa: NPY002 (the generator that check_random_state(None) takes)


def pytest_collection_finish():
    gc.freeze()


def pytest_collection_modifyitems(items):
    if "PEGASOS_DATA" not in os.environ:
        skip = pytest.mark.skip(reason="PEGASOS_DATA is not set")
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(skip)


class Drawn(NamedTuple):
    """A small random problem: as numbers for oracles, and as kernels see it."""

    X: np.ndarray  # dense float64 copy of the rows
    y: np.ndarray
    weights: np.ndarray  # ones where the problem has none
    lam: float
    bias: str
    bias_scale: float
    problem: object


def draw(loss, seed=0, n=30, d=6, *, K=1, kind="dense", dtype=np.float64, weighted=False,
         bias="none", lam=0.05, regression=False):  # fmt: skip
    """Draw a problem whose classes overlap, or a noisy line; `kind` is dense, fortran or csr."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if kind == "csr":
        X *= rng.random((n, d)) < 0.4
    X = X.astype(dtype)
    score = X.astype(np.float64) @ rng.standard_normal((d, K)) + 0.7
    noise = rng.standard_normal((n, K))
    Y = score + 0.5 * noise if regression else np.where(score + 2.0 * noise > 0.0, 1.0, -1.0)
    if not regression:
        Y[0], Y[1] = 1.0, -1.0
    weights = rng.integers(0, 4, n) * rng.uniform(0.5, 1.5) if weighted else None
    if weighted:
        weights[:2] = 1.0
    container = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": sparse.csr_array}[kind]
    problem = make_problem(loss, as_rows(container(X)), Y, weights, lam, bias, 1.5)
    return Drawn(
        X.astype(np.float64), Y, np.ones(n) if weights is None else weights, lam, bias, 1.5, problem
    )


@pytest.fixture(name="draw")
def _draw():
    """Return the function that draws small random problems."""
    return draw


class Presses:
    """Presses Ctrl-C while a solver advances, in the first call after so many epochs of each fit.

    `calls_after` counts the calls of `advance` that follow: how often nobody looked up.
    """

    def __init__(self, monkeypatch, solver, epochs=0, times=1):
        self.left, self.calls_after, self.epochs = times, 0, 0
        advance, start = solver.advance, solver.start

        def begin(*arguments):
            self.epochs, self.has_pressed = 0, False
            return start(*arguments)

        def press(own, problem, state):
            step = advance(own, problem, state)
            self.calls_after += self.has_pressed
            if self.epochs >= epochs and self.left and not self.has_pressed:
                self.left, self.has_pressed = self.left - 1, True
                signal.raise_signal(signal.SIGINT)
            self.epochs += step.ends_epoch
            return step

        self.has_pressed = False
        monkeypatch.setattr(solver, "start", begin)
        monkeypatch.setattr(solver, "advance", press)


@pytest.fixture
def press_ctrl_c(monkeypatch):
    """Give Ctrl-C its usual meaning, forget earlier ones, and return what presses it."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(interrupt._Last, "seconds", float("-inf"))
    yield lambda *how, **options: Presses(monkeypatch, *how, **options)
    signal.signal(signal.SIGINT, earlier)


@pytest.fixture
def clock(monkeypatch):
    """Put a clock in the place of the computer's; `clock(seconds)` moves on with every look."""
    now, step = [0.0], [0.0]

    def look():
        now[0] += step[0]
        return now[0]

    monkeypatch.setattr("time.perf_counter", look)

    def set_step(seconds):
        step[0] = seconds
        return now

    return set_step
