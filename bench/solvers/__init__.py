"""The competitors by name, ours first. `REFERENCE` is the one that ratios are taken against."""

from bench.solvers.base import Effort, Solver
from bench.solvers.liblinear_official import LiblinearSolver
from bench.solvers.linearsvc import LinearSVCSolver
from bench.solvers.pegasos_ import OurPegasos, OurSDCA
from bench.solvers.sgdclassifier import SGDClassifierSolver
from bench.solvers.snapml import SnapMLSolver
from bench.solvers.vowpalwabbit import VowpalWabbitSolver

REFERENCE = "pegasos-sdca"
SOLVERS = {
    solver.name: solver
    for solver in (
        OurSDCA(),
        OurPegasos(),
        LinearSVCSolver(),
        LiblinearSolver(),
        SGDClassifierSolver(),
        SGDClassifierSolver(is_averaged=True),
        SnapMLSolver(),
        VowpalWabbitSolver(),
        VowpalWabbitSolver(has_pegasos_rate=True),
    )
}

__all__ = ["REFERENCE", "SOLVERS", "Effort", "Solver"]
