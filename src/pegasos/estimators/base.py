"""What all estimators share: bounds on the optimum, options of objects, missing certificates."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.pair_balls import PairBalls
from pegasos.certificate.predictions import Ball
from pegasos.certificate.stopping import Certificate
from pegasos.data.rows import FloatArray
from pegasos.data.validate import checked_rows
from pegasos.errors import NotCertified
from pegasos.estimators.callbacks import CallbackSupport
from pegasos.estimators.parameters import threads_of
from pegasos.parallel import limited_to, one_blas_thread
from pegasos.solvers.refusals import check_name_has_options


class CertifiedFit(CallbackSupport, BaseEstimator):
    """An estimator whose fit has a certificate."""

    # What parameters mean where an estimator does not have them.
    stop: str = "gap"  # a regressor has no decisions to wait for
    n_jobs: int | None = None
    max_steps: int | None = None
    record: Any = None
    warm_start: bool = False
    _has_kernel: ClassVar[bool] = False

    certificate_: Certificate

    def set_params(self, **params: Any) -> Any:
        """Set parameters; options of a solver or loss object as `solver__option`.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : estimator
            The estimator itself.
        """
        for name in params:
            owner, nested, option = name.partition("__")
            if nested and owner in ("solver", "loss", "kernel"):
                value = params.get(owner, vars(self).get(owner))
                check_name_has_options(owner, value, option)
        return super().set_params(**params)

    def __getattr__(self, name: str) -> Any:
        """Explain why a certificate is missing; called for attributes that are not there."""
        if name in ("certificate_", "history_"):
            if "n_iter_" not in self.__dict__:
                raise NotFittedError(
                    f"{name} comes with a fit; this {type(self).__name__} is not fitted yet. Call "
                    "fit(X, y) first."
                )
            raise NotCertified(
                f"{name} is not available after partial_fit: a stream has no end, so there is "
                "nothing to certify. Use fit."
            )
        if name == "records_":
            raise AttributeError(
                f"records_ is there after a fit with record=Recorder(steps=[...]); this "
                f"{type(self).__name__} has record={vars(self).get('record')!r}."
            )
        return object.__getattribute__(self, name)  # raises what led here

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CertifiedEstimator(CertifiedFit):
    """An estimator of K models with a certificate.

    Subclasses say how new rows are scored (`_scores`) and what the ball of a certificate sees of
    them (`_seen`).
    """

    bias_scale: float = 1.0  # where an estimator does not have it, as `class_weight`
    class_weight: Any = None

    intercept_: FloatArray
    _ball: Ball | PairBalls | None

    def _scores(self, X: Any) -> FloatArray:
        """Return decision values of shape (n, K)."""
        raise NotImplementedError

    @one_blas_thread
    def _bounds(self, X: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return decision values of shape (n, K) and bounds on the optimum's."""
        ball = self._known_ball()
        with limited_to(threads_of(self)):
            Z, low, high = ball.scores_and_bounds(self._seen(X))
        return Z + self.intercept_, low, high

    @one_blas_thread
    def _leaders(self, X: Any) -> tuple[FloatArray, Any]:
        """Return decision values of a joint model, and which class leads at the optimum, or -1."""
        ball, rows = self._known_ball(), self._seen(X)
        with limited_to(threads_of(self)):
            Z, _, _ = ball.scores_and_bounds(rows)
            return Z + self.intercept_, ball.sure_leaders(rows)

    def _known_ball(self) -> Any:
        """Return what is known of the optimum."""
        check_is_fitted(self)
        if self._ball is None:
            raise NotCertified(
                "partial_fit keeps no certificate, because a stream has no end: bounds on the "
                "optimum are known after fit only."
            )
        return self._ball

    def _seen(self, X: Any) -> Any:
        """Return new rows as the ball of a certificate is to see them."""
        return checked_rows(self, X, reset=False)
