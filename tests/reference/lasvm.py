"""LASVM with lists and loops: PROCESS and REPROCESS one row at a time, the whole K at hand."""

import numpy as np

TIE = 1e-12


def first_best(items, value, tie=lambda best: best + TIE):
    """The item of largest value; of several that are equal but for rounding, the first."""
    best = None
    for item in items:
        if best is None or value(item) > tie(value(best)):
            best = item
    return best


class Lasvm:
    """[BEWB05] with the departures that `solvers.lasvm.process` names; a is signed, as there."""

    def __init__(self, K, y, C, *, is_free, tau):
        self.K, self.y, self.is_free, self.tau = K, y, is_free, tau
        self.low, self.high = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
        self.a = np.zeros(len(y))
        self.S = []

    def g(self, s):
        return self.y[s] - self.K[s] @ self.a

    def up(self):
        return [s for s in self.S if self.a[s] < self.high[s]]

    def down(self):
        return [s for s in self.S if self.a[s] > self.low[s]]

    def step(self, i, j):
        """Raise i and lower j, either may be None, by the exact step within the bounds."""
        e = np.zeros(len(self.y))
        room = np.inf
        if i is not None:
            e[i] = 1.0
            room = min(room, self.high[i] - self.a[i])
        if j is not None:
            e[j] = -1.0
            room = min(room, self.a[j] - self.low[j])
        slope, curvature = e @ (self.y - self.K @ self.a), e @ self.K @ e
        step = room if curvature <= 0.0 else min(room, slope / curvature)
        self.a += step * e
        for s in (i, j):
            if s is not None:
                for end in (self.low[s], self.high[s], 0.0):  # a bound is met exactly
                    if abs(self.a[s] - end) < 1e-13:
                        self.a[s] = end

    def process(self, k):
        if k in self.S:
            return
        if not self.is_free:
            if self.y[k] * self.g(k) > self.tau:
                self.S.append(k)
                self.step(*((k, None) if self.y[k] > 0.0 else (None, k)))
            return
        i, j = first_best(self.up(), self.g), first_best(self.down(), lambda s: -self.g(s))
        top, bottom = -np.inf if i is None else self.g(i), np.inf if j is None else self.g(j)
        g, is_positive = self.g(k), self.y[k] > 0.0
        if g - bottom > self.tau if is_positive else top - g > self.tau:
            self.S.append(k)
            self.step(*((k, j) if is_positive else (i, k)))
        elif top < bottom - TIE and (g > top + TIE if is_positive else g < bottom - TIE):
            self.S.append(k)

    def pair(self):
        """The violating pair, or single, whose step gains most; None if none violates by tau."""
        if not self.is_free:
            moves = [
                (s, None, self.g(s), self.K[s, s]) if self.g(s) > 0.0
                else (None, s, -self.g(s), self.K[s, s])
                for s in self.S
                if s in (self.up() if self.g(s) > 0.0 else self.down())
            ]
        elif self.up():
            i = first_best(self.up(), self.g)
            moves = [
                (i, j, self.g(i) - self.g(j), self.K[i, i] + self.K[j, j] - 2.0 * self.K[i, j])
                for j in self.down()
            ]
        else:
            moves = []
        moves = [move for move in moves if move[2] > 0.0]
        if not moves or max(move[2] for move in moves) <= self.tau:
            return None
        def gain(move):
            return move[2] ** 2 / max(move[3], 1e-12)

        return first_best(moves, gain, lambda best: best * (1.0 + TIE))[:2]

    def reprocess(self):
        pair = self.pair()
        if pair is None:
            return False
        self.step(*pair)
        self.evict()
        return True

    def evict(self):
        top = bottom = 0.0
        if self.is_free:
            top = max(map(self.g, self.up()), default=-np.inf)
            bottom = min(map(self.g, self.down()), default=np.inf)
        has_room = top < bottom - TIE
        kept = []
        for s in self.S:
            g, is_positive = self.g(s), self.y[s] > 0.0
            violates = g > bottom + TIE if is_positive else g < top - TIE
            bounds = has_room and (g >= top - TIE if is_positive else g <= bottom + TIE)
            if self.a[s] != 0.0 or violates or bounds:
                kept.append(s)
        self.S = kept

    def bias(self):
        if not self.is_free:
            return 0.0
        ends = [max(map(self.g, self.up()))] if self.up() else []
        ends += [min(map(self.g, self.down()))] if self.down() else []
        return float(np.mean(ends)) if ends else 0.0

    def visit(self, order):
        for k in order:
            self.process(k)
            self.reprocess()

    def finish(self):
        while self.reprocess():
            pass
        self.evict()
