"""Points near the optimum: Newton's method, and a primal-dual interior point method.

    minimise  1/2 ||w||^2 - c'v,   w = sum_i beta_i phi(x_i),   beta = E v,   0 <= v <= top

for the hinge (one variable v per row) and the epsilon-insensitive loss (two: beta = p - q), with
sum_i beta_i = 0 for a free bias; Mehrotra's predictor and corrector. In float64 or wider.

Nothing here is trusted: `optimum` recomputes both bounds from what is returned.
"""

import numpy as np

from tests.hostile.oracle.losses import slope, value

ITERATIONS = 80
TINY = np.finfo(np.float64).tiny


class Variables:
    """The variables of a loss: signs of E by rows, linear terms, upper limits."""

    def __init__(self, loss, y, u, epsilon):
        if loss == "hinge":
            self.signs, self.c, self.top = y[None, :], np.ones((1, len(y)), dtype=y.dtype), u[None]
        else:
            self.signs = np.stack([np.ones_like(y), -np.ones_like(y)])
            self.c = np.stack([y, -y]) - y.dtype.type(epsilon)
            self.top = np.stack([u, u])

    def rows(self, v):
        return (self.signs * v).sum(axis=0)


def points(loss, form, y, u, epsilon):
    """Yield (beta, point of the form), the last ones the best."""
    try:
        if loss in ("squared_hinge", "logistic", "squared"):
            yield from newton(loss, form, y, u)
        else:
            yield from interior_points(Variables(loss, y, u, epsilon), form)
    except np.linalg.LinAlgError:
        return


def interior_points(V, form):
    """Start well centred and far out: small products would get stuck at the walls."""
    v = room = V.top / 2
    mu = max(np.abs(V.c).max(), 1) * V.top.mean()
    z, t = mu / v, mu / room
    enough = np.finfo(v.dtype).eps ** 1.25
    for _ in range(ITERATIONS):
        a, v, room, z, t = advance(V, form, v, room, z, t)
        if not np.isfinite(a) or a < 1e-7:
            return
        yield V.rows(v), form.point()
        if (z * v + t * room).sum() <= enough * np.abs(V.c * v).sum():
            return


def advance(V, form, v, room, z, t):
    """One step; return its length and the new variables."""
    beta = V.rows(v)
    residual = V.signs * form.scores(beta) - V.c - z + t  # to become 0
    ratio = z / v + t / room
    M = (1 / ratio).sum(axis=0)
    form.prepare(M)

    def direction(low, high):
        """Newton step towards z v = low, t room = high."""
        r = low / v - high / room - residual - z + t
        dscore, step = form.direction(V.rows(r / ratio), beta)
        dv = (r - V.signs * dscore) / ratio
        return dv, (low - z * dv) / v - z, (high + t * dv) / room - t, step

    def longest(dv, dz, dt):
        return min(reach(v, dv), reach(room, -dv), reach(z, dz), reach(t, dt))

    mu = (z * v + t * room).mean()
    dv, dz, dt, _ = direction(0 * v, 0 * v)
    a = longest(dv, dz, dt)
    after = ((z + a * dz) * (v + a * dv) + (t + a * dt) * (room - a * dv)).mean()
    target = mu * min((after / mu) ** 3, 1)
    dv, dz, dt, step = direction(target - dv * dz, target + dv * dt)
    a = v.dtype.type(0.995) * longest(dv, dz, dt)
    if a < 0.1:  # back to the centre
        dv, dz, dt, step = direction(mu + 0 * v, mu + 0 * v)
        a = v.dtype.type(0.995) * longest(dv, dz, dt)
    form.move(a * step)
    new = v + a * dv, room - a * dv, z + a * dz, t + a * dt
    return a, *(np.maximum(x, 1e6 * TINY) for x in new)


def reach(x, dx):
    """How far x + a dx stays positive, at most 1."""
    falls = dx < 0
    return np.min(-x[falls] / dx[falls], initial=1)


def newton(loss, form, y, u):
    """Damped Newton on the primal of a loss with a slope everywhere, in features."""

    def objective(w):
        return (form.penalty * w) @ w / 2 + u @ value(loss, form.F @ w, y)

    now = objective(form.w)
    for _ in range(ITERATIONS):
        f = form.F @ form.w
        form.prepare(np.maximum(u * curvature(loss, f, y), 1e20 * TINY))
        _, step = form.direction(0 * y, -u * slope(loss, f, y))
        a = y.dtype.type(1)
        while not objective(form.w + a * step) <= now:
            a /= 2
            if a < 1e-12:
                return
        form.move(a * step)
        yield -u * slope(loss, form.F @ form.w, y), form.point()
        then = objective(form.w)
        if then >= now:
            return
        now = then


def curvature(loss, f, y):
    """Second derivative of a loss, where it has one."""
    if loss == "logistic":
        return np.abs(slope(loss, f, y) * slope(loss, f, -y))
    return 2 * np.ones_like(f) if loss == "squared" else np.where(y * f < 1, 2, 0)
