"""Label sequences as users have them to tokens in one container; the checks that this needs.

X is a list with one entry per sequence: an array or sparse matrix (length, d), or a list of feature
dicts, one per token. The tokens of all sequences become the rows of one CSR matrix of double
precision, whatever they were: kernels are compiled for it once, and the work is per stored value
and label, so that nothing is lost where values are many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from pegasos.data.rows import CsrRows, FloatArray, is_sparse
from pegasos.data.validate import checked_rows
from pegasos.errors import InvalidData, InvalidParameter, InvalidType

KINDS = "a list of (length, n_features) arrays or sparse matrices, or of lists of feature dicts"
MOST_LABELS = 2**16 - 1


def tokens(X: Any, estimator: Any, vectorizer: Any, *, reset: bool) -> tuple[CsrRows, Any, Any]:
    """Return checked rows, the tokens where sequences start, and the vectorizer that was used."""
    sequences = _listed(X, "X", KINDS)
    has_dicts = _is_of_dicts(sequences[0])
    if has_dicts:
        lengths = [_check_dicts(i, one) for i, one in enumerate(sequences)]
        vectorizer = vectorizer_for(vectorizer) if reset else vectorizer
        if vectorizer is None:
            raise InvalidType(
                "X holds feature dicts, but the labeller was fitted to arrays; pass the same kind."
            )
        stacked = _vectorized(sequences, vectorizer, reset)
    else:
        if not reset and vectorizer is not None:
            raise InvalidType(
                "X holds arrays, but the labeller was fitted to feature dicts; pass the same kind."
            )
        lengths = [_check_array(i, one, sequences[0]) for i, one in enumerate(sequences)]
        stacked = _stacked(sequences)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = checked_rows(estimator, _with_short_indices(stacked), reset=reset)
    return rows, starts, vectorizer if has_dicts else None


def _with_short_indices(X: Any) -> Any:
    """Return CSR with 32-bit indices where they suffice: one type to kernels."""
    if max(X.nnz, *X.shape) >= 2**31:
        return X
    indices = X.indices.astype(np.int32, copy=False)
    indptr = X.indptr.astype(np.int32, copy=False)
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape)


def vectorizer_for(choice: Any) -> Any:
    """Return a new vectorizer of feature dicts: "dict", "hash", or a copy of one that is given."""
    # Only here: it loads half of scikit-learn.
    from sklearn.feature_extraction import DictVectorizer, FeatureHasher

    if isinstance(choice, str) and choice == "dict":
        return DictVectorizer(sparse=True)
    if isinstance(choice, str) and choice == "hash":
        return FeatureHasher()
    if isinstance(choice, DictVectorizer | FeatureHasher):
        return clone(choice)
    raise InvalidParameter(
        'vectorizer must be "dict", "hash", a DictVectorizer or a FeatureHasher; got '
        f"vectorizer={choice!r}."
    )


def _listed(values: Any, name: str, what: str) -> Any:
    """Refuse what is not a list (or another sequence) of something."""
    is_list = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes)
    if not is_list or is_sparse(values) or isinstance(values, Mapping):
        raise InvalidType(f"{name} must be {what}; got {type(values).__name__}.")
    if len(values) == 0:
        raise InvalidData(f"{name} is empty; it must be {what}.")
    return values


def _is_of_dicts(one: Any) -> bool:
    return isinstance(one, Sequence) and len(one) > 0 and isinstance(one[0], Mapping)


def _check_dicts(i: int, one: Any) -> int:
    """Return the length of a sequence of feature dicts; refuse another kind."""
    if not isinstance(one, Sequence) or isinstance(one, str | bytes):
        raise InvalidType(f"X[{i}] must be a list of feature dicts; got {type(one).__name__}.")
    if len(one) == 0:
        raise InvalidData(f"X[{i}] is an empty sequence; leave it out, of y as well.")
    for t, token in enumerate(one):
        if not isinstance(token, Mapping):
            raise InvalidType(
                f"X[{i}][{t}] must be a dict of features, as X[0][0]; got {type(token).__name__}."
            )
    return len(one)


def _check_array(i: int, one: Any, first: Any) -> int:
    """Return the length of a sequence given as an array; refuse what cannot be stacked."""
    if is_sparse(one):
        shape = one.shape
    else:
        try:
            shape = np.shape(one)
        except ValueError:
            shape = ()
    if shape and shape[0] == 0:
        raise InvalidData(f"X[{i}] is an empty sequence; leave it out, of y as well.")
    if len(shape) != 2:
        raise InvalidType(
            f"X[{i}] must be an array of shape (length, n_features) or a list of dicts; got "
            + (f"shape {shape}." if shape else f"{type(one).__name__}.")
            + (" X must be a list of such, not one of them." if i == 0 else "")
        )
    width = first.shape[1] if is_sparse(first) else np.shape(first)[1]
    if shape[1] != width:
        raise InvalidData(f"X[{i}] has {shape[1]} features, but X[0] has {width}.")
    return int(shape[0])


def _stacked(sequences: Any) -> Any:
    """Put the tokens of all sequences below each other."""
    every = [_compressed(i, one) for i, one in enumerate(sequences)]
    return sparse.vstack(every, format="csr").astype(np.float64, copy=False)


def _compressed(i: int, one: Any) -> Any:
    """Return a sequence as CSR; a matrix that is CSR already is not copied."""
    values = one if is_sparse(one) else np.asarray(one)
    if values.dtype.kind not in "fiub":
        raise InvalidData(f"X[{i}] must hold numbers; got type {values.dtype}.")
    return sparse.csr_array(values.astype(np.float32) if values.dtype == np.float16 else values)


def _vectorized(sequences: Any, vectorizer: Any, reset: bool) -> Any:
    """Turn feature dicts into one CSR matrix."""
    every = (token for one in sequences for token in one)
    try:
        X = vectorizer.fit_transform(every) if reset else vectorizer.transform(every)
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidData(f"X holds features that the vectorizer refuses: {error}") from error
    return sparse.csr_array(X).astype(np.float64, copy=False)


def labels_of(y: Any, starts: Any) -> Any:
    """Return the labels of all tokens as one array, once they fit the sequences."""
    sequences = _listed(y, "y", "a list of label lists, one per sequence of X")
    if len(sequences) != len(starts) - 1:
        raise InvalidData(f"X has {len(starts) - 1} sequences, but y has {len(sequences)}.")
    for i, (one, length) in enumerate(zip(sequences, np.diff(starts), strict=True)):
        if not isinstance(one, Sequence | np.ndarray) or isinstance(one, str | bytes):
            raise InvalidType(
                f"y[{i}] must be a list of labels, one per token; got {type(one).__name__}."
            )
        if len(one) != length:
            raise InvalidData(f"X[{i}] has {length} tokens, but y[{i}] has {len(one)} labels.")
    flat = [label for one in sequences for label in one]
    _check_labels(flat, starts)
    return np.array(flat)


def _check_labels(flat: list[Any], starts: Any) -> None:
    """Refuse missing labels, and text beside numbers, which would become text."""
    is_text = isinstance(flat[0], str)
    for at, label in enumerate(flat):
        number = isinstance(label, int | float | np.number | np.bool_)
        is_missing = label is None or (number and label != label)
        if is_missing or isinstance(label, str) != is_text or not (number or is_text):
            i = int(np.searchsorted(starts, at, side="right")) - 1
            raise InvalidData(
                f"y[{i}][{at - starts[i]}] is {label!r}; labels must be all text or all numbers."
            )


def encoded(labels: Any, classes: Any, starts: Any) -> Any:
    """Return the labels as positions in `classes`; refuse those that training did not have."""
    at = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    is_known = classes[at] == labels
    if not np.all(is_known):
        first = int(np.argmin(is_known))
        i = int(np.searchsorted(starts, first, side="right")) - 1
        others = " and others" if len(classes) > 10 else ""
        raise InvalidData(
            f"y[{i}][{first - starts[i]}] is {labels[first].item()!r}, a label that training did "
            f"not have; it had {classes.tolist()[:10]!r}{others}."
        )
    return at.astype(np.uint16)


def classes_of(labels: Any) -> Any:
    """Return the labels that occur, in order."""
    classes = np.unique(labels)
    if not 2 <= len(classes) <= MOST_LABELS:
        raise InvalidData(
            f"y must have from 2 to {MOST_LABELS:,} different labels; it has {len(classes)}"
            + (f", {classes[0].item()!r}." if len(classes) == 1 else ".")
        )
    return classes


def cost_matrix(cost: Any, classes: Any) -> FloatArray:
    """Return cost[y, r] of label r where y is true: 1 by default; of a dict, by the true label."""
    K = len(classes)
    if cost is None:
        return 1.0 - np.eye(K)
    if isinstance(cost, Mapping):
        known = classes.tolist()
        unknown = [label for label in cost if label not in known]
        if unknown:
            raise InvalidParameter(f"cost names {unknown!r}, which y does not contain.")
        cost = np.array([cost.get(label, 1.0) for label in known])
    try:
        given = np.array(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(f"cost must hold numbers; got {cost!r}.") from None
    if given.shape == (K,):
        given = np.repeat(given[:, None], K, axis=1)
        np.fill_diagonal(given, 0.0)
    if given.shape != (K, K):
        raise InvalidParameter(
            f"cost must be a dict, an array of shape ({K},) or of shape ({K}, {K}), in the order "
            f"of the sorted labels; got shape {given.shape}."
        )
    if not np.all(np.isfinite(given)) or np.any(given < 0.0):
        raise InvalidParameter(
            f"cost must hold finite numbers, none below 0; got a least of {given.min():g}."
        )
    if np.any(np.diag(given) != 0.0):
        raise InvalidParameter("cost must be 0 on its diagonal: the true label costs nothing.")
    return np.ascontiguousarray(given)
