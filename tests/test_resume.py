"""A run that is saved, loaded in another process and gone on with: the same bits, every solver.

Every run of a list is stopped after a random number of calls of `advance`; one child process loads
them all and goes on. Data and portions of work are small: runs stop in the middle of things.
"""

import hashlib
import io
import itertools
import json
import os
import subprocess
import sys
import zlib
from dataclasses import asdict

import numpy as np
import pytest
from scipy import sparse

from pegasos.around import Around
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.store import RowStore
from pegasos.problem.kernels import Gaussian, Polynomial
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import blocks, make_problem
from pegasos.progress import Watch
from pegasos.solve import Run
from pegasos.solvers import auto
from pegasos.solvers.auto import Auto
from pegasos.solvers.batch_perceptron import batch_perceptron
from pegasos.solvers.batch_perceptron.batch_perceptron import BatchPerceptron
from pegasos.solvers.catalogue import KERNEL_SOLVERS, LINEAR_SOLVERS, resolve, resolve_kernel
from pegasos.solvers.decomposition import inner_solve, parts
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.lasvm import lasvm
from pegasos.solvers.lasvm import state as lasvm_state
from pegasos.solvers.lasvm.lasvm import LASVM
from pegasos.solvers.mpu import mpu
from pegasos.solvers.newton import curved, newton
from pegasos.solvers.pegasos import linear as pegasos
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.perceptron import kernel as kernel_perceptron
from pegasos.solvers.perceptron import linear as perceptron
from pegasos.solvers.perceptron.kernel import KernelPerceptron
from pegasos.solvers.perceptron.linear import Perceptron
from pegasos.solvers.responses import lookahead
from pegasos.solvers.sdca import cocoa
from pegasos.solvers.sdca import model_groups as groups
from pegasos.solvers.sdca.kernel import KernelSDCA
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sgd import scheduled, sgd
from pegasos.solvers.sgd.scheduled import ScheduledSGD
from pegasos.solvers.sgd.sgd import SGD
from pegasos.solvers.simba import simba
from pegasos.solvers.svmsgd import run as skipping
from pegasos.state import to_data
from tests.joint_problems import draw_joint

HANGS = 3000  # seconds: what has not ended by then never will
LIMITS = Stopping(tol=1e-4, max_iter=12)


STEPPERS = (pegasos, sgd, scheduled, perceptron, skipping, mpu)
SMALL_PORTIONS = [
    *((module, "blocks", lambda rows: blocks(rows, 60)) for module in STEPPERS),
    *((newton, name, 2) for name in ("FIRST_PART", "ROWS_PER_COLUMN")),
    *((cocoa, name, 1) for name in ("LARGE", "VALUES_PER_ROUND")),
    (cocoa, "VALUES_PER_WEIGHT", 0),
    (curved, "DEAR", 0.0),
    (groups, "LARGE", 1),
    (simba, "VALUES_PER_CALL", 100_000),
    (lookahead, "VALUES_ENOUGH", 100),
    (lookahead, "VALUES_PER_CALL", 1000),
    (inner_solve, "VALUES_PER_CALL", 400),
    (parts, "ROWS", 8),
    (parts, "MANY", 2),
    (lasvm, "VALUES_PER_CALL", 400),
    (lasvm, "SCRATCH_VALUES", 3000),
    (lasvm_state, "KERNEL_VALUES", 400),
    (kernel_perceptron, "BLOCK", 16),
    (kernel_perceptron, "PENDING", 8),
    (batch_perceptron, "VALUES_PER_CALL", 1000),
    (batch_perceptron, "KERNEL_VALUES", 300),
    (Gram, "_values_at_a_time", lambda gram: 10 * gram.n),
]  # have solvers look up often, as they do on large data


def data(n=60, K=1, is_sparse=False, regression=False):
    rng = np.random.default_rng(n + K)
    X = rng.standard_normal((n, 5)) + 0.3
    Y = X @ rng.standard_normal((5, K)) + 0.5 * rng.standard_normal((n, K))
    if is_sparse:
        X = sparse.csr_array(X * (X > 0.2))
    return X, Y if regression else np.where(Y > 0.3, 1.0, -1.0)


def linear(solver, bias="free", loss=None, limits=LIMITS, **options):
    loss = Hinge() if loss is None else loss
    X, Y = data(regression=isinstance(loss, EpsilonInsensitive), **options)
    kind = "free" if bias.startswith("free") else bias
    problem = make_problem(loss, as_rows(X), Y, None, 0.02, kind)
    return problem, resolve(solver, loss, bias), limits


def joint(solver, bias="free", name="joint hinge"):
    kind = "free" if bias.startswith("free") else bias
    drawn = draw_joint(name, 5, kind, n=60, d=5, lam=0.02)
    return drawn.problem, resolve(solver, drawn.problem.costs.loss, bias), LIMITS


def kernel(solver, bias="free", loss=None, held=60, kernel=None, limits=LIMITS, **options):
    """Give the kernel matrix room for so many rows."""
    precision, loss = options.pop("precision", np.float64), Hinge() if loss is None else loss
    X, Y = data(regression=isinstance(loss, EpsilonInsensitive), **options)
    gram = Gram(kernel or Polynomial(1.0, 1.0, 2), as_rows(X.astype(precision)), 10**8)
    gram.block_rows = min(held, gram.block_rows)
    gram.kept = RowStore(gram.n, gram.store[:held].copy())
    problem = make_problem(loss, gram, Y, None, 0.02, bias)
    return problem, resolve_kernel(solver, loss, bias), limits


def cases():
    """Return functions that make problem, solver and limits, by name."""
    found = {}
    for name, ability in LINEAR_SOLVERS.items():
        for bias in ability.biases:
            solver = Pegasos(batch_size=4) if bias == "free-batch" else name
            found[f"{name}, {bias}"] = linear, (solver, bias), {}
        bias = "free" if "free" in ability.biases else ability.biases[-1]
        if ability.sparse_rows:
            found[f"{name}, sparse"] = linear, (name, bias), {"is_sparse": True}
        found[f"{name}, three models"] = linear, (name, bias), {"K": 3}
        for bias in ability.joint_biases:
            found[f"{name}, joint, {bias}"] = joint, (name, bias), {}
        if ability.joint_biases:
            found[f"{name}, softmax"] = joint, (name, "free", "softmax"), {}
    for output in ("last", "average", "random"):
        solver = Pegasos(batch_size=3, output=output, sampling="iid", projection=True)
        found[f"pegasos, {output}"] = linear, (solver, "none"), {}
    for sampling in ("permutation", "multiset"):
        solver = Pegasos(batch_size=3, output="random", candidates=2, sampling=sampling)
        found[f"pegasos, {sampling}"] = linear, (solver, "regularized"), {}
    for variant in ("r", "m"):
        found[f"sgd-{variant}"] = linear, (SGD(variant=variant),), {}
    solver = SGD(duals="all", output="last", precision="single")
    found["sgd, the paper's"] = linear, (solver, "none"), {"is_sparse": True}
    for solver in (ScheduledSGD("constant"), ScheduledSGD("ball", output="average")):
        found[f"{solver}"] = linear, (solver, "regularized"), {"K": 2}
    found["sdca, iid"] = linear, (SDCA(False, "iid"),), {"K": 2}
    steps = Stopping(tol=1e-9, max_steps=333)
    found["pegasos, max_steps"] = linear, (Pegasos(7, output="last"),), {"limits": steps}
    for output in ("random", "longest"):
        found[f"perceptron, {output}"] = linear, (Perceptron(3, output),), {}
    for name in ("sdca", "newton"):
        found[f"{name}, regression"] = linear, (name, "free", EpsilonInsensitive(0.1)), {}
    found["newton, logistic"] = linear, ("newton", "regularized", Logistic()), {}
    found["newton, a part of the rows first"] = linear, ("newton",), {"n": 2000}
    found["sdca, far"] = linear, ("sdca", "none"), {"limits": Stopping(tol=1e-9, max_iter=200)}
    found["auto"] = linear, ("auto",), {"limits": Stopping(tol=1e-7, max_iter=60)}
    for name, known in KERNEL_SOLVERS.items():
        for bias in ("none", "free"):
            found[f"kernel {name}, {bias}"] = kernel, (name, bias), {}
        found[f"kernel {name}, little room"] = kernel, (name,), {"held": 9}
        found[f"kernel {name}, three models"] = kernel, (name,), {"K": 3, "held": 25}
        if known.losses is None or SquaredHinge in known.losses:
            found[f"kernel {name}, smooth"] = kernel, (name, "free", SquaredHinge()), {}
    for q in (2, 10):
        for options in ({}, {"held": 9}, {"bias": "none"}):
            name = f"kernel decomposition, q={q}, {options}"
            found[name] = kernel, (Decomposition(working_set=q),), options
    fine = {"precision": np.float32, "limits": Stopping(tol=1e-7, max_iter=60)}
    found["kernel decomposition, widened"] = kernel, ("decomposition",), fine
    found["kernel decomposition, gaussian"] = kernel, ("auto",), {"kernel": Gaussian(0.5)}
    found["kernel lasvm, unfinished"] = kernel, (LASVM(finishing=False),), {"held": 9}
    found["kernel sdca, iid"] = kernel, (KernelSDCA("iid"),), {"held": 9}
    for solver in (
        BatchPerceptron(nu=0.5),
        BatchPerceptron(choice="deterministic"),
        BatchPerceptron(nu=0.5, step="root", output="average"),
    ):
        found[f"kernel {solver}"] = kernel, (solver,), {"held": 30}
    for output, sampling in (("last", "iid"), ("average", "iid"), ("last", "multiset")):
        solver = KernelPegasos(batch_size=3, sampling=sampling, output=output)
        found[f"kernel pegasos, {output}, {sampling}"] = kernel, (solver,), {"held": 9}
    found["kernel perceptron, random"] = kernel, (KernelPerceptron(3, "random"),), {"held": 9}
    return found


def begin(make, positional, named):
    """Start a run."""
    problem, solver, limits = make(*positional, **named)
    run = Run(problem, limits, Around(problem.costs.loss, Watch()))
    run.start(solver, seed=3)
    if isinstance(solver, Auto):  # so that it is changed on the way
        run.choice = auto.Choice(SDCA(), "", 1.0, 10.0)
        run.state = run.solver.start(problem, 3, None)
    if isinstance(run.solver, SDCA):
        of_models = run.state.groups if isinstance(run.state, groups.Groups) else [run]
        for each in of_models:
            each.state.values_per_call = 60
    return run


def outcome_of(run):
    """Go on to the end; return a digest of all that is left behind, but for the seconds."""
    while run.outcome is None:
        run.advance()
    found = run.finish()
    certificate, records = asdict(found.certificate), [asdict(r) for r in found.trace.records]
    for part in (certificate, *records):
        del part["seconds"]
    thing = [found.W, found.b, found.lam, found.ball, certificate, records, found.outcome.value]
    digest = hashlib.sha256()
    for whole in (thing, found.state):
        for name, part in to_data(whole, {"rows": run.problem.rows}).items():
            digest.update(f"{name} {part if isinstance(part, str) else part.dtype}".encode())
            digest.update(part.encode() if isinstance(part, str) else part.tobytes())
    return f"{found.outcome.name} after {found.certificate.epochs} {digest.hexdigest()}"


def through_a_file(data):
    file = io.BytesIO()
    np.savez(file, **data)
    return file.getvalue()


def interrupted(case, calls):
    """Save a run after so many calls; return the file and what the run came to in the end.

    Its clock goes by fits and starts, for the clock has no say.
    """
    run = begin(*case)
    tick = itertools.accumulate(np.random.default_rng(calls).exponential(size=100_000).tolist())
    run.around.seconds = lambda: next(tick)
    for _ in range(calls):
        run.advance()
    return through_a_file(run.save()), outcome_of(run)


def calls_of(case):
    """Return how many calls of `advance` a run takes, and what it comes to."""
    run, calls = begin(*case), 0
    while run.outcome is None:
        run.advance()
        calls += 1
    return calls, outcome_of(run)


def go_on(case, file):
    """Load a run and go on to the end."""
    make, positional, named = case
    problem, _, limits = make(*positional, **named)
    around = Around(problem.costs.loss, Watch())
    saved = np.load(io.BytesIO(file), allow_pickle=False)
    return outcome_of(Run.load(problem, limits, around, saved))


def saved_runs(path, stops):
    """Save all runs into one file; return what they came to uninterrupted, and though saved."""
    found, files = {}, {}
    for name, case in cases().items():
        calls, whole = calls_of(case)
        random = np.random.default_rng(zlib.crc32(name.encode()))
        for stop in np.unique(random.integers(calls, size=stops)):
            file, end = interrupted(case, stop)
            key = f"{name} @ {stop} of {calls}"
            files[key] = np.frombuffer(file, dtype=np.uint8)
            found[key] = whole, end
    np.savez(path, **files)
    return found


def loaded_runs(path):
    """Load all runs and go on with them; return what they come to."""
    known = cases()
    with np.load(path, allow_pickle=False) as files:
        return {key: go_on(known[key.split(" @ ")[0]], files[key].tobytes()) for key in files}


def in_another_process(path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, path],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PEGASOS_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("stops", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_a_run_goes_on_in_another_process_with_the_same_bits(stops, tmp_path, monkeypatch):
    for portion in SMALL_PORTIONS:
        monkeypatch.setattr(*portion)
    path = str(tmp_path / "runs.npz")
    before = saved_runs(path, stops)
    after = in_another_process(path)
    assert before.keys() == after.keys()
    assert {key for key, (whole, saved) in before.items() if saved != whole} == set()
    assert {key for key, (whole, _) in before.items() if after[key] != whole} == set()


if __name__ == "__main__":
    for owner, name, value in SMALL_PORTIONS:
        setattr(owner, name, value)
    print(json.dumps(loaded_runs(sys.argv[1])))
