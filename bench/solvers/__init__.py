"""The competitors without bias by name, ours first; `REFERENCE`: whom ratios are taken against.

`bench.ordinary.solvers` has those on problems with a bias, made of the same adapters.
"""

from bench.solvers.base import LinearSolver
from bench.solvers.liblinear_official import LiblinearSolver
from bench.solvers.linearsvc import FINE_TOLS, LinearSVCSolver
from bench.solvers.pegasos_ import OneOfOurs
from bench.solvers.sgdclassifier import SGDClassifierSolver
from bench.solvers.snapml import SnapMLSolver
from bench.solvers.vowpalwabbit import VowpalWabbitSolver

REFERENCE = "pegasos-sdca"
SOLVERS: dict[str, LinearSolver] = {
    solver.name: solver
    for solver in (
        OneOfOurs("sdca"),
        OneOfOurs("pegasos"),
        OneOfOurs("ocas", takes_several=False),
        OneOfOurs("svm_perf", takes_several=False),
        LinearSVCSolver(),
        LiblinearSolver(3, "liblinear", FINE_TOLS),
        SGDClassifierSolver(),
        SGDClassifierSolver(is_averaged=True),
        SnapMLSolver(),
        VowpalWabbitSolver(),
        VowpalWabbitSolver(has_pegasos_rate=True),
    )
}

__all__ = ["REFERENCE", "SOLVERS", "LinearSolver"]
