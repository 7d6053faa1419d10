"""Losses that users write: two plain functions, compiled, checked and certified.

The user gives `value(z, y)` and `slope(z, y)`. A certificate needs -loss*(-a) = min_z loss(z) + a z
as well; it comes from tangents, so it is a bound that holds and not an approximation:

    gain        z_0 < z_1 bracket the root of slope(z) + a. A convex loss lies above its tangents at
                z_0 and z_1, so the height where they meet is a lower bound of the minimum.
    dual_step   the score after the step solves  z' + q slope(z') = z - q a,  whose left-hand side
                grows at least as fast as z': a bracket is known from the start.

No score beyond FAR (1 + abs(y)) is tried; there, only loss >= 0 is used. All this is void if the
loss is not convex or the slope is not its slope, so both are tested first (`problem.convexity`).
"""

from __future__ import annotations

import inspect
import math
from collections import namedtuple
from dataclasses import dataclass
from pickle import PicklingError
from types import FunctionType
from typing import Any
from uuid import uuid4

import numba

from pegasos.dispatch import compiled, distinct
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem import losses
from pegasos.problem.convexity import FAR, STEEP, Function, a_few, check_convexity
from pegasos.problem.losses import ULP, dual_step, gain, slope, value

NEARBY = 1e-3  # of the width of an envelope: how far apart scores are compared for a response

CARRIERS = {"cloudpickle", "loky", "dill", "copy"}  # modules that carry functions by value

_compiled: dict[Any, Any] = {}  # tag, value and slope by content


@dataclass
class CustomLoss(Options):
    """A loss given by its value and its slope.

    Parameters
    ----------
    value, slope : callable
        `value(z, y)` and its (sub-)derivative `slope(z, y)` in z, for numbers z (the score) and y
        (the target; -1 or +1 in classification). Convex in z and never negative. Written in the
        Python that Numba compiles: arithmetic, `math`, `abs`, `min`, `max`, `if`.
    name : str, optional
        What messages call the loss; by default the name of `value`.

    Notes
    -----
    A loss of functions that are defined at the top level of a module can be pickled, and so can the
    models trained with it. Lambdas and local functions need `cloudpickle`, which joblib uses to
    send them to the workers of a search.

    Examples
    --------
    The squared loss makes ridge regression of it:

    >>> import numpy as np
    >>> from pegasos import CustomLoss, PegasosRegressor
    >>> def value(z, y):
    ...     return (z - y) ** 2
    >>> def slope(z, y):
    ...     return 2 * (z - y)
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 3.5])
    >>> model = PegasosRegressor(loss=CustomLoss(value, slope), C=0.5).fit(X, y)
    >>> model.coef_.round(3), model.intercept_.round(3)  # (X'X + 1) w = X'y, both centred
    (array([0.833]), array([1.333]))
    >>> model.certificate_.relative_gap <= 1e-3
    True

    What is not convex is refused:

    >>> def value(z, y):
    ...     return min(1.0, (z - y) ** 2)
    >>> def slope(z, y):
    ...     return 2 * (z - y) if abs(z - y) < 1 else 0
    >>> PegasosRegressor(loss=CustomLoss(value, slope, name="truncated")).fit(X, y)
    Traceback (most recent call last):
        ...
    pegasos.errors.InvalidParameter: truncated: not convex: ...
    """

    value: Function
    slope: Function
    name: str | None = None

    def tag(self, y_sample: Any) -> Any:
        """Compile the loss and test it on targets like `y_sample`; return the tag kernels take.

        Losses with the same code share a tag, so a loss is compiled once per process.
        """
        key = (*_content(self.value), *_content(self.slope))
        if key in _compiled:
            tag, value, slope = _compiled[key]
            check_convexity(value, slope, y_sample, str(self))
            return tag
        value, slope = self._compile("value"), self._compile("slope")
        check_convexity(value, slope, y_sample, str(self))
        tag = _make_tag(value, slope, _is_steep(slope, y_sample), str(self))
        _compiled[key] = tag, value, slope
        return tag

    def _compile(self, part: str) -> Function:
        """Compile one of the two functions, or say why that fails."""
        function = getattr(self, part)
        if not callable(function):
            raise InvalidParameter(f"{part} must be a function of z and y; got {function!r}.")
        if numba.config.DISABLE_JIT:
            return function
        dispatcher = function if hasattr(function, "py_func") else numba.njit(function)
        try:
            dispatcher.compile("float64(float64, float64)")
        except (numba.errors.NumbaError, TypeError) as error:
            reason = "\n".join(str(error).strip().splitlines()[:6])
            raise InvalidParameter(
                f"{self}: Numba cannot compile {part}(z, y). Write it with arithmetic, `math` and "
                f"`if` on the numbers z and y, returning a number.\n{reason}"
            ) from error
        return dispatcher

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be pickled with functions that pickle cannot find again, and say what to do."""
        for part in ("value", "slope"):
            function = getattr(self, part)
            is_plain = isinstance(function, FunctionType)
            if is_plain and "<" in function.__qualname__ and not _is_carried_by_value():
                raise PicklingError(
                    f"{part}={function.__qualname__} of a CustomLoss cannot be pickled: pickle "
                    "finds functions by name, in their module. Define value and slope with def at "
                    "the top level of a module, or use cloudpickle."
                )
        return vars(self).copy()

    def __str__(self) -> str:
        return self.name or f"CustomLoss({getattr(self.value, '__name__', self.value)!s})"


def _is_carried_by_value() -> bool:
    """Whether the caller copies functions instead of naming them, as plain pickle does."""
    frame = inspect.currentframe()
    while frame is not None:
        if CARRIERS.intersection(frame.f_globals.get("__name__", "").split(".")):
            return True
        frame = frame.f_back
    return False


def _content(function: Any) -> tuple[Any, ...]:
    """Return what a function's behaviour depends on; the function itself where that is unclear.

    A function sent to another process arrives there as a new object every time; by its content it
    is known to be compiled already.
    """
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return (function,)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    outside = [function.__globals__.get(name) for name in code.co_names]
    seen = (*cells, *outside, *(function.__defaults__ or ()))
    try:
        hash(seen)
    except TypeError:
        return (function,)
    return code, seen, tuple(type(part) for part in seen)


def is_custom(loss: Any) -> bool:
    """Whether a tag is that of a custom loss."""
    return any(type(tag) is type(loss) for tag, _, _ in _compiled.values())


def _is_steep(slope: Function, y_sample: Any) -> bool:
    """Whether the slope is unbounded, so that plain sub-gradient steps may overflow."""
    for y in a_few(y_sample).tolist():
        far = FAR * (1.0 + abs(y))
        try:
            if max(abs(slope(far, y)), abs(slope(-far, y))) > STEEP:
                return True
        except OverflowError:  # uncompiled code only: compiled, it is an infinity
            return True
    return False


def _make_tag(value: Function, slope: Function, is_steep: bool, name: str) -> Any:
    """Make a tag class for one loss and register all that kernels ask of it."""
    # Numba tells named tuples apart by the name of their class: no two may share one, not even in
    # two processes that share a disk cache.
    tag = distinct(namedtuple(f"CustomLoss_{uuid4().hex}", []))
    tag.is_of_this_process = True  # type: ignore[attr-defined]
    tag.__doc__ = name
    losses.value.register(tag)(lambda loss, z, y: float(value(z, y)))
    losses.slope.register(tag)(lambda loss, z, y: float(slope(z, y)))
    losses.gain.register(tag)(_gain)
    losses.gap_term.register(tag)(_gap_term)
    losses.dual_step.register(tag)(_dual_step)
    losses.response.register(tag)(_response)
    losses.descend.register(tag)(_implicit if is_steep else _explicit)
    losses.lower.register(tag)(_lower)
    losses.upper.register(tag)(_upper)
    return tag()


# ---- what kernels ask of a loss, from value and slope alone


def _lower(loss, y):  # type: ignore[no-untyped-def]
    return min(0.0, -slope(loss, FAR * (1.0 + abs(y)), y))


def _upper(loss, y):  # type: ignore[no-untyped-def]
    return max(0.0, -slope(loss, -FAR * (1.0 + abs(y)), y))


def _explicit(loss, z, shrunk, q, y):  # type: ignore[no-untyped-def]
    return -slope(loss, z, y)


def _implicit(loss, z, shrunk, q, y):  # type: ignore[no-untyped-def]
    return dual_step(loss, shrunk, 0.0, q, y)


def _gap_term(loss, z, a, y):  # type: ignore[no-untyped-def]
    return max(0.0, value(loss, z, y) + a * z - gain(loss, a, y))


def _gain(loss, a, y):  # type: ignore[no-untyped-def]
    return _meeting_height(loss, a, y)


def _dual_step(loss, z, a, q, y):  # type: ignore[no-untyped-def]
    return _root(loss, z, a, q, y)


def _response(loss, z, a, c, q, y):  # type: ignore[no-untyped-def]
    h = NEARBY * q
    return max(0.0, _root(loss, z - h, a, q, y) - _root(loss, z + h, a, q, y)) / (2.0 * h)


# The searches are functions of their own: inlined wherever they are called, as what is registered
# for a tag is, they would take several times as long to compile.


@compiled
def _meeting_height(loss, a, y):  # type: ignore[no-untyped-def]
    """Return a lower bound of min_z loss(z) + a z, tight to rounding."""
    # h(z) = loss(z) + a z is h_0 with slope p <= 0 at z_0, and h_1 with slope q >= 0 at z_1.
    far = FAR * (1.0 + abs(y))
    z_0 = z_1 = y
    h_0 = h_1 = value(loss, y, y) + a * y
    p = q = slope(loss, y, y) + a
    width = 1.0
    while p > 0.0:
        if z_0 == -far:
            return -a * far if a <= 0.0 else -math.inf  # loss >= 0 is all that is known
        z_1, h_1, q = z_0, h_0, p
        z_0, width = max(-far, z_0 - width), 4.0 * width
        h_0, p = value(loss, z_0, y) + a * z_0, slope(loss, z_0, y) + a
    while q < 0.0:
        if z_1 == far:
            return a * far if a >= 0.0 else -math.inf
        z_0, h_0, p = z_1, h_1, q
        z_1, width = min(far, z_1 + width), 4.0 * width
        h_1, q = value(loss, z_1, y) + a * z_1, slope(loss, z_1, y) + a
    meet = min(h_0, h_1)
    for turn in range(200):
        if p == 0.0 or q == 0.0:
            return h_0 if p == 0.0 else h_1
        width, bend = z_1 - z_0, q - p
        meet = (q * h_0 - p * h_1 + p * q * width) / bend
        z = z_0 + 0.5 * width
        if turn % 3 == 0:  # where the tangents meet: exact for kinks
            z = z_0 + (h_0 - h_1 + q * width) / bend
        elif turn % 3 == 1:  # where the slope would vanish were it a line: exact for parabolas
            z = z_0 - p * width / bend
        if not z_0 < z < z_1:
            z = z_0 + 0.5 * width
        if not z_0 < z < z_1:
            break
        h, g = value(loss, z, y) + a * z, slope(loss, z, y) + a
        if h - meet <= ULP * (abs(h) + abs(meet)):
            return min(h, meet)
        if g <= 0.0:
            z_0, h_0, p = z, h, g
        else:
            z_1, h_1, q = z, h, g
    return meet


@compiled
def _root(loss, z, a, q, y):  # type: ignore[no-untyped-def]
    """Return minus the slope at the score where an exact dual step ends."""
    # The score t after the step is the root of the increasing f(t) = t - z + q (slope(t) + a).
    g = slope(loss, z, y)
    f = q * (g + a)
    if f == 0.0:
        return -g
    t = z - f  # f grows at least as fast as t: the root lies between z and here
    other = slope(loss, t, y)
    low, high = min(z, t), max(z, t)
    g_low, g_high = (other, g) if f > 0.0 else (g, other)
    f_low, f_high = (q * (other - g), f) if f > 0.0 else (f, q * (other - g))
    side = 0
    for turn in range(200):  # regula falsi (Illinois); every third step bisects
        if g_low == g_high or f_low == f_high:
            break
        t = low - f_low * (high - low) / (f_high - f_low)
        if turn % 3 == 0:
            kink = _kink(loss, low, g_low, high, g_high, y)
            if kink == kink:  # two lines: the root is on one of them or where they meet
                if z - q * (g_low + a) <= kink:
                    return -g_low
                if z - q * (g_high + a) >= kink:
                    return -g_high
                low = high = kink
                break
            t = 0.5 * (low + high)
        if not low < t < high:
            t = 0.5 * (low + high)
        if not low < t < high:
            break
        g = slope(loss, t, y)
        f = t - z + q * (g + a)
        if abs(f) <= ULP * (abs(z) + q * (abs(g) + abs(a))):
            return -g
        if f < 0.0:
            low, g_low, f_low = t, g, f
            f_high, side = (0.5 * f_high if side < 0 else f_high), -1
        else:
            high, g_high, f_high = t, g, f
            f_low, side = (0.5 * f_low if side > 0 else f_low), 1
    return min(-g_low, max(-g_high, a + (0.5 * (low + high) - z) / q))


@compiled
def _kink(loss, low, g_low, high, g_high, y):  # type: ignore[no-untyped-def]
    """Return where the loss bends if it is two lines between low and high, nan if it is not."""
    v_low, v_high, width, bend = (
        value(loss, low, y),
        value(loss, high, y),
        high - low,
        g_high - g_low,
    )
    rounding = 4.0 * ULP * (v_low + v_high)
    kink = low + (v_low - v_high + g_high * width) / bend
    if bend * width < 1e6 * rounding or not low < kink < high:  # too narrow to tell
        return math.nan
    height = v_low + g_low * (kink - low)  # a convex loss that comes down to here is two lines
    return kink if value(loss, kink, y) <= height + rounding else math.nan
