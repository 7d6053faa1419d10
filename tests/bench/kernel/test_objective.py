"""The judge of kernel models: worked by hand, against slow sums, and never above the optimum."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from bench.kernel import objective as module
from bench.kernel.datasets import KernelDataset
from bench.kernel.objective import Expansion, dual_bound, feasible, gaussian, judge

# Three points on a line, gamma = ln 2: K is 1 on the diagonal, 1/2 at distance 1, 1/16 at 2.
LINE = KernelDataset(
    "line",
    np.array([[0.0], [1.0], [2.0]]),
    np.array([1, -1, -1]),
    lam=0.5,
    X_test=np.array([[0.0], [2.0]]),
    y_test=np.array([1, 1]),
    gamma=np.log(2.0),
)


def drawn(seed=0, n=40, d=3, *, has_bias=True, lam=0.02, container=np.asarray):
    """Return rows whose classes overlap."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)).astype(np.float32)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.3, 1, -1)
    test = rng.normal(size=(10, d)).astype(np.float32)
    return KernelDataset(
        "drawn", container(X), y, lam, X_test=container(test), y_test=y[:10], gamma=0.7,
        has_bias=has_bias,
    )  # fmt: skip


def test_primal_by_hand():
    # f = K(0, .) - 1/2 K(1, .): 1 - 1/4, 1/2 - 1/2, 1/16 - 1/4 at the three points, b = 1/4:
    # scores 1, 1/4, 1/16; margins 1, -1/4, -1/16; hinge 0, 5/4, 17/16.
    # ||f||^2 = 1 + 1/4 - 1/2 = 3/4. Test scores 1 and 1/16 are both positive: no error.
    verdict = judge(LINE, Expansion(np.array([0, 1]), np.array([1.0, -0.5]), 0.25))
    assert verdict.primal == pytest.approx(0.25 * 0.75 + (5 / 4 + 17 / 16) / 3, rel=1e-14)
    assert (verdict.n_support, verdict.test_error) == (2, 0.0)


def test_test_error_counts_wrong_rows_in_percent():
    verdict = judge(LINE, Expansion(np.array([0, 2]), np.array([1.0, -1.0])))
    assert verdict.test_error == 50.0


def test_dual_by_hand():
    # C = 1/(lam n) = 2/3. Coefficients 2/3 and -1/3 are beta = 1, 1/2, 0. Without a bias they are
    # feasible: D = 1.5/3 - 1/4 (4/9 + 1/9 - 2 (2/9) (1/2)).
    model = Expansion(np.array([0, 1]), np.array([2 / 3, -1 / 3]))
    alone = replace(LINE, has_bias=False)
    assert dual_bound(alone, model) == pytest.approx(0.5 - 0.25 * (3 / 9), rel=1e-14)
    # With one, beta_0 is scaled down to 1/2: D = 1/3 - 1/4 (1/9 + 1/9 - 1/9).
    assert feasible(LINE, np.array([2 / 3, -1 / 3, 0.0])) == pytest.approx([0.5, 0.5, 0.0])
    assert dual_bound(LINE, model) == pytest.approx(1 / 3 - 0.25 / 9, rel=1e-14)


def test_a_model_of_nothing_has_a_bound_of_zero():
    nothing = Expansion(np.array([], dtype=int), np.array([]))
    assert dual_bound(LINE, nothing) == 0.0
    assert judge(LINE, nothing).primal == 1.0


def test_a_row_named_twice_counts_twice():
    once = judge(LINE, Expansion(np.array([1]), np.array([0.75])))
    assert judge(LINE, Expansion(np.array([1, 1]), np.array([0.5, 0.25]))) == once


def test_coefficients_must_be_as_many_as_support_vectors():
    with pytest.raises(ValueError, match="2 support vectors have 1 coefficients"):
        judge(LINE, Expansion(np.array([0, 1]), np.array([1.0])))


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "csr"])
def test_judge_agrees_with_slow_sums_whatever_the_blocks(container, monkeypatch):
    dataset = drawn(container=container)
    rng = np.random.default_rng(1)
    support = np.sort(rng.choice(40, 25, replace=False))
    model = Expansion(support, rng.normal(size=25), 0.3)
    X = module.dense(dataset.X)
    K = np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    coef = np.zeros(40)
    coef[support] = model.coef
    hinge = np.maximum(0.0, 1.0 - dataset.y * (K @ coef + 0.3)).mean()
    primal = 0.01 * coef @ K @ coef + hinge
    assert judge(dataset, model).primal == pytest.approx(primal, rel=1e-12)
    bound = dual_bound(dataset, model)
    monkeypatch.setattr(module, "CENTRES", 7)
    monkeypatch.setattr(module, "BLOCK", 50)
    assert judge(dataset, model).primal == pytest.approx(primal, rel=1e-12)
    assert dual_bound(dataset, model) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_no_dual_bound_is_above_any_primal_value(seed, has_bias):
    dataset = drawn(seed, has_bias=has_bias)
    rng = np.random.default_rng(seed)
    everyone = np.arange(40)
    models = [
        Expansion(everyone, scale * rng.normal(size=40), rng.normal() * has_bias)
        for scale in (1e-3, 0.1, 1.0, 10.0)
    ]
    # A guess with the right signs makes for high bounds.
    models += [Expansion(everyone, dataset.y * dataset.C * rng.random(40), 0.0)]
    primals = [judge(dataset, model).primal for model in models]
    duals = [dual_bound(dataset, model) for model in models]
    assert max(duals) <= min(primals)


def test_feasible_weights_are_in_the_box_and_balanced():
    dataset = drawn()
    beta = feasible(dataset, np.random.default_rng(0).normal(size=40) * 5 * dataset.C)
    assert beta.min() >= 0.0
    assert beta.max() <= 1.0
    assert beta @ dataset.y == pytest.approx(0.0, abs=1e-12)


def test_kernel_of_a_row_with_itself_is_one_at_most():
    X = np.random.default_rng(0).normal(size=(20, 5)) + 1e3
    K = gaussian(X, X, 1.0)
    assert K.max() <= 1.0
    assert np.diag(K) == pytest.approx(1.0, abs=1e-8)
