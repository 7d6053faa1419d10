"""The solvers: their names, what they can do, what they are and when to use them.

The table drives `solver="auto"`, refusals (`solvers.refusals`), the tests that cross every solver,
loss and bias, and the tables of the documentation (`docs/tables.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from pegasos.problem.kernels import KERNELS
from pegasos.problem.losses import Hinge
from pegasos.solvers import refusals
from pegasos.solvers.auto import Auto
from pegasos.solvers.batch_perceptron.batch_perceptron import BatchPerceptron
from pegasos.solvers.cutting_plane.ocas import OCAS
from pegasos.solvers.cutting_plane.svm_perf import SVMPerf
from pegasos.solvers.decomposition.box import QUADRATIC
from pegasos.solvers.decomposition.decomposition import Decomposition
from pegasos.solvers.lasvm.lasvm import LASVM
from pegasos.solvers.mpu.mpu import MPU
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.pegasos.kernel import KernelPegasos
from pegasos.solvers.pegasos.linear import Pegasos
from pegasos.solvers.perceptron.kernel import KernelPerceptron
from pegasos.solvers.perceptron.linear import Perceptron
from pegasos.solvers.protocol import Solver
from pegasos.solvers.refusals import KERNEL_BIASES
from pegasos.solvers.sdca.kernel import KernelSDCA
from pegasos.solvers.sdca.linear import SDCA
from pegasos.solvers.sgd.scheduled import ScheduledSGD
from pegasos.solvers.sgd.sgd import SGD
from pegasos.solvers.sgd_qn.sgd_qn import SGDQN
from pegasos.solvers.simba.simba import SIMBA
from pegasos.solvers.svmsgd.svmsgd import SVMSGD

BIASES = (
    "none", "regularized", "free", "free-subgradient", "free-batch", "free-search",
    "free-bisection",
)  # fmt: skip


class Ability(NamedTuple):
    """What a solver is, when to use it, and what it can do; every solver has a name in a table.

    `losses` None is every loss, those of users included. Solvers that do not approach the optimum
    end by themselves; what they hand out is certified all the same. Those with `streams` are the
    steps of `partial_fit`.
    """

    solver: type
    what: str
    use: str
    losses: tuple[type, ...] | None = None
    biases: tuple[str, ...] = BIASES[:3]
    joint_biases: tuple[str, ...] = ()  # those with which it trains several classes jointly
    sample_weights: bool = True
    sparse_rows: bool = True
    several_models: bool = True
    streams: bool = False
    kernels: tuple[str, ...] = ()  # by name; functions of users go with all of them
    approaches_optimum: bool = True


LINEAR_AUTO = (  # what "auto" is, and when to use it
    "whichever of the next two is expected to end first; it may change during a fit, and "
    "`verbose=1` says why",
    "by default",
)
KERNEL_AUTO = (
    "`Decomposition()` for the losses that it has, `KernelSDCA()` for the others",
    "by default",
)

LINEAR_SOLVERS: dict[str, Ability] = {
    "sdca": Ability(
        SDCA,
        what="dual coordinate ascent with shrinking; large sparse data on two threads",
        use="texts, wide data",
        joint_biases=BIASES[:3],
    ),
    "newton": Ability(
        Newton,
        what="augmented Lagrangian, Newton steps in standardised columns",
        use="tables: many rows, up to some thousand columns, any units, large C",
        joint_biases=BIASES[:3],
    ),
    "pegasos": Ability(
        Pegasos,
        what="Pegasos 2011 and 2007: stochastic sub-gradient steps",
        use="to stream (`partial_fit`), for a quick rough answer",
        biases=BIASES,
        joint_biases=BIASES[:4],
        streams=True,
    ),
    "sgd": Ability(
        SGD,
        what="SGD with its running dual bound, 2013; the variants of that paper",
        use="to follow that paper",
    ),
    "svmsgd": Ability(
        SVMSGD,
        what="SGD that shrinks its weights every few rows, its first step found on a sample",
        use="to compare with the papers",
        losses=(Hinge,),
    ),
    "sgd_qn": Ability(
        SGDQN,
        what="the same with diagonal scaling from curvature, 2009",
        use="to compare with the papers",
        losses=(Hinge,),
    ),
    "svm_perf": Ability(
        SVMPerf,
        what="cutting planes with one slack, 2006",
        use="to compare with the papers",
        losses=(Hinge,),
    ),
    "ocas": Ability(
        OCAS,
        what="cutting planes near the best weights so far, 2008",
        use="to compare with the papers; few passes over the rows",
        losses=(Hinge,),
    ),
    "scheduled_sgd": Ability(
        ScheduledSGD,
        what="SGD with the steps of Norma, fixed steps (Zhang), or within a ball of given radius",
        use="to follow papers that compare with them",
        biases=BIASES[:2],
    ),
    "mpu": Ability(
        MPU,
        what="the margin perceptron with unlearning, 2010: unit steps up and down in the dual",
        use="to compare with the papers",
        losses=(Hinge,),
    ),
    "simba": Ability(
        SIMBA,
        what="SIMBA, 2011: sublinear, a row and a column of a dense table per step",
        use="to compare with the papers",
        losses=(Hinge,),
        sample_weights=False,
        sparse_rows=False,
        approaches_optimum=False,
    ),
    "perceptron": Ability(
        Perceptron,
        what="the online perceptron",
        use="as a baseline",
        losses=(Hinge,),
        approaches_optimum=False,
    ),
}

KERNEL_SOLVERS: dict[str, Ability] = {
    "decomposition": Ability(
        Decomposition,
        what="dual decomposition on a growing working set; `working_set=2` is SMO",
        use="for the hinge, squared hinge and epsilon-insensitive losses",
        losses=QUADRATIC,
        biases=KERNEL_BIASES,
        kernels=KERNELS,
    ),
    "sdca": Ability(
        KernelSDCA,
        what="random dual coordinate ascent",
        use="for the logistic or your own loss",
        biases=KERNEL_BIASES,
        kernels=KERNELS,
    ),
    "pegasos": Ability(
        KernelPegasos,
        what="Pegasos, kernelised",
        use="to follow the paper",
        biases=KERNEL_BIASES,
        kernels=KERNELS,
    ),
    "lasvm": Ability(
        LASVM,
        what="process, reprocess, finish: only rows that support the model are kept",
        use="online (`partial_fit`)",
        losses=(Hinge,),
        biases=KERNEL_BIASES,
        streams=True,
        kernels=KERNELS,
    ),
    "batch_perceptron": Ability(
        BatchPerceptron,
        what="the stochastic batch perceptron, 2012, with the stopping rule it lacked",
        use="for a rough answer from few kernel values",
        losses=(Hinge,),
        biases=KERNEL_BIASES,
        sample_weights=False,
        kernels=KERNELS,
    ),
    "perceptron": Ability(
        KernelPerceptron,
        what="the online perceptron, kernelised",
        use="as a baseline",
        losses=(Hinge,),
        biases=KERNEL_BIASES,
        kernels=KERNELS,
        approaches_optimum=False,
    ),
}


def named(solver: Any, table: Mapping[str, Ability]) -> Solver:
    """Return the solver that a name or an object stands for: the object itself, not a copy."""
    if isinstance(solver, str) and solver in table:
        return cast(Solver, table[solver].solver())
    if not isinstance(solver, tuple(ability.solver for ability in table.values())):
        raise refusals.no_such_solver(solver, table)
    return cast(Solver, solver)


def linear_solver(solver: Any) -> Solver | Auto:
    """Return the linear solver that a name or an object stands for."""
    is_auto = isinstance(solver, str) and solver == "auto"
    return Auto() if is_auto else named(solver, LINEAR_SOLVERS)


def resolve(solver: Any, loss: Any, bias: str, has_weights: bool = False) -> Solver | Auto:
    """Return a solver ready for a loss and a way of finding the bias, or say what to use instead.

    `loss` is a tag or a custom loss; `has_weights` tells whether rows have weights. The object that
    a user passed is not changed.
    """
    if isinstance(solver, str) and solver == "auto" and bias not in LINEAR_SOLVERS["sdca"].biases:
        solver = "pegasos"
    found = copy.copy(linear_solver(solver))
    refusals.check_bias(bias, BIASES)
    if isinstance(found, Auto):
        return found
    refusals.check_solver_and_bias(found.name, bias, LINEAR_SOLVERS[found.name].biases)
    refusals.check_bias_and_loss(bias, loss)
    _check_ability(found, loss, has_weights, LINEAR_SOLVERS)
    if isinstance(found, SGD):
        refusals.check_variant_and_loss(found.variant, loss)
    if isinstance(found, Pegasos | SGD):
        found.bias_way = bias
    found.check()
    return found


def takes_joint(solver: Solver | Auto, bias: str) -> bool:
    """Whether a solver trains several classes jointly, with a bias found in this way."""
    able = LINEAR_SOLVERS["sdca" if isinstance(solver, Auto) else solver.name]
    return bias in able.joint_biases


def resolve_kernel(solver: Any, loss: Any, bias: str, has_weights: bool = False) -> Solver:
    """Return a kernel solver ready for a loss and a bias, or say what to use instead."""
    if isinstance(solver, str) and solver == "auto":
        solver = "decomposition" if isinstance(loss, QUADRATIC) else "sdca"
    found = copy.copy(named(solver, KERNEL_SOLVERS))
    refusals.check_kernel_and_bias(bias)
    _check_ability(found, loss, has_weights, KERNEL_SOLVERS)
    found.check()
    return found


def resolve_stream(solver: Any, loss: Any, bias: str, has_weights: bool = False) -> Pegasos:
    """Return the Pegasos that takes the steps of `partial_fit`, or refuse what it cannot do."""
    options = ("batch_size", "output")
    refusals.check_stream_and_solver(solver, LINEAR_SOLVERS, Pegasos, options)
    refusals.check_stream_and_bias(bias)
    found = Pegasos() if isinstance(solver, str) else copy.copy(solver)
    found.check()
    return found


def resolve_kernel_stream(solver: Any, loss: Any, bias: str, has_weights: bool = False) -> Solver:
    """Return the LASVM that takes the steps of `partial_fit`, or refuse what it cannot do."""
    is_auto = isinstance(solver, str) and solver == "auto"
    found = copy.copy(named("lasvm" if is_auto else solver, KERNEL_SOLVERS))
    refusals.check_kernel_and_bias(bias)
    refusals.check_stream_and_solver(solver, KERNEL_SOLVERS, LASVM)
    refusals.check_stream_and_loss(loss, KERNEL_SOLVERS["lasvm"].losses)
    found.check()
    return found


def _check_ability(
    solver: Solver, loss: Any, has_weights: bool, table: Mapping[str, Ability]
) -> None:
    """Refuse a loss or weights that a solver cannot do."""
    ability = table[solver.name]
    others = [name for name, other in table.items() if other.losses is None]
    refusals.check_solver_and_loss(solver.name, loss, ability.losses, others)
    instead = next(name for name, other in table.items() if other.sample_weights)
    refusals.check_solver_and_weights(solver.name, ability.sample_weights, has_weights, instead)
