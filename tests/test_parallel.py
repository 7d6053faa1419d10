"""Threads: every part is done, once, and before the caller goes on; errors reach the caller."""

import os
import signal
import threading
import weakref

import numpy as np
import pytest

from pegasos import parallel
from pegasos.blas_threads import limit
from pegasos.parallel import cores, each, limited_to, ranges

pytestmark = pytest.mark.fast


@pytest.fixture(params=[1, 2, 4])
def _threads(request, monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: request.param)
    monkeypatch.setattr(parallel, "_pools", {})


def test_ranges_cover_everything_once():
    assert ranges(7, 3) == [(0, 3), (3, 6), (6, 7)]
    assert ranges(6, 3) == [(0, 3), (3, 6)]
    assert ranges(2, 5) == [(0, 2)]
    assert ranges(0, 5) == []


def test_cores_are_those_that_this_process_may_use():
    assert 1 <= cores() <= (os.cpu_count() or 1)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_every_part_is_done_once(count):
    done = np.zeros(count, dtype=int)

    def work(part):
        done[part] += 1

    each(work, range(count))
    assert done.tolist() == [1] * count


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("culprit", [0, 1, 7])
def test_an_error_reaches_the_caller_and_no_part_goes_on(culprit):
    done = []

    def work(part):
        if part == culprit:
            raise ValueError(f"part {part}")
        done.append(part)

    with pytest.raises(ValueError, match=f"part {culprit}"):
        each(work, range(8))
    before = sorted(done)
    assert culprit not in before
    each(lambda part: None, range(8))  # the pool still works, and takes what waits in turn
    assert sorted(done) == before  # nobody was still at it


@pytest.mark.usefixtures("_threads")
def test_an_exception_from_a_signal_waits_for_the_parts_under_way():
    # A Ctrl-C that ends a certificate must leave no thread that writes to its arrays.
    class Stop(Exception):
        pass

    def stop(number, frame):
        is_stopped.set()
        raise Stop

    running, sent, is_stopped, has_help = [], [], threading.Event(), threading.Event()

    def work(part):
        if threading.current_thread() is threading.main_thread():
            if parallel.cores() > 1:
                has_help.wait()
            return
        running.append(part)
        has_help.set()
        if not sent:
            sent.append(True)
            os.kill(os.getpid(), signal.SIGUSR1)
        is_stopped.wait()
        sum(range(300_000))  # time enough for the caller to go on, if it did not wait
        running.remove(part)

    earlier = signal.signal(signal.SIGUSR1, stop)
    try:
        if parallel.cores() == 1:
            each(work, range(4))
        else:
            with pytest.raises(Stop):
                each(work, range(4))
        assert running == []
        each(lambda part: None, range(4))
        assert running == []  # and none that begins later
    finally:
        signal.signal(signal.SIGUSR1, earlier)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_no_more_parts_are_under_way_than_may_be(at_once):
    done, running, most, change = np.zeros(9, dtype=int), [0], [0], threading.Lock()

    def work(part):
        with change:
            running[0] += 1
            most[0] = max(most[0], running[0])
        done[part] += 1
        with change:
            running[0] -= 1

    each(work, range(9), at_once)
    with limited_to(at_once):
        each(work, range(9))
        each(work, range(9), 5)
    assert done.tolist() == [3] * 9
    assert most[0] <= at_once


def test_a_limit_ends_with_its_block_and_is_of_this_thread_alone():
    found = []

    def look():
        found.append(getattr(parallel._here, "limit", None))

    with limited_to(3):
        with limited_to(1):
            look()
        look()
        other = threading.Thread(target=look)
        other.start()
        other.join()
    look()
    assert found == [1, 3, None, None]


class Library:
    """A library of matrix products as threadpoolctl shows it: only one thread may set limits."""

    num_threads = 4

    def set_num_threads(self, count):
        raise AssertionError("this thread may not set limits")

    def _real_set_num_threads(self, count):
        self.num_threads = count


@pytest.fixture
def libraries(monkeypatch):
    found = {False: [Library(), Library()], True: [Library()]}
    monkeypatch.setattr(parallel, "libraries", found.get)
    return [*found[False], *found[True]]


class Renamed:
    """A library whose private function has another name; one thread is in control of limits."""

    num_threads, is_controlled = 4, True

    def clear_controlling_thread(self, force=False):
        self.is_controlled = not force

    def set_num_threads(self, count):
        if not self.is_controlled:
            self.num_threads = count


class Plain:
    """A library as threadpoolctl showed it before version 3.8."""

    num_threads = 4

    def set_num_threads(self, count):
        self.num_threads = count


@pytest.mark.parametrize("kind", [Library, Renamed, Plain])
def test_any_thread_sets_limits_whatever_version_of_threadpoolctl(kind):
    libraries = [kind(), kind()]
    assert limit(libraries, 1) == [4, 4]
    assert limit(libraries, [2, 3]) == [1, 1]
    assert [library.num_threads for library in libraries] == [2, 3]


def test_matrix_products_take_one_thread_while_anyone_is_inside(libraries):
    counts = lambda: [library.num_threads for library in libraries]  # noqa: E731
    outer, inner = parallel.OneBlasThread(), []

    def work():
        with outer:
            inner.append(counts())

    with outer, outer:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert counts()[:2] == [1, 1]
    assert inner == [[1, 1, 1]]
    assert counts() == [4, 4, 4]


def test_a_forked_child_takes_back_the_limit_of_threads_it_does_not_have(libraries):
    limits, may_end, is_in = parallel.OneBlasThread(), threading.Event(), threading.Event()

    def work():
        with limits:
            is_in.set()
            may_end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    is_in.wait()
    limits.forget_others()  # as the child does
    with limits:
        assert [library.num_threads for library in libraries[:2]] == [1, 1]
    assert [library.num_threads for library in libraries[:2]] == [4, 4]
    limits.inside += 1  # the thread of the parent is there after all
    limits.before = [4, 4]
    may_end.set()
    thread.join()


def test_work_within_work_ends(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "_pools", {})
    done = np.zeros((8, 8))

    def outer(k):
        parallel.each(lambda j: done.__setitem__((k, j), 1.0), range(8))

    parallel.each(outer, range(8))
    assert done.all()


def test_the_caller_does_not_wait_behind_parts_of_its_own_call(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "_pools", {})
    may_end, asked, by_whom = threading.Event(), [], []

    def outer(k):
        if k > 0:
            may_end.wait()
            return
        asked.append(threading.get_ident())
        parallel.each(lambda _: by_whom.append(threading.get_ident()), range(4))
        may_end.set()

    parallel.each(outer, range(8))
    assert by_whom == asked * 4


def test_the_caller_takes_parts_until_none_is_left(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "_pools", {})
    all_others_done, by_caller = threading.Event(), []

    def work(part):
        if threading.current_thread() is not threading.main_thread():
            all_others_done.wait()  # the helper is busy with one part,
            return
        by_caller.append(part)
        if len(by_caller) == 7:  # and the caller does all others
            all_others_done.set()

    parallel.each(work, range(8))
    assert len(by_caller) >= 7


def test_a_helper_that_never_came_keeps_no_array_of_the_caller(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "_pools", {})
    busy, may_end = threading.Barrier(3), threading.Event()

    def occupy(_):
        busy.wait()
        may_end.wait()

    other = threading.Thread(target=parallel.each, args=(occupy, range(2)))
    other.start()
    busy.wait()  # the only helper is at work for another
    array = np.zeros(4)
    alive = weakref.ref(array)
    parallel.each(lambda k, array=array: array.__setitem__(k, 1.0), range(4))
    done = array.all()
    del array
    try:
        assert done
        assert alive() is None
    finally:
        may_end.set()
        other.join()
