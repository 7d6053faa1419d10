"""Online convex optimisation: a learner plays a point of a convex set, sees a cost, and moves.

The parts combine: a set (`sets`), a mirror map (`mirror_maps`), a step size (`steps`), a rule that
joins them (`rules`, or by name `presets`), costs (`costs`). `Learner` plays; its `regret` is an
interval that is proven to hold the regret. `docs/online.md` tells which one when.
"""

from pegasos.online.costs import Cost, CustomCost, RowCosts, row_costs
from pegasos.online.hindsight import best_fixed_point
from pegasos.online.learner import Learner
from pegasos.online.mirror_maps import Entropy, Euclidean, PNorm, p_for
from pegasos.online.presets import PRESETS, rule_named
from pegasos.online.regret import Regret
from pegasos.online.rules import AdaGrad, Lazy, Mirror
from pegasos.online.saddle import Hindsight
from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, Simplex, nearest
from pegasos.online.steps import StepSize, constant, inverse_root, strongly_convex
from pegasos.online.tangents import check_cost

__all__ = [
    "PRESETS",
    "AdaGrad",
    "Box",
    "Cost",
    "CustomCost",
    "Entropy",
    "Euclidean",
    "Everywhere",
    "Hindsight",
    "L1Ball",
    "L2Ball",
    "Lazy",
    "Learner",
    "Mirror",
    "PNorm",
    "Regret",
    "RowCosts",
    "Simplex",
    "StepSize",
    "best_fixed_point",
    "check_cost",
    "constant",
    "inverse_root",
    "nearest",
    "p_for",
    "row_costs",
    "rule_named",
    "strongly_convex",
]
