"""What a kernel problem is: data with a test part, the kernel's width and a bias or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness.problem import Matrix, Problem


@dataclass(frozen=True, kw_only=True)
class KernelDataset(Problem):
    """A binary problem (labels -1/+1) under K(x, z) = exp(-gamma ||x - z||^2)."""

    X_test: Matrix
    y_test: NDArray[np.int64]
    gamma: float
    has_bias: bool = True
    is_large: bool = False  # fits of some take minutes: fewer competitors, fewer rungs

    @property
    def key(self) -> str:
        bias = "" if self.has_bias else " no bias"
        return f"{self.name} gamma={self.gamma:g} lam={self.lam:.4g}{bias}"

    def judge(self, model: Any) -> dict[str, Any]:
        from bench.kernel.objective import judge

        verdict = judge(self, model)
        return {
            "objective": verdict.primal,
            "evaluations": model.evaluations,
            "n_support": int(verdict.n_support),
            "test_error": verdict.test_error,
        }
