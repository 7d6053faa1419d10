"""The competitors by name, ours first."""

from bench.ordinary.solvers.base import TableSolver
from bench.ordinary.solvers.liblinear_official import METHODS, LiblinearTableSolver
from bench.ordinary.solvers.linearsvc import LinearSVCTableSolver, LinearSVRTableSolver
from bench.ordinary.solvers.logisticregression import TOLS, LogisticRegressionSolver
from bench.ordinary.solvers.pegasos_ import OurTableSolver
from bench.ordinary.solvers.stochastic import SGDTableSolver, SnapMLTableSolver

OURS = OurTableSolver()
SOLVERS = {
    solver.name: solver
    for solver in (
        OURS,
        LinearSVCTableSolver(is_dual=True),
        LinearSVCTableSolver(is_dual=False),
        LinearSVRTableSolver(),
        *(LiblinearTableSolver(number) for number in METHODS),
        *(LogisticRegressionSolver(method) for method in TOLS),
        SGDTableSolver(),
        SnapMLTableSolver(),
    )
}

__all__ = ["OURS", "SOLVERS", "OurTableSolver", "TableSolver"]
