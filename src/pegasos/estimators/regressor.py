"""Linear regression with the epsilon-insensitive loss, certified."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from pegasos.data.compress import quickest
from pegasos.data.numbers import checked_numbers, checked_weights
from pegasos.data.rows import FloatArray, shape, stored_values
from pegasos.data.validate import checked_data
from pegasos.estimators.callbacks import EpochCallbacks, with_callbacks
from pegasos.estimators.fitting import (
    certificate_found,
    forget_certificate,
    keep,
    passed,
    penalty_found,
    solved,
    total_weight,
    warn_of_end,
)
from pegasos.estimators.linear import (
    LinearEstimator,
    previous_state,
    state_found,
    stream_so_far,
    weight_so_far,
    weights_found,
)
from pegasos.estimators.parameters import checked_parameters, regression_loss, tag_of
from pegasos.estimators.recording import recording_for, records_found
from pegasos.problem.objective import make_problem
from pegasos.problem.scaling import lam_of, lam_of_stream
from pegasos.solvers.catalogue import resolve, resolve_stream
from pegasos.solvers.pegasos.stream import go_on


class PegasosRegressor(RegressorMixin, LinearEstimator):
    """Linear support vector regression with a proof of how good the fit is.

    Minimises, over the weights w and the bias b,

        1/2 ||w||^2 + C sum_i s_i max(0, |<w, x_i> + b - y_i| - epsilon),      s_i the weights,

    or, the same thing for lam = 1 / (C sum_i s_i), lam/2 ||w||^2 plus the weighted mean loss. The
    fit ends when this objective is *proven* to be within `tol` of its minimum; `certificate_` is
    the proof.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the penalty: a larger C fits the training rows more closely.
        Give `C` or `lam`, not both.
    lam : float, optional
        Weight of the penalty against the *mean* loss; independent of the number of rows.
    loss : "epsilon_insensitive" or CustomLoss, default="epsilon_insensitive"
        What a row costs. `CustomLoss(value, slope)` takes two functions of your own.
    epsilon : float, default=0.1
        Errors up to epsilon cost nothing. In the units of y.
    bias : str, default="free"
        "free": not penalised, as in the textbook; "regularized": the weight of a constant feature
        of value `bias_scale`, penalised like the others; "none": predictions through the origin.
        "free-subgradient", "free-batch", "free-search" and "free-bisection" are the ways to a free
        bias that Pegasos has besides its default one; other solvers refuse them.
    bias_scale : float, default=1.0
        The constant feature of bias="regularized": the larger, the weaker the penalty on the bias.
    solver : str or object, default="auto"
        A name from the catalogue, such as "sdca", or an object with options, such as
        `SDCA(shrinking=False)`, which searches reach as `solver__shrinking`. "auto" picks SDCA or
        Newton's method, whichever is expected to end first (`verbose=1` tells why), changes to the
        other if it does not, and takes tiny problems (up to 20,000 stored values) to machine
        precision.
    tol : float, default=1e-3
        The objective is to be within this fraction of the optimum, proven.
    max_iter : int, optional
        Limit on the epochs: passes over the rows, or steps of Newton's method. By default 1000, and
        up to 5000 for small data.
    max_steps : int, optional
        Limit on the steps of the solver (rows, or mini-batches): a fit may end inside an epoch.
        Solvers that work on many rows at once end with those; see `Recorder`.
    max_time : float, optional
        Limit on the seconds of training. Compiling, once per machine, does not count.
    warm_start : bool, default=False
        Continue from the last fit, if rows number the same (the penalty, the tolerance or even the
        targets may have changed). Otherwise start afresh.
    n_jobs : int, optional
        Limit on the threads of a fit and of predictions; None and -1 mean all cores. Models are the
        same, to the last bit, whatever their number.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which rows are visited. Equal seeds give equal models.
    verbose : int, default=0
        1 shows progress, on stderr: a bar on a terminal, a line now and then elsewhere.
    record : Recorder, optional
        Which steps to record, and the rows to test on: `records_` then has what the model of each
        was worth as the solver had it, not the best one so far. One fit; not for searches.
    on_interrupt : {"keep", "raise"}, default="keep"
        What Ctrl-C does to a fit in the main thread. "keep" ends it soon, keeps the model so far
        with its certificate and warns; a second Ctrl-C, in this fit or within two seconds in the
        next, raises KeyboardInterrupt. "raise" does so at once, to stop a search or another loop.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; float32 for float32 data, else float64.
    intercept_ : ndarray of shape (1,)
        The bias b, added to <w, x> as it is, whatever `bias_scale`; 0 for bias="none".
    certificate_ : Certificate
        Objective (`primal`), lower bound on the optimum (`dual`), `gap`, `relative_gap`, and why
        the fit ended (`reason`).
    history_ : dict of str to ndarray
        epoch, seconds, rows_visited, primal, dual, gap and relative_gap of every certificate.
    records_ : dict of str to ndarray
        With `record`: step, rows_visited, seconds, objective, and test_error and test_loss where
        there are rows to test on.
    C_, lam_ : float
        The penalty on both scales.
    n_iter_ : int
        Epochs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import PegasosRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PegasosRegressor(C=10.0, epsilon=0.0).fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.predict([[4.0]]).round(3), model.coef_.round(3), model.intercept_.round(3)
    (array([9.]), array([2.]), array([1.]))
    >>> lower, upper = model.decision_bounds([[4.0]])  # of the exact optimum's prediction
    >>> bool(lower[0] <= 9.0 <= upper[0] and upper[0] - lower[0] < 1e-3)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        loss: Any = "epsilon_insensitive",
        epsilon: float = 0.1,
        bias: str = "free",
        bias_scale: float = 1.0,
        solver: Any = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_steps: int | None = None,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        record: Any = None,
        on_interrupt: str = "keep",
    ) -> None:
        self.C = C
        self.lam = lam
        self.loss = loss
        self.epsilon = epsilon
        self.bias = bias
        self.bias_scale = bias_scale
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.record = record
        self.on_interrupt = on_interrupt

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosRegressor:
        """Fit to rows X and targets y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows; neither copied nor widened where that can be avoided.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            A weight of k counts a row k times, a weight of 0 removes it.

        Returns
        -------
        self : PegasosRegressor
            The fitted estimator.
        """
        loss = regression_loss(self.loss, self.epsilon)
        parameters = checked_parameters(self, loss, resolve, sample_weight)

        rows, targets = checked_data(self, X, y)
        Y = checked_numbers(targets)[:, None]
        weights = checked_weights(sample_weight, shape(rows)[0])
        loss = tag_of(loss, Y[:, 0])

        C, lam = lam_of(self.C, self.lam, total_weight(rows, weights))
        problem = make_problem(
            loss, quickest(rows), Y, weights, lam, parameters.bias, self.bias_scale
        )
        stopping = parameters.limits.linear(stored_values(rows))

        def model_found(W: FloatArray, b: FloatArray) -> dict[str, Any]:
            return weights_found(rows, W[:, 0], b)

        callbacks = EpochCallbacks(
            self, passed(X, y, sample_weight), stopping.max_iter, model_found
        )
        solution = solved(
            self, problem, parameters.solver, stopping, callbacks,
            previous=previous_state(self, Y), recording=recording_for(self, problem),
        )  # fmt: skip

        keep(
            self,
            model_found(solution.W, solution.b),
            penalty_found(C, problem, solution),
            certificate_found(solution),
            records_found(self, solution),
            state_found(self, solution),
        )
        callbacks.finish()
        warn_of_end(self, solution, rows)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosRegressor:
        """Take one Pegasos step per row of a stream, in the order given.

        `C` and `lam` mean what they mean to `fit`, for all rows so far: lam = 1 / (C N), with N
        their weight, those of this call included. A given `lam` stays what it is, so that it does
        not matter how a stream is cut into calls; with `C` (the default, 1.0) lam falls from call
        to call, and the weights stay. `solver` is "auto" or "pegasos" (`Pegasos(batch_size=...)`
        for mini-batches).

        After `fit`, goes on from there. There is no certificate, since a stream has no end. With
        bias="free" the bias follows its own sub-gradient, which converges slowly, like the inverse
        square root of the number of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            New rows. Their order matters: shuffle data that is sorted.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            A weight of k lets k units of time pass, a weight of 0 removes a row.

        Returns
        -------
        self : PegasosRegressor
            The estimator.
        """
        loss = regression_loss(self.loss, self.epsilon)
        parameters = checked_parameters(self, loss, resolve_stream, sample_weight)

        rows, targets = checked_data(self, X, y, reset="coef_" not in vars(self))
        Y = checked_numbers(targets)[:, None]
        weights = checked_weights(sample_weight, shape(rows)[0])
        loss = tag_of(loss, Y[:, 0])

        seen = weight_so_far(self)
        C, lam = lam_of_stream(self.C, self.lam, seen, len(Y), weights)
        problem = make_problem(loss, rows, Y, weights, lam, parameters.bias, self.bias_scale)

        stream = stream_so_far(self, seen, problem)
        stream, W, b = go_on(stream, problem, int(parameters.solver.batch_size))

        forget_certificate(self)
        keep(self, weights_found(rows, W[:, 0], b))
        keep(self, {"C_": C, "lam_": lam, "n_iter_": 1, "_stream": stream})
        return self

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

    def decision_bounds(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the predictions that the exact optimum would give.

        They follow from the certificate and hold for any rows, seen in training or not. Where
        nothing is known they are infinite.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            The optimum's predictions lie between them.
        """
        _, low, high = self._bounds(X)
        return low[:, 0], high[:, 0]
