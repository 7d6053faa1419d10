"""The competitors on problems with a bias by name, ours first."""

from bench.solvers.base import LinearSolver
from bench.solvers.liblinear_official import METHODS, LiblinearSolver
from bench.solvers.linearsvc import DUAL_TOLS, PRIMAL_TOLS, LinearSVCSolver, LinearSVRSolver
from bench.solvers.logisticregression import TOLS, LogisticRegressionSolver
from bench.solvers.pegasos_ import OurSolver
from bench.solvers.sgdclassifier import SGDClassifierSolver
from bench.solvers.snapml import SnapMLSolver

OURS = OurSolver()
SOLVERS: dict[str, LinearSolver] = {
    solver.name: solver
    for solver in (
        OURS,
        LinearSVCSolver("linearsvc-dual", True, DUAL_TOLS),
        LinearSVCSolver("linearsvc-primal", False, PRIMAL_TOLS),
        LinearSVRSolver(),
        *(LiblinearSolver(number) for number in METHODS),
        *(LogisticRegressionSolver(method) for method in TOLS),
        SGDClassifierSolver(growth=4),
        SnapMLSolver(),
    )
}
