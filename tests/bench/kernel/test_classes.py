"""Pairs of classes: the layout of libsvm's coefficients, true values and bounds."""

import numpy as np
import pytest
from sklearn.svm import SVC

from bench.harness.results import Results
from bench.kernel import classes
from bench.kernel.pairs import Pairs

GAMMA, C = 0.5, 2.0


def drawn(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, np.argmax(X @ rng.normal(size=(3, n_classes)) + rng.normal(size=(90, n_classes)), 1)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_tight_fit_is_its_own_proof_pair_by_pair(n_classes):
    X, y = drawn(n_classes)
    pairs = Pairs(X, y, C, GAMMA)
    value = pairs.value(SVC(C=C, gamma=GAMMA, tol=1e-8).fit(X, y))
    # A wrong sign, row or intercept of a single pair would leave a gap of some percent.
    assert 0.0 <= pairs.suboptimality(value) + 1e-12 < 1e-6


def test_a_loose_fit_is_judged_by_the_bounds_of_a_tight_one():
    X, y = drawn(4)
    pairs = Pairs(X, y, C, GAMMA)
    loose = pairs.value(SVC(C=C, gamma=GAMMA, tol=0.5).fit(X, y))
    alone = pairs.suboptimality(loose)
    pairs.value(SVC(C=C, gamma=GAMMA, tol=1e-8).fit(X, y))
    assert 1e-5 < pairs.suboptimality(loose) < alone


def test_bounds_of_another_c_do_not_fit():
    X, y = drawn(3)
    pairs = Pairs(X, y, C, GAMMA)
    value = pairs.value(SVC(C=2 * C, gamma=GAMMA, tol=1e-8).fit(X, y))
    assert pairs.suboptimality(value) > 1e-2


def test_gamma_scale_is_that_of_svc():
    X, y = drawn(3)
    data = classes.ClassSet(X, y, X, y)
    assert data.width == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma)
    assert data._replace(gamma=0.02).width == 0.02


def test_shuttle_like_rows_have_seven_unequal_classes():
    data = classes.shuttle(2000, 500)
    counts = np.bincount(data.y)
    assert len(counts) == 7
    assert counts.min() >= 1
    assert counts.max() > 0.7 * 2000


def test_measured_takes_the_fastest_peer_that_is_accurate_enough():
    X, y = drawn(3)
    rows = classes.measured(classes.ClassSet(X, y, X, y), ["libsvm"], 60.0, 1)
    assert [(r["solver"], r["gap"] <= 1e-3) for r in rows] == [("libsvm", True)]
    assert "value" not in rows[0]


def test_page_and_summary_show_seconds_errors_and_ratios():
    rows = [
        {"solver": "pegasos", "effort": "default", "seconds": 1.0, "error": 2.5, "gap": 1e-4},
        {"solver": "libsvm", "effort": "tol 0.1", "seconds": 4.0, "error": 2.4, "gap": 5e-4},
    ]
    facts = {"processor": "abacus"}
    results = Results("kernel_classes", facts, {"letter": {"shape": "3 x 2", "rows": rows}})
    assert "| libsvm | tol 0.1 | 4 | 0.25 | 2.40 | 5.0e-04 |" in classes.page(results)
    assert "| letter, 3 x 2 | 1 s, 2.50 % | 4 s, 2.40 % | - |" in classes.summary(results)
