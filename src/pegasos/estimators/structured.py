"""Any structure with a linear score, certified: structured SVMs with decoding of your own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.limits import EPOCHS
from pegasos.certificate.stopping import Outcome, Stopping
from pegasos.data.numbers import checked_weights
from pegasos.errors import (
    FitInterrupted,
    InvalidData,
    InvalidParameter,
    InvalidType,
    ToleranceNotReached,
)
from pegasos.estimators.fitting import certificate_found, interrupts_of, keep, stack_level
from pegasos.estimators.parameters import one_of, seeded, whole
from pegasos.problem.scaling import lam_of, positive
from pegasos.progress import watch_for
from pegasos.structured.examples import Structure, make_examples
from pegasos.structured.solve import Task, solve
from pegasos.structured.solvers import SOLVERS, begin

METHODS = ("features", "cost", "decode", "decode_augmented")
COMPILES = "compiling for structures (about 1 s)"


class PegasosStructured(BaseEstimator):
    """Learn to predict structures of any kind, with a proof of how good the fit is.

    Minimises, over the weights w of a joint feature map phi,

        1/2 ||w||^2 + C sum_i s_i max_r [cost(y_i, r) + <w, phi(x_i, r)> - <w, phi(x_i, y_i)>].

    The proof is as good as `decode_augmented`, which must find the maximum: a structure that it
    found earlier and that is better than the one it finds now ends the fit with an error.

    Parameters
    ----------
    structure : object
        Has the methods `features(x, y)`, an array of shape (d,); `cost(y, other)`, 0 for y itself;
        `decode(w, x)`, the structure of largest score; `decode_augmented(w, x, y)`, that of largest
        cost plus score; and, if you like, `is_feasible(x, y)`, asked about all that is decoded.
    C : float, default=1.0
        Weight of the losses against the penalty. Give `C` or `lam`, not both.
    lam : float, optional
        Weight of the penalty against the *mean* loss.
    solver : {"frank_wolfe", "pegasos"}, default="frank_wolfe"
        Block-coordinate Frank-Wolfe, or stochastic sub-gradient descent, which takes less memory.
    tol : float, default=1e-3
        The objective is to be within this fraction of the optimum, proven.
    max_iter : int, optional
        Limit on the epochs; by default 1000.
    max_time : float, optional
        Limit on the seconds of training.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which examples are visited.
    verbose : int, default=0
        1 shows progress, on stderr.
    on_interrupt : {"keep", "raise"}, default="keep"
        What Ctrl-C does: end the fit soon and keep the model so far, or raise at once.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        The weights w.
    certificate_ : Certificate
        Objective (`primal`), lower bound on the optimum (`dual`), `gap`, `relative_gap`, `reason`.
    history_ : dict of str to ndarray
        epoch, seconds, rows_visited, primal, dual, gap and relative_gap of every certificate.
    C_, lam_ : float
        The penalty on both scales.
    n_iter_ : int
        Epochs.

    Examples
    --------
    A structure of the simplest kind, one of three classes:

    >>> import numpy as np
    >>> from pegasos import PegasosStructured
    >>> class OneOfThree:
    ...     def features(self, x, y):
    ...         return np.kron(np.eye(3)[y], x)
    ...     def cost(self, y, other):
    ...         return float(y != other)
    ...     def decode(self, w, x):
    ...         return int(np.argmax(w.reshape(3, -1) @ x))
    ...     def decode_augmented(self, w, x, y):
    ...         return int(np.argmax(w.reshape(3, -1) @ x + (np.arange(3) != y)))
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> model = PegasosStructured(OneOfThree(), C=10.0, random_state=0).fit(X, [0, 1, 2])
    >>> model.predict(X)
    [0, 1, 2]
    >>> model.certificate_.is_within_tol
    True
    """

    def __init__(
        self,
        structure: Any,
        C: float = 1.0,
        *,
        lam: float | None = None,
        solver: str = "frank_wolfe",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        on_interrupt: str = "keep",
    ) -> None:
        self.structure = structure
        self.C = C
        self.lam = lam
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosStructured:
        """Fit to inputs X and their structures y.

        Parameters
        ----------
        X, y : lists or arrays of equal length
            Anything that the structure's methods understand.
        sample_weight : array-like of shape (n,), optional
            A weight of k counts an example k times, a weight of 0 removes it.

        Returns
        -------
        self : PegasosStructured
            The fitted estimator.
        """
        stopping = self._checked()
        n = _length(X, "X")
        if _length(y, "y") != n or n == 0:
            raise InvalidData(f"X has {n} examples, but y has {len(y)}; they must pair up.")
        weights = checked_weights(sample_weight, n)
        S = float(n) if weights is None else float(weights.sum())
        C, lam = lam_of(self.C, self.lam, S)
        problem = make_examples(self.structure, X, y, weights, lam)
        solver = SOLVERS[self.solver]()
        seed = seeded(self.random_state).randint(2**31 - 1)
        run = Task(
            lambda state: solver.advance(problem, state),
            lambda state: solver.certify(problem, state),
            n,
            COMPILES,
        )
        solution = solve(
            run,
            lambda: begin(problem, seed),
            stopping,
            watch_for(self.verbose, stopping.tol),
            interrupts_of(self),
        )
        keep(self, {"coef_": solution.model, "C_": C, "lam_": lam}, certificate_found(solution))
        warn(solution)
        return self

    def _checked(self) -> Stopping:
        """Check the parameters before data is looked at; return the limits."""
        missing = [name for name in METHODS if not callable(getattr(self.structure, name, None))]
        if missing or not isinstance(self.structure, Structure):
            raise InvalidParameter(
                f"structure must have the methods {', '.join(METHODS)}; {self.structure!r} lacks "
                f"{', '.join(missing)}."
            )
        lam_of(self.C, self.lam, 1.0)
        one_of(self.solver, "solver", tuple(SOLVERS))
        positive(self.tol, "tol", "tol=1e-3 asks for an objective within 0.1 % of the optimum.")
        whole(self.max_iter, "max_iter", "It limits the passes over the data; None means 1000")
        if self.max_time is not None:
            positive(self.max_time, "max_time", "It is in seconds; None means no limit.")
        one_of(self.on_interrupt, "on_interrupt", ("keep", "raise"))
        limit = np.inf if self.max_time is None else float(self.max_time)
        return Stopping(float(self.tol), int(self.max_iter or EPOCHS), limit)

    def predict(self, X: Any) -> list[Any]:
        """Return the best structure for each input.

        Parameters
        ----------
        X : list or array
            Inputs.

        Returns
        -------
        structures : list
            What `decode` returns.
        """
        check_is_fitted(self)
        return [self.structure.decode(self.coef_, x) for x in X]

    def score(self, X: Any, y: Any) -> float:
        """Return minus the mean cost of the predictions: the larger the better.

        Parameters
        ----------
        X, y : lists or arrays of equal length
            Inputs and their structures.

        Returns
        -------
        score : float
            0 is perfect.
        """
        found = self.predict(X)
        costs = [self.structure.cost(one, other) for one, other in zip(y, found, strict=True)]
        return -float(np.mean(costs))


def _length(values: Any, name: str) -> int:
    """Return how many examples there are; refuse what has no length."""
    if not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise InvalidType(f"{name} must be a list or an array; got {type(values).__name__}.")
    return len(values)


def warn(solution: Any) -> None:
    """Warn of an interrupted fit, or of one that a limit ended above the tolerance."""
    if solution.outcome is Outcome.INTERRUPT:
        warnings.warn(
            "Fit interrupted by Ctrl-C, half-trained; the model so far is kept: "
            f"{solution.certificate}.",
            FitInterrupted,
            stacklevel=stack_level(),
        )
    elif solution.outcome in (Outcome.EPOCHS, Outcome.TIME, Outcome.ROUNDING):
        advice = {
            Outcome.EPOCHS: "Raise max_iter or tol, or lower C.",
            Outcome.TIME: "Raise max_time or tol, or lower C.",
            Outcome.ROUNDING: "Raise tol.",
        }[solution.outcome]
        warnings.warn(
            f"The tolerance was not reached: {solution.certificate}. {advice}",
            ToleranceNotReached,
            stacklevel=stack_level(),
        )
