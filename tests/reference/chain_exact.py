"""Objective and dual value of sequence problems without rounding: fractions, or sixty digits.

Everything is a `Fraction`: exactly for the hinge; for the logistic loss exponentials and logarithms
have PREC digits, which is far beyond what is compared.
"""

import decimal
from fractions import Fraction

from pegasos.problem.sequence_duals import Counts, OfModel, Paths, Scored
from tests.reference.chain import counts, paths

PREC = 60
DIGITS = decimal.Context(prec=PREC, Emin=-(10**15), Emax=10**15)


def fractions(A):
    return [[Fraction(float(a)) for a in row] for row in A]


def exp(x):
    """Return exp(x) as a Decimal; of what is below -300, 0: 130 digits down."""
    if x < -300:
        return decimal.Decimal(0)
    return DIGITS.exp(DIGITS.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator)))


def probabilities(scores):
    """Return log sum exp of the scores, and the distribution proportional to their exponentials."""
    top = max(scores)
    every = [exp(score - top) for score in scores]
    total = decimal.Decimal(0)
    for e in every:
        total = DIGITS.add(total, e)
    log_sum = top + Fraction(DIGITS.ln(total))
    return log_sum, [Fraction(e) / Fraction(total) for e in every]


def path_scores(z, T, every):
    """Return the scores of label sequences, given node scores and transitions as fractions."""
    return [
        sum(z[t][k] for t, k in enumerate(path))
        + sum(T[r][k] for r, k in zip(path[:-1], path[1:], strict=True))
        for path in every
    ]


def scores_of(X, U, V, K):
    """Return node scores, those of the first and last label included."""
    x, u, v = fractions(X), fractions(U), fractions(V)
    z = [[sum(a * b[k] for a, b in zip(row, u, strict=True)) for k in range(K)] for row in x]
    for k in range(K):
        z[0][k] += v[K][k]
        z[-1][k] += v[K + 1][k]
    return z, v


def primal(drawn, model):
    """Return P(w)."""
    K, total = drawn.K, Fraction(0)
    for X, y, s in zip(drawn.Xs, drawn.ys, drawn.weights, strict=True):
        every = paths(len(X), K).tolist()
        z, T = scores_of(X, model.U, model.V, K)
        scores = path_scores(z, T, every)
        truth = scores[every.index(y.tolist())]
        if drawn.kind == "hinge":
            scores = [f + cost_of(drawn, y, r) for f, r in zip(scores, every, strict=True)]
            loss = max(scores) - truth
        else:
            loss = probabilities(scores)[0] - truth
        total += Fraction(float(s)) * loss
    square = sum(w * w for part in model for row in fractions(part) for w in row)
    return Fraction(drawn.lam) / 2 * square + total / weight(drawn)


def weight(drawn):
    return sum(Fraction(float(s)) for s in drawn.weights)


def cost_of(drawn, y, path):
    return sum(Fraction(float(drawn.cost[a, b])) for a, b in zip(y, path, strict=True))


def distribution(drawn, i, model, dual, every):
    """Return the probability of every label sequence that a dual point has for sequence i."""
    own, K = slice(drawn.problem.starts[i], drawn.problem.starts[i + 1]), drawn.K
    if isinstance(dual, Paths):
        mass = [Fraction(float(m)) for m in dual.mass[i]]
        p = [Fraction(0)] * len(every)
        for path, m in zip(dual.paths[:, own].tolist(), mass, strict=True):
            p[every.index(path)] += m / sum(mass)
        return p
    if isinstance(dual, Scored):
        return probabilities(
            path_scores(fractions(dual.nodes[own]), fractions(dual.edges[i]), every)
        )[1]
    assert isinstance(dual, OfModel)
    z, T = scores_of(drawn.Xs[i], model.U, model.V, K)
    return probabilities(path_scores(z, T, every))[1]


def marginals(drawn, i, model, dual):
    """Return expected counts of labels and transitions, and the gain: E cost, or the entropy."""
    K, y = drawn.K, drawn.ys[i]
    if isinstance(dual, Counts):
        own = slice(drawn.problem.starts[i], drawn.problem.starts[i + 1])
        visits = Fraction(float(dual.nodes[own][0].sum()))
        nodes, edges = fractions(dual.nodes[own]), fractions(dual.edges[i])
        if visits == 0:
            return (*(fractions(part) for part in counts(y, K)), Fraction(0))
        nodes, edges = ([[a / visits for a in row] for row in A] for A in (nodes, edges))
        gain = sum(nodes[t][k] * Fraction(float(drawn.cost[y[t], k]))
                   for t in range(len(y)) for k in range(K))  # fmt: skip
        return nodes, edges, gain
    every = paths(len(y), K).tolist()
    p = distribution(drawn, i, model, dual, every)
    nodes = [[Fraction(0)] * K for _ in y]
    edges = [[Fraction(0)] * K for _ in range(K)]
    for path, q in zip(every, p, strict=True):
        for t, k in enumerate(path):
            nodes[t][k] += q
        for r, k in zip(path[:-1], path[1:], strict=True):
            edges[r][k] += q
    if drawn.kind == "hinge":
        return nodes, edges, sum(q * cost_of(drawn, y, r) for q, r in zip(p, every, strict=True))
    entropy = -sum(q * Fraction(DIGITS.ln(DIGITS.divide(q.numerator, q.denominator)))
                   for q in p if q > 0)  # fmt: skip
    return nodes, edges, entropy


def dual_value(drawn, model, dual):
    """Return D(a), and w(a) as a matrix (d + K + 2, K)."""
    K, S, lam = drawn.K, weight(drawn), Fraction(drawn.lam)
    d = drawn.Xs[0].shape[1]
    W, gains = [[Fraction(0)] * K for _ in range(d + K + 2)], Fraction(0)
    for i, (X, y, s) in enumerate(zip(drawn.Xs, drawn.ys, drawn.weights, strict=True)):
        s = Fraction(float(s))
        nodes, edges, gain = marginals(drawn, i, model, dual)
        gains += s * gain
        truth, its_edges = (fractions(part) for part in counts(y, K))
        for k in range(K):
            off = [truth[t][k] - nodes[t][k] for t in range(len(y))]
            for j in range(d):
                W[j][k] += s * sum(Fraction(float(X[t, j])) * off[t] for t in range(len(y)))
            for r in range(K):
                W[d + r][k] += s * (its_edges[r][k] - edges[r][k])
            W[d + K][k] += s * off[0]
            W[d + K + 1][k] += s * off[-1]
    W = [[w / (lam * S) for w in row] for row in W]
    return gains / S - lam / 2 * sum(w * w for row in W for w in row), W
