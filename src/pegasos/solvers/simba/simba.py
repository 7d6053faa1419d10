"""SIMBA: a sublinear method that reads one row and one column of a dense table per step.

Maximises   min_p in simplex  max_xi  sum_i p_i (y_i <w, x_i> + xi_i)     over ||w|| <= 1

where the slack xi_i in [0, 2] adds up to at most n nu: the "slack-constrained" problem of [CSS12],
for rows of length at most 1. p is a distribution over the rows, w the predictor. A step:

    i ~ p;  u <- u + y_i x_i / sqrt(2 T);   w = u / max(1, ||u||)    row i moves the predictor
    xi = argmax p'xi                                                 2 for the largest p
    j ~ w_j^2 / ||w||^2;   v_i = y_i x_ij ||w||^2 / w_j + xi_i       column j estimates all margins
    p_i <- p_i (1 - eta v_i + eta^2 v_i^2),  v clipped to 1/eta      multiplicative weights

with eta = sqrt(log(n) / T) for T steps; the average of the w is handed out. It is O(n + d) a step,
and T does not depend on n and d but by log(n): less than a pass over large tables.

Only the direction of w is learned. It is handed out at the length that suits the objective best, as
the perceptron's, and the dual point is the average of the p, capped and scaled for the best bound.
Which nu belongs to lam is not known before: a run is ROUNDS runs, of 1, 1, 2, 4, 8 parts of the
steps, each with the nu of the model that the last one found, mean hinge / ||w|| as in [CSS12]
(docs/mathematics.md). It ends by itself after them. A free bias is a constant feature of the length
of a typical row.

The paper is not at hand: the steps are restated, and not checked against its text ([CSS12] Sec. 4.1
tells what they are: mirror descent on p, full slack, a row by p); the rounds, the bias, the length
and the dual point are ours.

[HKS11]  Hazan, Koren, Srebro. Beating SGD: learning SVMs in sublinear time. NIPS 2011.
[CSS12]  Cotter, Shalev-Shwartz, Srebro. The kernelized stochastic batch perceptron. ICML 2012.
         Sec. 4.1 compares with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.centre import as_from_origin
from pegasos.data.order import below
from pegasos.data.rows import Centre, FloatArray, shape
from pegasos.dispatch import compiled
from pegasos.errors import InvalidParameter
from pegasos.options import Options
from pegasos.problem.objective import VALUES_PER_CALL, Problem, combination, typical_length
from pegasos.problem.scores import write_scores
from pegasos.solvers.checks import check_count
from pegasos.solvers.offsets import centred, seen
from pegasos.solvers.perceptron.best_length import at_best_length
from pegasos.solvers.protocol import Advance, DualPoint, Solver
from pegasos.solvers.refusals import check_is_hinge, check_rows_are_dense

ROUNDS = 5
CAPS = (0.5, 0.75, 0.9, 0.97, 1.0)  # quantiles of the average p that dual points are cut off at
DRAWS = 1 << 31  # different random numbers


class Walk(NamedTuple):
    """One model within a round: p (n,), u (d + 1,), and the sums of p and w over its steps.

    Features are the rows' and, last, the constant; `scale` divides them to length 1 at most.
    """

    p: FloatArray
    u: FloatArray
    p_sum: FloatArray
    w_sum: FloatArray


class Rates(NamedTuple):
    """Numbers of a round: 1/sqrt(2 T), eta, n nu, the constant feature, 1 / longest row."""

    row: float
    eta: float
    slack: float
    constant: float
    inverse: float


@dataclass
class SimbaState:
    """A run: the models' walks, their nu (K,), which round it is and the steps made in it.

    W (d, K), b (K,) and B (n, K) are the models and dual numbers y beta of the last round.
    """

    walks: list[Walk]
    nu: FloatArray
    W: FloatArray
    b: FloatArray
    B: FloatArray
    random: Any
    constant: float
    longest: float
    centre: Centre
    round: int = 0
    done: int = 0

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """Dual numbers (n, K) of the last round."""
        return self.B


@dataclass
class SIMBA(Options, Solver):
    """Sublinear training on dense rows by sampling rows and features; no tolerance to reach.

    Parameters
    ----------
    steps : int, default=10000
        Steps in all; each costs a row and a column.
    nu : float or None, default=None
        Mean slack allowed, in units of the longest row. None: found from C, round by round.
    """

    steps: int = 10_000
    nu: float | None = None
    name: ClassVar[str] = "simba"
    is_dual: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse options that make no sense, whatever the data."""
        check_count(self, "steps", " on")
        is_number = isinstance(self.nu, int | float | np.number) and not isinstance(self.nu, bool)
        if self.nu is not None and not (is_number and 0.0 <= self.nu <= 2.0):
            raise InvalidParameter(f"nu must be None or a number from 0 to 2; got {self.nu!r}.")

    def start(self, problem: Problem, seed: int, previous: Any | None) -> SimbaState:
        check_is_hinge(self.name, problem.costs.loss)
        check_rows_are_dense(self.name, problem.rows)
        problem, squares = centred(problem)
        (n, d), K = shape(problem.rows), problem.costs.Y.shape[1]
        constant = problem.bias_scale
        if problem.is_free:
            constant = typical_length(problem, squares)
        state = SimbaState(
            walks=[], nu=np.zeros(K), W=np.zeros((d, K)), b=np.zeros(K), B=np.zeros((n, K)),
            random=np.array([seed], dtype=np.uint64), constant=constant,
            longest=float(np.sqrt(squares.max() + constant**2)) or 1.0,
            centre=problem.rows.centre,
        )  # fmt: skip
        A = problem.costs.Y if previous is None or previous.A is None else previous.A
        b = constant**2 * A.mean(axis=0) / problem.lam
        self._keep(problem, state, combination(problem, A), b)
        self._begin(problem, state)
        return state

    def _keep(self, problem: Problem, state: SimbaState, W: FloatArray, b: FloatArray) -> None:
        """Keep weights at their best length, and the nu that belongs to them."""
        state.W[:], state.b[:] = at_best_length(problem, W, b)
        if self.nu is not None:
            state.nu[:] = self.nu
            return
        Z = np.empty_like(problem.costs.Y)
        write_scores(problem.rows, state.W, Z)
        losses = np.maximum(0.0, 1.0 - problem.costs.Y * (Z + state.b)).mean(axis=0)
        square = np.sum(state.W**2, axis=0)
        if state.constant > 0.0:
            square += (state.b / state.constant) ** 2
        norm = np.sqrt(square) * state.longest
        state.nu[:] = np.where(norm > 0.0, np.minimum(2.0, losses / np.maximum(norm, 1e-300)), 1.0)

    def _begin(self, problem: Problem, state: SimbaState) -> None:
        """Begin a round: uniform p, u = 0."""
        (n, d), K = shape(problem.rows), len(state.nu)
        state.done = 0
        state.walks = [
            Walk(np.full(n, 1.0 / n), np.zeros(d + 1), np.zeros(n), np.zeros(d + 1))
            for _ in range(K)
        ]

    def _length(self, round_: int) -> int:
        """Return the steps of a round."""
        return max(1, self.steps * 2 ** max(0, round_ - 1) // 2 ** (ROUNDS - 1))

    def advance(self, problem: Problem, state: SimbaState) -> Advance:
        return self.advance_by(problem, state, self._length(state.round))

    def advance_by(self, problem: Problem, state: SimbaState, most: int) -> Advance:
        """Advance by at most so many steps; weights are those of the last complete round."""
        problem, (n, d) = seen(problem, state.centre), shape(problem.rows)
        T = self._length(state.round)
        at_once = max(1, VALUES_PER_CALL // (4 * (n + d) * len(state.nu)))
        now = min(T - state.done, at_once, most)
        for k, walk in enumerate(state.walks):
            rates = Rates(
                1.0 / math.sqrt(2.0 * T), math.sqrt(math.log(max(2, n)) / T), n * state.nu[k],
                state.constant, 1.0 / state.longest,
            )  # fmt: skip
            simba_steps(problem.rows, problem.costs.Y[:, k], now, rates, walk, state.random)
        state.done += now
        if state.done < T:
            return Advance(now, False)
        self._end(problem, state)
        state.round += 1
        self._begin(problem, state)
        return Advance(now, True, is_done=state.round >= ROUNDS)

    def _end(self, problem: Problem, state: SimbaState) -> None:
        """Take the average weights and the average p of a round."""
        W = np.stack([walk.w_sum for walk in state.walks], axis=1)
        for k, walk in enumerate(state.walks):
            state.B[:, k] = best_dual(problem, walk.p_sum, state.constant, k)
        self._keep(problem, state, W[:-1].copy(), state.constant * W[-1])

    def iterate(self, problem: Problem, state: SimbaState) -> tuple[FloatArray, FloatArray]:
        return as_from_origin(state.centre, state.W.copy(), state.b.copy())

    def dual_point(self, problem: Problem, state: SimbaState) -> DualPoint:
        return DualPoint(state.B.copy(), 1.0)


def best_dual(problem: Problem, p: FloatArray, constant: float, k: int) -> FloatArray:
    """Return y beta, beta proportional to p but at most 1: the cap and factor of the largest D."""
    y, best, least = problem.costs.Y[:, [k]], np.zeros((len(p), 1)), -np.inf
    for cap in np.quantile(p, CAPS):
        beta = np.minimum(1.0, p / (cap or 1.0))[:, None]
        if problem.is_free:
            up, down = beta[y > 0.0].sum(), beta[y < 0.0].sum()
            share = min(up, down) / max(up, down, 1e-300)
            beta = np.where((y > 0.0) == (up > down), share, 1.0) * beta
        w = combination(problem, y * beta)
        penalty = problem.lam * np.sum(w * w) + (constant * np.mean(y * beta)) ** 2 / problem.lam
        gain = float(beta.mean())
        factor = min(1.0, gain / penalty) if penalty > 0.0 else 1.0
        value = factor * gain - 0.5 * factor**2 * penalty
        if value > least:
            best, least = y * beta * factor, value
    return best[:, 0]


@compiled
def simba_steps(rows, y, steps, rates, walk, random):  # type: ignore[no-untyped-def]
    """Make some steps of a round; `walk` and `random` change."""
    p, u, p_sum, w_sum = walk
    d = len(u) - 1
    for _ in range(steps):
        i = pick(p, 1.0, uniform(random))                       # i ~ p
        for j in range(d + 1):
            u[j] += rates.row * y[i] * entry(rows, i, j, d, rates)
        square = 0.0
        for j in range(d + 1):
            square += u[j] * u[j]
        norm = max(1.0, math.sqrt(square))                     # w = u / max(1, ||u||)
        for j in range(d + 1):
            w_sum[j] += u[j] / norm
        level = slack_level(p, rates.slack)
        j = pick_square(u, square, uniform(random))            # j ~ w_j^2 / ||w||^2
        inverse_weight = square / (norm * u[j]) if u[j] != 0.0 else 0.0
        reweight(rows, y, j, inverse_weight, level, rates, p)
        for i in range(len(p)):
            p_sum[i] += p[i]


@compiled
def entry(rows, i, j, d, rates):  # type: ignore[no-untyped-def]
    """Return feature j of row i, the constant last, divided by the longest row."""
    if j == d:
        return rates.constant * rates.inverse
    m = rows.centre.m
    x = np.float64(rows.X[i, j])
    return (x - m[j] if len(m) > 0 else x) * rates.inverse


@compiled
def uniform(random):  # type: ignore[no-untyped-def]
    """Return a random number in [0, 1)."""
    return below(DRAWS, random) / DRAWS


@compiled
def pick(p, total, draw):  # type: ignore[no-untyped-def]
    """Return i with probability p_i / total."""
    left = draw * total
    for i in range(len(p)):
        left -= p[i]
        if left < 0.0:
            return i
    return int(np.argmax(p))


@compiled
def pick_square(u, square, draw):  # type: ignore[no-untyped-def]
    """Return j with probability u_j^2 / ||u||^2."""
    left = draw * square
    for j in range(len(u)):
        left -= u[j] * u[j]
        if left < 0.0:
            return j
    return int(np.argmax(np.abs(u)))


@compiled
def slack_level(p, slack):  # type: ignore[no-untyped-def]
    """Return (level, part): xi is 2 where p is above the level, 2 part where it is at it."""
    n = len(p)
    count = min(float(n), 0.5 * slack)                         # rows that may have xi = 2
    if count >= n:
        return -1.0, 1.0
    whole = int(count)
    level = np.partition(p, n - 1 - whole)[n - 1 - whole]      # whole rows at most lie above it
    above, at = 0, 0
    for i in range(n):
        above += p[i] > level
        at += p[i] == level
    return level, (count - above) / at


@compiled
def reweight(rows, y, j, inverse_weight, level, rates, p):  # type: ignore[no-untyped-def]
    """Multiply p by 1 - eta v + eta^2 v^2, v estimated by column j; its sum is 1 again."""
    top, part = level
    d, eta, total = rows.X.shape[1], rates.eta, 0.0
    for i in range(len(p)):
        xi = 2.0 if p[i] > top else (2.0 * part if p[i] == top else 0.0)
        v = y[i] * entry(rows, i, j, d, rates) * inverse_weight + xi
        v = min(1.0 / eta, max(-1.0 / eta, v))
        p[i] *= 1.0 - eta * v + eta * eta * v * v
        total += p[i]
    for i in range(len(p)):
        p[i] /= total
