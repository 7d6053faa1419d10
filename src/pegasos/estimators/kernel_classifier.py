"""Kernel classification: binary, one-vs-one, one-vs-rest and multilabel, certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray, as_rows
from pegasos.estimators.callbacks import EpochCallbacks, uses_callbacks, with_callbacks
from pegasos.estimators.fitting import (
    certificate_found,
    forget_certificate,
    interrupts_of,
    keep,
    passed,
    penalty_found,
    solved,
    total_weight,
    warn_of_end,
    warn_of_kernel,
)
from pegasos.estimators.kernel import (
    check_kernel,
    kernel_for,
    model_found,
    previous_state,
    state_found,
    support_of,
)
from pegasos.estimators.kernel_pairs import (
    PairwiseKernelClassification,
    by_class,
    check_multiclass,
    ends_found,
    pair_penalty_found,
    pair_state_found,
    previous_pairs,
    support_counts,
    support_found,
)
from pegasos.estimators.labelled import Labelled, labelled, labels_found, streamed
from pegasos.estimators.labels import Kind
from pegasos.estimators.parameters import (
    Parameters,
    Resolve,
    check_class_weight,
    checked_parameters,
    margin_loss,
    seeded,
    tag_of,
)
from pegasos.estimators.recording import recording_for, records_found
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.memory import budget_of
from pegasos.one_vs_one.models import Task, values_of_pairs
from pegasos.one_vs_one.together import history_of
from pegasos.one_vs_one.training import train
from pegasos.parallel import one_blas_thread
from pegasos.problem.kernels import Custom, Kernel, Linear, Precomputed, kernel_of
from pegasos.problem.objective import make_problem
from pegasos.problem.scaling import lam_of, lam_of_stream, weight_behind
from pegasos.progress import watch_for
from pegasos.solvers.catalogue import resolve_kernel, resolve_kernel_stream
from pegasos.solvers.lasvm.online_model import OnlineModel
from pegasos.solvers.lasvm.stream import stream_after_fit, targets_of, under
from pegasos.solvers.refusals import (
    check_record_and_pairs,
    check_same_kernel,
    check_stream_and_class_weight,
    check_stream_and_kernel,
)


class KernelPegasosClassifier(PairwiseKernelClassification):
    """Kernel support vector classification with a proof of how good the fit is.

    Minimises, over functions f of the kernel's space and the bias b,

        1/2 ||f||^2 + C sum_i s_i loss(y_i (f(x_i) + b)),      y_i in {-1, +1}, s_i the weights,

    or, the same thing for lam = 1 / (C sum_i s_i), lam/2 ||f||^2 plus the weighted mean loss. The
    fit ends when this objective is *proven* to be within `tol` of its minimum; `certificate_` is
    the proof.

    More than two classes are trained pair by pair, as in scikit-learn's SVC, or one against the
    rest (`multiclass`), several labels per row (`y` an indicator matrix) one model per label. Every
    model has a certificate of its own. Pairs share kernel values of the rows of a class and run
    side by side on all cores; `partial_fit` trains several classes one against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the penalty: a larger C fits the training rows more closely.
        Give `C` or `lam`, not both.
    lam : float, optional
        Weight of the penalty against the *mean* loss; independent of the number of rows. With pairs
        of classes it stands for C = 1 / (lam * sum of all weights), the same C for every pair.
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
    loss : {"hinge", "squared_hinge", "logistic"} or CustomLoss, default="hinge"
        What a row costs. `CustomLoss(value, slope)` takes two functions of your own.
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
        The objective is to be within this fraction of the optimum, proven; for several
        models, each of them.
    max_iter : int, optional
        Limit on the epochs: rounds of the decomposition, passes over the rows of other solvers; of
        every pair of classes. By default 1000.
    max_steps : int, optional
        Limit on the steps of the solver (rows, or mini-batches): a fit may end inside an epoch.
        Solvers that work on many rows at once end with those; see `Recorder`.
    max_time : float, optional
        Limit on the seconds of training, of all models together. Compiling, once per machine, does
        not count.
    stop : {"gap", "decisions"}, default="gap"
        "decisions" also ends the fit once 99.9 % of the training rows' labels are certain: they
        would be the same at the optimum; with pairs of classes, the labels within each pair. With
        the default `tol` that is usually later than `tol`; it saves epochs beside a small one, such
        as 1e-6, if classes are well apart.
    multiclass : {"ovo", "ovr"}, default="ovo"
        How more than two classes are trained. "ovo": a model for every pair of classes, over the
        rows of these two; the class with most votes wins, and of several the one whose pairs have
        the largest sum of decision values. "ovr": a model for every class against all others; the
        largest decision value wins.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` returns for pairs of classes: a value per class, its votes plus a
        part below 1/3 for the sum of decision values; or the decision value of every pair (0, 1),
        (0, 2), ..., (1, 2), ..., positive for the first class.
    class_weight : dict or "balanced", optional
        Factors on the weights of the rows by class. "balanced" gives every class the same total
        weight, sample weights included.
    warm_start : bool, default=False
        Continue from the last fit, if rows and classes number the same. Otherwise start afresh.
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
        Row numbers of the support vectors, of all models together; for pairs, class by class.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features)
        Those rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class; multilabel: of each model.
    dual_coef_ : ndarray of shape (n_models, n_support), or (n_classes - 1, n_support) for pairs
        Coefficients of the expansions. For pairs the layout is that of scikit-learn's SVC: row r of
        a support vector of class c is for the pair of c with the r-th of the other classes.
    intercept_ : ndarray of shape (n_models,)
        The bias; 0 for bias="none".
    classes_ : ndarray of shape (n_classes,)
        The labels; a positive decision value means the second of two. Multilabel: column numbers.
    certificate_ : Certificate
        Objective (`primal`), lower bound on the optimum (`dual`), `gap`, `relative_gap`, and why
        the fit ended (`reason`); `models` has them model by model.
    history_ : dict of str to ndarray
        epoch, seconds, rows_visited, primal, dual, gap, relative_gap and evaluations (kernel values
        computed) of every certificate; of pairs, an entry for each in their order, with sums and
        the worst relative gap so far.
    n_kernel_evaluations_, cache_hits_, cache_misses_ : int
        Kernel values computed; rows of the kernel matrix found in memory, or not, when needed.
    records_ : dict of str to ndarray
        With `record`: step, rows_visited, seconds, objective, and test_error and test_loss where
        there are rows to test on; evaluations, the kernel values computed for the steps (in
        blocks, those ahead included), and kernel_rows, the rows of the kernel matrix that steps
        used: n times as many values without a store. The latter is not known of LASVM, the
        perceptron and larger working sets.
    C_, lam_ : float
        The penalty on both scales; arrays, one entry per pair, if a solver found a penalty of its
        own for every pair (`BatchPerceptron(nu=...)`).
    n_iter_ : int
        Epochs; of the pair that took most.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    Examples
    --------
    >>> from pegasos import KernelPegasosClassifier
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = KernelPegasosClassifier(C=10.0, gamma=2.0, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2), len(model.support_) < 100
    (1.0, True)
    >>> model.certificate_.relative_gap <= 1e-3  # proven
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
        loss: Any = "hinge",
        bias: str = "free",
        solver: Any = "auto",
        cache_size: float | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_steps: int | None = None,
        max_time: float | None = None,
        stop: str = "gap",
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        class_weight: Any = None,
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
        self.bias = bias
        self.solver = solver
        self.cache_size = cache_size
        self.tol = tol
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.max_time = max_time
        self.stop = stop
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.record = record
        self.on_interrupt = on_interrupt

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelPegasosClassifier:
        """Fit to rows X and labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows; neither copied nor widened where that can be avoided. With kernel="precomputed",
            the (n, n) matrix of kernel values.
        y : array-like of shape (n,) or indicator matrix of shape (n, n_labels)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            A weight of k counts a row k times, a weight of 0 removes it.

        Returns
        -------
        self : KernelPegasosClassifier
            The fitted estimator.
        """
        parameters, loss = self._parameters(resolve_kernel, sample_weight)
        several: Kind = "pairs" if self.multiclass == "ovo" else "multiclass"
        data = labelled(self, X, y, sample_weight, several)
        kernel = kernel_for(self, data.rows, data.given)
        fit = self._fit_pairs if data.labels.kind == "pairs" else self._fit_side_by_side
        fit(parameters, loss, kernel, data, passed(X, y, sample_weight))
        return self

    def _fit_side_by_side(
        self, parameters: Parameters, loss: Any, kernel: Kernel, data: Labelled, given: Any
    ) -> None:
        """Fit one model, or one per class or label, on all rows."""
        rows, labels, Y, weights, _ = data
        C, lam = lam_of(self.C, self.lam, total_weight(rows, weights))
        with one_blas_thread:
            gram = Gram(kernel, rows, budget_of(self.cache_size))
        problem = make_problem(loss, gram, Y, weights, lam, parameters.bias)
        stopping = parameters.limits.kernel(len(Y) * Y.size)

        def found(B: FloatArray, b: FloatArray) -> dict[str, Any]:
            model = model_found(kernel, rows, B, b, support_of(B))
            return labels_found(labels) | model | support_found(data, model)

        callbacks = EpochCallbacks(self, given, stopping.max_iter, found)
        solution = solved(
            self, problem, parameters.solver, stopping, callbacks,
            previous=previous_state(self, Y), decided=labels.settled,
            recording=recording_for(self, problem, labels),
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

    def _fit_pairs(
        self, parameters: Parameters, loss: Any, kernel: Kernel, data: Labelled, given: Any
    ) -> None:
        """Fit a model per pair of classes, on the rows of both."""
        check_record_and_pairs(self.record)
        rows, labels, Y, weights, _ = data
        C, lam = lam_of(self.C, self.lam, total_weight(rows, weights))
        codes, K, n_pairs = Y.argmax(axis=1), len(labels.classes), labels.n_models
        task = Task(
            kernel=kernel, rows=rows, codes=codes, n_classes=K, weights=weights,
            loss=loss, solver=parameters.solver, bias=parameters.bias, C=C,
            stopping=parameters.limits.kernel(values_of_pairs(codes, K)),
            budget=budget_of(self.cache_size),
            seeds=seeded(self.random_state).randint(2**31 - 1, size=n_pairs),
            previous=previous_pairs(self, len(Y), K),
            goes_on=bool(self.warm_start),
        )  # fmt: skip

        def found(B: FloatArray, b: FloatArray) -> dict[str, Any]:
            support = by_class(support_of(B), codes)
            model = model_found(kernel, rows, B, b, support) | ends_found(codes[support], K)
            return labels_found(labels) | model | support_found(data, model)

        callbacks = EpochCallbacks(self, given, n_pairs, found)
        watch = watch_for(self.verbose, task.stopping.tol, callbacks, pairs=n_pairs)
        pairs, solution = train(task, watch, interrupts_of(self), uses_callbacks(self))

        keep(
            self,
            found(pairs.B, pairs.b),
            certificate_found(solution) | {"history_": history_of(pairs)},
        )
        keep(self, pair_penalty_found(C, lam, pairs), pair_state_found(self, task, pairs))
        callbacks.finish()
        warn_of_kernel(self, pairs.is_indefinite)
        warn_of_end(self, solution, rows)

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> KernelPegasosClassifier:
        """Learn from new rows by LASVM, one process and one reprocess step per row.

        `C` and `lam` mean what they mean to `fit`, for all rows so far: lam = 1 / (C N), with N
        their weight, those of this call included. A given `C` (the default, 1.0) bounds the
        coefficient of every row and stays what it is; with `lam` that bound falls from call to
        call, and all coefficients shrink with it. Needs loss="hinge" and `solver` "auto" or
        "lasvm". Several classes are trained one against the rest, whatever `multiclass`.

        Only support vectors are kept in memory. gamma="scale" is taken from the rows of the first
        call. After `fit`, goes on
        from its support vectors. There is no certificate, since a stream has no end.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            New rows. Their order matters: shuffle data that is sorted.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (n_classes,), optional
            All labels that may ever occur; needed at the first call.
        sample_weight : array-like of shape (n,), optional
            Factors on C; a weight of 0 removes a row.

        Returns
        -------
        self : KernelPegasosClassifier
            The estimator.
        """
        parameters, _ = self._parameters(resolve_kernel_stream, sample_weight)
        check_stream_and_kernel(self.kernel)
        check_stream_and_class_weight(self.class_weight)

        data = streamed(self, X, y, sample_weight, classes)
        rows, labels, Y, weights, _ = data

        fitted, is_free = vars(self), parameters.bias == "free"
        seen = weight_behind(fitted["C_"], fitted["lam_"]) if "C_" in fitted else 0.0
        C, lam = lam_of_stream(self.C, self.lam, seen, len(Y), weights)
        kernel = self._stream_kernel(data)
        online = fitted.get("_online")
        if online is None and "dual_coef_" in fitted:
            online = stream_after_fit(
                kernel, float(np.max(self.C_)), is_free, as_rows(self.support_vectors_),
                self._targets_of_support, self._weights_of_support,
            )  # fmt: skip
        elif online is None:
            online = OnlineModel(kernel, 1.0, labels.n_models, is_free)
        under(online, C)
        online.process(rows, Y, weights)

        forget_certificate(self)
        self.__dict__.pop("support_", None)
        vectors, coefficients = online.support_rows, online.coefficients.T
        model = {
            "_kernel": kernel,
            "_online": online,
            "support_vectors_": np.empty((0, self.n_features_in_)) if vectors is None else vectors,
            "dual_coef_": np.ascontiguousarray(coefficients),
            "intercept_": online.b + 0.0,
            "n_support_": support_counts(labels, coefficients, targets_of(online)),
        }
        keep(self, labels_found(labels), model, {"C_": C, "lam_": lam, "n_iter_": 1})
        return self

    def _stream_kernel(self, data: Labelled) -> Kernel:
        """Return the kernel of a stream: that of its first rows, or of the fit before it."""
        if "dual_coef_" not in vars(self):
            return kernel_for(self, data.rows, data.given)
        kernel, gamma = self._kernel, self.gamma
        if isinstance(gamma, str):  # stands for what the first rows gave
            gamma = 0.0 if isinstance(kernel, Linear | Precomputed | Custom) else kernel.gamma
        wanted = kernel_of(self.kernel, float(gamma), self.coef0, self.degree)
        names = ("kernel", "gamma", "coef0", "degree")
        check_same_kernel(kernel, wanted, {name: vars(self)[name] for name in names})
        return kernel

    def _parameters(self, resolve: Resolve, sample_weight: Any) -> tuple[Parameters, Any]:
        """Check all parameters; return them and the loss as kernels take it."""
        check_kernel(self)
        check_multiclass(self)
        check_class_weight(self.class_weight)
        loss = margin_loss(self.loss)
        parameters = checked_parameters(self, loss, resolve, sample_weight)
        return parameters, tag_of(loss, [-1.0, 1.0])
