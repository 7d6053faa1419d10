"""What a first model waits for: from nothing, few kernels to compile; from the disk, none."""

import os
import subprocess
import sys

import pytest

FIT = """
import numpy as np
from numba.core import event
from pegasos import PegasosClassifier
X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [0.5, 2.0]])
with event.install_recorder("numba:compile") as heard:
    PegasosClassifier().fit(X, [0, 1, 1, 0])
print(sum(happened.is_start for _, happened in heard.buffer))
"""


def compilations(cache):
    done = subprocess.run(
        [sys.executable, "-c", FIT],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PEGASOS_QUIET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.slow
def test_a_first_fit_compiles_few_functions_and_later_processes_none(tmp_path):
    assert 0 < compilations(tmp_path) <= 100
    assert compilations(tmp_path) == 0


def test_import_loads_none_of_the_extras():
    extras = ("matplotlib", "polars", "dask", "onnx")  # scikit-learn itself loads pandas
    code = f"import sys, pegasos; print([name for name in {extras} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
