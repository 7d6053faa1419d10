"""The same model, to the last bit: in any thread, process, on any number of cores, after a fork."""

import hashlib
import json
import os
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, PegasosClassifier

HANGS = 3000  # seconds: what has not ended by then never will


def digest():
    """Fit some models; return a digest of all that they and their predictions consist of."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 6))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(700) > 0.0).astype(int)
    wide = rng.standard_normal((30, 20_000))  # a product of two columns may take several threads
    fits = [
        (KernelPegasosClassifier(random_state=0), X, y),
        (KernelPegasosClassifier(cache_size=13.0, random_state=0, tol=0.01), X, y),
        (KernelPegasosClassifier(solver="batch_perceptron", random_state=0, max_iter=3), X, y),
        (KernelPegasosClassifier(random_state=0), sparse.csr_array(X * (X > 0.0)), y),
        (KernelPegasosClassifier(random_state=0, C=5.0), X, np.digitize(X[:, 0], [-1.0, 0.0, 1.0])),
        (KernelPegasosRegressor(random_state=0), X, X[:, 0]),
        (PegasosClassifier(random_state=0), X, y),
        (PegasosClassifier(random_state=0), np.asfortranarray(X), y),
        (PegasosClassifier(random_state=0), X, np.digitize(X[:, 0], [-1.0, 0.0, 1.0])),
        (PegasosClassifier(solver="pegasos", random_state=0, max_iter=3), wide, np.arange(30) % 2),
    ]
    found = hashlib.sha256()
    for model, rows, targets in fits:
        model.fit(rows, targets)
        dual = getattr(model, "dual_coef_", model.certificate_.dual)
        parts = [dual, model.intercept_, model.certificate_.primal, model.certificate_.gap]
        for part in [*parts, model.predict(rows), *model.decision_bounds(rows)]:
            found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


def in_threads(count):
    """Fit in so many threads at once."""
    found = [""] * count

    def work(k):
        found[k] = digest()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def in_forks(children):
    """Fork again and again while another thread fits; some children fit too."""
    may_end, found = threading.Event(), []

    def work():
        while not may_end.is_set():
            found.append(digest())

    thread = threading.Thread(target=work)
    thread.start()
    for fits in [True] * children + [False] * 10:
        source, target = os.pipe()
        if os.fork() == 0:
            os.write(target, digest().encode() if fits else b"")
            os._exit(0)
        os.close(target)
        with os.fdopen(source) as pipe:
            found += [pipe.read()] if fits else []
        os.wait()
    may_end.set()
    thread.join()
    return found


def everywhere():
    """Return digests by where the fits ran."""
    found = {"a thread before any other fit": in_threads(1), "the main thread": [digest()]}
    with threadpool_limits(limits=2):  # which makes this thread the one that may set limits
        found["4 threads at once"] = in_threads(4)
    for backend in ("threading", "multiprocessing", "loky"):
        with joblib.parallel_config(backend, n_jobs=2):
            found[backend] = joblib.Parallel()(joblib.delayed(digest)() for _ in range(2))
    found["forks"] = in_forks(children=2)
    return found


def run(where):
    """Do it in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, where],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PEGASOS_QUIET": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_fits_give_the_same_bits_in_any_thread_or_process_and_on_one_core():
    found = run("everywhere")
    found["one core"] = run("on one core")
    expected = found["the main thread"]
    others = {where: got for where, got in found.items() if set(got) != set(expected)}
    assert not others


if __name__ == "__main__":
    if sys.argv[1] == "everywhere":
        print(json.dumps(everywhere()))
    else:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(json.dumps([digest()]))
