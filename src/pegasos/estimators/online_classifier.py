"""Online linear classification: one row at a time, with certified regret."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pegasos.data.validate import checked_data
from pegasos.estimators.classification import Decisions
from pegasos.estimators.fitting import keep
from pegasos.estimators.labelled import labelled, labels_found, streamed
from pegasos.estimators.labels import columns_of, is_multilabel
from pegasos.estimators.online import OnlineEstimator
from pegasos.estimators.parameters import margin_loss, tag_of
from pegasos.online.learner import Learner
from pegasos.online.regret import Regret


class OnlineClassifier(Decisions, OnlineEstimator):
    """Linear classification by online convex optimisation, with proven regret.

    At its t-th step a learner plays weights w_t of a convex set, is shown a row and pays
    loss(y_t <w_t, x_t>) + lam/2 ||w_t||^2. Its regret is what it paid more than the best fixed
    weights of the set would have, known in hindsight. More than two classes are trained one against
    the rest, several labels per row (`y` an indicator matrix) one model per label.

    To minimise an objective to a proven tolerance use `PegasosClassifier`; this one is for streams,
    for constrained weights, and for comparing first-order methods.

    Parameters
    ----------
    algorithm : {"adagrad", "sgd", "smd", "seg", "pegasos", "gd", "pgd"}, default="adagrad"
        The method. "adagrad" has a step size per feature and needs the least care; "pegasos" is
        for costs with a penalty; "seg" (SEG+-) for many features of which few matter; "smd" is lazy
        mirror descent; "sgd" the plain gradient step. "gd" and "pgd" are shown all rows of a call
        at once: one step per epoch of `fit`, one per call of `partial_fit`.
    loss : {"hinge", "squared_hinge", "logistic"} or CustomLoss, default="hinge"
        What a row costs.
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
    coef_ : ndarray of shape (1, n_features) or (n_models, n_features)
        Weights; float32 for float32 data, else float64.
    intercept_ : ndarray of shape (1,) or (n_models,)
        The weight of the constant feature; 0 for fit_intercept=False.
    classes_ : ndarray of shape (n_classes,)
        The labels; a positive decision value means the second of two. Multilabel: column numbers.
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

    Notes
    -----
    A step costs the nonzeros of its row for "sgd", "smd" and "pegasos" on all of R^d or an l2 ball,
    and for "adagrad" on sparse rows with lam=0 and domain "all" or a `Box`. With other sets, with
    "seg", and with a penalty under "adagrad", one row moves every weight: O(n_features).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import OnlineClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = (X - X.mean(axis=0))[:100], y[:100]
    >>> model = OnlineClassifier("smd", radius=2.0, random_state=0).fit(X, y)
    >>> model.score(X, y)
    1.0

    The regret, against the best weights of the ball of radius 2:

    >>> regret = model.regret(X, y)
    >>> 0.0 <= regret.lower <= regret.upper <= regret.bound
    True
    """

    def __init__(
        self,
        algorithm: str = "adagrad",
        *,
        loss: Any = "hinge",
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
        self.lam = lam
        self.domain = domain
        self.radius = radius
        self.step_size = step_size
        self.fit_intercept = fit_intercept
        self.output = output
        self.epochs = epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> OnlineClassifier:
        """Play `epochs` passes over the rows, from the start.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.
        y : array-like of shape (n,) or indicator matrix of shape (n, n_labels)
            Labels of any type.

        Returns
        -------
        self : OnlineClassifier
            The fitted estimator.
        """
        rule, lam = self._checked()
        loss = tag_of(margin_loss(self.loss), [-1.0, 1.0])

        rows, labels, Y, _, _ = labelled(self, X, y, None)

        costs = self._costs(rows, Y, loss, lam)
        learners = [Learner(rule, each.n_weights) for each in costs]
        self._play(learners, costs)

        keep(self, labels_found(labels), {"n_iter_": int(self.epochs)})
        self._keep(rows, learners, lam)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlineClassifier:
        """Go on with more rows of a stream, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            New rows.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (n_classes,), optional
            All labels that may ever occur; needed at the first call.

        Returns
        -------
        self : OnlineClassifier
            The estimator.
        """
        rule, lam = self._checked()
        loss = tag_of(margin_loss(self.loss), [-1.0, 1.0])

        rows, labels, Y, _, _ = streamed(self, X, y, None, classes)

        costs = self._costs(rows, Y, loss, lam)
        learners = self._going_on(rule, lam, len(costs), costs[0].n_weights)
        self._play_once(learners, costs)

        keep(self, labels_found(labels), {"n_iter_": 1})
        self._keep(rows, learners, lam)
        return self

    def regret(self, X: Any, y: Any, tol: float = 1e-3) -> Regret:
        """Return the regret against the best fixed weights, with a duality gap for these.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The rows that were seen, each as often as the others: those of `fit`, or of all calls of
            `partial_fit` together.
        y : array-like of shape (n,) or indicator matrix
            Their labels.
        tol : float, default=1e-3
            How closely to know the best fixed weights, relative to their cost.

        Returns
        -------
        regret : Regret
            The sum over the models.
        """
        check_is_fitted(self)
        loss = tag_of(margin_loss(self.loss), [-1.0, 1.0])
        has_columns = is_multilabel(y)
        rows, y = checked_data(self, X, y, reset=False, multi_output=has_columns)
        codes = columns_of(y)[1] if has_columns else self._labels.codes(y)
        return self._regret(self._costs(rows, self._labels.targets(codes), loss, self.lam_), tol)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags
