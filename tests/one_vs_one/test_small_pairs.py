"""Small pairs in stacks: held against training each alone, and a certificate of one pair alone."""

import numpy as np
import pytest
from scipy import sparse

from pegasos import Decomposition, KernelPegasosClassifier
from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.predictions import ball
from pegasos.certificate.stopping import Stopping
from pegasos.data.rows import as_rows
from pegasos.kernel_matrix.gram import Gram
from pegasos.kernel_matrix.stack import SmallPairs
from pegasos.one_vs_one import small_pairs, training
from pegasos.one_vs_one.models import Task
from pegasos.one_vs_one.small_pairs import Stacked, are_small
from pegasos.parallel import limited_to
from pegasos.problem.kernels import Custom, Gaussian
from pegasos.problem.losses import Hinge, SquaredHinge
from pegasos.problem.objective import make_problem
from pegasos.problem.scaling import lam_of
from pegasos.solvers.decomposition.stack import ascend, dual_point, new_ascents

ROUGH = {"solver": Decomposition(), "gamma": 0.4, "random_state": 0}


def six_classes(n=90, seed=0):
    """Rows of six classes of different sizes, the last of a single row, and weights."""
    rng = np.random.default_rng(seed)
    codes = np.append(rng.choice(5, n - 1, p=[0.1, 0.15, 0.2, 0.25, 0.3]), 5)
    X = rng.standard_normal((n, 3)) + rng.standard_normal((6, 3))[codes]
    order = rng.permutation(n)
    return X[order], codes[order], rng.choice([0.0, 0.5, 1.0, 3.0], n)


HINGE = Hinge()


def task_of(loss=HINGE, bias="free", weighted=False, **options):
    X, codes, s = six_classes()
    given = {
        "kernel": Gaussian(0.4), "rows": as_rows(X), "codes": codes, "n_classes": 6,
        "weights": s if weighted else None, "loss": loss, "solver": Decomposition(),
        "bias": bias, "C": 2.0, "stopping": Stopping(tol=1e-4), "budget": 1 << 28,
        "seeds": np.zeros(15, dtype=int),
    }  # fmt: skip
    task = Task(**given | options)
    return task, [np.flatnonzero(codes == c) for c in range(6)]


def fit_alone(monkeypatch, model, *data):
    """Fit with every pair trained alone."""
    with monkeypatch.context() as patch:
        patch.setattr(training, "are_small", lambda task, members: False)
        return model.fit(*data)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("loss", "bias"), [("hinge", "free"), ("squared_hinge", "none")])
def test_models_are_those_of_pairs_trained_alone(loss, bias, weighted, monkeypatch):
    X, y, s = six_classes()
    data = (X, y, s if weighted else None)
    options = {"loss": loss, "bias": bias, "C": 2.0, "tol": 1e-6, "class_weight": "balanced"}
    together = KernelPegasosClassifier(**ROUGH, **options).fit(*data)
    alone = fit_alone(monkeypatch, KernelPegasosClassifier(**ROUGH, **options), *data)
    for name in ("primal", "dual"):
        mine, theirs = (one.certificate_.models[name] for one in (together, alone))
        np.testing.assert_allclose(mine, theirs, rtol=2e-6)
    assert together.certificate_.is_within_tol
    for one in (together, alone):
        one.set_params(decision_function_shape="ovo")
    (low, high), (least, most) = (one.decision_bounds(X) for one in (together, alone))
    assert np.all((low <= most + 1e-9) & (least <= high + 1e-9))
    np.testing.assert_allclose(together.decision_function(X), alone.decision_function(X), atol=0.05)
    assert together.n_support_.shape == alone.n_support_.shape
    assert {len(column) for column in together.history_.values()} == {15}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_float32_and_sparse_rows_are_near_dense_ones(layout):
    X, y, _ = six_classes()
    model = KernelPegasosClassifier(C=2.0, **ROUGH).fit(X, y)
    other = KernelPegasosClassifier(C=2.0, **ROUGH).fit(layout(X.astype(np.float32)), y)
    assert other.certificate_.primal == pytest.approx(model.certificate_.primal, rel=2e-3)
    assert other.certificate_.is_within_tol


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_column_of_the_certificate_is_the_certificate_of_its_pair(loss, bias):
    task, members = task_of(loss, bias, weighted=True)
    ((pairs, stack),) = SmallPairs(task.kernel, task.rows, members).stacks()
    stacked = Stacked(task, members, pairs, stack)
    ascents, judge = new_ascents(stacked.problem), Judge(stacked.problem)
    ascend(stacked.problem, ascents, np.arange(15), 0.1)
    A, scale, _ = dual_point(stacked.problem, ascents)
    judge.keep_better(judge.evaluations(Offer(A, scale), False, 0.0)[0])
    known, facts = ball(stacked.problem, judge), stacked._facts(judge)
    for k, (a, b) in enumerate(pairs):
        chosen = np.concatenate([members[a], members[b]])
        s, m, n = task.weights[chosen], len(members[a]), len(chosen)
        if s.sum() == 0.0:
            continue
        gram = Gram(task.kernel, as_rows(task.rows.X[chosen]), 1 << 26)
        Y = np.where(np.arange(n) < m, 1.0, -1.0)[:, None]
        own = make_problem(loss, gram, Y, s, lam_of(task.C, None, s.sum())[1], bias)
        one = Judge(own)
        one.keep_better(one.evaluations(Offer(A[:n, [k]], scale), False, 0.0)[0])
        for name, number in (
            ("primal", one.primal), ("dual", one.dual), ("gap", one.certified_gap()),
        ):  # fmt: skip
            np.testing.assert_allclose(facts[name][k], number[0], rtol=1e-9, atol=1e-12)
        there = ball(own, one)
        np.testing.assert_allclose(judge.b[k], one.b[0], atol=1e-9)
        np.testing.assert_allclose(known.radius[k], there.radius[0], rtol=1e-5)
        assert known.low[k] <= judge.b[k] or bias == "free"
        if bias == "free" and np.isfinite(there.low[0]):
            np.testing.assert_allclose(known.origin[:n, k], there.origin, atol=1e-12)
            assert known.low[k] >= there.low[0] - 1e-6  # from the scores, too
            assert known.high[k] <= there.high[0] + 1e-6
        assert known.low[k] <= known.high[k]


def test_pairs_that_the_rounds_do_not_finish_are_trained_alone(monkeypatch):
    X, y, _ = six_classes()
    monkeypatch.setattr(small_pairs, "ROUNDS", 1)
    monkeypatch.setattr(small_pairs, "FIRST", 1e4)
    model = KernelPegasosClassifier(C=2.0, **ROUGH).fit(X, y)
    assert model.certificate_.is_within_tol
    assert model.certificate_.models["primal"].shape == (15,)


def test_no_stack_begins_once_the_fit_is_to_end(monkeypatch):
    X, y, _ = six_classes()
    monkeypatch.setattr(Stacked, "solutions", lambda *of: pytest.fail("began a stack"))
    monkeypatch.setattr(training.SharedInterrupts, "pending", True)
    with pytest.warns(UserWarning, match="interrupted"):
        model = KernelPegasosClassifier(C=2.0, **ROUGH).fit(X, y)
    assert model.certificate_.relative_gap == np.inf


def test_a_stack_ends_between_a_few_pairs_and_keeps_what_it_found(monkeypatch):
    task, members = task_of()
    ((pairs, stack),) = SmallPairs(task.kernel, task.rows, members).stacks()
    met, whole = [], ascend
    monkeypatch.setattr(small_pairs, "AT_ONCE", 4)
    monkeypatch.setattr(small_pairs, "ascend", lambda *of: (met.extend(of[2]), whole(*of)))
    with limited_to(1):
        found = Stacked(task, members, pairs, stack).solutions(float, lambda: len(met) >= 8)
    assert met == list(range(8))  # of 15 pairs, in the first of four rounds
    assert set(found) <= set(pairs[:8])
    assert all(solution.certificate.is_within_tol for solution in found.values())


@pytest.mark.parametrize(
    "options",
    [
        {"solver": Decomposition(2)}, {"kernel": Custom(np.dot)}, {"previous": np.zeros((90, 5))},
        {"stopping": Stopping(rule="decisions")}, {"stopping": Stopping(max_steps=10)},
        {"stopping": Stopping(max_iter=1)}, {"budget": 1 << 20},
    ],
)  # fmt: skip
def test_what_asks_for_more_than_tol_is_trained_alone(options):
    assert are_small(*task_of())
    assert not are_small(*task_of(**options))


def test_large_or_few_classes_are_trained_alone(monkeypatch):
    task, members = task_of()
    assert not are_small(task, members[:4])
    monkeypatch.setattr(small_pairs, "ROWS", max(len(some) for some in members) - 1)
    assert not are_small(task, members)
