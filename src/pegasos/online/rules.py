"""Rules: how a learner that was shown the gradient g_t at w_t finds w_{t+1}.

    Mirror(map, set, step)     theta = grad psi(w_t) - eta_t g_t;       w_{t+1} = mirror(theta)
    Lazy(map, set, step)       theta = -eta_{t+1} (g_1 + ... + g_t);    w_{t+1} = mirror(theta)
    AdaGrad(set, eta, delta)   h_j = delta + sqrt(sum_s g_sj^2);
                               w_{t+1} = projection of w_t - eta g_t / h in the norm of h

`Mirror` with the Euclidean map is (projected) gradient descent. `Lazy`, known as dual averaging or
follow the regularised leader, remembers what the set cut off; for a constant step it is the lazy
mirror descent of textbooks. With a step that falls, it has a regret bound for the entropy too,
whose eager form has none. `memory` holds theta, the sum of gradients or that of their squares.

[Zin03]  Zinkevich. Online convex programming and generalized infinitesimal gradient ascent.
         ICML 2003.
[Xia10]  Xiao. Dual averaging methods for regularized stochastic learning and online optimization.
         JMLR 11, 2010.
[DHS11]  Duchi, Hazan, Singer. Adaptive subgradient methods for online learning and stochastic
         optimization. JMLR 12, 2011. Fig. 1 with diagonal matrices.
[Haz19]  Hazan. Introduction to online convex optimization. 2019.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pegasos.dispatch import by_tag, compiled, distinct
from pegasos.errors import InvalidParameter
from pegasos.online.mirror_maps import checked_map, dual_square, link, mirror
from pegasos.online.sets import checked_set, project
from pegasos.online.steps import StepSize, size
from pegasos.problem.scaling import positive


@distinct
class Mirror(NamedTuple):
    """Online mirror descent; with the Euclidean map, projected gradient descent."""

    mirror_map: Any
    within: Any
    step: StepSize


@distinct
class Lazy(NamedTuple):
    """Dual averaging: every step starts from the sum of all gradients."""

    mirror_map: Any
    within: Any
    step: StepSize


@distinct
class AdaGrad(NamedTuple):
    """A step of its own for every coordinate, projected in the norm of these steps."""

    within: Any
    eta: float
    delta: float = 1e-8


def checked_rule(rule: Any) -> Any:
    """Return the rule with checked parts; refuse parts that do not go together."""
    if isinstance(rule, AdaGrad):
        positive(rule.eta, "eta", "It is how far a coordinate's first step goes.")
        positive(rule.delta, "delta", "It keeps the first divisor from being 0.")
        return AdaGrad(checked_set(rule.within), float(rule.eta), float(rule.delta))
    if not isinstance(rule, Mirror | Lazy):
        raise InvalidParameter(f"the rule must be Mirror, Lazy or AdaGrad; got {rule!r}.")
    within = checked_set(rule.within)
    if not isinstance(rule.step, StepSize):
        raise InvalidParameter(
            "the step must be made by constant(eta), inverse_root(c) or strongly_convex(lam); got "
            f"{rule.step!r}."
        )
    return type(rule)(checked_map(rule.mirror_map, within), within, rule.step)


@by_tag
def begin(rule: Any, w: Any, memory: Any) -> None:
    """Write the first point, w_1, and an empty memory."""


@by_tag
def move(rule: Any, t: float, g: Any, w: Any, memory: Any, room: Any) -> float:
    """Move w from w_t to w_{t+1}; return eta_t ||g_t||_*^2, a term of the regret bound."""


@begin.register(Mirror)
@begin.register(Lazy)
def _(rule, w, memory):  # type: ignore[no-untyped-def]
    memory[:] = 0.0
    mirror(rule.mirror_map, rule.within, memory, w)


@begin.register(AdaGrad)
def _(rule, w, memory):  # type: ignore[no-untyped-def]
    memory[:] = 0.0
    w[:] = 0.0
    project(rule.within, w, memory[:0])


@move.register(Mirror)
def _(rule, t, g, w, memory, room):  # type: ignore[no-untyped-def]
    eta = size(rule.step, t)
    link(rule.mirror_map, w, memory)
    for j in range(len(g)):
        memory[j] -= eta * g[j]
    mirror(rule.mirror_map, rule.within, memory, w)
    return eta * dual_square(rule.mirror_map, g)


@move.register(Lazy)
def _(rule, t, g, w, memory, room):  # type: ignore[no-untyped-def]
    eta = size(rule.step, t + 1.0)
    for j in range(len(g)):
        memory[j] += g[j]
        room[j] = -eta * memory[j]
    mirror(rule.mirror_map, rule.within, room, w)
    return size(rule.step, t) * dual_square(rule.mirror_map, g)


@move.register(AdaGrad)
def _(rule, t, g, w, memory, room):  # type: ignore[no-untyped-def]
    for j in range(len(g)):
        memory[j] += g[j] * g[j]
        room[j] = rule.delta + np.sqrt(memory[j])
        w[j] -= rule.eta * g[j] / room[j]
    project(rule.within, w, room)
    return 0.0  # its bound needs the final memory only


@compiled
def first(rule, w, memory):  # type: ignore[no-untyped-def]
    """Write w_1 and an empty memory; see `begin`."""
    begin(rule, w, memory)


@compiled
def following(rule, t, g, w, memory, room):  # type: ignore[no-untyped-def]
    """Take one step; see `move`."""
    return move(rule, t, g, w, memory, room)
