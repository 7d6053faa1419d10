"""Cuts: planes below the mean loss, and the reduced problem that knows the loss by them alone.

Reduced problem   min_w  lam/2 ||w||^2 + max(0, max_c e_c + <g_c, w>)
its dual          max_alpha  e'alpha - 1/(2 lam) ||sum_c alpha_c g_c||^2,   alpha in the simplex
and               w = -1/lam sum_c alpha_c g_c

A cut is made of a dual number per row, beta_i in [0, 1]: for all w

    1/S sum_i s_i max(0, 1 - y_i <w, x_i>) >= 1/S sum_i s_i beta_i (1 - y_i <w, x_i>) = e + <g, w>

with equality at the w it is made at, where beta_i = 1 for the rows below the margin, else 0 (one
that is exactly reached counts as satisfied). So a = y sum_c alpha_c beta_c is a feasible dual point
of the problem itself, w is w(a), and the reduced problem's value is D(a): the certificate of a run
costs a bit per row and cut.

Bias. A penalised one is a constant feature. A free one leaves the programme: made at the best bias
of its weights, with the numbers beta of the rows at the kink such that sum_i s_i y_i beta_i = 0, a
cut is a plane below min_b of the mean loss. (The papers have no free bias.)

Cuts that were not used for IDLE programmes are dropped: memory does not grow with the cuts made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pegasos.data.rows import FloatArray, shape
from pegasos.parallel import one_blas_thread
from pegasos.problem.objective import Problem, weighted_sum
from pegasos.problem.scores import write_scores
from pegasos.solvers.cutting_plane.small_qp import maximize
from pegasos.solvers.protocol import DualPoint
from pegasos.solvers.refusals import check_is_hinge

IDLE = 50  # programmes that a cut may be of no use for
ROOM = 16  # cuts that a bundle has room for at first
PER_CUT = ("G", "e", "alpha", "near", "bits", "share", "idle")  # arrays of a bundle
NO_ROWS = np.zeros(0, dtype=np.int64)
ENOUGH = 1e-6  # of the gap at present: how exactly a programme is solved


class Betas(NamedTuple):
    """The dual numbers beta of a cut: which rows have 1, and a few that have a `share` of it."""

    is_below: Any  # (n,), bool
    some: Any = NO_ROWS  # their numbers
    share: float = 0.0

    def numbers(self) -> FloatArray:
        """Return beta, shape (n,)."""
        beta = self.is_below.astype(np.float64)
        beta[self.some] = self.share
        return beta


@dataclass
class Bundle:
    """The cuts of one model, and the solution alpha of their programme.

    `near` is the solution at a larger lam (`lam_path`), where that is in use. Cut 0 is the plane 0.
    `G` (m, d + 1) holds the g_c, the constant feature last; `H` (m, m) their products over lam;
    `bits` (m, n / 8) the rows of each cut that have 1, `some` those that have a `share`. Cut 1 of a
    warm start has any numbers: these are `given` (n,), else empty.
    """

    G: FloatArray
    H: FloatArray
    e: FloatArray
    alpha: FloatArray
    near: FloatArray
    bits: Any
    share: FloatArray
    idle: Any
    some: list[Any]
    given: FloatArray
    m: int = 1

    def append(self, g: FloatArray, e: float, betas: Betas, lam: float) -> None:
        """Add a cut, in place."""
        if self.m == len(self.e):
            self._make_room()
        c, self.m = self.m, self.m + 1
        self.G[c], self.e[c], self.alpha[c], self.near[c], self.idle[c] = g, e, 0.0, 0.0, 0
        self.bits[c], self.share[c] = np.packbits(betas.is_below), betas.share
        self.some.append(betas.some)
        self.H[c, : c + 1] = self.H[: c + 1, c] = self.G[: c + 1] @ g / lam

    def _make_room(self) -> None:
        for name in PER_CUT:
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros_like(array)]))
        self.H = np.pad(self.H, (0, len(self.H)))

    def improve(self, enough: float) -> float:
        """Solve the programme to `enough`; return its value."""
        m = self.m
        found = maximize(self.H[:m, :m], self.e[:m], self.alpha[:m], enough)
        is_used = (self.alpha[1:m] > 0.0) | (self.near[1:m] > 0.0)
        self.idle[1:m] = np.where(is_used, 0, self.idle[1:m] + 1)
        self.idle[1] *= len(self.given) == 0  # that one stays where it is
        self._drop(np.flatnonzero(self.idle[:m] <= IDLE))
        return found

    def _drop(self, kept: Any) -> None:
        if len(kept) == self.m:
            return
        for name in PER_CUT:
            array = getattr(self, name)
            array[: len(kept)] = array[kept]
        self.H[: len(kept), : len(kept)] = self.H[np.ix_(kept, kept)]
        self.some = [self.some[c] for c in kept]
        self.m = len(kept)

    def weights(self, lam: float) -> FloatArray:
        """Return w = -1/lam sum_c alpha_c g_c, and the weight of the constant feature."""
        return np.asarray(self.alpha[: self.m] @ self.G[: self.m] / -lam)

    def numbers(self, n: int) -> FloatArray:
        """Return sum_c alpha_c beta_c, shape (n,)."""
        total = np.zeros(n)
        for c in np.flatnonzero(self.alpha[: self.m]):
            if c == 1 and len(self.given):
                total += self.alpha[c] * self.given
            else:
                total += self.alpha[c] * np.unpackbits(self.bits[c], count=n)
                total[self.some[c]] += self.alpha[c] * self.share[c]
        return np.minimum(total, 1.0)


@dataclass
class CutState:
    """A run: the bundles of the models, the reduced solution W, b, and the best weights so far.

    `Z` (n, K) are the scores of `best`, where a method needs them. `paths`, one a model, say where
    the reduced problems have a larger lam: W solves these. `primal` and `dual` (K,) are what the
    run knows of the objectives of `best` and of the programmes of lam itself.
    """

    bundles: list[Bundle]
    Y: FloatArray
    W: FloatArray
    b: FloatArray
    best: FloatArray
    best_b: FloatArray
    primal: FloatArray
    dual: FloatArray
    is_done: Any
    paths: list[Any] = field(default_factory=list)
    Z: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def A(self) -> FloatArray:  # noqa: N802
        """Dual numbers (n, K): those of the programmes' solutions."""
        n = len(self.Y)
        return self.Y * np.stack([bundle.numbers(n) for bundle in self.bundles], axis=1)


def start(problem: Problem, name: str, previous: Any | None) -> CutState:
    """Return a run that knows the plane 0 alone, or also the cut of an earlier run's dual point."""
    check_is_hinge(name, problem.costs.loss)
    (n, d), Y = shape(problem.rows), problem.costs.Y
    K = Y.shape[1]
    state = CutState(
        bundles=[empty_bundle(n, d) for _ in range(K)],
        Y=Y,
        W=np.zeros((d, K)),
        b=np.zeros(K),
        best=np.zeros((d, K)),
        best_b=np.zeros(K),
        primal=np.full(K, np.inf),
        dual=np.zeros(K),
        is_done=np.zeros(K, dtype=np.bool_),
    )
    if previous is not None and previous.A is not None:
        betas: list[Betas | None] = []
        for k, bundle in enumerate(state.bundles):
            bundle.given = balanced(problem, np.clip(Y[:, k] * previous.A[:, k], 0.0, 1.0), k)
            betas.append(Betas(np.zeros(n, dtype=np.bool_)))
        add(problem, state, betas, np.stack([b.given for b in state.bundles], axis=1))
    return state


def empty_bundle(n: int, d: int) -> Bundle:
    """Return the plane 0, which is the solution by itself."""
    alpha = np.zeros(ROOM)
    alpha[0] = 1.0
    return Bundle(
        G=np.zeros((ROOM, d + 1)), H=np.zeros((ROOM, ROOM)), e=np.zeros(ROOM), alpha=alpha,
        near=np.zeros(ROOM), bits=np.zeros((ROOM, -(-n // 8)), dtype=np.uint8),
        share=np.zeros(ROOM), idle=np.zeros(ROOM, dtype=np.int64), some=[NO_ROWS],
        given=np.zeros(0),
    )  # fmt: skip


def balanced(problem: Problem, beta: FloatArray, k: int) -> FloatArray:
    """Shrink the numbers of the heavier class until both weigh the same, for a free bias."""
    if not problem.is_free:
        return beta
    y, s = problem.costs.Y[:, k], problem.costs.weights.values
    up, down = (s * beta)[y > 0.0].sum(), (s * beta)[y < 0.0].sum()
    if up == down:
        return beta
    share = min(up, down) / max(up, down)
    return np.where((y > 0.0) == (up > down), share * beta, beta)


def scores_of(problem: Problem, W: FloatArray) -> FloatArray:
    """Return the scores of weights (d, K) without bias, shape (n, K): a pass over the rows."""
    Z = np.empty_like(problem.costs.Y)
    write_scores(problem.rows, W, Z)
    return Z


def below(problem: Problem, z: FloatArray, b: float, k: int) -> tuple[Betas, float]:
    """Return which rows are below their margins at scores z, and the bias: the best one if free."""
    y = problem.costs.Y[:, k]
    if problem.is_free:
        return below_at_best_bias(y, z, problem.costs.weights)
    return Betas(y * (z + b) < 1.0), b


def below_at_best_bias(y: FloatArray, z: FloatArray, weights: Any) -> tuple[Betas, float]:
    """Return the same at the bias of least loss, balanced: sum_i s_i y_i beta_i = 0.

    Row i changes sides at b = y_i - z_i. As b passes it the slope of the loss, at first minus the
    weight of the positive class, grows by s_i: the best bias is where it has grown by that weight.
    What the rows on one side lack to balance the other, those at the kink share alike.
    """
    s = weights.values if weights.mask else np.ones(len(y))
    kinks, is_positive = y - z, y > 0.0
    wanted = s[is_positive].sum()
    if weights.mask:
        order = np.argsort(kinks, kind="stable")
        order = order[s[order] > 0.0]
        b = kinks[order[min(int(np.searchsorted(s[order].cumsum(), wanted)), len(order) - 1)]]
    else:
        p = max(int(wanted) - 1, 0)
        b = np.partition(kinks, p)[p]
    is_below = (is_positive & (kinks > b)) | (~is_positive & (kinks < b))
    lacking = -float((s * y)[is_below].sum())
    at_kink = np.flatnonzero((kinks == b) & (is_positive == (lacking > 0.0)) & (s > 0.0))
    share = min(1.0, abs(lacking) / s[at_kink].sum()) if len(at_kink) else 0.0
    return Betas(is_below, at_kink if share > 0.0 else NO_ROWS, share), float(b)


def mean_loss(problem: Problem, z: FloatArray, b: float, k: int) -> float:
    """Return 1/S sum_i s_i hinge(z_i + b)."""
    losses = np.maximum(0.0, 1.0 - problem.costs.Y[:, k] * (z + b))
    weights = problem.costs.weights
    return float((weights.values @ losses if weights.mask else losses.sum()) / problem.S)


def objective(problem: Problem, w: FloatArray, z: FloatArray, b: float, k: int) -> float:
    """Return P of the weights w (d,) of model k, whose scores are z."""
    square = w @ w
    if problem.bias_scale > 0.0:
        square += (b / problem.bias_scale) ** 2
    return float(0.5 * problem.lam * square + mean_loss(problem, z, b, k))


def add(
    problem: Problem, state: CutState, betas: list[Betas | None], B: FloatArray | None = None
) -> None:
    """Add a cut to every model that has one, and solve their programmes: a pass over the rows.

    B (n, K), the numbers beta, are those of `betas` unless given.
    """
    n, d = shape(problem.rows)
    if B is None:
        numbers = [np.zeros(n) if cut is None else cut.numbers() for cut in betas]
        B = np.stack(numbers, axis=1)
    A, s = state.Y * B, problem.costs.weights.values[:, None]
    gradients = np.empty((d + 1, B.shape[1]))
    gradients[:d] = weighted_sum(problem, A, d)
    gradients[d] = problem.bias_scale * (s * A).sum(axis=0)
    gradients /= -problem.S
    offsets = (s * B).sum(axis=0) / problem.S
    with one_blas_thread:
        for k, (bundle, cut) in enumerate(zip(state.bundles, betas, strict=True)):
            if cut is None:
                continue
            bundle.append(np.ascontiguousarray(gradients[:, k]), offsets[k], cut, problem.lam)
            gap = state.primal[k] - state.dual[k]
            state.dual[k] = bundle.improve(ENOUGH * gap if np.isfinite(gap) else 0.0)
            weights = bundle.weights(problem.lam)
            state.W[:, k], state.b[k] = weights[:d], problem.bias_scale * weights[d]


def estimate(state: CutState) -> float:
    """Return the relative gap between the best weights and the programmes' values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = (state.primal - state.dual) / state.dual
    return float(np.where(state.primal <= 0.0, 0.0, gaps)[~state.is_done].max(initial=0.0))


def dual_point(state: CutState) -> DualPoint:
    """Return the dual point of the programmes' solutions."""
    return DualPoint(state.A, 1.0)
