"""Sequence problems: features, blocks and dual points against every label sequence written out."""

import numpy as np
import pytest

from pegasos.certificate.sequences import evaluate
from pegasos.dispatch import compiled
from pegasos.problem.sequence_duals import Counts, OfModel, Paths, Scored, combination
from pegasos.problem.sequences import (
    Model,
    add_block,
    make_block,
    make_response,
    sizes,
    write_block,
)
from tests.reference import chain as reference
from tests.reference.sequences import draw


@compiled
def add_one(problem, i, response, block, model):
    square = write_block(problem, i, response.nodes, response.edges, block)
    add_block(problem, i, 2.0, block, model)
    return square


def zero(drawn):
    return Model(np.zeros((sizes(drawn.problem)[2], drawn.K)), np.zeros((drawn.K + 2, drawn.K)))


@pytest.mark.parametrize("seed", range(4))
def test_a_block_is_the_expected_joint_features_of_a_sequence(seed):
    drawn = draw("logistic", seed)
    block, model = make_block(drawn.problem, drawn.K), zero(drawn)
    for i, (X, y) in enumerate(zip(drawn.Xs, drawn.ys, strict=True)):
        response = make_response(sizes(drawn.problem)[3], drawn.K)
        nodes, edges = reference.counts(y, drawn.K)
        response.nodes[: len(y)], response.edges[:] = nodes, edges
        before = np.vstack(model)
        square = add_one(drawn.problem, i, response, block, model)
        phi = reference.phi(X, y, drawn.K)
        assert square == pytest.approx(np.sum(phi**2))
        np.testing.assert_allclose(np.vstack(model) - before, 2.0 * phi, atol=1e-12)


def distributions(drawn, rng, kind):
    """Return a dual point of the given kind and, per sequence, probabilities of all sequences."""
    T, n, K = sum(map(len, drawn.ys)), len(drawn.ys), drawn.K
    lengths = [len(y) for y in drawn.ys]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if kind is Scored:
        dual = Scored(rng.standard_normal((T, K)), rng.standard_normal((n, K, K)))
    else:
        mass = rng.random((n, 3))
        mass /= mass.sum(axis=1, keepdims=True)
        dual = Paths(rng.integers(0, K, (3, T)).astype(np.uint16), mass)
    found = []
    for i, L in enumerate(lengths):
        every, own = reference.paths(L, K), slice(starts[i], starts[i + 1])
        if kind is Scored:
            F = [reference.score(dual.nodes[own], dual.edges[i], path) for path in every]
            p = np.exp(F - np.max(F))
        else:
            p = np.zeros(len(every))
            for path, m in zip(dual.paths[:, own], dual.mass[i], strict=True):
                p[np.flatnonzero((every == path).all(axis=1))] += m
        found.append((every, p / p.sum()))
    return dual, found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [Scored, Paths])
def test_bounds_and_weights_of_dual_points_are_those_of_the_definition(kind, seed):
    drawn = draw("logistic" if kind is Scored else "hinge", seed, weighted=seed % 2 == 0)
    dual, every = distributions(drawn, np.random.default_rng(seed), kind)
    S, W, gain = drawn.weights.sum(), 0.0, 0.0
    for X, y, s, (paths, p) in zip(drawn.Xs, drawn.ys, drawn.weights, every, strict=True):
        expected = sum(
            q * reference.phi(X, path, drawn.K) for path, q in zip(paths, p, strict=True)
        )
        W = W + s * (reference.phi(X, y, drawn.K) - expected) / (drawn.lam * S)
        if kind is Scored:
            gain += s * -np.sum(p[p > 0] * np.log(p[p > 0]))
        else:
            gain += s * sum(q * drawn.cost[y, path].sum() for path, q in zip(paths, p, strict=True))
    D = gain / S - 0.5 * drawn.lam * np.sum(W**2)
    model = combination(drawn.problem, dual, drawn.K)
    np.testing.assert_allclose(np.vstack(model), W, rtol=1e-9, atol=1e-12)
    assert evaluate(drawn.problem, model, dual).dual == pytest.approx(D, rel=1e-9)
    elsewhere = Model(model.U + 0.1, model.V - 0.2)
    assert evaluate(drawn.problem, elsewhere, dual).dual == pytest.approx(D, rel=1e-8)


def test_counts_are_paths_taken_equally_often():
    drawn = draw("hinge", 3)
    rng, T, K = np.random.default_rng(0), sum(map(len, drawn.ys)), drawn.K
    paths = rng.integers(0, K, (2, T)).astype(np.uint16)
    counts = Counts(np.zeros((T, K)), np.zeros((len(drawn.ys), K, K)))
    starts = drawn.problem.starts
    for path in paths:
        for i in range(len(drawn.ys)):
            nodes, edges = reference.counts(path[starts[i] : starts[i + 1]], K)
            counts.nodes[starts[i] : starts[i + 1]] += nodes
            counts.edges[i] += edges
    dual = Paths(paths, np.full((len(drawn.ys), 2), 0.5))
    model = combination(drawn.problem, dual, K)
    one, other = (evaluate(drawn.problem, model, point) for point in (dual, counts))
    assert one.gap == pytest.approx(other.gap, rel=1e-9)


def test_the_models_own_distribution_has_no_share_in_the_gap():
    drawn = draw("logistic", 2)
    rng = np.random.default_rng(0)
    model = Model(*(rng.standard_normal(part.shape) for part in zero(drawn)))
    found = evaluate(drawn.problem, model, OfModel())
    # gap = ||gradient||^2 / (2 lam): by finite differences of the objective written out.
    own = (drawn.cost, drawn.Xs, drawn.ys, drawn.weights, drawn.lam)
    W, h = np.vstack(model), 1e-5
    gradient = np.zeros(W.shape)
    for at in np.ndindex(W.shape):
        for sign in (1.0, -1.0):
            moved = W.copy()
            moved[at] += sign * h
            gradient[at] += sign * reference.objective("logistic", *own, moved) / (2 * h)
    assert found.gap == pytest.approx(np.sum(gradient**2) / (2 * drawn.lam), rel=1e-6)
