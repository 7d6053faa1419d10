"""Without what is private in Numba the package imports, fits, and finds the same models.

Run as a script with names of things to take away from Numba, this file does so, fits in a process
of its own, and prints what was found absent and what the models are.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import numba.core.caching
import numba.core.cpu
import numba.core.event
import numpy as np
import pytest
from llvmlite.ir import IRBuilder

OPTIONS = ("_nrt", "forceinline", "no_cfunc_wrapper")
INSTRUCTIONS = ("prefetch", "larger", "power of two", "sum in registers", "sum of rows")


def without_options():
    for name in OPTIONS:
        holder = next(
            kind for kind in numba.core.cpu.CPUTargetOptions.__mro__ if name in vars(kind)
        )
        delattr(holder, name)


def without_caching():
    del numba.core.caching.CompileResultCacheImpl


def without_subclasses_of_caches():
    numba.core.caching.FunctionCache.__init_subclass__ = _refuse


def _refuse(*arguments):
    raise TypeError("made otherwise now")


def without_events():
    numba.core.event = ModuleType("event")


def without_instructions():
    """Take away what intrinsics are written with, but not from Numba's own, which come first."""
    numba.njit(lambda: sum(range(3)))()
    numba.core.cgutils = ModuleType("cgutils")
    select = IRBuilder.select
    IRBuilder.select = lambda self, which, a, b, name="": select(self, which, a, b, name)


def without_compiler_lock():
    numba.njit(lambda: 0)()  # what Numba itself loads late comes first
    sys.modules["numba.core.compiler_lock"] = ModuleType("compiler_lock")


def without_instance_class():
    from pegasos.numba_private import tags

    tags.ATTRIBUTE = "of another name"


REMOVALS = {
    "options": (without_options, {f"the option {name}" for name in OPTIONS}),
    "caching": (without_caching, {"the classes of the disk cache"}),
    "subclasses of caches": (
        without_subclasses_of_caches, {"the classes of the disk cache"},
    ),
    "events": (without_events, {"events of the compiler"}),
    "instructions": (
        without_instructions,
        {f"the instruction {name}" for name in INSTRUCTIONS},
    ),
    "compiler lock": (without_compiler_lock, {"the lock of the compiler"}),
    "instance class": (without_instance_class, set()),
}  # fmt: skip


def fit():
    """Return scores of a linear model of dense rows and one with a kernel of sparse rows."""
    from scipy import sparse

    from pegasos import KernelPegasosClassifier, PegasosClassifier

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 7)) * (rng.random((60, 7)) < 0.5)
    y = X @ rng.standard_normal(7) + rng.standard_normal(60) > 0.0
    linear = PegasosClassifier(solver="sdca", tol=1e-9, random_state=0).fit(X, y)
    kernel = KernelPegasosClassifier(tol=1e-9).fit(sparse.csr_array(X), y)
    return [model.decision_function(X).tolist() for model in (linear, kernel)]


def use_instructions():
    """Compile every instruction: kernels that are found on disk are not compiled again."""
    from pegasos.numba_private.intrinsics import larger, power_of_two, prefetch
    from pegasos.numba_private.register_sums import weighted_strip
    from pegasos.numba_private.row_sums import add_to_rows, sum_rows

    @numba.njit
    def use(strip, x, chosen, single, out):
        prefetch(x, 0)
        add_to_rows(strip, x, chosen, 0, 1, out)  # x[0] is 0
        sum_rows(strip, x, chosen, 0, 2, out)
        weighted_strip(strip, x, chosen, 0, 2, out)
        return larger(out[0], x[0]), power_of_two(single), power_of_two(6755399441055741.0)

    x, single = np.arange(24.0), np.float32(12582909.0)  # 1.5 * 2^52 - 3 and 1.5 * 2^23 - 3
    assert use(np.ones((3, 24)), x, np.array([0, 2]), single, x.copy()) == (1.0, 0.125, 0.125)
    assert (power_of_two(single), power_of_two(6755399441055741.0)) == (0.125, 0.125)


def run(names):
    """Fit in a process without the things named; return what it printed."""
    kept = Path(os.environ.get("NUMBA_CACHE_DIR", Path(__file__).parents[1] / ".cache"))
    cache = kept / "-".join(["without", *names]).replace(" ", "-") if names else kept
    done = subprocess.run(
        [sys.executable, __file__, *names],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def check(names):
    (absent, models), said = run(names)
    assert set(absent) >= set.union(*(REMOVALS[name][1] for name in names))
    assert all(name in said for name in absent)
    assert models == fit()  # to the last bit


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_nothing_is_absent_in_this_version():
    (absent, _), said = run([])
    assert absent == {}
    assert said == ""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_without_anything_private_models_are_the_same():
    check([name for name in REMOVALS if name != "subclasses of caches"])


@pytest.mark.slow
@pytest.mark.parametrize("name", REMOVALS)
def test_without_a_private_thing_models_are_the_same(name):
    check([name])


OWN_LOSS = """
import sys
import numba.core.caching
del numba.core.caching.CompileResultCacheImpl
import numpy as np
from pegasos import CustomLoss, PegasosRegressor
factor = float(sys.argv[1])
loss = CustomLoss(lambda z, y: factor * (z - y) ** 2, lambda z, y: 2.0 * factor * (z - y))
X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 3.5])
print(PegasosRegressor(loss=loss, C=0.5, tol=1e-9).fit(X, y).coef_[0])
"""


@pytest.mark.slow
def test_in_a_plain_disk_cache_nobody_finds_the_loss_of_another_process(tmp_path):
    # (2 factor C X'X + 1) w = 2 factor C X'y, both centred: X'X = 2 and X'y = 2.5.
    for factor in (1.0, 3.0):
        done = subprocess.run(
            [sys.executable, "-c", OWN_LOSS, str(factor)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(done.stdout) == pytest.approx(2.5 * factor / (2.0 * factor + 1.0), abs=1e-4)
    assert list(tmp_path.rglob("*.nbi"))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        REMOVALS[name][0]()
    found = fit()
    use_instructions()
    from pegasos.numba_private import absent

    print(json.dumps([absent, found]))
