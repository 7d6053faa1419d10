"""Parameters of the estimators: everything is checked before data is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from pegasos.certificate.limits import Limits
from pegasos.errors import InvalidParameter
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import (
    MARGIN_LOSSES,
    REGRESSION_LOSSES,
    is_margin_loss,
    is_regression_loss,
)
from pegasos.problem.objective import Bias
from pegasos.problem.scaling import is_number, lam_of, positive, shown
from pegasos.recorder import Recorder
from pegasos.solvers.catalogue import BIASES
from pegasos.solvers.refusals import check_loss_and_epsilon, listed, no_such_loss

Resolve = Callable[[Any, Any, str, bool], Any]  # solver, loss, bias, weights? -> a ready solver

EPSILON = 0.1  # of regressors, by default


class Parameters(NamedTuple):
    """What an estimator's parameters mean once they are known to make sense."""

    solver: Any
    bias: Bias
    limits: Limits


def checked_parameters(
    estimator: Any, loss: Any, resolve: Resolve, sample_weight: Any = None
) -> Parameters:
    """Check what the estimators have in common; `loss` is a tag or a custom loss.

    The solver is the one that `resolve` finds in the catalogue.
    """
    limits = checked_limits(estimator)
    one_of(estimator.bias, "bias", BIASES)
    positive(estimator.bias_scale, "bias_scale", "It is the value of the constant feature.")
    has_weights = sample_weight is not None or estimator.class_weight is not None
    bias: Any = "free" if estimator.bias.startswith("free") else estimator.bias
    return Parameters(resolve(estimator.solver, loss, estimator.bias, has_weights), bias, limits)


def checked_limits(estimator: Any) -> Limits:
    """Check the parameters of every estimator: penalty, limits, seed, threads, progress, Ctrl-C."""
    lam_of(estimator.C, estimator.lam, 1.0)
    positive(estimator.tol, "tol", "tol=1e-3 asks for an objective within 0.1 % of the optimum.")
    whole(estimator.max_iter, "max_iter", "It limits the passes over the data; None is the default")
    whole(estimator.max_steps, "max_steps", "It limits the steps of a solver; None means no limit")
    if estimator.record is not None:
        if not isinstance(estimator.record, Recorder):
            raise InvalidParameter(
                f"record must be a Recorder or None; got {estimator.record!r}. Use "
                "record=Recorder(steps=[...])."
            )
        estimator.record.check()
    if estimator.max_time is not None:
        positive(estimator.max_time, "max_time", "It is in seconds; None means no limit.")
    one_of(estimator.stop, "stop", ("gap", "decisions"))
    yes_or_no(estimator.warm_start, "warm_start")
    threads_of(estimator)
    if not isinstance(estimator.verbose, bool | int | np.integer) or estimator.verbose < 0:
        raise InvalidParameter(f"verbose must be 0 or 1; got {estimator.verbose!r}.")
    one_of(estimator.on_interrupt, "on_interrupt", ("keep", "raise"))
    check_seed(estimator.random_state)
    return Limits(
        tol=float(estimator.tol),
        max_iter=None if estimator.max_iter is None else int(estimator.max_iter),
        max_time=np.inf if estimator.max_time is None else float(estimator.max_time),
        rule=estimator.stop,
        is_auto=isinstance(estimator.solver, str) and estimator.solver == "auto",
        max_steps=np.inf if estimator.max_steps is None else float(estimator.max_steps),
    )


def margin_loss(loss: Any) -> Any:
    """Return the classification loss that a name or an object stands for."""
    if isinstance(loss, str) and loss in MARGIN_LOSSES:
        return MARGIN_LOSSES[loss]
    if is_margin_loss(loss) or isinstance(loss, CustomLoss):
        return loss
    is_other = is_regression_loss(loss) or str(loss) in REGRESSION_LOSSES
    raise no_such_loss(loss, MARGIN_LOSSES, "regression" if is_other else "")


def regression_loss(loss: Any, epsilon: float) -> Any:
    """Return the regression loss that a name or an object stands for."""
    if not is_number(epsilon) or epsilon != 0:
        advice = "0 is allowed, too: errors up to epsilon cost nothing."
        positive(epsilon, "epsilon", advice)
    if isinstance(loss, str) and loss in REGRESSION_LOSSES:
        return REGRESSION_LOSSES[loss](float(epsilon))
    if is_regression_loss(loss) or isinstance(loss, CustomLoss):
        check_loss_and_epsilon(epsilon, EPSILON)
        return loss if isinstance(loss, CustomLoss) else type(loss)(float(loss.epsilon))
    is_other = is_margin_loss(loss) or str(loss) in MARGIN_LOSSES
    raise no_such_loss(loss, REGRESSION_LOSSES, "classification" if is_other else "")


def tag_of(loss: Any, y: Any) -> Any:
    """Return the tag that kernels take: a loss of the user's own is compiled and tested on y."""
    return loss.tag(y) if isinstance(loss, CustomLoss) else loss


def check_class_weight(class_weight: Any) -> None:
    """Refuse class weights of the wrong kind; their labels are checked when y is known."""
    is_known = class_weight is None or isinstance(class_weight, Mapping)
    if not is_known and not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise InvalidParameter(
            f'class_weight must be "balanced", a dict or None; got {class_weight!r}.'
        )


def seeded(random_state: Any) -> Any:
    """Return the RandomState that a parameter stands for, or say what may be given."""
    try:
        return check_random_state(random_state)
    except (TypeError, ValueError):
        raise InvalidParameter(
            "random_state must be a whole number from 0 to 2**32 - 1, a RandomState or None; got "
            f"random_state={shown(random_state)}."
        ) from None


def check_seed(random_state: Any) -> None:
    """Refuse what is no seed; a whole number is one without being tried, which takes a while."""
    is_whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not is_whole or not 0 <= random_state < 2**32:
        seeded(random_state)


def one_of(value: Any, name: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is not one of the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidParameter(f"{name} must be {listed(allowed)}; got {value!r}.")


def whole(number: Any, name: str, advice: str) -> None:
    """Refuse what is neither None nor a whole number of 1 or more."""
    is_whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if number is not None and (not is_whole or number < 1):
        raise InvalidParameter(
            f"{name} must be a whole number, 1 or more; got {name}={shown(number)}. {advice}."
        )


def threads_of(estimator: Any) -> int | None:
    """Return the limit on threads that `n_jobs` sets, None for all cores; refuse other values."""
    n_jobs = estimator.n_jobs
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is None or (is_whole and n_jobs == -1):
        return None
    if not is_whole or n_jobs < 1:
        raise InvalidParameter(
            "n_jobs must be a whole number of threads, 1 or more, or -1 or None for all cores; "
            f"got n_jobs={shown(n_jobs)}."
        )
    return int(n_jobs)


def yes_or_no(value: Any, name: str) -> None:
    """Refuse what is not a boolean."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameter(f"{name} must be True or False; got {value!r}.")
