"""Labels: what users call classes, and the -1 and +1 of the models behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidData, InvalidType
from pegasos.problem import votes

Kind = Literal["binary", "multiclass", "joint", "pairs", "multilabel"]


@dataclass(frozen=True)
class Labels:
    """The classes of a fit, and how K models, or K outputs of one, decide between them.

    binary       one model; its decision value is positive for the second class
    multiclass   one model per class against the rest; the largest decision value wins
    joint        one model with an output per class; the largest wins
    pairs        one model per pair of classes, positive for the first; most votes win (`votes`)
    multilabel   one model per label; a positive decision value means that the label is given
    """

    classes: Any
    kind: Kind

    @property
    def n_models(self) -> int:
        """Return K."""
        count = len(self.classes)
        return {"binary": 1, "pairs": count * (count - 1) // 2}.get(self.kind, count)

    def codes(self, y: Any) -> Any:
        """Return the place of every label in `classes`; refuse labels that are not there."""
        codes = _places(self.classes, y)
        codes[codes == len(self.classes)] = 0
        is_unknown = self.classes[codes] != y
        if np.any(is_unknown):
            raise InvalidData(
                f"y contains {y[is_unknown][:1].tolist()[0]!r}, which is not among the classes "
                f"{self.classes.tolist()!r}."
            )
        return codes

    def targets(self, codes: Any) -> FloatArray:
        """Return the models' targets of shape (n, K): +1 for the class in question, else -1.

        For pairs, which have rows of their own each, a column per class.
        """
        if self.kind == "multilabel":
            return np.where(codes > 0, 1.0, -1.0)
        if self.kind == "binary":
            return (2.0 * (codes == 1) - 1.0)[:, None]  # a tenth of the time of np.where
        return np.where(codes[:, None] == np.arange(len(self.classes)), 1.0, -1.0)

    def predicted(self, Z: FloatArray) -> Any:
        """Return the labels that decision values of shape (n, K) stand for."""
        if self.kind == "multilabel":
            return (Z > 0.0).astype(int)
        if self.kind == "binary":
            return self.classes[(Z[:, 0] > 0.0).astype(int)]
        return self.classes[(votes.winners(Z) if self.kind == "pairs" else Z.argmax(axis=1))]

    def probabilities(self, P: FloatArray) -> FloatArray:
        """Return class probabilities, given those of the models' positive targets."""
        if self.kind == "multilabel":
            return P
        if self.kind == "binary":
            return np.hstack([1.0 - P, P])
        return votes.coupled(P) if self.kind == "pairs" else P / P.sum(axis=1, keepdims=True)

    def certain(self, Z: FloatArray, low: FloatArray, high: FloatArray) -> Any:
        """Tell which labels predicted by Z are those of every decision value within bounds."""
        if self.kind == "pairs":
            return votes.sure_winners(low, high) == votes.winners(Z)
        return self.settled(low, high) & (self.predicted(Z) == self.predicted(low))

    def settled(self, low: FloatArray, high: FloatArray) -> Any:
        """Tell which labels are the same anywhere between two bounds on the decision values."""
        if self.kind == "multilabel":
            return (low > 0.0) | (high < 0.0)
        if self.kind == "binary":
            return (low[:, 0] > 0.0) | (high[:, 0] < 0.0)
        if self.kind == "pairs":
            return votes.sure_winners(low, high) >= 0
        rows, best = np.arange(len(low)), low.argmax(axis=1)
        rivals = high.copy()
        rivals[rows, best] = -np.inf
        return low[rows, best] > rivals.max(axis=1)


def is_multilabel(y: Any) -> bool:
    """Whether y is an indicator matrix with a column per label."""
    if _holds_integers(y):
        return False
    return y is not None and _sortable(type_of_target, y, input_name="y").startswith("multilabel")


def _holds_integers(y: Any) -> bool:
    """Whether y is an array of one label per row whatever its values: the usual case."""
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "iub"


def labels_of(y: Any, several: Kind = "multiclass") -> tuple[Labels, Any]:
    """Find the classes in y, of shape (n,); return them and the place of every label in them.

    `several` tells how more than two classes are trained.
    """
    if not _holds_integers(y):
        _sortable(check_classification_targets, y)
    elif len(y) and (two := _ends(y)) is not None:
        return two
    classes = _sortable(np.unique, y)
    codes = _places(classes, y)  # less memory than np.unique's own inverse
    codes = codes.astype(np.min_scalar_type(len(classes)))
    return Labels(classes, "binary" if len(classes) <= 2 else several), codes


def _ends(y: Any) -> tuple[Labels, Any] | None:
    """Return what `labels_of` does, quickly, of whole numbers of which there are two."""
    classes = np.array([y.min(), y.max()], dtype=y.dtype)
    codes = (y == classes[1]).view(np.uint8)
    count = int(np.count_nonzero(codes))
    if count == len(y) or count + int(np.count_nonzero(y == classes[0])) < len(y):
        return None
    return Labels(classes, "binary"), codes


def columns_of(y: Any) -> tuple[Labels, Any]:
    """Take a multilabel indicator matrix; return its labels, numbered, and the dense matrix."""
    y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    known = np.unique(y)
    if not np.all((known == 0) | (known == 1)):
        raise InvalidData(
            f"y has {y.shape[1]} columns, so it must hold 0 and 1, which labels a row has; got "
            f"{known.tolist()!r}. For classes use y of shape (n,)."
        )
    return Labels(np.arange(y.shape[1]), "multilabel"), y


def _sortable(asked: Callable[..., Any], y: Any, **options: Any) -> Any:
    """Ask something of labels that sorts them; refuse labels that cannot be compared."""
    try:
        return asked(y, **options)
    except TypeError as error:
        raise InvalidType(
            f"y must hold labels of one type, which can be sorted: {error}. Turn them into "
            "strings, for instance."
        ) from error


def _places(classes: Any, y: Any) -> Any:
    """Return where the labels of y are, or would be, in the sorted classes."""
    try:
        return np.searchsorted(classes, y)
    except TypeError as error:
        raise InvalidType(
            f"y must hold labels of the type of the classes {classes.tolist()!r}: {error}."
        ) from error


def check_two_classes(labels: Labels, codes: Any, weights: FloatArray | None) -> None:
    """Refuse training rows of one class only, counting those of positive weight.

    `classes` are those of all rows: each of them has one.
    """
    present = np.arange(len(labels.classes))
    if weights is not None:
        present = np.flatnonzero(np.bincount(codes[weights > 0.0]))
    if len(present) >= 2:
        return
    if len(present) == 0:
        raise InvalidData("sample_weight times class_weight is zero for every row of X.")
    only = labels.classes.tolist()[present[0]]
    counted = "" if weights is None else " among the rows of positive weight"
    raise InvalidData(
        f"y has one class only, {only!r}{counted}; a classifier needs at least two classes."
    )
