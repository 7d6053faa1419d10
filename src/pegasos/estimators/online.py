"""What the online estimators share: a learner per model, scores, and regret."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pegasos.data.rows import FloatArray, Rows, float_type, shape
from pegasos.data.validate import checked_rows
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.estimators.parameters import one_of, seeded, whole, yes_or_no
from pegasos.online.costs import RowCosts
from pegasos.online.learner import Learner
from pegasos.online.presets import PRESETS, preset_named, rule_named
from pegasos.online.regret import Regret
from pegasos.online.sets import Everywhere, L1Ball, L2Ball
from pegasos.problem.scaling import is_number, positive
from pegasos.problem.scores import write_scores

LAM = 1e-4  # of Pegasos, where none is given
DOMAINS = ("all", "l2", "l1")


class OnlineEstimator(BaseEstimator):
    """K linear models, each with a learner of its own that sees one row at a time."""

    class_weight: ClassVar[None] = None  # `labelled` asks for it

    coef_: FloatArray
    intercept_: FloatArray
    _learners: list[Learner]
    _game: tuple[Any, ...]

    def _checked(self) -> tuple[Any, float]:
        """Check the parameters before data is looked at; return the rule and lam."""
        is_pegasos = preset_named(self.algorithm) is PRESETS["pegasos"]
        lam = self.lam
        if lam is None:
            lam = LAM if is_pegasos else 0.0
        if not is_number(lam) or lam != 0:
            positive(lam, "lam", "0 is allowed, too, but for Pegasos: costs without a penalty.")
        if self.step_size is not None:
            positive(self.step_size, "step_size", "It scales the steps of the algorithm.")
        if self.radius is not None:
            positive(self.radius, "radius", "It bounds the norm of the weights.")
        if self.epochs is None:
            raise InvalidParameter("epochs must be a whole number, 1 or more; got None.")
        whole(self.epochs, "epochs", "It is the number of passes of fit over the rows")
        one_of(self.output, "output", ("average", "last"))
        yes_or_no(self.fit_intercept, "fit_intercept")
        seeded(self.random_state)
        within = self._within()
        rule = rule_named(
            self.algorithm,
            within,
            radius=self.radius if within is None else None,
            scale=None if self.step_size is None else float(self.step_size),
            lam=float(lam),
        )
        return rule, float(lam)

    def _within(self) -> Any:
        """Return the set that `domain` and `radius` ask for; None for the algorithm's own."""
        if self.domain is None:
            return None
        if not isinstance(self.domain, str):
            if self.radius is not None:
                raise InvalidParameter(
                    f"domain={self.domain!r} has its own extent; got radius={self.radius!r} too. "
                    'Leave radius out, or use domain="l2" or "l1".'
                )
            return self.domain
        one_of(self.domain, "domain", DOMAINS)
        if self.domain == "all":
            if self.radius is not None:
                raise InvalidParameter(
                    f'domain="all" has no radius; got radius={self.radius!r}. Choose "l2" or "l1".'
                )
            return Everywhere()
        if self.radius is None:
            raise InvalidParameter(f'domain="{self.domain}" needs a radius.')
        return (L2Ball if self.domain == "l2" else L1Ball)(self.radius)

    def _costs(self, rows: Rows, Y: FloatArray, loss: Any, lam: float) -> list[RowCosts]:
        """Return the costs of every model."""
        constant = 1.0 if self.fit_intercept else 0.0
        columns = np.ascontiguousarray(Y.T)
        return [RowCosts(rows, y, loss, lam, constant) for y in columns]

    def _play_once(self, learners: list[Learner], costs: list[RowCosts], order: Any = None) -> None:
        """Show every learner its costs once, as they stand or in another order."""
        is_full = preset_named(self.algorithm).full
        for learner, shown in zip(learners, costs, strict=True):
            if is_full:
                learner.see(shown.full())
            else:
                learner.see_rows(shown, order)

    def _play(self, learners: list[Learner], costs: list[RowCosts]) -> None:
        """Show every learner its costs `epochs` times, each time in a new random order."""
        random = seeded(self.random_state)
        for _ in range(self.epochs):
            self._play_once(learners, costs, random.permutation(costs[0].n))

    def _keep(self, rows: Rows, learners: list[Learner], lam: float) -> None:
        """Set the fitted attributes."""
        self._game = self._game_of(learners[0].rule, lam)
        W = np.array([x.average if self.output == "average" else x.w for x in learners])
        d = shape(rows)[1]
        b = W[:, d] if self.fit_intercept else np.zeros(len(W))
        self._learners = learners
        self.coef_ = W[:, :d].astype(float_type(rows))
        self.intercept_ = b.copy()
        self.lam_ = lam
        self.n_steps_ = learners[0].steps
        self.regret_ = _total([learner.regret() for learner in learners])
        notes = [_total(list(at)) for at in zip(*(x.history for x in learners), strict=True)]
        if not notes or notes[-1].steps < self.n_steps_:
            notes.append(self.regret_)
        self.history_ = {
            "step": np.array([note.steps for note in notes]),
            "cost": np.array([note.cost for note in notes]),
            "regret_upper": np.array([note.upper for note in notes]),
            "bound": np.array([note.bound for note in notes]),
        }

    def _game_of(self, rule: Any, lam: float) -> tuple[Any, ...]:
        """Return what has to stay the same in a stream; tags of other classes may be equal."""
        is_full = preset_named(self.algorithm).full
        loss = (type(self.loss).__name__, self.loss)
        return repr(rule), is_full, lam, bool(self.fit_intercept), loss

    def _going_on(self, rule: Any, lam: float, K: int, n_weights: int) -> list[Learner]:
        """Return the learners to go on with, or new ones; refuse a change of the rule."""
        fitted = vars(self)
        if "_learners" not in fitted:
            return [Learner(rule, n_weights) for _ in range(K)]
        if self._game != self._game_of(rule, lam):
            raise InvalidParameter(
                "partial_fit goes on with the algorithm, loss, lam, domain, radius, step_size and "
                "fit_intercept that it began with; they were changed. Use fit, or a new estimator."
            )
        return [learner.copy() for learner in self._learners]  # kept as they are if a call fails

    def _regret(self, costs: list[RowCosts], tol: float) -> Regret:
        """Return the regret against the best fixed point on these rows."""
        positive(tol, "tol", "It is relative to the cost of the best fixed point.")
        n, steps = costs[0].n, self._learners[0].steps
        _, is_full, *_ = self._game
        if not is_full and steps % n:
            raise InvalidData(
                f"regret needs the rows that were seen, each as often as the others: {steps} steps "
                f"were taken, X has {n} rows."
            )
        pairs = zip(self._learners, costs, strict=True)
        return _total([learner.regret(shown, tol=tol) for learner, shown in pairs])

    def _scores(self, X: Any) -> FloatArray:
        """Return decision values of shape (n, K)."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        W = np.ascontiguousarray(np.atleast_2d(self.coef_).T, dtype=np.float64)
        Z = np.empty((shape(rows)[0], W.shape[1]))
        write_scores(rows, W, Z)
        return Z + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _total(regrets: list[Regret]) -> Regret:
    """Return the regret of models side by side."""
    total = regrets[0]
    for regret in regrets[1:]:
        total = total + regret
    return total
