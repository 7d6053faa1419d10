"""Properties that are computed once, in forked processes too."""

import os
import signal
import threading

import pytest

from pegasos.kernel_matrix.kept_property import kept_property

pytestmark = pytest.mark.fast


class Slow:
    """Its value takes until someone allows for it; how often it was computed is counted."""

    def __init__(self, is_asked, may_end):
        self.is_asked, self.may_end, self.count = is_asked, may_end, 0

    @kept_property
    def value(self):
        """A number."""
        self.count += 1
        self.is_asked.set()
        self.may_end.wait()
        return 7


def test_a_value_is_computed_once():
    may_end = threading.Event()
    may_end.set()
    one = Slow(threading.Event(), may_end)
    assert (one.value, one.value, one.count) == (7, 7, 1)
    assert vars(Slow)["value"].__doc__ == "A number."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_process_forked_while_a_value_is_computed_computes_its_own():
    one = Slow(threading.Event(), threading.Event())
    thread = threading.Thread(target=lambda: one.value)
    thread.start()
    one.is_asked.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends it if it waits for what the thread held
        other = Slow(threading.Event(), threading.Event())
        other.may_end.set()
        os._exit(other.value)
    _, status = os.waitpid(child, 0)
    one.may_end.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 7
