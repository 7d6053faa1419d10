"""Labels for every token of a sequence: structured SVMs and random fields, certified."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.certificate.sequence_predictions import write_certain
from pegasos.certificate.stopping import Stopping
from pegasos.data.numbers import checked_weights
from pegasos.data.rows import FloatArray, shape
from pegasos.data.sequences import (
    classes_of,
    cost_matrix,
    encoded,
    labels_of,
    tokens,
    vectorizer_for,
)
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.estimators.base import CertifiedFit
from pegasos.estimators.callbacks import EpochCallbacks, with_callbacks
from pegasos.estimators.fitting import around_fit, certificate_found, keep, passed, warn_of_end
from pegasos.estimators.parameters import checked_limits, one_of, seeded, threads_of
from pegasos.parallel import limited_to
from pegasos.problem.scaling import lam_of
from pegasos.problem.sequences import (
    Model,
    SequenceHinge,
    SequenceLogistic,
    make_sequences,
    write_label_scores,
    write_paths,
    write_probabilities,
)
from pegasos.structured.chain import COMPILES, label, solver_for, train


class PegasosSequenceLabeler(CertifiedFit):
    """Label every token of a sequence, with a proof of how good the fit is.

    The score of labels y for a sequence x adds up what each token's features say about its label
    (emissions), what each label says about the next (transitions), and scores of the first and the
    last label. Minimises, over all these weights w,

        1/2 ||w||^2 + C sum_i s_i loss_i(w),      s_i the weights of the sequences,

    or, the same thing for lam = 1 / (C sum_i s_i), lam/2 ||w||^2 plus the weighted mean loss. The
    fit ends when this objective is *proven* to be within `tol` of its minimum; `certificate_` is
    the proof.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the penalty. Give `C` or `lam`, not both. (The c2 of crfsuite
        is 1 / (2 C).)
    lam : float, optional
        Weight of the penalty against the *mean* loss of a sequence.
    loss : {"logistic", "hinge"}, default="logistic"
        "logistic": minus the log-likelihood of a conditional random field, which has
        probabilities; "hinge": the structured hinge, the largest of cost plus score over all label
        sequences, less the score of the true one.
    cost : dict, array-like of shape (K,) or (K, K), optional
        For the hinge: what a wrong label costs, 1 by default. By the true label, or, as a matrix,
        by true label (rows) and label given (columns) in the order of the sorted labels.
    solver : {"auto", "sdca", "frank_wolfe", "pegasos"}, default="auto"
        "auto" is dual ascent ("sdca") for the logistic loss and block-coordinate Frank-Wolfe for
        the hinge.
    vectorizer : {"dict", "hash"} or object, default="dict"
        What turns feature dicts into numbers: scikit-learn's DictVectorizer or FeatureHasher, or
        one of these with options of your own. Arrays need none.
    tol : float, default=1e-3
        The objective is to be within this fraction of the optimum, proven.
    max_iter : int, optional
        Limit on the epochs, passes over the sequences; by default 1000.
    max_time : float, optional
        Limit on the seconds of training. Compiling, once per machine, does not count.
    warm_start : bool, default=False
        Continue from the last fit if the sequences are as many, as long and labelled alike (the
        penalty, the tolerance and the features' values may have changed).
    n_jobs : int, optional
        Limit on the threads that certify and predict; None and -1 mean all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which sequences are visited. Equal seeds give equal models.
    verbose : int, default=0
        1 shows progress, on stderr.
    on_interrupt : {"keep", "raise"}, default="keep"
        What Ctrl-C does: end the fit soon and keep the model so far, or raise at once.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (K, n_features)
        Weights of the features for each label.
    transitions_ : ndarray of shape (K, K)
        Weights of a label (row) being followed by another (column).
    start_, end_ : ndarray of shape (K,)
        Weights of the first and of the last label.
    vectorizer_ : object or None
        The fitted vectorizer of feature dicts.
    certificate_ : Certificate
        Objective (`primal`), lower bound on the optimum (`dual`), `gap`, `relative_gap`, and why
        the fit ended (`reason`).
    history_ : dict of str to ndarray
        epoch, seconds, rows_visited, primal, dual, gap and relative_gap of every certificate.
    C_, lam_ : float
        The penalty on both scales.
    n_iter_ : int
        Epochs.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from pegasos import PegasosSequenceLabeler
    >>> def features(word):
    ...     return {"word": word.lower(), "is_title": word.istitle()}
    >>> sentences = ["the cat saw Rome", "Rome saw the dog", "the dog ran"]
    >>> X = [[features(word) for word in sentence.split()] for sentence in sentences]
    >>> y = [["DET", "NOUN", "VERB", "NAME"], ["NAME", "VERB", "DET", "NOUN"],
    ...      ["DET", "NOUN", "VERB"]]
    >>> tagger = PegasosSequenceLabeler(C=10.0, random_state=0).fit(X, y)
    >>> tagger.predict([[features(word) for word in "the cow saw the cat".split()]])
    [['DET', 'NOUN', 'VERB', 'DET', 'NOUN']]
    >>> tagger.certificate_.is_within_tol
    True
    >>> tagger.top_features("NAME", 1)[0][0]
    'is_title'

    Which labels would still be the same at the exact optimum?

    >>> [bool(one.all()) for one in tagger.certain(X)]
    [True, True, True]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        lam: float | None = None,
        loss: str = "logistic",
        cost: Any = None,
        solver: str = "auto",
        vectorizer: Any = "dict",
        tol: float = 1e-3,
        max_iter: int | None = None,
        max_time: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        on_interrupt: str = "keep",
    ) -> None:
        self.C = C
        self.lam = lam
        self.loss = loss
        self.cost = cost
        self.solver = solver
        self.vectorizer = vectorizer
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PegasosSequenceLabeler:
        """Fit to sequences X and their labels y.

        Parameters
        ----------
        X : list of arrays or sparse matrices of shape (length, n_features), or of lists of dicts
            One entry per sequence. A dict maps names of features to numbers, booleans, or text,
            of which each value is a feature of its own.
        y : list of lists of labels
            One label per token, all text or all numbers.
        sample_weight : array-like of shape (n_sequences,), optional
            A weight of k counts a sequence k times, a weight of 0 removes it.

        Returns
        -------
        self : PegasosSequenceLabeler
            The fitted estimator.
        """
        solver, stopping = self._checked()
        rows, starts, vectorizer = tokens(X, copy(self), self.vectorizer, reset=True)
        labels = labels_of(y, starts)
        classes = classes_of(labels)
        codes, K = encoded(labels, classes, starts), len(classes)
        weights = checked_weights(sample_weight, len(starts) - 1)
        S = float(len(starts) - 1) if weights is None else float(weights.sum())
        C, lam = lam_of(self.C, self.lam, S)
        is_hinge = self.loss == "hinge"
        loss = SequenceHinge(cost_matrix(self.cost, classes)) if is_hinge else SequenceLogistic()
        problem = make_sequences(loss, rows, starts, codes, weights, lam)
        key = (starts.tobytes(), codes.tobytes(), K, shape(rows)[1])

        def model_found(U: FloatArray, V: FloatArray) -> dict[str, Any]:
            of_labels = {"coef_": U.T, "transitions_": V[:K], "start_": V[K], "end_": V[K + 1]}
            of_data = {"classes_": classes, "vectorizer_": vectorizer, "n_features_in_": len(U)}
            return {**of_data, **of_labels, "_model": Model(U, V)}

        callbacks = EpochCallbacks(
            self, passed(X, y, sample_weight), stopping.max_iter, model_found
        )
        with limited_to(threads_of(self)):
            solution = train(
                problem, K, solver, stopping, seeded(self.random_state).randint(2**31 - 1),
                self._previous(key), around_fit(self, COMPILES, stopping, callbacks),
            )  # fmt: skip
        keep(
            self,
            model_found(*solution.model),
            {"C_": C, "lam_": lam, "_radius": solution.radius, **certificate_found(solution)},
            {"_state": (key, solution.state) if self.warm_start else None},
        )
        callbacks.finish()
        warn_of_end(self, solution)
        return self

    def _checked(self) -> tuple[Any, Stopping]:
        """Check the parameters before data is looked at; return the solver and the limits."""
        limits = checked_limits(self)
        one_of(self.loss, "loss", ("logistic", "hinge"))
        vectorizer_for(self.vectorizer)
        if self.cost is not None and self.loss != "hinge":
            raise InvalidParameter(
                'cost has no meaning for loss="logistic", which has no costs; use loss="hinge".'
            )
        return solver_for(self.solver, self.loss), limits.examples()

    def _previous(self, key: Any) -> Any:
        """Return the state to continue from, if sequences and labels are those of the last fit."""
        known = vars(self).get("_state") if self.warm_start else None
        return known[1] if known is not None and known[0] == key else None

    def _labelled(self, kernel: Any, X: Any, dtype: Any, width: int, *more: Any) -> list[Any]:
        """Return what a kernel writes for every token, sequence by sequence."""
        check_is_fitted(self)
        rows, starts, _ = tokens(X, self, self.vectorizer_, reset=False)
        size = (int(starts[-1]), width) if width else (int(starts[-1]),)
        with limited_to(threads_of(self)):
            return label(kernel, rows, starts, self._model, np.empty(size, dtype=dtype), *more)

    def predict(self, X: Any) -> list[list[Any]]:
        """Return the best labels of each sequence (Viterbi).

        Parameters
        ----------
        X : list of sequences
            Of the kind that was fitted.

        Returns
        -------
        labels : list of lists of labels
            One label per token.
        """
        check_is_fitted(self)
        return [self.classes_[c].tolist() for c in self._labelled(write_paths, X, np.uint16, 0)]

    def decision_function(self, X: Any) -> list[FloatArray]:
        """Return, per token and label, the score of the best labels that have that label there.

        Parameters
        ----------
        X : list of sequences
            Of the kind that was fitted.

        Returns
        -------
        scores : list of ndarrays of shape (length, K)
            The largest of a row is at the label that `predict` gives.
        """
        check_is_fitted(self)
        return self._labelled(write_label_scores, X, np.float64, len(self.classes_))

    def certain(self, X: Any) -> list[Any]:
        """Tell which tokens have the same label at the exact optimum, however long one trains.

        Parameters
        ----------
        X : list of sequences
            Of the kind that was fitted.

        Returns
        -------
        certain : list of boolean ndarrays of shape (length,)
            True where no further training can change the label that `predict` gives.
        """
        check_is_fitted(self)
        return self._labelled(write_certain, X, np.bool_, 0, self._radius)

    def predict_marginals(self, X: Any) -> list[FloatArray]:
        """Return the probability of every label at every token; for the logistic loss only.

        Parameters
        ----------
        X : list of sequences
            Of the kind that was fitted.

        Returns
        -------
        probabilities : list of ndarrays of shape (length, K)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        if self.loss != "logistic":
            raise InvalidParameter(
                'predict_marginals needs loss="logistic"; the hinge has no probabilities. Use '
                "decision_function."
            )
        return self._labelled(write_probabilities, X, np.float64, len(self.classes_))

    def score(self, X: Any, y: Any) -> float:
        """Return the fraction of tokens that are given their label.

        Parameters
        ----------
        X : list of sequences
            Of the kind that was fitted.
        y : list of lists of labels
            Labels that training had.

        Returns
        -------
        accuracy : float
            Of all tokens together.
        """
        check_is_fitted(self)
        rows, starts, _ = tokens(X, self, self.vectorizer_, reset=False)
        codes = encoded(labels_of(y, starts), self.classes_, starts)
        found = np.empty(len(codes), dtype=np.uint16)
        with limited_to(threads_of(self)):
            label(write_paths, rows, starts, self._model, found)
        return float(np.mean(found == codes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a list of them
        tags.target_tags.required = True
        return tags

    def top_features(self, label: Any, count: int = 10) -> list[tuple[Any, float]]:
        """Return the features that speak most for a label, and their weights.

        Parameters
        ----------
        label : label
            One of `classes_`.
        count : int, default=10
            How many.

        Returns
        -------
        features : list of (name, weight)
            The heaviest first; names are column numbers where there are no others.
        """
        check_is_fitted(self)
        at = np.flatnonzero(self.classes_ == label)
        if len(at) != 1:
            raise InvalidData(f"label must be one of {self.classes_.tolist()!r}; got {label!r}.")
        weights = self.coef_[int(at[0])]
        best = np.argsort(-weights, kind="stable")[:count]
        names = getattr(self.vectorizer_, "feature_names_", None)
        return [(int(j) if names is None else names[j], float(weights[j])) for j in best]
