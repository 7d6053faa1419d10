"""Losses by their definitions, in whatever precision the arguments have.

With beta_i = C s_i a_i the problem divided by lam reads, for feasible beta,

    1/2 ||w||^2 + sum_i u_i value(f_i)  >=  sum_i u_i gain(beta_i / u_i) - 1/2 ||w(beta)||^2

with u_i = C s_i and w(beta) = sum_i beta_i phi(x_i). The number 0 is feasible for every loss, and
so is what lies between a feasible number and 0.
"""

import numpy as np


def value(loss, f, y, epsilon=0.0):
    """Loss of every row at its decision value f."""
    if loss == "hinge":
        return np.maximum(1 - y * f, 0)
    if loss == "squared_hinge":
        return np.maximum(1 - y * f, 0) ** 2
    if loss == "logistic":
        m = y * f
        return np.maximum(-m, 0) + np.log1p(np.exp(-np.abs(m)))
    if loss == "epsilon_insensitive":
        return np.maximum(np.abs(f - y) - epsilon, 0)
    if loss == "squared":
        return (f - y) ** 2
    raise ValueError(loss)


def slope(loss, f, y, epsilon=0.0):
    """A sub-gradient of the loss in f; 0 at a kink."""
    if loss == "hinge":
        return np.where(y * f < 1, -y, 0)
    if loss == "squared_hinge":
        return -2 * y * np.maximum(1 - y * f, 0)
    if loss == "logistic":
        m = y * f
        e = np.exp(-np.abs(m))
        return -y * np.where(m > 0, e, 1) / (1 + e)
    if loss == "epsilon_insensitive":
        return np.where(np.abs(f - y) > epsilon, np.sign(f - y), 0)
    if loss == "squared":
        return 2 * (f - y)
    raise ValueError(loss)


def gain(loss, a, y, epsilon=0.0):
    """-loss*(-a) for feasible a."""
    if loss == "hinge":
        return y * a
    if loss == "squared_hinge":
        return y * a - a * a / 4
    if loss == "logistic":
        b = np.clip(y * a, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(b > 0, -b * np.log(b), 0), np.where(b < 1, -(1 - b) * np.log1p(-b), 0)
        return terms[0] + terms[1]
    if loss == "epsilon_insensitive":
        return y * a - epsilon * np.abs(a)
    if loss == "squared":
        return y * a - a * a / 4
    raise ValueError(loss)


def feasible(loss, beta, u, y):
    """Clip beta = u a to what the loss allows."""
    if loss in ("hinge", "logistic"):
        return y * np.clip(y * beta, 0, u)
    if loss == "squared_hinge":
        return y * np.maximum(y * beta, 0)
    if loss == "epsilon_insensitive":
        return np.clip(beta, -u, u)
    return np.array(beta)
