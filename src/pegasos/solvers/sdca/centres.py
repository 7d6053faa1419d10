"""The centre that the bias of a run is penalised around, and how it moves.

The bias is b = offset + scale * beta, beta = scale * total, total = sum_i s_i a_i / (lam S). A
regularised bias has the penalty lam/2 (b / bias_scale)^2. With a proximal term around a centre c,

    lam/2 (b / bias_scale)^2 + lam/2 ((b - c) / r)^2  =  lam/2 ((b - offset) / scale)^2 + constant,
    1 / scale^2 = 1 / bias_scale^2 + 1 / r^2,      offset = c (1 - scale^2 / bias_scale^2),

so that coordinate ascent meets a constant feature of `scale`, which is short, not of bias_scale.
After a pass c moves onto b. Where it rests, c = bias_scale^2 total: the bias that w(a) asks for. A
free bias is the same with an infinite bias_scale; with r infinite, offset is 0 and nothing moves.
"""

from __future__ import annotations

import math

from pegasos.data.rows import FloatArray
from pegasos.problem.objective import Problem, typical_length
from pegasos.solvers.primal.bias import FREE_SCALE
from pegasos.solvers.sdca.coordinate import DualBias


def shorter_scale(problem: Problem, squares: FloatArray) -> float:
    """Return the scale of a regularised bias with a proximal term, given square row lengths."""
    r = FREE_SCALE * typical_length(problem, squares)
    return r * problem.bias_scale / math.hypot(r, problem.bias_scale)


def kept(problem: Problem, scale: float) -> float:
    """Return offset / c: 1 for a free bias, 0 for a regularised one without a proximal term."""
    return 1.0 if problem.is_free else 1.0 - share(problem, scale) ** 2


def share(problem: Problem, scale: float) -> float:
    """Return scale / bias_scale; 1 without a regularised bias."""
    return scale / problem.bias_scale if problem.bias_scale > 0.0 else 1.0


def move_centre(problem: Problem, bias: DualBias) -> None:
    """Move the centre onto the present bias."""
    scale, beta, offset = bias
    part = kept(problem, scale)
    if part > 0.0:
        offset[:] = part * (offset + scale * beta)


def beta_and_lacking(problem: Problem, bias: DualBias) -> tuple[FloatArray, FloatArray]:
    """Return the bias coordinate of w(a), and what the present bias lacks to it.

    A free bias counts as no part of w(a) that anything could be lacking to.
    """
    scale, beta, offset = bias
    if problem.bias_scale == 0.0:
        return beta, 0.0 * beta
    of_duals = beta / share(problem, scale)
    return of_duals, (offset + scale * beta) / problem.bias_scale - of_duals
