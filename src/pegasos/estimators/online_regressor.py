"""Online linear regression: one row at a time, with certified regret."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pegasos.data.numbers import checked_numbers
from pegasos.data.rows import FloatArray
from pegasos.data.validate import checked_data
from pegasos.estimators.fitting import keep
from pegasos.estimators.online import OnlineEstimator
from pegasos.estimators.parameters import EPSILON, regression_loss, tag_of
from pegasos.online.learner import Learner
from pegasos.online.regret import Regret


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """Linear regression by online convex optimisation, with proven regret.

    At its t-th step a learner plays weights w_t of a convex set, is shown a row and pays
    loss(<w_t, x_t>, y_t) + lam/2 ||w_t||^2, by default max(0, |<w_t, x_t> - y_t| - epsilon). Its
    regret is what it paid more than the best fixed weights of the set would have, known in
    hindsight. A first step moves weights by about `step_size`: scale X and y to numbers near 1.

    Parameters
    ----------
    algorithm : {"adagrad", "sgd", "smd", "seg", "pegasos", "gd", "pgd"}, default="adagrad"
        The method. "adagrad" has a step size per feature and needs the least care; "pegasos" is
        for costs with a penalty; "seg" (SEG+-) for many features of which few matter; "smd" is lazy
        mirror descent; "sgd" the plain gradient step. "gd" and "pgd" are shown all rows of a call
        at once: one step per epoch of `fit`, one per call of `partial_fit`.
    loss : "epsilon_insensitive" or CustomLoss, default="epsilon_insensitive"
        What a row costs.
    epsilon : float, default=0.1
        Errors up to epsilon cost nothing. In the units of y.
    lam : float, optional
        Weight of the penalty lam/2 ||w||^2 in every cost; by default 0, and 1e-4 for "pegasos".
    domain : {"all", "l2", "l1"} or set of `pegasos.online`, optional
        Where weights may lie: anywhere, or in the ball of that norm with radius `radius`. By
        default the own set of the algorithm: "l1" for "seg", "l2" for "pgd", "smd" and "pegasos",
        for the others "all", or "l2" if a radius is given.
    radius : float, optional
        Radius of the ball; by default 10, 1/sqrt(lam) for "pegasos", and none for "all".
    step_size : float, optional
        The c of the step c/sqrt(t), 1 by default (theory: the diameter of the set over the size of
        gradients); the eta of AdaGrad, 0.1 by default; a factor on the 1/(lam t) of Pegasos.
    fit_intercept : bool, default=True
        Whether rows have a constant feature 1, penalised and bounded like the others.
    output : {"average", "last"}, default="average"
        Which iterate becomes the model. Theory is about the average.
    epochs : int, default=5
        Passes of `fit` over the rows, each in a new random order. `partial_fit` takes one, in the
        order given.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; float32 for float32 data, else float64.
    intercept_ : ndarray of shape (1,)
        The weight of the constant feature; 0 for fit_intercept=False.
    regret_ : Regret
        Regret of the models together: what was paid more than by the best fixed weights, between
        `lower` and `upper`, and the `bound` of theory. Known from tangents alone, so it needs no
        rows; `regret(X, y)` is closer.
    history_ : dict of str to ndarray
        step, cost, regret_upper and bound, at steps evenly spread on a log scale.
    lam_ : float
        The penalty.
    n_steps_ : int
        Costs seen, per model.
    n_iter_ : int
        Passes over the rows of the last call.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    OnlineClassifier : The same for labels, with notes on what a step costs.
    PegasosRegressor : Minimises an objective to a proven tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import OnlineRegressor
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> y = X @ [1.0, -0.5, 0.0] + 0.3
    >>> model = OnlineRegressor("adagrad", domain="l1", radius=2.0, random_state=0).fit(X, y)
    >>> model.coef_.round(1) + 0.0
    array([ 1. , -0.5,  0. ])
    >>> model.regret_.upper <= model.regret_.bound
    True
    """

    def __init__(
        self,
        algorithm: str = "adagrad",
        *,
        loss: Any = "epsilon_insensitive",
        epsilon: float = EPSILON,
        lam: float | None = None,
        domain: Any = None,
        radius: float | None = None,
        step_size: float | None = None,
        fit_intercept: bool = True,
        output: str = "average",
        epochs: int = 5,
        random_state: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.loss = loss
        self.epsilon = epsilon
        self.lam = lam
        self.domain = domain
        self.radius = radius
        self.step_size = step_size
        self.fit_intercept = fit_intercept
        self.output = output
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> OnlineRegressor:
        """Play `epochs` passes over the rows, from the start.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Targets.

        Returns
        -------
        self : OnlineRegressor
            The fitted estimator.
        """
        return self._learn(X, y, goes_on=False, is_stream=False)

    def partial_fit(self, X: Any, y: Any) -> OnlineRegressor:
        """Go on with more rows of a stream, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            New rows.
        y : array-like of shape (n,)
            Targets.

        Returns
        -------
        self : OnlineRegressor
            The estimator.
        """
        return self._learn(X, y, goes_on="_learners" in vars(self), is_stream=True)

    def _learn(self, X: Any, y: Any, *, goes_on: bool, is_stream: bool) -> OnlineRegressor:
        rule, lam = self._checked()
        loss = regression_loss(self.loss, self.epsilon)

        rows, targets = checked_data(self, X, y, reset=not goes_on)
        Y = checked_numbers(targets)[:, None]
        loss = tag_of(loss, Y[:, 0])

        costs = self._costs(rows, Y, loss, lam)
        if goes_on:
            learners = self._going_on(rule, lam, 1, costs[0].n_weights)
        else:
            learners = [Learner(rule, costs[0].n_weights)]
        if is_stream:
            self._play_once(learners, costs)
        else:
            self._play(learners, costs)

        self._keep(rows, learners, lam)
        keep(self, {"coef_": self.coef_[0], "n_iter_": 1 if is_stream else int(self.epochs)})
        return self

    def regret(self, X: Any, y: Any, tol: float = 1e-3) -> Regret:
        """Return the regret against the best fixed weights, with a duality gap for these.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows that were seen, each as often as the others: those of `fit`, or of all calls of
            `partial_fit` together.
        y : array-like of shape (n,)
            Their targets.
        tol : float, default=1e-3
            How closely to know the best fixed weights, relative to their cost.

        Returns
        -------
        regret : Regret
            The interval, and what theory promises.
        """
        check_is_fitted(self)
        rows, targets = checked_data(self, X, y, reset=False)
        Y = checked_numbers(targets)[:, None]
        loss = tag_of(regression_loss(self.loss, self.epsilon), Y[:, 0])
        return self._regret(self._costs(rows, Y, loss, self.lam_), tol)

    def predict(self, X: Any) -> FloatArray:
        """Return predicted targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n,)
            <w, x> + b.
        """
        return self._scores(X)[:, 0]
