"""Records of a fit (`record=Recorder(...)`): test rows as the models see them, and `records_`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pegasos.data.numbers import checked_numbers
from pegasos.data.rows import FloatArray, shape
from pegasos.data.validate import checked_rows
from pegasos.errors import InvalidData
from pegasos.estimators.labels import Labels, columns_of
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.kernelized import Cross
from pegasos.problem.kernels import Precomputed
from pegasos.problem.objective import Costs, Problem, Weights
from pegasos.recorder import HeldOut, Recording, as_dict
from pegasos.solve import Solution


def recording_for(
    estimator: Any, problem: Problem, labels: Labels | None = None
) -> Recording | None:
    """Return what is to be recorded of a fit; `labels` are those of a classifier."""
    recorder = estimator.record
    if recorder is None:
        return None
    if recorder.X_test is None:
        return Recording(recorder.steps, clock=recorder.clock)
    rows = checked_rows(estimator, recorder.X_test, reset=False)
    y = recorder.y_test
    if labels is None:
        Y, errors = checked_numbers(np.asarray(y))[:, None], mean_square_error
    else:
        codes = columns_of(y)[1] if labels.kind == "multilabel" else labels.codes(np.asarray(y))
        Y, errors = labels.targets(codes), share_of_errors
    if len(Y) != shape(rows)[0]:
        raise InvalidData(
            f"X_test of the Recorder has {shape(rows)[0]} rows, and y_test {len(Y)} labels."
        )
    costs = Costs(problem.costs.loss, Y, Weights(np.ones(1), 0))
    wrong = errors(labels, np.asarray(y), Y)
    return Recording(recorder.steps, HeldOut(_seen(problem, rows), costs, wrong), recorder.clock)


def _seen(problem: Problem, rows: Any) -> Any:
    """Return new rows as weights see them: their features, or kernel values with the training."""
    gram = problem.rows
    if not isinstance(gram, Gram):
        return rows
    if isinstance(gram.kernel, Precomputed):
        return Cross(gram.kernel, rows, rows, np.arange(gram.n))
    return Cross(gram.kernel, rows, gram.rows)


def share_of_errors(labels: Any, y: Any, Y: FloatArray) -> Callable[[FloatArray], float]:
    """Return what counts wrong labels; of several labels per row, any wrong one."""

    def errors(Z: FloatArray) -> float:
        if labels.kind == "multilabel":
            return float(((Z > 0.0) != (Y > 0.0)).any(axis=1).mean())
        return float((labels.predicted(Z) != y).mean())

    return errors


def mean_square_error(labels: Any, y: Any, Y: FloatArray) -> Callable[[FloatArray], float]:
    """Return what measures the errors of a regression."""
    return lambda Z: float(((Z - Y) ** 2).mean())


def records_found(estimator: Any, solution: Solution) -> dict[str, Any]:
    """Return the fitted attribute that holds records, if any were asked for."""
    return {} if estimator.record is None else {"records_": as_dict(solution.moments)}
