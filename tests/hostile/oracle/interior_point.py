"""Points near the optimum: a primal-dual interior point method, in float64 or wider.

    minimise  1/2 ||w||^2 - c'v + 1/2 v'Hv,   w = sum_i beta_i phi(x_i),  beta = E v,  0 <= v <= u

with sum_i beta_i = 0 for a free bias. A row has one variable v (margin losses) or two
(epsilon-insensitive: beta = p - q). Mehrotra's predictor and corrector.

Nothing here is trusted: `optimum` recomputes both bounds from what is returned.
"""

import numpy as np

ITERATIONS = 80


class Variables:
    """The variables of a loss: signs of E by rows, linear and diagonal terms, upper limits."""

    def __init__(self, loss, y, u, epsilon):
        kind = y.dtype.type
        self.signs, c, H, top = y[None, :], np.ones_like(y), np.zeros_like(u), u
        if loss == "squared_hinge":
            H, top = 1 / (2 * u), np.full_like(u, np.inf)
        if loss == "epsilon_insensitive":
            self.signs = np.stack([np.ones_like(y), -np.ones_like(y)])
            c = np.stack([y - kind(epsilon), -y - kind(epsilon)])
        whole = self.signs.shape
        self.c, self.H, self.top = (np.broadcast_to(array, whole) for array in (c, H, top))
        self.has_top = np.isfinite(self.top)

    def rows(self, v):
        return (self.signs * v).sum(axis=0)

    def over_room(self, x, room):
        """Return x / room where there is an upper limit, else 0."""
        return np.where(self.has_top, x / np.where(self.has_top, room, 1), 0)


def points(loss, form, y, u, epsilon, square):
    """Yield (beta, point of the form), the last ones the best; `square` is a typical ||phi||^2."""
    if loss == "squared":
        form.prepare(2 * u)
        beta = np.zeros_like(y)
        f, step = form.direction(2 * u * y, beta)
        form.move(step)
        yield 2 * u * (y - f), form.point()
        return
    if loss == "logistic":
        yield from newton(form, y, u)
        return
    V = Variables(loss, y, u, epsilon)
    size = max(np.abs(V.c).max(), 1)
    start = size / max(square, np.finfo(np.float64).tiny)
    v = np.where(V.has_top, V.top / 2, start)
    room = V.top - v
    # Well centred and far out: an infeasible start with small products gets stuck at the walls.
    mu = size * max(start, V.top[V.has_top].mean() if V.has_top.any() else u.mean())
    z, t = mu / v, V.over_room(mu, room)
    enough = np.finfo(y.dtype).eps ** 1.25
    for _ in range(ITERATIONS):
        try:
            a, v, room, z, t = advance(V, form, v, room, z, t)
        except np.linalg.LinAlgError:
            return
        if not np.isfinite(a) or a < 1e-7:
            return
        yield V.rows(v), form.point()
        if (z * v).sum() + (t * np.where(V.has_top, room, 0)).sum() <= enough * np.abs(
            V.c * v
        ).sum():
            return


def advance(V, form, v, room, z, t):
    """One step; return its length and the new variables."""
    beta = V.rows(v)
    residual = V.signs * form.scores(beta) - V.c + V.H * v - z + t  # to become 0
    ratio = V.H + z / v + V.over_room(t, room)
    M = (1 / ratio).sum(axis=0)
    if not (np.all(np.isfinite(M)) and np.all(M > 0)):
        raise np.linalg.LinAlgError
    form.prepare(M)
    count = v.size + np.count_nonzero(V.has_top)
    has = V.has_top

    def direction(low, high):
        """Newton step towards z v = low, t room = high."""
        r = -residual + (low / v - z) - np.where(has, V.over_room(high, room) - t, 0)
        dscore, step = form.direction(V.rows(r / ratio), beta)
        dv = (r - V.signs * dscore) / ratio
        dz = low / v - z - z / v * dv
        dt = np.where(has, V.over_room(high + t * dv, room) - t, 0)
        return dv, dz, dt, step

    def longest(dv, dz, dt):
        return min(reach(v, dv), reach(room[has], -dv[has]), reach(z, dz), reach(t[has], dt[has]))

    def products(v, room, z, t):
        return ((z * v).sum() + (t[has] * room[has]).sum()) / count

    mu = products(v, room, z, t)
    dv, dz, dt, _ = direction(0 * v, 0 * v)
    a = longest(dv, dz, dt)
    after = products(v + a * dv, room - a * dv, z + a * dz, t + a * dt)
    target = mu * min((after / mu) ** 3, 1)
    dv, dz, dt, step = direction(target - dv * dz, target + dv * dt)
    a = min(v.dtype.type(0.995) * longest(dv, dz, dt), 1)
    if a < 0.1:  # back to the centre
        dv, dz, dt, step = direction(mu + 0 * v, mu + 0 * v)
        a = min(v.dtype.type(0.995) * longest(dv, dz, dt), 1)
    form.move(a * step)
    least = np.finfo(np.float64).tiny * 1e6
    v, z, room = (np.maximum(x, least) for x in (v + a * dv, z + a * dz, room - a * dv))
    return a, v, room, z, np.where(has, np.maximum(t + a * dt, least), 0)


def reach(x, dx):
    """How far x + a dx stays positive, at most 1."""
    falls = dx < 0
    return np.min(-x[falls] / dx[falls], initial=1)


def newton(form, y, u):
    """Damped Newton on the primal of the logistic loss, in features."""

    def objective(w):
        m = y * (form.F @ w)
        losses = np.maximum(-m, 0) + np.log1p(np.exp(-np.abs(m)))
        return (form.penalty * w) @ w / 2 + u @ losses

    now = objective(form.w)
    for _ in range(ITERATIONS):
        f = form.F @ form.w
        p = chance(y, f)
        try:
            form.prepare(np.maximum(u * p * chance(-y, f), np.finfo(np.float64).tiny * 1e20))
        except np.linalg.LinAlgError:
            return
        _, step = form.direction(0 * y, y * u * p)
        a = y.dtype.type(1)
        while not objective(form.w + a * step) <= now:
            a /= 2
            if a < 1e-12:
                return
        form.move(a * step)
        then = objective(form.w)
        yield y * u * chance(y, form.F @ form.w), form.point()
        if then >= now:
            return
        now = then


def chance(y, f):
    """1 / (1 + exp(y f)): minus the slope of the logistic loss, times y."""
    return np.exp(-np.maximum(y * f, 0)) / (1 + np.exp(-np.abs(f)))
