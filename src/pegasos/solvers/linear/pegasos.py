"""Pegasos prototype."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pegasos.data.order import identity, shuffle
from pegasos.data.rows import FloatArray, add, fetch, scores, shape, square_norm
from pegasos.dispatch import compiled
from pegasos.options import Options
from pegasos.problem.losses import descend, upper
from pegasos.problem.objective import Problem, blocks, flat, weight
from pegasos.solvers.linear.tail import Sums, Tail, add_dual, count_visit, new_tail, tail_point
from pegasos.solvers.protocol import Advance, DualPoint

AHEAD = 4


class Constant(NamedTuple):
    scale: float
    total: FloatArray
    offset: FloatArray
    moves: bool


class Course(NamedTuple):
    N: FloatArray
    c: FloatArray
    square: FloatArray
    radius: FloatArray


@dataclass
class PegasosState:
    V: FloatArray
    course: Course
    constant: Constant
    tail: Tail
    order: Any
    random: Any
    position: int = 0


@dataclass
class Pegasos(Options):
    batch_size: int = 1
    name: ClassVar[str] = "pegasos"
    is_dual: ClassVar[bool] = False
    bias_way: str = "free"
    fscale: float = 1.0

    def start(self, problem, seed, previous):
        (n, d), K = shape(problem.rows), problem.costs.Y.shape[1]
        scale = problem.bias_scale
        if problem.is_free and self.bias_way != "free-search":
            scale = self.fscale
        return PegasosState(
            V=np.zeros((d, K)),
            course=Course(np.zeros(1), np.ones(K), np.zeros(K), np.full(K, np.inf)),
            constant=Constant(scale, np.zeros(K), np.zeros(K), self.bias_way == "free-subgradient"),
            tail=new_tail(n, K, False),
            order=identity(n),
            random=np.array([seed], dtype=np.uint64),
        )

    def advance(self, problem, state):
        n = len(state.order)
        if state.position == 0:
            shuffle(state.order, state.random)
        _, length = blocks(problem.rows)[0]
        k = self.batch_size
        stop = min(n, state.position + max(k, length // k * k))
        order = state.order[state.position:stop]
        pegasos_pass(problem, order, k, state.course, flat(state.V), state.tail.sums, state.constant)
        state.position = stop
        if stop == n:
            state.position = 0
            turned = state.tail.end_epoch()
            if problem.is_free:
                self.move(problem, state, turned)
        return Advance(len(order), stop == n)

    def move(self, problem, state, turned):
        c = state.constant
        N = state.course.N[0]
        if self.bias_way == "free-epoch" or (self.bias_way == "free" and turned):
            c.offset[:] += c.scale**2 * c.total / (problem.lam * N)
            c.total[:] = 0

    def iterate(self, problem, state):
        return None

    def dual_point(self, problem, state):
        if state.tail.epochs == 0: return None
        return tail_point(problem, state.tail, None, None)


@compiled
def pegasos_pass(problem, order, k, course, V, sums, constant):  # type: ignore[no-untyped-def]
    costs, rows, lam = problem.costs, problem.rows, problem.lam
    K = sums.older.shape[1]
    A, z, step = np.empty((k, K)), np.empty(K), np.empty(K)
    is_steep = upper(costs.loss, 1.0) == np.inf
    last = len(order) - 1
    N = course.N[0]
    c, total, offset = course.c, constant.total, constant.offset
    square_scale = constant.scale * constant.scale
    for first in range(0, len(order), k):
        stop = min(first + k, last + 1)
        s_A = 0.0
        for t in range(first, stop):
            s_A += weight(costs.weights, order[t])
        if s_A == 0.0:
            continue
        old = 1.0 / (lam * N) if N > 0.0 else 0.0
        shrink = N / (N + s_A)
        N += s_A
        eta = 1.0 / (lam * N)
        for t in range(first, stop):
            i = order[t]
            fetch(rows, order[min(t + AHEAD, last)])
            scores(rows, i, V, z)
            q = 0.0
            if is_steep:
                q = s_A * eta * (square_norm(rows, i) + square_scale)
            for m in range(K):
                own = old * c[m] * (z[m] + square_scale * total[m])
                A[t - first, m] = descend(costs.loss, own + offset[m], shrink * own + offset[m], q, costs.Y[i, m])
        for t in range(first, stop):
            i = order[t]
            s = weight(costs.weights, i)
            some = False
            count_visit(sums, i)
            for m in range(K):
                a = A[t - first, m] / c[m]
                if a != 0.0:
                    some = True
                    add_dual(sums, i, m, a)
                    if constant.moves:
                        offset[m] += eta * square_scale * s * a
                    else:
                        total[m] += s * a
                step[m] = s * a
            if some:
                add(rows, i, step, V)
    course.N[0] = N
