"""Parameters of the linear estimators: everything is checked before data is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pegasos.certificate.stopping import Stopping
from pegasos.errors import InvalidParameter
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.losses import EpsilonInsensitive, Hinge, Logistic, SquaredHinge
from pegasos.problem.objective import Bias
from pegasos.problem.scaling import is_number, lam_of, positive, shown
from pegasos.solvers.catalogue import BIASES, resolve

MARGIN_LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}

EPOCHS = 1000  # passes that max_iter=None allows, at least
VALUES = 100_000_000  # values that it lets small problems read: some tenths of a second
VALUES_PER_EPOCH = 20_000  # what an epoch costs beside the values it reads

TINY = 50_000  # values per pass up to which `auto` goes to machine precision
WISH = 1e-22  # that is, until rounding stops it
WISHED_VALUES = 50_000_000  # values read at most on the way there


Resolve = Callable[[Any, Any, str], Any]  # solver, loss, bias -> a solver ready for them

TINY_MATRIX = 500_000  # values of a kernel matrix up to which `auto` does so too
WISHED_ROUNDS = 40  # and the rounds of a decomposition it may take


@dataclass(frozen=True)
class Parameters:
    """What an estimator's parameters mean once they are known to make sense."""

    loss: Any
    solver: Any
    bias: Bias
    tol: float
    max_iter: int | None
    max_time: float
    stop: Any
    is_auto: bool

    def with_loss(self, loss: Any) -> Parameters:
        """Return the same parameters with another loss: the compiled one of a custom loss."""
        return replace(self, loss=loss)

    def kernel_stopping(self, values: int) -> Stopping:
        """Return the limits of a kernel fit; `values` are those of all models' kernel matrices."""
        is_tiny = self.is_auto and values <= TINY_MATRIX and self.stop == "gap"
        return Stopping(
            tol=self.tol,
            max_iter=self.max_iter or EPOCHS,
            max_time=self.max_time,
            rule=self.stop,
            wish=WISH if is_tiny else np.inf,
            wish_epochs=WISHED_ROUNDS if is_tiny else 0,
        )

    def stopping(self, values: int) -> Stopping:
        """Return the limits of a fit that reads so many values per pass."""
        work = values + VALUES_PER_EPOCH
        is_tiny = self.is_auto and values <= TINY and self.stop == "gap"
        return Stopping(
            tol=self.tol,
            max_iter=self.max_iter or max(EPOCHS, VALUES // work),
            max_time=self.max_time,
            rule=self.stop,
            wish=WISH if is_tiny else np.inf,
            wish_epochs=WISHED_VALUES // work if is_tiny else 0,
        )


def checked_parameters(
    estimator: Any, loss: Any, solver: Any = None, resolve: Resolve = resolve
) -> Parameters:
    """Check what the estimators have in common; `loss` is a tag or a custom loss.

    The solver is taken from the catalogue, unless `solver` is one that was checked already.
    """
    lam_of(estimator.C, estimator.lam, 1.0)
    one_of(estimator.bias, "bias", BIASES)
    positive(estimator.bias_scale, "bias_scale", "It is the value of the constant feature.")
    positive(estimator.tol, "tol", "tol=1e-3 asks for an objective within 0.1 % of the optimum.")
    whole(estimator.max_iter, "max_iter", "It limits the passes over the data; None is the default")
    if estimator.max_time is not None:
        positive(estimator.max_time, "max_time", "It is in seconds; None means no limit.")
    one_of(estimator.stop, "stop", ("gap", "decisions"))
    yes_or_no(estimator.warm_start, "warm_start")
    threads_of(estimator)
    if not isinstance(estimator.verbose, bool | int | np.integer) or estimator.verbose < 0:
        raise InvalidParameter(f"verbose must be 0 or 1; got {estimator.verbose!r}.")
    one_of(estimator.on_interrupt, "on_interrupt", ("keep", "raise"))
    seeded(estimator.random_state)
    return Parameters(
        loss=loss,
        solver=solver or resolve(estimator.solver, loss, estimator.bias),
        bias="free" if estimator.bias.startswith("free") else estimator.bias,
        tol=float(estimator.tol),
        max_iter=None if estimator.max_iter is None else int(estimator.max_iter),
        max_time=np.inf if estimator.max_time is None else float(estimator.max_time),
        stop=estimator.stop,
        is_auto=isinstance(estimator.solver, str) and estimator.solver == "auto",
    )


def margin_loss(loss: Any) -> Any:
    """Return the classification loss that a name or an object stands for."""
    if isinstance(loss, str) and loss in MARGIN_LOSSES:
        return MARGIN_LOSSES[loss]
    if isinstance(loss, Hinge | SquaredHinge | Logistic | CustomLoss):
        return loss
    raise InvalidParameter(
        f'loss must be "hinge", "squared_hinge", "logistic" or a CustomLoss; got {loss!r}.'
        + (" That loss is for regression." if _is_for_regression(loss) else "")
    )


def regression_loss(loss: Any, epsilon: float) -> Any:
    """Return the regression loss that a name or an object stands for."""
    if not is_number(epsilon) or epsilon != 0:
        advice = "0 is allowed, too: errors up to epsilon cost nothing."
        positive(epsilon, "epsilon", advice)
    if isinstance(loss, str) and loss == "epsilon_insensitive":
        return EpsilonInsensitive(float(epsilon))
    if isinstance(loss, EpsilonInsensitive | CustomLoss):
        if epsilon != 0.1:
            raise InvalidParameter(
                f"epsilon={epsilon!r} has no effect on a loss given as an object; leave it out."
            )
        if isinstance(loss, EpsilonInsensitive):
            return EpsilonInsensitive(float(loss.epsilon))
        return loss
    raise InvalidParameter(
        f'loss must be "epsilon_insensitive" or a CustomLoss; got {loss!r}.'
        + (" That loss is for classification." if _is_for_classes(loss) else "")
    )


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


def listed(names: tuple[str, ...]) -> str:
    """Write names as a sentence does."""
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _is_for_regression(loss: Any) -> bool:
    return isinstance(loss, EpsilonInsensitive) or str(loss) == "epsilon_insensitive"


def _is_for_classes(loss: Any) -> bool:
    return isinstance(loss, Hinge | SquaredHinge | Logistic) or str(loss) in MARGIN_LOSSES
