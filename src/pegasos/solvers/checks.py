"""Checks of solver options: each names the option, the value received and what is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.errors import InvalidParameter


def check_choice(options: Any, name: str, allowed: tuple[str, ...]) -> None:
    """Refuse an option that is not one of the allowed strings."""
    value = getattr(options, name)
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(f'"{choice}"' for choice in allowed)
        raise InvalidParameter(f"{name} must be one of {names}; got {value!r}.")


def check_count(options: Any, name: str, most: str) -> None:
    """Refuse an option that is not a whole number of 1 or more; `most` says what limits it."""
    value = getattr(options, name)
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InvalidParameter(f"{name} must be a whole number from 1{most}; got {value!r}.")


def check_flag(options: Any, name: str) -> None:
    """Refuse an option that is neither True nor False."""
    value = getattr(options, name)
    if not isinstance(value, bool | np.bool_):
        raise InvalidParameter(f"{name} must be True or False; got {value!r}.")


def check_positive(options: Any, name: str) -> None:
    """Refuse an option that is not a positive, finite number."""
    value = getattr(options, name)
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0.0 < value < np.inf:
        raise InvalidParameter(f"{name} must be a positive number; got {value!r}.")
