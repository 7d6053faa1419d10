"""C, lam and class weights: the one place where the user's scales become the formulation's.

1/2 ||w||^2 + C sum_i s_i loss_i   has the minimiser of   lam/2 ||w||^2 + 1/S sum_i s_i loss_i
for  lam = 1 / (C S),  S = sum_i s_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter


def lam_of(C: float, lam: float | None, S: float) -> tuple[float, float]:
    """Return (C, lam), either of which fixes the other; `lam` wins where C has its default 1."""
    if lam is None:
        positive(C, "C", "Raise C to weaken the penalty.")
        return float(C), 1.0 / (float(C) * S)
    positive(lam, "lam", "Lower lam to weaken the penalty.")
    if C != 1.0:
        raise InvalidParameter(
            f"Give C or lam, not both; got C={C!r} and lam={lam!r}. They are the same penalty: "
            "lam = 1 / (C * sum of the sample weights)."
        )
    return 1.0 / (float(lam) * S), float(lam)


def positive(number: Any, name: str, advice: str) -> None:
    """Refuse what is not a positive, finite number."""
    is_number = isinstance(number, int | float | np.integer | np.floating)
    if not is_number or isinstance(number, bool) or not np.isfinite(number) or number <= 0:
        raise InvalidParameter(
            f"{name} must be a positive, finite number; got {name}={number!r}. {advice}"
        )


def with_class_weight(
    class_weight: Mapping[Any, float] | str | None,
    classes: Any,
    codes: Any,
    sample_weight: FloatArray | None,
) -> FloatArray | None:
    """Return sample weights times class weights; `codes` index `classes`.

    "balanced" gives every class the same total weight, counting sample weights:
    S / (number of classes * weight of the class), classes of no weight left out.
    """
    if class_weight is None:
        return sample_weight
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InvalidParameter(
                f'class_weight must be "balanced", a dict or None; got {class_weight!r}.'
            )
        mass = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        with np.errstate(divide="ignore"):
            factors = np.where(mass > 0, mass.sum() / (np.count_nonzero(mass) * mass), 0.0)
    elif isinstance(class_weight, Mapping):
        factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise InvalidParameter(
                f"class_weight names {unknown!r}, which y does not contain; its classes are "
                f"{classes.tolist()!r}."
            )
        if not np.all(np.isfinite(factors)) or np.any(factors < 0):
            raise InvalidParameter(
                f"class_weight must hold non-negative, finite numbers; got {class_weight!r}."
            )
    else:
        raise InvalidParameter(
            f'class_weight must be "balanced", a dict or None; got {class_weight!r}.'
        )
    weights = factors[codes]
    return weights if sample_weight is None else weights * sample_weight
