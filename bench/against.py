"""Ours against ours: python -m bench.against OTHER_SRC [--only a9a,cov1] [--limit 20].

Fits the sets of both benchmarks at tol=1e-3 with this source tree and with another one (the `src`
folder of another checkout), each in processes of its own, one after the other and back again, and
prints the best seconds of each and their ratio: whether a change made anything slower.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.harness import command
from bench.harness.files import ROOT

LINEAR = {"a9a": 1e-4, "cov1": 1e-6, "news20": 1e-4, "reuters": 1e-4, "textlike": 1e-4}
KERNEL = ("usps8", "money-fx", "a9a", "mnist8")
ROUNDS = 2  # each tree is asked so often, in turn


def main() -> None:
    parser = command.parser(
        "bench.against", __doc__, dict.fromkeys((*LINEAR, *KERNEL)), 20.0, ["repeats"]
    )
    parser.add_argument("other", type=Path, help="the src folder of another checkout")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = command.parsed(parser, None)
    if options.child:
        print(json.dumps(measured(options.child, options.repeats, options.limit)))
        return
    names = [f"linear {name}" for name in LINEAR] + [f"kernel {name}" for name in KERNEL]
    names = [n for n in names if not options.only or n.split()[1] in options.only]
    print("| fit | other s | this s | this / other |\n| --- | ---: | ---: | ---: |", flush=True)
    for name in names:
        best: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for which, src in (("other", options.other), ("this", ROOT / "src")):
                for fit, seconds in asked(src, name, options).items():
                    times = best.setdefault(fit, [float("inf")] * 2)
                    times[which == "this"] = min(times[which == "this"], seconds)
        for fit, (other, this) in best.items():
            print(f"| {fit} | {other:.3g} | {this:.3g} | {this / other:.2f} |", flush=True)


def asked(src: Path, name: str, options: argparse.Namespace) -> dict[str, float]:
    """Ask a process with the given source tree for its times."""
    source = str(src.resolve())
    state = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(src.rglob("*.py"))))
    cache = ROOT / ".cache" / f"against-{state.hexdigest()[:12]}"  # Numba's knows no other files
    child = {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "NUMBA_CACHE_DIR": str(cache)}
    words = [sys.executable, "-m", "bench.against", source, "--child", name]
    words += ["--repeats", str(options.repeats), "--limit", str(options.limit)]
    done = subprocess.run(
        words, env={**os.environ, **child}, check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, repeats: int, limit: float) -> dict[str, float]:
    """Return the best seconds of every fit on one set, without those spent compiling."""
    kind, dataset = name.split()
    fits = (linear_fits if kind == "linear" else kernel_fits)(dataset, limit)
    return {label: min(fit() for _ in range(repeats + 1)) for label, fit in fits.items()}


def linear_fits(name: str, limit: float) -> dict[str, Any]:
    from bench.datasets import DATASETS
    from pegasos import PegasosClassifier

    data = DATASETS[name].load(LINEAR[name])

    def fit(**options: Any) -> float:
        model = PegasosClassifier(lam=data.lam, random_state=0, max_time=limit, **options)
        return float(model.fit(data.X, data.y).certificate_.seconds)

    return {
        f"{data.key}, hinge, no bias": lambda: fit(bias="none"),
        f"{data.key}, hinge, free bias": lambda: fit(),
        f"{data.key}, logistic, free bias": lambda: fit(loss="logistic"),
        f"{data.key}, Pegasos to 1e-2": lambda: fit(bias="none", solver="pegasos", tol=1e-2),
    }


def kernel_fits(name: str, limit: float) -> dict[str, Any]:
    from bench.harness.competitor import Effort
    from bench.harness.ladder import timed
    from bench.kernel.datasets import DATASETS
    from bench.kernel.solvers import SOLVERS

    data, solver = DATASETS[name].load(), SOLVERS["pegasos-auto"]
    X = solver.container(data.X)

    def fit() -> float:
        return timed(solver, X, data, Effort(tol=1e-3, seconds=limit))[0]

    return {f"{data.key}, Gaussian kernel": fit}


if __name__ == "__main__":
    main()
