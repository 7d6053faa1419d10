"""A run on sequences or structures that is saved and loaded in another process: the same bits."""

import hashlib
import io
import json
import os
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

from examples.matching import Matching
from pegasos.around import Around
from pegasos.certificate.stopping import Stopping
from pegasos.progress import Watch
from pegasos.state import to_data
from pegasos.structured import chain
from pegasos.structured.examples import make_examples
from pegasos.structured.solve import StructuredRun
from pegasos.structured.solvers import SOLVERS, begin, task_of
from tests.reference.sequences import draw

HANGS = 3000  # seconds: what has not ended by then never will
LIMITS = Stopping(tol=1e-3, max_iter=15)
SMALL_PORTIONS = [("pegasos.solvers.chain.visits", "stretches", lambda problem, K: 2)]


def of_chain(kind, name):
    drawn = draw(kind, 3, n=7, weighted=True)
    solver = chain.SOLVERS[name]()
    return chain.task_of(drawn.problem, solver), lambda: solver.start(drawn.problem, drawn.K, 5)


def of_structure(name):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((3, 3, 2)) for _ in range(6)]
    y = [rng.permutation(3) for _ in X]
    problem = make_examples(Matching(), X, y, None, 0.1)
    return task_of(problem, SOLVERS[name]()), lambda: begin(problem, 5)


CASES = {
    "frank_wolfe": (of_chain, "hinge", "frank_wolfe"),
    "pegasos, hinge": (of_chain, "hinge", "pegasos"),
    "pegasos, logistic": (of_chain, "logistic", "pegasos"),
    "sdca": (of_chain, "logistic", "sdca"),
    "any frank_wolfe": (of_structure, "frank_wolfe"),
    "any pegasos": (of_structure, "pegasos"),
}


def begun(name):
    make, *positional = CASES[name]
    task, start = make(*positional)
    return StructuredRun(task, LIMITS, Around("compiling", Watch()), start())


def outcome_of(run):
    """Go on to the end; return a digest of all that is left behind, but for the seconds."""
    while run.outcome is None:
        run.advance()
    found = run.finish()
    certificate, records = asdict(found.certificate), [asdict(r) for r in found.trace.records]
    for part in (certificate, *records):
        del part["seconds"]
    digest = hashlib.sha256()
    for whole in ([found.model, certificate, records, found.outcome.value], found.state):
        for name, part in to_data(whole, {}).items():
            digest.update(f"{name} {part if isinstance(part, str) else part.dtype}".encode())
            digest.update(part.encode() if isinstance(part, str) else part.tobytes())
    return f"{found.outcome.name} after {found.certificate.epochs} {digest.hexdigest()}"


def saved_after(name, calls):
    """Return a run saved after so many calls, as a file, and what it comes to in the end."""
    run, file = begun(name), io.BytesIO()
    for _ in range(calls):
        run.advance()
    np.savez(file, **run.save())
    return np.frombuffer(file.getvalue(), dtype=np.uint8), outcome_of(run)


def loaded(path):
    """Load all runs of a file and go on with them; return what they come to."""
    found = {}
    with np.load(path, allow_pickle=False) as files:
        for key in files:
            fresh = begun(key.split(" @ ")[0])
            data = np.load(io.BytesIO(files[key].tobytes()), allow_pickle=False)
            found[key] = outcome_of(StructuredRun.load(fresh.task, LIMITS, fresh.around, data))
    return found


def test_a_run_goes_on_in_another_process_with_the_same_bits(tmp_path, monkeypatch):
    for owner, name, value in SMALL_PORTIONS:
        monkeypatch.setattr(f"{owner}.{name}", value)
    path, whole, files = str(tmp_path / "runs.npz"), {}, {}
    for name in CASES:
        for calls in (0, 3, 11):
            files[f"{name} @ {calls}"], end = saved_after(name, calls)
            assert end == outcome_of(begun(name))
            whole[f"{name} @ {calls}"] = end
    np.savez(path, **files)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, path],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PEGASOS_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == whole


@pytest.mark.parametrize("name", CASES)
def test_the_clock_of_a_loaded_run_goes_on(name):
    run = begun(name)
    run.around.seconds = lambda: 5.0
    again = StructuredRun.load(run.task, LIMITS, run.around, run.save())
    assert again.seconds() == 10.0


if __name__ == "__main__":
    for owner, name, value in SMALL_PORTIONS:
        setattr(sys.modules[owner], name, value)
    print(json.dumps(loaded(sys.argv[1])))
