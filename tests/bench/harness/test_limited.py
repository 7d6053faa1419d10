"""Fits in a process of their own: answers, limits and failures."""

import multiprocessing
import os
import threading

import numpy as np
import pytest

from bench.harness.limited import within

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot fork here"
)


def test_an_answer_comes_back_as_it_was():
    seconds, model = within(60.0, lambda: (0.5, np.arange(3)))
    assert (seconds, model.tolist()) == (0.5, [0, 1, 2])


def test_a_fit_that_does_not_end_is_ended():
    assert within(0.0, lambda: threading.Event().wait()) == (0.0, None)


def test_a_fit_that_says_it_took_too_long_does_not_count():
    assert within(1.0, lambda: (1.5, "model")) == (1.0, None)


def test_a_failure_is_told_with_its_words():
    def fail():
        raise ValueError("no such loss")

    with pytest.raises(RuntimeError, match="no such loss"):
        within(60.0, fail)


def test_a_process_that_dies_is_an_error():
    with pytest.raises(RuntimeError, match="without an answer"):
        within(60.0, lambda: os._exit(3))
