"""Kernel classification: binary, one-vs-one, one-vs-rest and multilabel, certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.numbers import checked_weights
from pegasos.data.rows import FloatArray, Rows, as_rows, shape
from pegasos.data.validate import checked_data
from pegasos.estimators.callbacks import with_callbacks
from pegasos.estimators.kernel_pairs import PairwiseKernelClassification
from pegasos.estimators.kernel_streaming import (
    check_same_kernel,
    check_stream,
    fitted_attributes,
    stream_after_fit,
    targets_of,
    under,
)
from pegasos.estimators.labels import Labels
from pegasos.estimators.parameters import (
    Parameters,
    check_class_weight,
    checked_parameters,
    margin_loss,
)
from pegasos.estimators.streaming import penalty_of_stream, weight_so_far
from pegasos.problem.custom_loss import CustomLoss
from pegasos.problem.scaling import with_class_weight
from pegasos.solvers.catalogue import resolve_kernel
from pegasos.solvers.kernel.online import OnlineModel


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
        max_time: float | None = None,
        stop: str = "gap",
        multiclass: str = "ovo",
        decision_function_shape: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
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
        self.max_time = max_time
        self.stop = stop
        self.multiclass = multiclass
        self.decision_function_shape = decision_function_shape
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
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
        parameters = self._parameters()
        data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        rows, targets, weights = self._labelled(X, y, sample_weight)
        kernel = self._kernel_for(rows, checked_weights(sample_weight, len(targets)))
        self._fit_kernel(
            kernel, parameters, rows, targets, weights, data=data, decided=self._labels.settled
        )
        self._targets_of_support = targets[self.support_]
        self._weights_of_support = None if weights is None else weights[self.support_]
        self._online: OnlineModel | None = None
        self.n_support_ = self._support_counts(self._targets_of_support)
        return self

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
        parameters = self._parameters()
        check_stream(self, parameters.loss)
        is_first = "classes_" not in vars(self)
        labels = self._stream_labels(classes)
        rows, y = checked_data(self, X, y, reset=is_first)
        codes = labels.codes(y)
        given = checked_weights(sample_weight, shape(rows)[0])
        weights = with_class_weight(self.class_weight, labels.classes, codes, given)
        self._labels, self.classes_ = labels, labels.classes
        C, lam = penalty_of_stream(self, weight_so_far(self), len(codes), weights)
        online = self._stream(rows, labels, given, parameters.bias == "free")
        under(online, C)
        online.process(rows, labels.targets(codes), weights)
        self._forget_fit()
        for name, value in fitted_attributes(online, self.n_features_in_).items():
            setattr(self, name, value)
        self.n_support_ = self._support_counts(targets_of(online))
        self.C_, self.lam_, self.n_iter_ = C, lam, 1
        return self

    def _stream(
        self, rows: Rows, labels: Labels, weights: FloatArray | None, is_free: bool
    ) -> OnlineModel:
        """Return the stream to go on with: the present one, that of a fit, or a new one."""
        online: OnlineModel | None = vars(self).get("_online")
        if "dual_coef_" in vars(self):
            check_same_kernel(self, self._kernel)
        if online is None and "dual_coef_" in vars(self):
            online = stream_after_fit(
                self._kernel, float(np.max(self.C_)), is_free, as_rows(self.support_vectors_),
                self._targets_of_support, self._weights_of_support,
            )  # fmt: skip
        elif online is None:
            self._kernel = self._kernel_for(rows, weights)
            online = OnlineModel(self._kernel, 1.0, labels.n_models, is_free)
        self._online = online
        return online

    def _forget_fit(self) -> None:
        """Drop what a fit left that no longer holds."""
        for name in ("certificate_", "history_", "support_"):
            self.__dict__.pop(name, None)
        self._ball = self._state = None

    def _support_counts(self, targets: FloatArray) -> Any:
        """Return the number of support vectors per class; multilabel: per model."""
        if self._labels.kind == "multilabel":
            return np.count_nonzero(self.dual_coef_, axis=1)
        positive = np.count_nonzero(targets > 0.0, axis=0)
        return np.append(len(targets) - positive, positive) if len(positive) == 1 else positive

    def _parameters(self) -> Parameters:
        """Check all parameters; a loss of the user's own is compiled and tested."""
        self._check_kernel()
        self._check_multiclass()
        check_class_weight(self.class_weight)
        loss = margin_loss(self.loss)
        parameters = checked_parameters(self, loss, resolve=resolve_kernel)
        return parameters.with_loss(loss.tag([-1.0, 1.0]) if isinstance(loss, CustomLoss) else loss)
