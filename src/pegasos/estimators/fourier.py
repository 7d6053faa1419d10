"""Random Fourier features as a transformer; the mapping itself is in `problem.fourier`."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pegasos.data.rows import float_type, shape
from pegasos.data.validate import checked_rows
from pegasos.estimators.parameters import seeded, whole
from pegasos.problem.fourier import drawn_directions, fourier_features
from pegasos.problem.gamma import check_gamma, resolved_gamma
from pegasos.problem.scaling import positive

MOST_PAIRS = 1e9  # directions that are no slip of the pen


class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map rows to random features whose inner products approximate the Gaussian kernel.

    A row x becomes, for k = `n_pairs` random directions v_0, ..., v_{k-1} drawn from N(0, I),

        P(x)_2i = cos(<v_i, x> / sigma) / sqrt(k),      P(x)_2i+1 = sin(<v_i, x> / sigma) / sqrt(k),

    where 1 / sigma^2 = 2 gamma. Then ||P(x)|| = 1, and <P(x), P(x')> has the mean
    K = exp(-gamma ||x - x'||^2) and the standard deviation (1 - K^2) / sqrt(2 k).

    The certificate of a linear model on these features is one for the approximate kernel.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="scale"
        Inverse width of the kernel. "scale" is 1 / (n_features var(X)), "auto" 1 / n_features.
    n_pairs : int, default=500
        Number k of directions; each gives a cosine and a sine.
    random_state : int, RandomState instance or None, default=None
        Seed of the directions. Equal seeds give equal features.

    Attributes
    ----------
    gamma_ : float
        The gamma used.
    directions_ : ndarray of shape (n_features, n_pairs)
        The v_i, as columns; float32 if the data of `fit` was, else float64.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    References
    ----------
    [CSS12] Appendix A; [RR07].

    Examples
    --------
    A ring around a disc: no line separates them, but in the space of the features a plane does.

    >>> from pegasos import FourierFeatures, PegasosClassifier
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = make_circles(400, factor=0.5, noise=0.05, random_state=0)
    >>> features = FourierFeatures(gamma=1.0, n_pairs=50, random_state=0)
    >>> model = make_pipeline(features, PegasosClassifier(C=10.0, random_state=0)).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model[-1].certificate_.relative_gap <= 1e-3
    True
    """

    def __init__(self, gamma: Any = "scale", *, n_pairs: int = 500, random_state: Any = None):
        self.gamma = gamma
        self.n_pairs = n_pairs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> FourierFeatures:
        """Draw the directions, and find gamma where it depends on the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.
        y : None
            Not used; pipelines pass it.

        Returns
        -------
        self : FourierFeatures
            The fitted transformer.
        """
        check_gamma(self.gamma)
        advice = "It is the number of random directions; each gives a cosine and a sine"
        whole(self.n_pairs, "n_pairs", advice)
        positive(self.n_pairs, "n_pairs", f"{advice}.", 1, MOST_PAIRS)  # refuses None, too
        random = seeded(self.random_state)
        rows = checked_rows(self, X, reset=True)
        self.gamma_ = resolved_gamma(self.gamma, rows)
        d, k = shape(rows)[1], int(self.n_pairs)
        self.directions_ = drawn_directions(random, d, k, float_type(rows))
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        P : ndarray of shape (n, 2 * n_pairs)
            Cosines in the even columns, sines in the odd ones; float32 for float32 data, else
            float64.
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return fourier_features(rows, self.directions_, self.gamma_)

    @property
    def _n_features_out(self) -> int:
        return 2 * int(self.directions_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
