"""What a person sees of a fit: nothing unless asked, never on stdout, a line when compiling."""

import io
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from pegasos import PegasosClassifier
from pegasos.certificate.stopping import Certificate
from pegasos.certificate.trace import Record
from pegasos.progress import (
    Bar,
    Compilation,
    Hints,
    Lines,
    Log,
    Watch,
    Watches,
    duration,
    state_of,
    watch_for,
)

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
y = np.array([0, 1, 1, 0])

RECORD = Record(12, 3.1, 1200, 0.5, 0.49, 0.01, 0.02)
CERTIFICATE = Certificate(0.5, 0.4999, 1e-4, 2e-4, 1e-3, "the tolerance was reached", 14, 4.0, {})


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def use(monkeypatch):
    """Return a function that puts a stream in the place of stderr."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

    def replace(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return replace


def test_a_fit_is_silent_by_default(capfd):
    PegasosClassifier().fit(X, y)  # compiles, if it must
    capfd.readouterr()
    PegasosClassifier().fit(X, y)
    assert capfd.readouterr() == ("", "")


def test_verbose_writes_lines_to_stderr_when_it_is_no_terminal(capfd):
    PegasosClassifier(verbose=1).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("pegasos: objective ")
    assert "of the optimum" in err


@pytest.mark.fast
def test_verbose_chooses_a_bar_on_a_terminal_and_lines_elsewhere(use):
    use(Terminal())
    assert any(isinstance(watch, Bar) for watch in watch_for(1, 1e-3).watches)
    use(io.StringIO())
    assert any(isinstance(watch, Lines) for watch in watch_for(1, 1e-3).watches)
    assert not any(isinstance(watch, Bar | Lines) for watch in watch_for(0, 1e-3).watches)


@pytest.mark.fast
def test_the_bar_shows_the_gap_and_the_time_left(use):
    terminal = use(Terminal())
    with Bar(1e-3) as bar:
        bar.certified(RECORD, 4.0)
        bar.advanced(12.0, lambda: 3.1)
        bar._progress.refresh()
        assert "gap 2 % > 0.1 %" in terminal.getvalue()
        assert "about 4.0 s left" in terminal.getvalue()
        bar.finished(CERTIFICATE)
    assert "gap 0.02 % <= 0.1 %" in terminal.getvalue()
    assert "objective 0.5, proven within 0.02 % of the optimum" in terminal.getvalue()


@pytest.mark.fast
def test_lines_come_at_most_every_two_seconds(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("pegasos.progress.time.perf_counter", lambda: now[0])
    lines = Lines()
    for tick in range(61):
        now[0] = 0.1 * tick
        if tick == 25:
            lines.certified(RECORD, 4.0)
        lines.advanced(0.5 * tick, lambda: now[0])
    lines.finished(CERTIFICATE)
    written = capsys.readouterr().err.splitlines()
    assert len(written) == 4  # at 2, 4 and 6 seconds, and at the end
    assert written[0] == "pegasos: epoch 10, 2.0 s, no certificate yet"
    assert "proven within 2 % of the optimum, about 3.1 s left" in written[1]
    assert written[-1].startswith("pegasos: objective 0.5, proven within 0.02 %")


@pytest.mark.fast
def test_the_logger_hears_of_certificates_and_of_the_end(caplog):
    with caplog.at_level(logging.DEBUG, logger="pegasos"):
        log = Log()
        log.certified(RECORD, float("nan"))
        log.finished(CERTIFICATE)
    assert [record.levelname for record in caplog.records] == ["DEBUG", "INFO"]
    assert caplog.records[0].message == state_of(RECORD, float("nan"))


@pytest.mark.fast
def test_several_watches_are_all_asked_and_any_may_stop():
    class Stop(Watch):
        asked = 0

        def epoch(self, epochs, model):
            Stop.asked += 1
            return epochs == 2

    watches = Watches([Stop(), Watch(), Stop()])
    assert not watches.epoch(1, None)
    assert watches.epoch(2, None)
    assert Stop.asked == 4


@pytest.mark.fast
@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.04 s"), (3.14, "3.1 s"), (42.0, "42 s"), (600.0, "10 min"), (7200.0, "2 h")],
)
def test_durations_read_as_a_person_would_say_them(seconds, text):
    assert duration(seconds) == text


@pytest.mark.fast
def test_hints_are_written_unless_quiet_is_asked_for(monkeypatch, capsys):
    for quiet in ("1", "0", ""):
        monkeypatch.setenv("PEGASOS_QUIET", quiet)
        Hints().announce(f"wait {quiet!r}")
    assert capsys.readouterr().err == "pegasos: wait '0'\npegasos: wait ''\n"


@pytest.mark.fast
def test_compilation_is_announced_once_and_timed_without_counting_twice():
    now, said = [0.0], []
    compilation = Compilation(said.append, "compiling", lambda: now[0])
    for begin, end in ((1.0, 3.0), (5.0, 6.0)):
        now[0] = begin
        compilation.on_start()
        compilation.on_start()  # a kernel that another kernel needs
        now[0] = end
        compilation.on_end()
        compilation.on_end()
    assert said == ["compiling"]
    assert compilation.seconds == 3.0


@pytest.mark.fast
def test_compilation_is_announced_when_it_has_taken_more_than_a_second():
    now, said = [0.0], []
    compilation = Compilation(said.append, "compiling", lambda: now[0])
    for begin, end in ((0.0, 0.5), (100.0, 100.4)):
        now[0] = begin
        compilation.on_start()
        now[0] = end
        compilation.on_end()
    assert said == []  # 0.9 s together; what lay between was something else
    now[0] = 200.0
    compilation.on_start()
    now[0] = 200.2
    compilation.on_start()  # not at its end: somebody waits
    assert said == ["compiling"]


FIT = """
import sys, numpy as np
import pegasos.progress
{prologue}
from pegasos import PegasosClassifier
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
model = PegasosClassifier(verbose={verbose}, max_time=5.0).fit(X, [0, 1, 1, 0])
assert "the tolerance" in model.certificate_.reason, model.certificate_
"""


def run(code, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.slow
def test_the_first_compilation_says_so_and_later_processes_are_silent(tmp_path):
    text = "pegasos: compiling for this kind of data (about 10 s), once per machine\n"
    first = run(FIT.format(prologue="", verbose=1), tmp_path)
    assert text in first  # after a line on the solver, if that was chosen within a second
    assert first.count("compiling") == 1
    second = run(FIT.format(prologue="", verbose=1), tmp_path)
    assert "compiling" not in second
    assert run(FIT.format(prologue="", verbose=0), tmp_path) == ""


def test_importing_the_package_loads_neither_rich_nor_matplotlib():
    code = (
        "import sys, pegasos\n"
        "loaded = {'rich', 'matplotlib', 'polars', 'sklearn.callback'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "assert 'ConvergenceDisplay' in dir(pegasos)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
