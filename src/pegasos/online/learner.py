"""The protocol: a learner plays a point of its set, is shown a cost, and moves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos.data.rows import CsrRows, FloatArray, stored_values
from pegasos.errors import InvalidData, InvalidParameter
from pegasos.online.costs import Cost, RowCosts, is_built_in
from pegasos.online.hindsight import best_fixed_point
from pegasos.online.mirror_maps import Euclidean
from pegasos.online.passes import dense_pass, scaled_pass, sparse_pass
from pegasos.online.regret import Regret, streamed_regret
from pegasos.online.rules import AdaGrad, checked_rule, first, following
from pegasos.online.sets import Box, Everywhere, L2Ball
from pegasos.online.tally import (
    AT_ZERO,
    COST,
    DOUBT,
    EPS,
    LAM,
    LEAST_LAM,
    PULL,
    SQUARES,
    STEPS,
    TANGENT,
    TANGENT_SIZE,
    inner,
    length,
    new_state,
)
from pegasos.online.tangents import check_along, checked_answer, checked_penalty, is_tested
from pegasos.problem.objective import VALUES_PER_CALL

CONTRADICTION = 1e-9  # of the bounds: more than what users' own functions may round
RECORDS_PER_DECADE = 16  # of steps, in the history of a pass over rows


class Learner:
    """A player of online convex optimisation.

    Parameters
    ----------
    rule : Mirror, Lazy or AdaGrad
        How to move; `rule_named` knows those of the literature.
    n_weights : int
        d, the number of weights.

    Attributes
    ----------
    rule : Mirror, Lazy or AdaGrad
        The rule, checked.
    state : State
        Everything that is remembered, arrays only.
    history : list of Regret
        What was known of the regret at some of the steps, from tangents alone.

    Examples
    --------
    Costs of your own, one at a time: how far is w from a target that jumps?

    >>> import numpy as np
    >>> from pegasos.online import CustomCost, Learner, rule_named
    >>> learner = Learner(rule_named("smd", radius=2.0), 2)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(200):
    ...     target = np.array([1.0, -1.0]) + rng.choice([-0.5, 0.5], 2)
    ...     cost = CustomCost(lambda w: abs(w - target).sum(), lambda w: np.sign(w - target))
    ...     paid = learner.see(cost)
    >>> regret = learner.regret()
    >>> regret.upper <= regret.bound
    True

    Rows of data, in compiled code:

    >>> from pegasos.online import row_costs
    >>> X = rng.standard_normal((500, 3))
    >>> costs = row_costs(X, np.where(X @ [1.0, 2.0, -1.0] > 0.0, 1, -1), lam=0.1)
    >>> learner = Learner(rule_named("pegasos", lam=0.1), costs.n_weights).see_rows(costs)
    >>> regret = learner.regret(costs)
    >>> 0.0 < regret.lower <= regret.upper <= regret.bound
    True
    """

    def __init__(self, rule: Any, n_weights: int) -> None:
        if not isinstance(n_weights, int | np.integer) or n_weights < 1:
            raise InvalidParameter(
                f"n_weights must be a whole number of 1 or more; got {n_weights!r}."
            )
        self.rule = checked_rule(rule)
        self.state = new_state(int(n_weights))
        self.history: list[Regret] = []
        first(self.rule, self.state.w, self.state.memory)

    @property
    def w(self) -> FloatArray:
        """Return the point to be played next: the last iterate."""
        return self.state.w.copy()

    @property
    def average(self) -> FloatArray:
        """Return the average of the points played; the first point before any."""
        steps = self.state.sums[STEPS]
        return self.state.total / steps if steps > 0.0 else self.w

    @property
    def steps(self) -> int:
        """Return the number of costs seen."""
        return int(self.state.sums[STEPS])

    def see(self, cost: Cost) -> float:
        """Be shown a cost, pay for the point played, and move; return what was paid.

        A cost of one's own is held against its tangent near by: at the first five calls and at
        those after 8, 16, 32, ... others, four more values each (`check_cost` tests more).
        """
        w, memory, total, pull, sums, room, _ = self.state
        f, g = checked_answer(cost, w)
        lam = checked_penalty(cost)
        if is_tested(self.steps) and not is_built_in(cost):
            check_along(cost, w, f, g, lam, self.steps)
        own, square = g - lam * w, inner(w, w)
        product = inner(own, w)
        size = abs(f) + 0.5 * lam * square + inner(np.abs(own), np.abs(w))
        sums[STEPS] += 1.0
        sums[COST] += f
        sums[DOUBT] += 16.0 * EPS * size
        sums[TANGENT] += f - 0.5 * lam * square - product
        sums[TANGENT_SIZE] += size * (1.0 + len(w))  # products of d terms round d times
        sums[PULL] += length(own) + lam * math.sqrt(square)  # g - lam w may cancel
        sums[LAM] += lam
        sums[LEAST_LAM] = min(sums[LEAST_LAM], lam)
        sums[AT_ZERO] = math.inf  # not asked for
        total += w
        pull += own
        sums[SQUARES] += following(self.rule, sums[STEPS], np.ascontiguousarray(g), w, memory, room)
        self._note()
        return f

    def see_rows(self, costs: RowCosts, order: Any = None) -> Learner:
        """Be shown the costs of rows, one row per step.

        Parameters
        ----------
        costs : RowCosts
            The rows.
        order : array-like of int, optional
            Row numbers in the order of play, repetitions allowed; as they stand by default.

        Returns
        -------
        self : Learner
            The learner.
        """
        d = len(self.state.w)
        if costs.n_weights != d:
            raise InvalidData(f"these costs have {costs.n_weights} weights, the learner has {d}.")
        order = np.arange(costs.n) if order is None else np.asarray(order)
        if order.ndim != 1 or order.dtype.kind not in "iu":
            raise InvalidData(f"order must be a vector of row numbers; got {order!r}.")
        if len(order) and not 0 <= order.min() <= order.max() < costs.n:
            raise InvalidData(
                f"order must hold row numbers from 0 to {costs.n - 1}; got {order!r}."
            )
        order = order.astype(np.int64, copy=False)
        play = self._pass_over(costs)
        per_step = d if play is dense_pass else 1 + stored_values(costs.rows) // costs.n
        most = max(1, VALUES_PER_CALL // per_step)
        for start, stop in _stretches(self.steps, len(order), most):
            part = order[start:stop]
            play(costs.loss, costs.rows, costs.y, part, costs.terms, self.rule, self.state)
            self._note()
        return self

    def _note(self) -> None:
        """Add what is known of the regret to the history now and then; refuse an overflow."""
        if not (np.all(np.isfinite(self.state.w)) and np.isfinite(self.state.sums[COST])):
            raise InvalidData(
                f"the weights overflowed within {self.steps} steps. Take smaller steps (scale, "
                "step_size), rescale the rows, or play in a bounded set."
            )
        if is_noted(self.steps):
            self.history.append(streamed_regret(self.rule, self.state))

    def copy(self) -> Learner:
        """Return a learner that goes on from here on its own."""
        other = Learner.__new__(Learner)
        other.rule, other.history = self.rule, list(self.history)
        other.state = type(self.state)(*(array.copy() for array in self.state))
        return other

    def _pass_over(self, costs: RowCosts) -> Any:
        """Return the cheapest loop that serves the rule on these rows."""
        rule, within = self.rule, self.rule.within
        if isinstance(rule, AdaGrad):
            is_free = isinstance(within, Everywhere | Box) and costs.lam == 0.0
            return sparse_pass if is_free and isinstance(costs.rows, CsrRows) else dense_pass
        is_round = isinstance(within, Everywhere | L2Ball)
        is_scaled = is_round and isinstance(rule.mirror_map, Euclidean)
        return scaled_pass if is_scaled else dense_pass

    def regret(
        self, costs: RowCosts | Iterable[Cost] | None = None, counts: Any = None, tol: float = 1e-3
    ) -> Regret:
        """Return the regret so far, as an interval.

        Without costs it follows from tangents: the upper end is good, the lower end compares with
        the point 0. With the costs that were seen both ends are.

        Parameters
        ----------
        costs : RowCosts or iterable of Cost, optional
            The costs that were seen: rows, or the list of one's own.
        counts : array-like of shape (n,), optional
            How often each row was seen; by default equally often.
        tol : float, default=1e-3
            How closely to know the best fixed point of rows, relative to its cost.

        Returns
        -------
        regret : Regret
            The interval, and what theory promises.
        """
        known = streamed_regret(self.rule, self.state)
        if costs is None or self.steps == 0:
            return known
        if not isinstance(costs, RowCosts):
            seen = list(costs)
            if len(seen) != self.steps:
                raise InvalidData(f"{len(seen)} costs were passed, {self.steps} were seen.")
            paid = min(self._paid_at(u, seen) for u in (self.average, self.w))
            return _consistent(replace(known, best_upper=min(known.best_upper, paid)))
        counts = np.full(costs.n, self.steps / costs.n) if counts is None else np.asarray(counts)
        if counts.shape != (costs.n,) or not math.isclose(counts.sum(), self.steps):
            raise InvalidData(
                f"counts must tell of each of the {costs.n} rows how often it was seen, "
                f"{self.steps} times in all; got shape {counts.shape}, sum {counts.sum():g}."
            )
        best = best_fixed_point(costs, self.rule.within, counts / self.steps, self.average, tol=tol)
        room = 4.0 * EPS * self.steps * best.upper  # of the product
        found = replace(
            known,
            best_lower=max(known.best_lower, self.steps * best.lower - room),
            best_upper=min(known.best_upper, self.steps * best.upper + room),
        )
        return _consistent(found)

    def _paid_at(self, u: FloatArray, seen: list[Cost]) -> float:
        """Return what one point costs in all, at most: u may be outside the set by rounding."""
        answers = [checked_answer(cost, u) for cost in seen]
        size = math.fsum(abs(f) + inner(np.abs(g), np.abs(u)) for f, g in answers)
        return math.fsum(f for f, _ in answers) + (4.0 * len(u) + 32.0) * EPS * size


def _consistent(found: Regret) -> Regret:
    """Return what was found; refuse costs that cannot be those that were seen."""
    size = abs(found.best_lower) + abs(found.best_upper)
    if found.best_lower - found.best_upper > CONTRADICTION * size:
        raise InvalidData(
            "these are not the costs that were seen: their best fixed point would cost "
            f"{found.best_upper:.6g}, and tangents of those seen say {found.best_lower:.6g} or "
            "more. Pass all rows that were played, each as often as it was seen."
        )
    return found


def _mark(k: int) -> int:
    return round(10.0 ** (k / RECORDS_PER_DECADE))


def is_noted(steps: int) -> bool:
    """Whether the history is to have an entry after so many steps: evenly on a log scale."""
    return _mark(round(RECORDS_PER_DECADE * math.log10(max(1, steps)))) == steps


def _stretches(steps: int, more: int, most: int) -> list[tuple[int, int]]:
    """Cut the next steps after those that are noted, and so that Ctrl-C is obeyed soon."""
    last = steps + more
    first, stop = (int(RECORDS_PER_DECADE * math.log10(max(1, t))) for t in (steps, last))
    marks = {_mark(k) - steps for k in range(first, stop + 2)} | set(range(most, more, most))
    cuts = [0, *sorted(mark for mark in marks if 0 < mark < more), more]
    return [(a, b) for a, b in zip(cuts, cuts[1:], strict=False) if b > a]
