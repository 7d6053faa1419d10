"""C, lam and class weights: the one place where the user's scales become the formulation's.

1/2 ||w||^2 + C sum_i s_i loss_i   has the minimiser of   lam/2 ||w||^2 + 1/S sum_i s_i loss_i
for  lam = 1 / (C S),  S = sum_i s_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pegasos.data.numbers import LEAST, MOST, check_sum
from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter


def lam_of(C: float, lam: float | None, S: float) -> tuple[float, float]:
    """Return (C, lam), either of which fixes the other; `lam` wins where C has its default 1."""
    positive(C, "C", "Raise C to weaken the penalty.")
    if lam is None:
        other = 1.0 / (float(C) * S)
        _check_other(f"C={C!r}", "lam", other, S)
        return float(C), other
    positive(lam, "lam", "Lower lam to weaken the penalty.")
    if C != 1.0:
        raise InvalidParameter(
            f"Give C or lam, not both; got C={C!r} and lam={lam!r}. They are the same penalty: "
            "lam = 1 / (C * sum of the sample weights)."
        )
    other = 1.0 / (float(lam) * S)
    _check_other(f"lam={lam!r}", "C", other, S)
    return other, float(lam)


def weight_behind(C: Any, lam: Any) -> float:
    """Return S = 1 / (C lam), the weight of the rows behind a penalty known on both scales.

    Of several models, each with its own penalty, S is the same.
    """
    return 1.0 / float(np.ravel(C * lam)[0])


def lam_of_stream(
    C: float, lam: float | None, seen: float, n: int, sample_weight: FloatArray | None
) -> tuple[float, float]:
    """Return (C, lam) of a stream after n more rows: what they are for all rows so far."""
    N = seen + (float(n) if sample_weight is None else float(sample_weight.sum()))
    return lam_of(C, lam, N if N > 0.0 else 1.0)


def _check_other(given: str, name: str, other: float, S: float) -> None:
    """Refuse a penalty that is within range on the scale that it was given on only."""
    if not LEAST <= other <= MOST:
        raise InvalidParameter(
            f"{given} makes {name} = {other:g} for sample weights of sum {S:g}; {name} must lie "
            f"between {LEAST:g} and {MOST:g}. Divide the weights by their mean."
        )


def is_number(number: Any) -> bool:
    """Whether a parameter is a real number (not a boolean, nor an array of one)."""
    kinds = int | float | np.integer | np.floating
    return isinstance(number, kinds) and not isinstance(number, bool)


def positive(number: Any, name: str, advice: str, least: float = LEAST, most: float = MOST) -> None:
    """Refuse what is not a positive, finite number, or one out of range."""
    value = float(number) if isinstance(number, np.floating) else number  # float32 has less room
    if not is_number(number) or not 0 < value < np.inf:
        raise InvalidParameter(
            f"{name} must be a positive, finite number; got {name}={shown(number)}. {advice}"
        )
    if not least <= value <= most:
        raise InvalidParameter(
            f"{name} must lie between {least:g} and {most:g}; got {name}={shown(number)}. {advice}"
        )


def shown(number: Any) -> str:
    """Write a value as Python does, but short: whole numbers may have thousands of digits."""
    if isinstance(number, int) and abs(number) > MOST:
        return f"(a whole number of {number.bit_length()} bits)"
    return repr(number)


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
        factors = _factors(class_weight, classes.tolist())
    else:
        raise InvalidParameter(
            f'class_weight must be "balanced", a dict or None; got {class_weight!r}.'
        )
    weights = factors[codes]
    if sample_weight is not None:
        with np.errstate(over="ignore"):
            weights *= sample_weight
    if np.any(weights > 0.0):  # else refused by whoever knows what to call it
        check_sum(weights, "class_weight times sample_weight")
    return weights


def _factors(class_weight: Mapping[Any, float], labels: list[Any]) -> FloatArray:
    """Return the weight of every class, 1 for those that are not named."""
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise InvalidParameter(
            f"class_weight names {unknown!r}, which y does not contain; its classes are {labels!r}."
        )
    factors = [class_weight.get(label, 1.0) for label in labels]
    if not all(is_number(factor) and 0 <= factor <= MOST for factor in factors):
        raise InvalidParameter(
            f"class_weight must hold numbers from 0 to {MOST:g}; got {class_weight!r}. A weight of "
            "0 removes a class."
        )
    return np.array(factors, dtype=np.float64)
