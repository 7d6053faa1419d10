"""Kernel regression with the epsilon-insensitive loss, certified."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from pegasos.data.numbers import checked_numbers, checked_weights
from pegasos.data.rows import FloatArray, shape
from pegasos.data.validate import checked_data
from pegasos.estimators.callbacks import EpochCallbacks, with_callbacks
from pegasos.estimators.fitting import (
    certificate_found,
    keep,
    passed,
    penalty_found,
    solved,
    total_weight,
    warn_of_end,
    warn_of_kernel,
)
from pegasos.estimators.kernel import (
    KernelEstimator,
    check_kernel,
    kernel_for,
    model_found,
    previous_state,
    state_found,
    support_of,
)
from pegasos.estimators.parameters import checked_parameters, regression_loss, tag_of
from pegasos.estimators.recording import recording_for, records_found
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.memory import budget_of
from pegasos.parallel import one_blas_thread
from pegasos.problem.objective import make_problem
from pegasos.problem.scaling import lam_of
from pegasos.solvers.catalogue import resolve_kernel


class KernelPegasosRegressor(RegressorMixin, KernelEstimator):
    """Kernel support vector regression with a proof of how good the fit is.

    Minimises, over functions f of the kernel's space and the bias b,

        1/2 ||f||^2 + C sum_i s_i max(0, |f(x_i) + b - y_i| - epsilon),      s_i the weights,

    or, the same thing for lam = 1 / (C sum_i s_i), lam/2 ||f||^2 plus the weighted mean loss. The
    fit ends when this objective is *proven* to be within `tol` of its minimum; `certificate_` is
    the proof.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the penalty: a larger C fits the training rows more closely.
        Give `C` or `lam`, not both.
    lam : float, optional
        Weight of the penalty against the *mean* loss; independent of the number of rows.
    kernel : str or callable, default="rbf"
        "rbf" (Gaussian, exp(-gamma ||x - z||^2)), "linear", "poly" ((gamma <x, z> + coef0)^degree),
        "laplacian" (exp(-gamma sum_j |x_j - z_j|)), "sigmoid" (tanh(gamma <x, z> + coef0), not
        positive semi-definite: no certificate), "precomputed" (X is the matrix of kernel values),
        or a function that takes two matrices and returns the matrix of kernel values.
    gamma : float, "scale" or "auto", default="scale"
        Width of the kernel. "scale" is 1 / (n_features * variance of X), "auto" 1 / n_features.
    degree : float, default=3
        Power of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels.
    loss : "epsilon_insensitive" or CustomLoss, default="epsilon_insensitive"
        What a row costs. `CustomLoss(value, slope)` takes two functions of your own.
    epsilon : float, default=0.1
        Errors up to epsilon cost nothing. In the units of y.
    bias : {"free", "none"}, default="free"
        "free": not penalised, as in the textbook; "none": no bias.
    solver : str or object, default="auto"
        A name from the catalogue or an object with options, which searches reach as
        `solver__option`. "auto" picks dual decomposition, or "sdca" for other losses than hinge,
        squared hinge and epsilon-insensitive.
    cache_size : float, optional
        Megabytes of memory for kernel values, and for a compressed copy of dense rows that are
        mostly zeros. By default a quarter of the machine's memory, less what the caches of other
        fits hold that this process has under way.
    tol : float, default=1e-3
        The objective is to be within this fraction of the optimum, proven.
    max_iter : int, optional
        Limit on the epochs: rounds of the decomposition, passes over the rows of other solvers. By
        default 1000.
    max_steps : int, optional
        Limit on the steps of the solver (rows, or mini-batches): a fit may end inside an epoch.
        Solvers that work on many rows at once end with those; see `Recorder`.
    max_time : float, optional
        Limit on the seconds of training. Compiling, once per machine, does not count.
    warm_start : bool, default=False
        Continue from the last fit, if rows and models number the same. Otherwise start afresh.
    random_state : int, RandomState instance or None, default=None
        Seed of what is random in a solver. Equal seeds give equal models.
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
    support_ : ndarray of shape (n_support,)
        Row numbers of the support vectors, of all models together.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features)
        Those rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (1,)
        Support vectors in number.
    dual_coef_ : ndarray of shape (n_models, n_support)
        Coefficients of the expansions.
    intercept_ : ndarray of shape (n_models,)
        The bias; 0 for bias="none".
    certificate_ : Certificate
        Objective (`primal`), lower bound on the optimum (`dual`), `gap`, `relative_gap`, and why
        the fit ended (`reason`).
    history_ : dict of str to ndarray
        epoch, seconds, rows_visited, primal, dual, gap, relative_gap and evaluations (kernel values
        computed) of every certificate.
    n_kernel_evaluations_, cache_hits_, cache_misses_ : int
        Kernel values computed; rows of the kernel matrix found in memory, or not, when needed.
    records_ : dict of str to ndarray
        With `record`: step, rows_visited, seconds, objective, and test_error and test_loss where
        there are rows to test on; evaluations, the kernel values computed for the steps (in
        blocks, those ahead included), and kernel_rows, the rows of the kernel matrix that steps
        used: n times as many values without a store. The latter is not known of LASVM, the
        perceptron and larger working sets.
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
    >>> from pegasos import KernelPegasosRegressor
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> model = KernelPegasosRegressor(C=10.0, gamma=1.0, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.02)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        loss: Any = "epsilon_insensitive",
        epsilon: float = 0.1,
        bias: str = "free",
        solver: Any = "auto",
        cache_size: float | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_steps: int | None = None,
        max_time: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        record: Any = None,
        on_interrupt: str = "keep",
    ) -> None:
        self.C = C
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.epsilon = epsilon
        self.bias = bias
        self.solver = solver
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.max_time = max_time
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.record = record
        self.on_interrupt = on_interrupt

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelPegasosRegressor:
        """Fit to rows X and targets y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows; neither copied nor widened where that can be avoided. With kernel="precomputed",
            the (n, n) matrix of kernel values.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            A weight of k counts a row k times, a weight of 0 removes it.

        Returns
        -------
        self : KernelPegasosRegressor
            The fitted estimator.
        """
        check_kernel(self)
        loss = regression_loss(self.loss, self.epsilon)
        parameters = checked_parameters(self, loss, resolve_kernel, sample_weight)

        rows, targets = checked_data(self, X, y)
        Y = checked_numbers(targets)[:, None]
        weights = checked_weights(sample_weight, shape(rows)[0])
        loss = tag_of(loss, Y[:, 0])
        kernel = kernel_for(self, rows, weights)

        C, lam = lam_of(self.C, self.lam, total_weight(rows, weights))
        with one_blas_thread:
            gram = Gram(kernel, rows, budget_of(self.cache_size))
        problem = make_problem(loss, gram, Y, weights, lam, parameters.bias)
        stopping = parameters.limits.kernel(len(Y) ** 2)

        def found(B: FloatArray, b: FloatArray) -> dict[str, Any]:
            support = support_of(B)
            count = {"n_support_": np.array([len(support)])}
            return model_found(kernel, rows, B, b, support) | count

        callbacks = EpochCallbacks(self, passed(X, y, sample_weight), stopping.max_iter, found)
        solution = solved(
            self, problem, parameters.solver, stopping, callbacks,
            previous=previous_state(self, Y), recording=recording_for(self, problem),
        )  # fmt: skip

        keep(
            self,
            found(solution.W, solution.b),
            penalty_found(C, problem, solution),
            certificate_found(solution),
            records_found(self, solution),
            state_found(self, problem, solution),
        )
        callbacks.finish()
        warn_of_kernel(self, gram.is_indefinite)
        warn_of_end(self, solution, rows)
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
            f(x) + b.
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
