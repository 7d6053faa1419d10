"""The bracket of the optimum: right, narrow, and refused when it is neither."""

import numpy as np
import pytest

from bench.harness import files
from bench.kernel import optimum as module
from bench.kernel.datasets import KernelDataset
from bench.kernel.objective import Expansion
from bench.kernel.optimum import certified_optimum, remembered_optimum

# Two points so far apart that K = I, one of each class, lam = 1/2: C = 1. By symmetry b = 0, and
# P = 1/4 * 2 c^2 + max(0, 1 - c) has its minimum at c = 1: P* = 1/2.
PAIR = KernelDataset(
    "pair",
    np.array([[0.0], [100.0]]),
    np.array([1, -1]),
    lam=0.5,
    X_test=np.array([[0.0]]),
    y_test=np.array([1]),
    gamma=1.0,
)


def always(*coef):
    return lambda dataset: Expansion(np.array([0, 1]), np.array(coef))


def test_the_first_source_that_is_close_enough_is_taken():
    known = certified_optimum(PAIR, {"good": always(1.0, -1.0), "never asked": None})
    assert known.optimum == pytest.approx((0.5, 0.5))
    assert (known.source, known.test_error) == ("good", 0.0)


def test_sources_are_combined():
    # Dual value at beta = 0.9: 0.9 - 0.405 = 0.495. The second brings the rest.
    known = certified_optimum(PAIR, {"poor": always(0.9, -0.9), "good": always(1.0, -1.0)})
    assert known.optimum == pytest.approx((0.5, 0.5))
    assert known.source == "poor and good"


def test_a_wide_interval_is_refused():
    with pytest.raises(RuntimeError, match="only known to lie in"):
        certified_optimum(PAIR, {"poor": always(0.9, -0.9)})


def test_the_optimum_is_kept_under_a_checksum_of_the_data(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "CACHE", tmp_path)
    asked = []
    monkeypatch.setattr(
        module, "long_runs", lambda dataset: asked.append(1) or {"good": always(1.0, -1.0)}
    )
    first, second = remembered_optimum(PAIR), remembered_optimum(PAIR)
    assert first == second
    assert len(asked) == 1


@pytest.mark.parametrize("source", module.SOURCES)
@pytest.mark.slow
def test_each_source_alone_brackets_the_optimum(source, monkeypatch):
    monkeypatch.setattr(module, "SOURCES", (source,))
    known = certified_optimum(PAIR)
    assert known.optimum.dual - 1e-12 <= 0.5 <= known.optimum.primal + 1e-12
