"""Training and use of a labeller of sequences: solver and certificate put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pegasos.around import Around
from pegasos.certificate.sequences import Evaluation, evaluate
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import CsrRows
from pegasos.errors import InvalidParameter
from pegasos.parallel import each
from pegasos.problem.sequence_duals import portions
from pegasos.problem.sequences import Model, Sequences, make_work, unlabelled
from pegasos.solvers.chain.frank_wolfe import ChainFrankWolfe
from pegasos.solvers.chain.pegasos import ChainPegasos
from pegasos.solvers.chain.sdca import ChainSDCA
from pegasos.structured.solve import StructuredSolution, Task, solve

SOLVERS: dict[str, Any] = {
    "frank_wolfe": ChainFrankWolfe,
    "sdca": ChainSDCA,
    "pegasos": ChainPegasos,
}
COMPILES = "compiling for label sequences (about 15 s)"
AUTO = {"hinge": "frank_wolfe", "logistic": "sdca"}


def solver_for(solver: Any, loss: str) -> Any:
    """Return the solver that a name stands for; refuse one that cannot train the loss."""
    if not isinstance(solver, str) or solver not in ("auto", *SOLVERS):
        names = ", ".join(f'"{name}"' for name in SOLVERS)
        raise InvalidParameter(f'solver must be "auto" or one of {names}; got {solver!r}.')
    chosen = SOLVERS[AUTO[loss] if solver == "auto" else solver]
    if loss not in chosen.losses:
        raise InvalidParameter(
            f'solver="{solver}" cannot train loss="{loss}"; choose "{AUTO[loss]}" or "pegasos".'
        )
    return chosen()


def train(
    problem: Sequences,
    K: int,
    solver: Any,
    stopping: Stopping,
    seed: int,
    previous: Any,
    around: Around,
) -> StructuredSolution:
    """Run a solver until its certificate, or a limit, says stop."""
    task = task_of(problem, solver)
    return solve(task, lambda: solver.start(problem, K, seed, previous), stopping, around)


def task_of(problem: Sequences, solver: Any) -> Task:
    """Return what the outer loop has to know of a solver and its problem."""

    def certify(state: Any) -> Evaluation:
        model = Model(*(part.copy() for part in solver.iterate(problem, state)))
        return evaluate(problem, model, solver.dual_point(problem, state))

    n = len(problem.starts) - 1
    return Task(lambda state: solver.advance(problem, state), certify, n)


def label(
    kernel: Callable[..., None], rows: CsrRows, starts: Any, model: Model, out: Any, *more: Any
) -> list[Any]:
    """Have a kernel write something for every token; return it sequence by sequence."""
    problem, K = unlabelled(rows, starts), model.U.shape[1]
    parts = portions(problem, K)
    each(lambda part: kernel(problem, part, model, *more, make_work(problem, K), out), parts)
    return np.split(out, starts[1:-1])
