"""The options that perceptrons have in common, over features and over a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pegasos.options import Options
from pegasos.solvers.checks import check_choice, check_count

Output = Literal["average", "random", "longest", "last"]
OUTPUTS = ("average", "random", "longest", "last")


@dataclass
class PerceptronOptions(Options):
    """Passes over the rows, and which of the hypotheses on the way to hand out."""

    passes: int = 1
    output: Output = "average"
    name: ClassVar[str] = "perceptron"
    is_dual: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_count(self, "passes", "")
        check_choice(self, "output", OUTPUTS)
