"""Names and abilities of the solvers: what `solver="auto"` means and what is refused.

The table drives estimators, refusals and the contract tests that cross every solver, loss and bias.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, cast

from pegasos.errors import InvalidParameter
from pegasos.problem.losses import Hinge
from pegasos.solvers.auto import Auto
from pegasos.solvers.kernel.batch_perceptron import BatchPerceptron
from pegasos.solvers.kernel.box import QUADRATIC
from pegasos.solvers.kernel.decomposition import Decomposition
from pegasos.solvers.kernel.lasvm import LASVM
from pegasos.solvers.kernel.pegasos import KernelPegasos
from pegasos.solvers.kernel.perceptron import KernelPerceptron
from pegasos.solvers.kernel.sdca import KernelSDCA
from pegasos.solvers.linear.median import PIECEWISE_LINEAR
from pegasos.solvers.linear.pegasos import Pegasos
from pegasos.solvers.linear.perceptron import Perceptron
from pegasos.solvers.linear.sdca import SDCA
from pegasos.solvers.linear.sgd import SGD
from pegasos.solvers.newton.newton import Newton
from pegasos.solvers.protocol import Solver

BIASES = ("none", "regularized", "free", "free-subgradient", "free-batch", "free-search")


class Ability(NamedTuple):
    """What a solver can do: sample weights and many models at once, all of them.

    Those that approach the optimum take every loss. The perceptron has no objective; what it hands
    out is judged by the hinge loss.
    """

    solver: type
    biases: tuple[str, ...]
    approaches_optimum: bool = True


LINEAR_SOLVERS: dict[str, Ability] = {
    "sdca": Ability(SDCA, BIASES[:3]),
    "newton": Ability(Newton, BIASES[:3]),
    "pegasos": Ability(Pegasos, BIASES),
    "sgd": Ability(SGD, BIASES[:3]),
    "perceptron": Ability(Perceptron, BIASES[:3], approaches_optimum=False),
}


KERNEL_BIASES = ("none", "free")


class KernelAbility(NamedTuple):
    """What a kernel solver can do; all train several models side by side."""

    solver: type
    losses: tuple[type, ...] | None  # None: every loss


KERNEL_SOLVERS: dict[str, KernelAbility] = {
    "decomposition": KernelAbility(Decomposition, QUADRATIC),
    "sdca": KernelAbility(KernelSDCA, None),
    "pegasos": KernelAbility(KernelPegasos, None),
    "lasvm": KernelAbility(LASVM, (Hinge,)),
    "batch_perceptron": KernelAbility(BatchPerceptron, (Hinge,)),
    "perceptron": KernelAbility(KernelPerceptron, (Hinge,)),
}


def resolve_kernel(solver: Any, loss: Any, bias: str) -> Solver:
    """Return a kernel solver ready for a loss and a bias, or say what to use instead."""
    if isinstance(solver, str) and solver == "auto":
        solver = "decomposition" if isinstance(loss, QUADRATIC) else "sdca"
    names = ", ".join(f'"{name}"' for name in KERNEL_SOLVERS)
    if isinstance(solver, str):
        if solver not in KERNEL_SOLVERS:
            raise InvalidParameter(f'solver must be "auto", {names} or an object; got {solver!r}.')
        found = KERNEL_SOLVERS[solver].solver()
    elif isinstance(solver, tuple(ability.solver for ability in KERNEL_SOLVERS.values())):
        found = copy.copy(solver)
    else:
        classes = ", ".join(
            f"{ability.solver.__name__}(...)" for ability in KERNEL_SOLVERS.values()
        )
        raise InvalidParameter(f"solver must be a name or one of {classes}; got {solver!r}.")
    if bias not in KERNEL_BIASES:
        raise InvalidParameter(
            f'bias must be "free" or "none" with a kernel; got bias={bias!r}. A penalised bias is '
            "a constant added to the kernel."
        )
    losses = KERNEL_SOLVERS[found.name].losses
    if losses is not None and not isinstance(loss, losses):
        raise InvalidParameter(
            f'solver="{found.name}" has no loss={loss!r}; use solver="sdca" or "pegasos", which '
            "take every loss."
        )
    found.check()
    return cast(Solver, found)


def linear_solver(solver: Any) -> Solver | Auto:
    """Return the solver object that a name or an object stands for."""
    if isinstance(solver, str) and solver == "auto":
        return Auto()
    if isinstance(solver, str):
        if solver not in LINEAR_SOLVERS:
            names = ", ".join(f'"{name}"' for name in LINEAR_SOLVERS)
            raise InvalidParameter(f'solver must be "auto", {names} or an object; got {solver!r}.')
        found: Solver = LINEAR_SOLVERS[solver].solver()
        return found
    if not isinstance(solver, tuple(ability.solver for ability in LINEAR_SOLVERS.values())):
        names = ", ".join(f"{ability.solver.__name__}(...)" for ability in LINEAR_SOLVERS.values())
        raise InvalidParameter(f"solver must be a name or one of {names}; got {solver!r}.")
    return cast(Solver, solver)


def resolve(solver: Any, loss: Any, bias: str) -> Solver | Auto:
    """Return a solver ready for a loss and a way of finding the bias, or say what to use instead.

    `loss` is a tag or a custom loss. The object that a user passed is not changed.
    """
    if isinstance(solver, str) and solver == "auto" and bias not in LINEAR_SOLVERS["sdca"].biases:
        solver = "pegasos"
    found = copy.copy(linear_solver(solver))
    if bias not in BIASES:
        names = ", ".join(f'"{name}"' for name in BIASES)
        raise InvalidParameter(f"bias must be one of {names}; got {bias!r}.")
    if isinstance(found, Auto):
        return found
    if bias not in LINEAR_SOLVERS[found.name].biases:
        raise InvalidParameter(
            f'solver="{found.name}" has no bias="{bias}"; use bias="free" or solver="pegasos".'
        )
    if bias == "free-batch" and not isinstance(loss, PIECEWISE_LINEAR):
        raise InvalidParameter(
            'bias="free-batch" is a weighted median, which only the hinge and epsilon-insensitive '
            f'losses have; got loss={loss!r}. Use bias="free".'
        )
    if isinstance(found, Perceptron) and not isinstance(loss, Hinge):
        raise InvalidParameter(
            f'solver="perceptron" counts errors and is judged by the hinge loss; got loss={loss!r}.'
            ' Use loss="hinge", or another solver.'
        )
    if isinstance(found, SGD) and found.variant == "m" and not isinstance(loss, Hinge):
        raise InvalidParameter(
            f'SGD(variant="m") counts margin errors of the hinge loss; got loss={loss!r}. Use '
            'variant="s", or loss="hinge".'
        )
    if isinstance(found, Pegasos | SGD):
        found.bias_way = bias
    found.check()
    return found
