"""Joint losses: what a row costs given the scores of all classes at once.

    JointHinge   max_r cost[y, r] + z_r - z_y          the cost-sensitive loss, cost[y, y] = 0
    Softmax      log sum_r exp(z_r - z_y)              the multiclass log-loss

A row has scores z (K,), one per class, and dual numbers a = e_y - p, p a point of the simplex; then
w_r(a) = 1/(lam S) sum_i s_i a_ir x_i, one column per class, and

    gain         -loss*(-a)  =  sum_r p_r cost[y, r],   or the entropy of p
    gap term     sum_r p_r (max_q (cost_q + z_q) - cost_r - z_r),   or KL(p, softmax(z))
    dual step    argmax_c  gain(c) - <z, c - a> - q/2 ||c - a||^2: p + (cost + z)/q, projected
                 onto the simplex, or a root in one number (below)

p is what is stored nowhere: it is e_y - a. Where several classes attain a maximum, the first does;
for the hinge the row's own class comes before all others, so that a margin exactly reached counts
as satisfied.

[SSSC11]  Shalev-Shwartz, Singer, Srebro, Cotter. Pegasos. Math. Programming 127(1), 2011. Sec. 5.1,
          eq. (20), (21).
[Mic86]   Michelot. A finite algorithm for finding the projection of a point onto the canonical
          simplex of R^n. J. Optimization Theory and Applications 50(1), 1986.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray
from pegasos.dispatch import by_tag, distinct, inlined, reordering_sums

TURNS = 100  # of a safeguarded Newton search, at most: it takes five or so
QUICK_TURNS = 15  # of Newton's method without a safeguard, which takes four or five
CLOSE = 1e-15  # how far from 1 a sum of probabilities may stay
NEAR = 1e-7  # relative step after which Newton's method has converged
LEAST = 1e-300  # probability that is as good as 0


@distinct
class JointHinge(NamedTuple):
    """max_r cost[y, r] + z_r - z_y; `cost` is (K, K), never negative, 0 on its diagonal."""

    cost: FloatArray


@distinct
class Softmax(NamedTuple):
    """log sum_r exp(z_r - z_y)."""


@by_tag
def joint_value(loss: Any, z: Any, y: int) -> float:
    """Return the loss at scores z of a row of class y."""


@by_tag
def write_joint_slope(loss: Any, z: Any, y: int, out: Any) -> None:
    """Write minus a sub-gradient of the loss at scores z, the dual numbers e_y - p, into `out`."""


@by_tag
def joint_gain(loss: Any, a: Any, y: int) -> float:
    """Return -loss*(-a), the dual objective's term."""


@by_tag
def joint_gap(loss: Any, z: Any, a: Any, y: int) -> float:
    """Return loss(z) + loss*(-a) + <a, z> as a sum of non-negative terms."""


@by_tag
def write_joint_step(loss: Any, z: Any, a: Any, q: float, y: int, out: Any) -> None:
    """Write the dual numbers that maximise the dual along one row of curvature q > 0."""


JOINT_LOSSES = (JointHinge, Softmax)


def for_joint_losses(generic: Any) -> Any:
    """Register one implementation of a generic function for all joint losses."""

    def accept(implementation: Any) -> Any:
        for kind in JOINT_LOSSES:
            generic.register(kind)(implementation)
        return implementation

    return accept


def is_joint(loss: Any) -> bool:
    """Whether a loss is over the scores of all classes at once."""
    return isinstance(loss, JOINT_LOSSES)


def models(loss: Any, K: int) -> int:
    """Return how many models K outputs are: one each, or one in all for a joint loss."""
    return 1 if is_joint(loss) else K


def summed(loss: Any, values: FloatArray) -> FloatArray:
    """Return sums over the outputs of every model, given values (K,) of the outputs."""
    return values.sum(keepdims=True) if is_joint(loss) else values


def lengths(loss: Any, values: FloatArray) -> FloatArray:
    """Return the lengths of vectors over the outputs of every model, given their values (K,)."""
    return np.sqrt((values**2).sum(keepdims=True)) if is_joint(loss) else values


@inlined
def own_class(Y, i):  # type: ignore[no-untyped-def]
    """Return the class of row i, whose target is the only positive one."""
    for k in range(Y.shape[1]):
        if Y[i, k] > 0.0:
            return k
    return 0


@inlined
def probability(a, y, r):  # type: ignore[no-untyped-def]
    """Return p_r of a = e_y - p."""
    return 1.0 - a[y] if r == y else -a[r]


# ---- the cost-sensitive hinge


@inlined
def dearest_class(cost, z, y):  # type: ignore[no-untyped-def]
    """Return the class that attains max_r cost[y, r] + z_r: the row's own, if it does."""
    best = y
    for r in range(len(z)):
        if cost[y, r] + z[r] > cost[y, best] + z[best]:
            best = r
    return best


@joint_value.register(JointHinge)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    r = dearest_class(loss.cost, z, y)
    return loss.cost[y, r] + (z[r] - z[y])


@write_joint_slope.register(JointHinge)
def _(loss, z, y, out):  # type: ignore[no-untyped-def]
    r = dearest_class(loss.cost, z, y)
    out[:] = 0.0
    if r != y:
        out[y], out[r] = 1.0, -1.0


@joint_gain.register(JointHinge)
def _(loss, a, y):  # type: ignore[no-untyped-def]
    total = 0.0
    for r in range(len(a)):
        total += probability(a, y, r) * loss.cost[y, r]
    return total


@joint_gap.register(JointHinge)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    cost, best = loss.cost, dearest_class(loss.cost, z, y)
    own = (cost[y, best] - cost[y, y]) + (z[best] - z[y])
    others = gap_of_others(cost[y], cost[y, best], z, z[best], a)
    return probability(a, y, y) * max(0.0, own) + others


@reordering_sums
def gap_of_others(cost, dearest, z, top, a):  # type: ignore[no-untyped-def]
    """Return the sum of p_r times what class r lacks to the dearest, but for the row's own class.

    That is the only one whose a_r is not -p_r: it is never below 0.
    """
    total = 0.0
    for r in range(len(z)):
        excess = (dearest - cost[r]) + (top - z[r])
        p = -a[r] if a[r] < 0.0 else 0.0
        total += p * (excess if excess > 0.0 else 0.0)
    return total


@write_joint_step.register(JointHinge)
def _(loss, z, a, q, y, out):  # type: ignore[no-untyped-def]
    for r in range(len(z)):
        out[r] = loss.cost[y, r] + z[r]
    top = largest(out)  # seen from it nothing is large, however small q is
    if a[y] == 0.0 and out[y] == top:  # p = e_y, and satisfied: the usual case in the end
        out[:] = 0.0
        return
    inverse = 1.0 / q
    for r in range(len(z)):
        out[r] = (out[r] - top) * inverse - a[r]
    out[y] += 1.0
    project(out)
    for r in range(len(z)):
        out[r] = -out[r]
    out[y] += 1.0


@inlined
def largest(v):  # type: ignore[no-untyped-def]
    """Return the largest number; four side by side, as the next one need not wait for the last."""
    a = b = c = d = v[0]
    r = 1
    while r + 4 <= len(v):
        a = v[r] if v[r] > a else a
        b = v[r + 1] if v[r + 1] > b else b
        c = v[r + 2] if v[r + 2] > c else c
        d = v[r + 3] if v[r + 3] > d else d
        r += 4
    while r < len(v):
        a = v[r] if v[r] > a else a
        r += 1
    a, c = b if b > a else a, d if d > c else c
    return c if c > a else a


@inlined
def project(v):  # type: ignore[no-untyped-def]
    """Replace v by the nearest point of the simplex: numbers that fall below 0 leave the mean."""
    # [Mic86]: theta rises until no number at or below it is counted. Rounding may lower it again.
    # No number at or below the largest less 1 can be in the support.
    theta, count = largest(v) - 1.0, len(v) + 1.0
    while True:
        total, members = sum_above(v, theta)
        if members >= count:
            break
        theta, count = (total - 1.0) / members, members
    for r in range(len(v)):
        v[r] = v[r] - theta if v[r] > theta else 0.0


@reordering_sums
def sum_above(v, theta):  # type: ignore[no-untyped-def]
    """Return the sum of the numbers above theta, and how many they are."""
    total, members = 0.0, 0.0
    for r in range(len(v)):
        total += v[r] if v[r] > theta else 0.0
        members += 1.0 if v[r] > theta else 0.0
    return total, members


# ---- softmax


@inlined
def log_sum(z):  # type: ignore[no-untyped-def]
    """Return log sum_r exp(z_r)."""
    largest = z[0]
    for r in range(1, len(z)):
        largest = max(largest, z[r])
    total = 0.0
    for r in range(len(z)):
        total += math.exp(z[r] - largest)
    return largest + math.log(total)


@joint_value.register(Softmax)
def _(loss, z, y):  # type: ignore[no-untyped-def]
    others = 0.0
    for r in range(len(z)):
        if r != y:
            others = max(others, z[r] - z[y])
    total = 0.0  # log1p keeps the digits of a small loss
    for r in range(len(z)):
        if r != y:
            total += math.exp(z[r] - z[y] - others)
    return others + math.log(total + math.exp(-others)) if others > 0.0 else math.log1p(total)


@write_joint_slope.register(Softmax)
def _(loss, z, y, out):  # type: ignore[no-untyped-def]
    top, others = log_sum(z), 0.0
    for r in range(len(z)):
        if r != y:
            out[r] = -math.exp(z[r] - top)
            others -= out[r]
    out[y] = others  # 1 - p_y


@joint_gain.register(Softmax)
def _(loss, a, y):  # type: ignore[no-untyped-def]
    total = 0.0
    for r in range(len(a)):
        p = probability(a, y, r)
        if p > 0.0:
            total -= p * math.log(p)
    return total


@joint_gap.register(Softmax)
def _(loss, z, a, y):  # type: ignore[no-untyped-def]
    top, total = log_sum(z), 0.0
    for r in range(len(z)):
        p, log_q = probability(a, y, r), z[r] - top
        q = math.exp(log_q)
        total += divergence(p, q, log_q)
    return total


@inlined
def divergence(p, q, log_q):  # type: ignore[no-untyped-def]
    """Return p log(p / q) - p + q >= 0; over a simplex these sum to KL(p, q)."""
    if p <= 0.0:
        return q
    if q <= 0.0:
        return p * (math.log(p) - log_q) - p
    t = (p - q) / q
    if abs(t) < 1e-4:  # q ((1 + t) log(1 + t) - t), without its cancellation
        return q * t * t * (0.5 - t * (1.0 / 6.0 - t / 12.0))
    return max(0.0, p * (math.log(p) - log_q) - (p - q))


@write_joint_step.register(Softmax)
def _(loss, z, a, q, y, out):  # type: ignore[no-untyped-def]
    # The maximiser over p has log p_r + q p_r = u_r - mu, u_r = z_r + q p'_r, and sums to 1.
    if not write_by_newton(z, a, q, y, out):
        write_by_bisection(z, a, q, y, out)
    others = 0.0
    for r in range(len(z)):
        out[r] = -out[r]
        if r != y:
            others -= out[r]
    if others > 1.0:  # rounding
        for r in range(len(z)):
            out[r] /= others
        others = 1.0
    out[y] = others


@inlined
def write_by_newton(z, a, q, y, out):  # type: ignore[no-untyped-def]
    """Write p into `out` by Newton steps in all p and mu at once; say whether they converged."""
    top = log_sum(z)
    for r in range(len(z)):
        p = max(0.0, probability(a, y, r))
        out[r] = max(LEAST, 0.5 * (p + math.exp(z[r] - top)))
    for _ in range(QUICK_TURNS):
        total, push, slope, largest = -1.0, 0.0, 0.0, 0.0
        for r in range(len(z)):
            p, e = out[r], q * out[r]
            rest = z[r] + q * probability(a, y, r) - math.log(p) - e
            total += p
            push += p * rest / (1.0 + e)
            slope += p / (1.0 + e)
        mu = (total + push) / slope  # so that the next p sum to 1
        for r in range(len(z)):
            p, e = out[r], q * out[r]
            rest = z[r] + q * probability(a, y, r) - math.log(p) - e
            step = (rest - mu) / (1.0 + e)
            largest = max(largest, abs(step) if p > LEAST or step > 0.0 else 0.0)
            out[r] = max(LEAST, p * (1.0 + step if step > -0.5 else math.exp(step)))
        if largest <= NEAR:  # squared, what is left is rounding
            return True
    return False


@inlined
def write_by_bisection(z, a, q, y, out):  # type: ignore[no-untyped-def]
    """Write p into `out`: the sum of the p_r falls in mu."""
    for r in range(len(z)):
        out[r] = z[r] + q * probability(a, y, r)
    high = log_sum(out)  # the sum is 1 between high - q and high
    low, mu = high - q, high - q / len(z)
    for _ in range(TURNS):
        total, slope = 0.0, 0.0
        for r in range(len(z)):
            p = root_of(out[r] - mu, q)
            total += p
            slope += p / (1.0 + q * p)
        if abs(total - 1.0) <= CLOSE * len(z):
            break
        if total > 1.0:
            low = mu
        else:
            high = mu
        mu += (total - 1.0) / slope
        if not low < mu < high:
            mu = 0.5 * (low + high)
        if not low < mu < high:
            break
    for r in range(len(z)):
        out[r] = root_of(out[r] - mu, q)


@inlined
def root_of(t, q):  # type: ignore[no-untyped-def]
    """Return the p > 0 with log p + q p = t: Newton steps in log p, from the right of the root."""
    x = t if t <= 0.0 else min(t, max(0.0, math.log(t / q)))
    for _ in range(TURNS):
        e = q * math.exp(x)
        step = (x + e - t) / (1.0 + e)
        x -= step
        if abs(step) <= 1e-16 * max(1.0, abs(x)):
            break
    return math.exp(x)


def zero_one(K: int) -> FloatArray:
    """Return the cost matrix of plain errors."""
    return np.ones((K, K)) - np.eye(K)
