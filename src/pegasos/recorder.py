"""The recorder: what a run's present model is worth at chosen steps, as papers draw it.

A certificate is of the best model so far. A record is of the model as its solver has it just then,
better or worse: its objective, its errors on rows that were set aside, the kernel values and the
seconds that its steps have taken. Looking changes nothing: neither the run, nor what is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, compiled
from pegasos.errors import InvalidParameter
from pegasos.problem.bias import best_bias
from pegasos.problem.geometry import geometry
from pegasos.problem.joint_losses import for_joint_losses, joint_value, own_class
from pegasos.problem.losses import value
from pegasos.problem.objective import Costs, Problem, weight


@dataclass(frozen=True)
class Recorder:
    """Record what a fit's model is worth after chosen numbers of steps: `records_` of estimators.

    A step is what the solver's paper calls one: a row, a mini-batch (Pegasos), a pair (SMO), a row
    that PROCESS looks at ("lasvm"). Of solvers that cannot be divided so, the first model at or
    after a chosen step is recorded, and `max_steps` is reached or passed: a cut of "svm_perf" and
    "ocas" and a step of "newton" need all rows and count as so many steps, so `max_steps` of k
    times their number ends after k; "decomposition" ends with its working set, "sdca" on large
    sparse data with a round of its threads. "simba" has new weights after each of its rounds only.
    The objective is that of the `C` given, also where a solver is given another measure and
    certifies its own problem (`lam_`).

    Parameters
    ----------
    steps : sequence of int
        Numbers of steps after which to record; 0 is the model to begin with.
    X_test, y_test : array-like, optional
        Rows and labels (targets) that the model is tested on at every record.
    clock : {"wall", "cpu"}, default="wall"
        What `seconds` are, and those of `max_time`: of a clock, or of the process on all cores,
        which other programs disturb less.

    Examples
    --------
    >>> from pegasos import Pegasos, PegasosClassifier, Recorder
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = PegasosClassifier(
    ...     solver=Pegasos(output="last"), max_steps=6, tol=1e-9, random_state=0,
    ...     record=Recorder([0, 2, 6], X_test=[[0.5], [2.5]], y_test=[0, 1]),
    ... )
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # the tolerance is not reached in six steps
    ...     records = model.fit(X, y).records_
    >>> records["step"].tolist(), float(records["objective"][0])
    ([0, 2, 6], 1.0)
    >>> sorted(records)
    ['objective', 'rows_visited', 'seconds', 'step', 'test_error', 'test_loss']
    """

    steps: Sequence[int]
    X_test: Any = field(default=None, repr=False)
    y_test: Any = field(default=None, repr=False)
    clock: str = "wall"

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        for name, other in (("X_test", "y_test"), ("y_test", "X_test")):
            if getattr(self, name) is not None and getattr(self, other) is None:
                raise InvalidParameter(f"Recorder has {name} without {other}; give both or none.")
        if self.clock not in ("wall", "cpu"):
            raise InvalidParameter(
                f'clock of a Recorder must be "wall" or "cpu"; got {self.clock!r}.'
            )
        try:
            known = np.asarray(self.steps)
            is_good = known.ndim == 1 and known.dtype.kind in "iu" and len(known) > 0
        except (TypeError, ValueError):
            is_good = False
        if not is_good or known.min() < 0:
            raise InvalidParameter(
                "steps of a Recorder must be a list of whole numbers, 0 or more, such as "
                f"[0, 100, 1000]; got {self.steps!r}."
            )


class HeldOut(NamedTuple):
    """Rows that models are tested on, as weights see them; their costs; what counts errors.

    `errors` takes decision values (n, K) and returns the share of wrong labels, or what stands for
    it.
    """

    rows: Any
    costs: Costs
    errors: Callable[[FloatArray], float]


@dataclass(frozen=True)
class Moment:
    """A record: the model after so many steps; sums over models."""

    step: int
    rows_visited: int
    seconds: float  # of the steps: without compiling, certificates and records
    objective: float
    test_error: float | None
    test_loss: float | None
    evaluations: int | None  # kernel values computed for the steps, those ahead included
    kernel_rows: int | None  # rows of the kernel matrix that steps used, each time anew


class Recording:
    """The records of one run: what to record, and when."""

    def __init__(
        self, steps: Sequence[int], test: HeldOut | None = None, clock: str = "wall"
    ) -> None:
        self.steps, self.test = sorted({int(step) for step in steps}), test
        self.counts_cpu = clock == "cpu"

    def next_after(self, step: int) -> float:
        """Return the first chosen step beyond this one; infinity if there is none."""
        place = bisect_right(self.steps, step)
        return self.steps[place] if place < len(self.steps) else float("inf")

    def worth(
        self, problem: Problem, W: FloatArray, b: FloatArray | None
    ) -> tuple[float, float | None, float | None]:
        """Return objective, test error and test loss of a model; a bias of None is the best one."""
        space = geometry(problem.rows)
        Z = np.empty(problem.costs.Y.shape)
        space.write_scores(W, Z)
        if b is None:
            b = best_biases(problem, Z)
        square = space.square_norms(W, Z)
        if problem.bias_scale > 0.0:
            square = square + (b / problem.bias_scale) ** 2
        losses = total_losses(problem.costs, Z, b) / problem.S
        objective = float(0.5 * problem.lam * square.sum() + losses.sum())
        if self.test is None:
            return objective, None, None
        rows, costs, errors = self.test
        Z = np.empty(costs.Y.shape)
        geometry(rows).write_scores(W, Z)
        losses = total_losses(costs, Z, b) / len(Z)
        return objective, errors(Z + b), float(losses.sum())


def as_dict(moments: Sequence[Moment]) -> dict[str, FloatArray]:
    """Return one array per quantity that is known; without records, those that always are."""
    columns = {f.name: [getattr(m, f.name) for m in moments] for f in fields(Moment)}
    if not moments:
        columns = {name: columns[name] for name in ("step", "rows_visited", "seconds", "objective")}
    return {name: np.array(known) for name, known in columns.items() if None not in known}


def best_biases(problem: Problem, Z: FloatArray) -> FloatArray:
    """Return the best free bias of every model, given its scores."""
    return np.array([best_bias(problem, Z, k, 0.0, 1e-16) for k in range(Z.shape[1])])


def total_losses(costs: Costs, Z: FloatArray, b: FloatArray) -> FloatArray:
    """Return sum_i s_i loss(z_ik + b_k, y_ik) of every model; a joint one is the first."""
    totals = np.zeros(Z.shape[1])
    add_losses(costs, Z, np.ascontiguousarray(b, dtype=np.float64), totals)
    return totals


@compiled
def add_losses(costs, Z, b, totals):  # type: ignore[no-untyped-def]
    """Add the losses of all rows at the scores Z + b to `totals`."""
    for i in range(Z.shape[0]):
        add_row_losses(costs.loss, costs, i, Z[i] + b, totals)


@by_tag
def add_row_losses(loss: Any, costs: Any, i: int, z: Any, totals: Any) -> None:
    """Add what row i costs at scores z (K,) to `totals`."""


@add_row_losses.otherwise
def _(loss, costs, i, z, totals):  # type: ignore[no-untyped-def]
    for k in range(len(z)):
        totals[k] += weight(costs.weights, i) * value(loss, z[k], costs.Y[i, k])


@for_joint_losses(add_row_losses)
def _(loss, costs, i, z, totals):  # type: ignore[no-untyped-def]
    totals[0] += weight(costs.weights, i) * joint_value(loss, z, own_class(costs.Y, i))
