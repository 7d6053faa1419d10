"""Any structure with a linear score, certified: structured SVMs with decoding of your own."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.stopping import Stopping
from pegasos.data.numbers import checked_weights
from pegasos.errors import InvalidData, InvalidParameter, InvalidType
from pegasos.estimators.base import CertifiedFit
from pegasos.estimators.callbacks import EpochCallbacks, with_callbacks
from pegasos.estimators.fitting import around_fit, certificate_found, keep, passed, warn_of_end
from pegasos.estimators.parameters import checked_limits, one_of, seeded
from pegasos.problem.scaling import lam_of
from pegasos.structured.examples import Structure, make_examples
from pegasos.structured.solve import solve
from pegasos.structured.solvers import SOLVERS, Ended, task_of

METHODS = ("features", "cost", "decode", "decode_augmented")
COMPILES = "compiling for structures (about 1 s)"


class PegasosStructured(CertifiedFit):
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
    warm_start : bool, default=False
        Continue from the last fit if structure, X and y are the same (the penalty, the tolerance,
        the weights of examples and the solver may have changed). They are compared by what pickle
        writes of them; what cannot be pickled is begun anew, and so is a structure that decoding
        changes (a cache of its own, a counter).
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
        warm_start: bool = False,
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
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt

    @with_callbacks
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
        seed = seeded(self.random_state).randint(2**31 - 1)

        def model_found(w: Any) -> dict[str, Any]:
            return {"coef_": w}

        callbacks = EpochCallbacks(
            self, passed(X, y, sample_weight), stopping.max_iter, model_found
        )
        solver = SOLVERS[self.solver]()
        key = key_of(self.structure, X, y, len(problem.truth[0])) if self.warm_start else None
        solution = solve(
            task_of(problem, solver),
            lambda: solver.go_on(problem, seed, self._previous(key)),
            stopping,
            around_fit(self, COMPILES, stopping, callbacks),
        )
        keep(
            self,
            model_found(solution.model),
            {"C_": C, "lam_": lam, **certificate_found(solution)},
            {"_state": key and (key, solver.ended(solution.state))},
        )
        callbacks.finish()
        warn_of_end(self, solution)
        return self

    def _previous(self, key: Any) -> Ended | None:
        """Return where the last fit ended, if it was of the same examples."""
        known = vars(self).get("_state") if key is not None else None
        return known[1] if known is not None and known[0] == key else None

    def _checked(self) -> Stopping:
        """Check the parameters before data is looked at; return the limits."""
        missing = [name for name in METHODS if not callable(getattr(self.structure, name, None))]
        if missing or not isinstance(self.structure, Structure):
            raise InvalidParameter(
                f"structure must have the methods {', '.join(METHODS)}; {self.structure!r} lacks "
                f"{', '.join(missing)}."
            )
        limits = checked_limits(self)
        one_of(self.solver, "solver", tuple(SOLVERS))
        return limits.examples()

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


def key_of(structure: Any, X: Any, y: Any, d: int) -> Any:
    """Return what tells structure, inputs and labels from others; None if they cannot be told."""
    try:
        return type(structure), joblib.hash((structure, X, y)), d
    except Exception:  # pickling runs code of the user's
        return None


def _length(values: Any, name: str) -> int:
    """Return how many examples there are; refuse what has no length."""
    if not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise InvalidType(f"{name} must be a list or an array; got {type(values).__name__}.")
    return len(values)
