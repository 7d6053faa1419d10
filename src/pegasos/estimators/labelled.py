"""Data of classifiers: rows with labels, and the targets and weights that models are given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.numbers import check_targets, checked_weights
from pegasos.data.rows import FloatArray, Rows, shape
from pegasos.data.validate import checked_data
from pegasos.errors import InvalidParameter
from pegasos.estimators.labels import (
    Kind,
    Labels,
    check_two_classes,
    columns_of,
    is_multilabel,
    labels_of,
)
from pegasos.problem.scaling import with_class_weight
from pegasos.solvers.refusals import check_labels_and_class_weight, check_stream_and_labels


class Labelled(NamedTuple):
    """Rows, their labels, the targets (n, K) of the models, and weights.

    `given` are the weights that were passed, without those of the classes.
    """

    rows: Rows
    labels: Labels
    targets: FloatArray
    weights: FloatArray | None
    given: FloatArray | None


def labelled(
    estimator: Any, X: Any, y: Any, sample_weight: Any, several: Kind = "multiclass"
) -> Labelled:
    """Look at the data of a fit; `several` tells how more than two classes are trained."""
    check_targets(y)
    has_columns = is_multilabel(y)
    rows, y = checked_data(estimator, X, y, multi_output=has_columns)
    weights = given = checked_weights(sample_weight, shape(rows)[0])
    if has_columns:
        check_labels_and_class_weight(estimator.class_weight)
        labels, codes = columns_of(y)
    else:
        labels, codes = labels_of(y, several)
        weights = with_class_weight(estimator.class_weight, labels.classes, codes, given)
        check_two_classes(labels, codes, weights)
    return Labelled(rows, labels, labels.targets(codes), weights, given)


def streamed(
    estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Any, several: Kind = "multiclass"
) -> Labelled:
    """Look at the next rows of a stream."""
    labels = stream_labels(vars(estimator).get("_labels"), classes, several)
    rows, y = checked_data(estimator, X, y, reset="classes_" not in vars(estimator))
    codes = labels.codes(y)
    given = checked_weights(sample_weight, shape(rows)[0])
    weights = with_class_weight(estimator.class_weight, labels.classes, codes, given)
    return Labelled(rows, labels, labels.targets(codes), weights, given)


def stream_labels(known: Labels | None, classes: Any, several: Kind = "multiclass") -> Labels:
    """Return the labels of a stream: those known from the first call or a fit, or new ones."""
    if known is not None:
        check_stream_and_labels(known.kind)
        if known.kind != "binary":  # a stream has an output per class, not a model per pair
            known = replace(known, kind=several)
        if classes is None:
            return known
    if classes is None:
        raise InvalidParameter(
            "classes must be passed on the first call to partial_fit: all labels that may ever "
            "occur in y."
        )
    labels = labels_of(np.asarray(classes), several)[0]
    if len(labels.classes) < 2:
        raise InvalidParameter(f"classes must name at least two classes; got {classes!r}.")
    if known is not None and not np.array_equal(labels.classes, known.classes):
        raise InvalidParameter(
            f"classes={classes!r} is not the same as on the last call to partial_fit, "
            f"{known.classes.tolist()!r}."
        )
    return labels


def labels_found(labels: Labels) -> dict[str, Any]:
    """Return the fitted attributes that hold labels."""
    return {"_labels": labels, "classes_": labels.classes}
