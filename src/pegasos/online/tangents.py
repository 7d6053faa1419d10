"""The tangent test of a cost: whether it is convex and its gradient is its gradient.

Certified regret rests on tangents lying below the cost. Here tangents at random points are compared
with the cost at others, far away and on both sides close by. `check_cost` does so at leisure; a
learner tries a few points near those it plays, at its first costs and at fewer and fewer later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.errors import InvalidParameter
from pegasos.online.sets import Everywhere, checked_set, nearest
from pegasos.problem.scaling import is_number, shown

POINTS = 12
FIRST = 5  # costs that a learner tests in any case
NEAR = 1e-4  # distance of the nearest points that are compared


def check_cost(cost: Any, d: int, within: Any = None, seed: int = 0) -> None:
    """Refuse a cost that one of its tangents exceeds at one of a few random points.

    Parameters
    ----------
    cost : Cost
        An object with `value(w)` and `gradient(w)`, for instance a `CustomCost`.
    d : int
        Number of weights.
    within : set, optional
        Where points are drawn; all of R^d by default.
    seed : int, default=0
        Seed of the points.

    Examples
    --------
    >>> from pegasos.online import CustomCost, check_cost
    >>> check_cost(CustomCost(lambda w: w @ w, lambda w: w), 3)  # wants 2 w
    Traceback (most recent call last):
        ...
    pegasos.errors.InvalidParameter: gradient does not match value: ...
    """
    within = checked_set(Everywhere() if within is None else within)
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.uniform(-1.0, 1.0, POINTS)
    points = [nearest(within, scale * rng.standard_normal(d)) for scale in scales]
    points[0] = nearest(within, np.zeros(d))
    lam = checked_penalty(cost)
    for w in points:
        f, g = checked_answer(cost, w)
        step = NEAR * (1.0 + np.linalg.norm(w))
        directions = [g, *rng.standard_normal((3, d))]
        nearby = [step / (np.linalg.norm(v) or 1.0) * v for v in directions]
        around = [nearest(within, w + sign * v) for v in nearby for sign in (-1.0, 1.0)]
        for u in [*points, *around]:
            height, _ = checked_answer(cost, u)
            check_tangent(cost, w, f, g, lam, u, height)


def is_tested(steps: int) -> bool:
    """Whether the cost seen after so many is tested: the first few, then those at powers of 2."""
    return steps < FIRST or steps & (steps - 1) == 0


def check_along(cost: Any, w: FloatArray, f: float, g: FloatArray, lam: float, seed: int) -> None:
    """Refuse a cost whose tangent at w, of height f and slope g, exceeds it at a point near by.

    Two directions, both ways: against the gradient and at random. The points may be outside the
    set; where the cost is no number there, nothing is said.
    """
    random = np.random.default_rng(seed).standard_normal(len(w))
    step = NEAR * (1.0 + float(np.linalg.norm(w)))
    for v in (g, random):
        along = step / (float(np.linalg.norm(v)) or 1.0) * v
        for u in (w - along, w + along):
            height = np.asarray(cost.value(u.copy()), dtype=np.float64)
            if height.shape == () and np.isfinite(height):
                check_tangent(cost, w, f, g, lam, u, float(height))


def check_tangent(
    cost: Any, w: FloatArray, f: float, g: FloatArray, lam: float, u: FloatArray, height: float
) -> None:
    """Refuse a cost that at u is less, `height`, than its tangent at w says."""
    rise = float(g @ (u - w) + 0.5 * lam * ((u - w) @ (u - w)))
    excess = f + rise - height
    if excess > 1e-9 * (abs(f) + abs(height) + abs(rise)) + 1e-12:
        raise InvalidParameter(_blame(cost, w, u, excess))


def checked_answer(cost: Any, w: FloatArray) -> tuple[float, FloatArray]:
    """Return value and gradient at w; refuse what is no number, or not of the shape of w."""
    f, g = cost.value(w.copy()), cost.gradient(w.copy())
    f, g = np.asarray(f, dtype=np.float64), np.asarray(g, dtype=np.float64)
    if f.shape != () or not np.isfinite(f):
        raise InvalidParameter(f"value(w) must be a finite number; got {f!r}.")
    if g.shape != w.shape or not np.all(np.isfinite(g)):
        raise InvalidParameter(
            f"gradient(w) must hold {len(w)} finite numbers, as w does; got shape {g.shape}: {g!r}."
        )
    return float(f), g


def checked_penalty(cost: Any) -> float:
    """Return how much of lam/2 ||w||^2 a cost says that it contains; refuse what cannot be."""
    lam = getattr(cost, "lam", 0.0)
    if not is_number(lam) or not 0.0 <= lam < np.inf:
        raise InvalidParameter(
            f"lam of a cost must be a finite number, 0 or more; got {shown(lam)}. It tells how "
            "much of lam/2 ||w||^2 the cost contains; leave it out if that is not known."
        )
    return float(lam)


def _blame(cost: Any, w: FloatArray, u: FloatArray, excess: float) -> str:
    """Say whether gradient or value is to blame for a tangent above the cost."""
    f, g = checked_answer(cost, w)
    h = 1e-5 * (1.0 + float(np.linalg.norm(w)))
    towards = (u - w) / (np.linalg.norm(u - w) or 1.0)
    left = (f - float(cost.value(w - h * towards))) / h
    right = (float(cost.value(w + h * towards)) - f) / h
    claimed = float(g @ towards)
    margin = 1e-3 * (abs(left) + abs(right)) + 1e-6
    what = f"a tangent lies {excess:.3g} above the cost, so nothing could be certified."
    if min(left, right) - margin <= claimed <= max(left, right) + margin:
        rise = f + float(g @ (u - w)) - float(cost.value(u))
        if checked_penalty(cost) > 0.0 and rise <= 1e-9 * (abs(f) + abs(rise)) + 1e-12:
            return f"the cost contains less of lam/2 ||w||^2 than its lam={cost.lam:g}: {what}"
        return f"the cost is not convex: {what} Gradient and value do match."
    return (
        f"gradient does not match value: {what} Along a direction the gradient has slope "
        f"{claimed:.6g}, but differences of value give {left:.6g} and {right:.6g}."
    )
