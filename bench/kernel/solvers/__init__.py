"""The competitors by name, ours first. `REFERENCES` are those that ratios are taken against."""

from bench.kernel.solvers.base import KernelSolver
from bench.kernel.solvers.intelex import IntelexSolver
from bench.kernel.solvers.libsvm import LibsvmSolver
from bench.kernel.solvers.pegasos_ import OurSolver
from bench.kernel.solvers.thundersvm_ import ThunderSVMSolver

OURS = ("auto", "decomposition", "lasvm", "sdca", "pegasos", "batch_perceptron")
REFERENCES = ("libsvm", "intelex")
SOLVERS = {
    solver.name: solver
    for solver in (
        *(OurSolver(name) for name in OURS),
        LibsvmSolver(),
        IntelexSolver(),
        ThunderSVMSolver(),
    )
}
DEFAULT = [name for name in SOLVERS if name != "pegasos-decomposition"]  # it is what "auto" takes

__all__ = ["DEFAULT", "REFERENCES", "SOLVERS", "KernelSolver"]
