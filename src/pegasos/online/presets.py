"""Methods by name: the parts that papers put together under one.

A preset is a rule, and whether its gradients are those of single rows or of all rows at once. The
list is that of [Cho20]; where it leaves a step open (GD, PGD, SMD, SEG+-) it is c / sqrt(t).

[Cho20]  Chor. On Pegasos and first order optimizers for online convex optimization. 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from pegasos.errors import InvalidParameter
from pegasos.online.mirror_maps import Entropy, Euclidean
from pegasos.online.rules import AdaGrad, Lazy, Mirror, checked_rule
from pegasos.online.sets import Everywhere, L1Ball, L2Ball
from pegasos.online.steps import inverse_root, strongly_convex

RADIUS = 10.0  # of sets that have to be bounded, where none is given; that of [Cho20]


class Preset(NamedTuple):
    """A method: its rule given (set, scale of the step, lam); its gradients; its own set.

    `full` tells whether it is shown all rows at once; `what` and `use` are for people; `scale` is
    that of its step where none is given.
    """

    make: Callable[[Any, float, float], Any]
    full: bool
    within: Callable[[float | None, float], Any]
    what: str
    use: str
    scale: float = 1.0


def _everywhere(radius: float | None, lam: float) -> Any:
    return Everywhere() if radius is None else L2Ball(radius)


def _l2_ball(radius: float | None, lam: float) -> Any:
    return L2Ball(RADIUS if radius is None else radius)


def _l1_ball(radius: float | None, lam: float) -> Any:
    return L1Ball(RADIUS if radius is None else radius)


def _pegasos_ball(radius: float | None, lam: float) -> Any:
    return L2Ball(1.0 / math.sqrt(lam) if radius is None else radius)


def _descent(within: Any, scale: float, lam: float) -> Any:
    return Mirror(Euclidean(), within, inverse_root(scale))


PRESETS: dict[str, Preset] = {
    "gd": Preset(
        _descent, True, _everywhere, "gradient descent on all rows, step c/sqrt(t)",
        "as the offline yardstick",
    ),
    "pgd": Preset(
        _descent, True, _l2_ball, "projected gradient descent on all rows, step c/sqrt(t)",
        "as the offline yardstick in a set",
    ),
    "sgd": Preset(
        _descent, False, _everywhere, "gradient descent on one row at a time, step c/sqrt(t)",
        "sparse rows and no prior idea; tune c",
    ),
    "smd": Preset(
        lambda within, scale, lam: Lazy(Euclidean(), within, inverse_root(scale)),
        False, _l2_ball, "lazy mirror descent (dual averaging), step c/sqrt(t)",
        "sparse solutions on the l1 ball that do not flicker; a bound on every set",
    ),
    "seg": Preset(
        lambda within, scale, lam: Lazy(Entropy(), within, inverse_root(scale)),
        False, _l1_ball, "signed exponentiated gradient SEG+-, step c/sqrt(t)",
        "many features of which few matter: regret grows with log d",
    ),
    "adagrad": Preset(
        lambda within, scale, lam: AdaGrad(within, scale),
        False, _everywhere, "a step per coordinate, projected in its own norm",
        "features of unequal scale or frequency; the default", 0.1,
    ),
    "pegasos": Preset(
        lambda within, scale, lam: Mirror(Euclidean(), within, strongly_convex(lam / scale)),
        False, _pegasos_ball, "gradient descent with step 1/(lam t) in the ball 1/sqrt(lam)",
        "costs with a penalty lam: regret O(log T), nothing to tune",
    ),
}  # fmt: skip

ALIASES = {"seg+-": "seg", "segpm": "seg", "eg": "seg"}


def preset_named(name: Any) -> Preset:
    """Return the preset of a name; refuse other names and say which there are."""
    key = name.lower() if isinstance(name, str) else name
    key = ALIASES.get(key, key) if isinstance(key, str) else key
    if not isinstance(key, str) or key not in PRESETS:
        names = ", ".join(f'"{known}"' for known in PRESETS)
        raise InvalidParameter(f"algorithm must be one of {names}; got {name!r}.")
    return PRESETS[key]


def rule_named(
    name: str,
    within: Any = None,
    *,
    radius: float | None = None,
    scale: float | None = None,
    lam: float = 0.0,
) -> Any:
    """Return the rule of a preset.

    Parameters
    ----------
    name : {"gd", "pgd", "sgd", "smd", "seg", "adagrad", "pegasos"}
        The method; "seg+-" is another name of "seg". Upper case is fine.
    within : set, optional
        Where to play. By default the method's own: all of R^d for "gd", "sgd" and "adagrad" (an l2
        ball if a radius is given), an l2 ball for "pgd", "smd" and "pegasos", an l1 ball for "seg".
    radius : float, optional
        Radius of that default; 10 where one is needed, 1/sqrt(lam) for "pegasos".
    scale : float, optional
        The c of c/sqrt(t), 1 by default; AdaGrad's eta, 0.1 by default, near which its regret is
        least where weights are much smaller than the radius; for "pegasos" a factor on 1/(lam t).
    lam : float, default=0.0
        Strong convexity of the costs; "pegasos" needs one.

    Returns
    -------
    rule : Mirror, Lazy or AdaGrad
        The rule, checked.

    Examples
    --------
    >>> from pegasos.online import rule_named
    >>> rule_named("seg", radius=2.0)
    Lazy(mirror_map=Entropy(), within=L1Ball(radius=2.0), step=StepSize(scale=1.0, power=0.5))
    """
    preset = preset_named(name)
    if name.lower() == "pegasos" and not lam > 0.0:
        raise InvalidParameter(
            f'algorithm="pegasos" needs lam > 0, its steps are 1/(lam t); got lam={lam!r}.'
        )
    if within is not None and radius is not None:
        raise InvalidParameter(
            f"give a set or a radius, not both; got {within!r} and radius={radius!r}."
        )
    within = preset.within(radius, lam) if within is None else within
    scale = preset.scale if scale is None else scale
    return checked_rule(preset.make(within, scale, lam))
