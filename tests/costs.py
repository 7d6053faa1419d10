"""What each test folder costs: a pytest plugin that counts CPU seconds and compilations.

`make test PYTEST_ARGS='-p tests.costs'` ends every pass with a table by folder. `--costs=FILE` adds
a row per test to a file: CPU seconds, compilations, CPU seconds of these, name. CPU seconds include
those of fixtures and of child processes that ended; waiting for other programs is in none of them.
"""

import os
import time
from collections import defaultdict

import pytest

try:
    from numba.core import event
except ImportError:  # a Numba that renamed it: nothing is counted
    event = None

KEY = "cost"


class _Compilations:
    """Listens to Numba: how many functions were compiled, and CPU seconds from first to last."""

    def __init__(self):
        self.count, self.seconds, self.depth, self.began = 0, 0.0, 0, 0.0

    def notify(self, happened):
        if happened.is_start:
            self.count += 1
            self.depth += 1
            if self.depth == 1:
                self.began = time.process_time()
        else:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.process_time() - self.began


_compilations = _Compilations()


def pytest_addoption(parser):
    parser.addoption("--costs", help="with `-p tests.costs`: write a row per test to this file")


def pytest_configure(config):
    if event is not None:
        listener = type("Listener", (event.Listener,), {
            "on_start": lambda _, happened: _compilations.notify(happened),
            "on_end": lambda _, happened: _compilations.notify(happened),
        })()  # fmt: skip
        event.register("numba:compile", listener)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Table(config), "costs-table")


def _spent():
    """Return CPU seconds of this process and its children, compilations, and their seconds."""
    children = os.times()
    seconds = time.process_time() + children.children_user + children.children_system
    return seconds, _compilations.count, _compilations.seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.stash[_before] = _spent()
    return (yield)


_before = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "teardown":
        cost = [after - before for after, before in zip(_spent(), item.stash[_before], strict=True)]
        report.user_properties.append((KEY, cost))
    return report


class _Table:
    """Collects the costs in the process that reports, and prints their sums by folder."""

    def __init__(self, config):
        self.path, self.rows = config.getoption("--costs"), []

    def pytest_runtest_logreport(self, report):
        for cost in [value for key, value in report.user_properties if key == KEY]:
            if report.when == "teardown":
                self.rows.append((report.nodeid, *cost))
                if self.path:
                    row = [f"{cost[0]:.3f}", str(cost[1]), f"{cost[2]:.3f}", report.nodeid]
                    with open(self.path, "a", encoding="utf-8") as file:
                        file.write("\t".join(row) + "\n")

    def pytest_terminal_summary(self, terminalreporter):
        sums = defaultdict(lambda: [0, 0.0, 0, 0.0])
        for name, *cost in self.rows:
            for group in (_folder(name), "all"):
                sums[group] = [a + b for a, b in zip(sums[group], [1, *cost], strict=True)]
        write = terminalreporter.write_line
        write(f"{'folder':34} {'tests':>7} {'CPU s':>8} {'compiled':>9} {'CPU s of it':>12}")
        for name, (tests, seconds, count, compiling) in sorted(
            sums.items(), key=lambda kept: kept[1][1]
        ):
            write(f"{name:34} {tests:7} {seconds:8.1f} {count:9} {compiling:12.1f}")


def _folder(name):
    """Return the first two folders of a test, or its file at the top."""
    return "/".join(name.split("::")[0].split("/")[:3])
