"""The judge keeps the best of each model, and says no more than was proven."""

from dataclasses import replace

import numpy as np
import pytest

from pegasos.certificate.judge import Judge
from pegasos.certificate.offer import Offer
from pegasos.certificate.stopping import Certificate, Outcome, in_percent, plain, relative
from pegasos.certificate.trace import Record, Trace
from pegasos.problem.losses import Hinge, Logistic, lower, upper
from tests.certificate.assess import assess


def duals(drawn, loss, seed):
    rng = np.random.default_rng(seed)
    low = np.vectorize(lambda y: lower(loss, y))(drawn.y)
    high = np.vectorize(lambda y: upper(loss, y))(drawn.y)
    return low + rng.random(drawn.y.shape) * (high - low)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_later_and_worse_offers_change_nothing_but_the_bound(draw, bias):
    drawn = draw(Hinge(), K=3, bias=bias, weighted=True)
    judge = Judge(drawn.problem)
    best_gap, best_dual = np.full(3, np.inf), np.full(3, -np.inf)
    for seed in range(8):
        alone = Judge(drawn.problem)
        assess(alone, Offer(duals(drawn, Hinge(), seed)))
        assess(judge, Offer(duals(drawn, Hinge(), seed)))
        best_gap, best_dual = np.minimum(best_gap, alone.gap), np.maximum(best_dual, alone.dual)
        np.testing.assert_allclose(judge.gap, best_gap, rtol=1e-9)
        np.testing.assert_allclose(judge.dual, best_dual, rtol=1e-9)
    # What is handed out is what was judged: its objective, and a gap to the best bound.
    check = Judge(drawn.problem)
    assess(check, Offer(None, iterate=(judge.W.copy(), judge.b)))
    np.testing.assert_allclose(check.primal, judge.primal, rtol=1e-9)
    np.testing.assert_allclose(judge.certified_gap(), judge.primal - judge.dual, rtol=1e-9)
    assert np.all(judge.certified_gap() >= 0.0)


def test_slopes_serve_as_dual_point_where_a_solver_has_none(draw):
    drawn = draw(Logistic())
    judge = Judge(drawn.problem)
    assess(judge, Offer(None, iterate=(np.zeros((6, 1)), np.zeros(1))))
    assert judge.primal[0] == pytest.approx(np.log(2.0))
    assert -np.inf < judge.dual[0] <= judge.primal[0]


def test_slopes_tighten_the_certificate_of_a_smooth_loss_only(draw):
    for loss, is_tighter in ((Logistic(), True), (Hinge(), False)):
        drawn = draw(loss, n=60, lam=20.0)
        A = np.zeros(drawn.y.shape)
        iterate = np.full((6, 1), 0.01), np.zeros(1)
        plain, both = Judge(drawn.problem), Judge(drawn.problem)
        assess(plain, Offer(A, iterate=iterate))
        assess(both, Offer(A, iterate=iterate), True)
        assert (both.gap[0] < plain.gap[0]) == is_tighter


def test_judge_does_not_write_into_what_it_was_offered(draw):
    drawn = draw(Hinge(), K=3)
    judge = Judge(drawn.problem)
    offered = []
    for seed in range(4):
        W = np.random.default_rng(seed).standard_normal((6, 3))
        offered.append((W, W.copy()))
        assess(judge, Offer(duals(drawn, Hinge(), seed), iterate=(W, np.zeros(3))))
    for W, before in offered:
        assert np.array_equal(W, before)


# ---- what is said


@pytest.mark.fast
def test_relative_gap_is_a_fraction_of_the_optimum():
    found = relative(
        np.array([0.1, 0.0, 0.5, 0.2]),
        *np.array([[1.1, 0.0, 1e-16, 0.1], [1, 0, 0, -0.1]]),
    )
    np.testing.assert_allclose(found[:2], [0.1, 0.0])  # a perfect fit: nothing to improve
    assert found[2:].tolist() == [np.inf, np.inf]  # a bound without information


@pytest.mark.fast
def test_certificate_reads_as_a_sentence():
    certificate = Certificate(
        primal=0.5, dual=0.4996, gap=0.0004, relative_gap=8e-4, tol=1e-3,
        reason=Outcome.TOLERANCE.value, epochs=1, seconds=0.25, models={},
    )  # fmt: skip
    assert certificate.is_within_tol
    assert str(certificate) == (
        "objective 0.5, proven within 0.08 % of the optimum (at least 0.4996); stopped after 1 "
        "epoch and 0.25 s because the tolerance was reached"
    )
    several = replace(certificate, models={"primal": np.ones(20)}, relative_gap=0.2)
    assert "proven within 20 % of the optimum, the worst of 20 models (at least" in str(several)
    for gap in (1.6e7, np.inf):
        far_off = replace(certificate, relative_gap=gap)
        assert str(far_off).startswith("objective 0.5, not yet bounded usefully (at least 0.4996)")


@pytest.mark.fast
@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.000712, "0.00071"),
        (0.0996, "0.1"),
        (1.26, "1.3"),
        (9.99, "10"),
        (20.0, "20"),
        (412.0, "410"),
        (9312.4, "9,300"),
        (3.2e-9, "3.2e-09"),
        (1.6e9, "1.6e+09"),
    ],
)
def test_numbers_are_written_for_people(number, text):
    assert plain(number) == text


@pytest.mark.fast
def test_a_percentage_that_tells_nothing_is_not_printed():
    assert in_percent(8e-4) == "0.08 %"
    assert in_percent(3.2) == "320 %"
    assert in_percent(np.inf) == in_percent(1.6e7) == "no useful bound"


def trace(gaps):
    records = [Record(e, 0.1 * e, 10 * e, 1.0, 1.0 - g, g, g) for e, g in gaps]
    return Trace(records)


@pytest.mark.fast
def test_forecast_follows_the_power_law_of_the_gap():
    # gap = 1/epoch: 1e-2 at epoch 100, 90 epochs after epoch 10.
    assert trace([(e, 1.0 / e) for e in (1, 5, 10)]).epochs_to(1e-2) == pytest.approx(90.0)
    assert trace([(e, e**-2.0) for e in (1, 5, 10)]).epochs_to(1e-4) == pytest.approx(90.0)
    assert trace([(e, 1.0 / e) for e in (1, 5, 10)]).epochs_to(0.5) == 0.0


@pytest.mark.fast
def test_forecast_is_unknown_without_progress():
    assert np.isnan(trace([(1, 0.5)]).epochs_to(1e-3))
    assert np.isnan(trace([(1, 0.5), (4, 0.5)]).epochs_to(1e-3))
    assert np.isnan(trace([(1, np.inf), (4, np.inf)]).epochs_to(1e-3))
    assert trace([(1, 0.5), (4, 0.5 - 1e-12)]).epochs_to(1e-3) == np.inf


@pytest.mark.fast
def test_trace_turns_into_one_array_per_quantity():
    columns = trace([(1, 0.5), (2, 0.25)]).as_dict()
    assert columns["epoch"].tolist() == [1, 2]
    assert columns["relative_gap"].tolist() == [0.5, 0.25]
    assert set(columns) == {
        "epoch", "seconds", "rows_visited", "primal", "dual", "gap", "relative_gap"
    }  # fmt: skip


def test_judge_finds_the_length_of_weights_that_are_too_short(draw):
    drawn = draw(Hinge(), n=60, lam=1e-3)
    A, judge = duals(drawn, Hinge(), 0), Judge(drawn.problem)
    W = 0.1 * np.linalg.lstsq(drawn.X, drawn.y, rcond=None)[0]
    for _ in range(3):
        assess(judge, Offer(A, iterate=(W, np.zeros(1))), True)
    lengths = np.linspace(0.5, 40.0, 200)
    hinges = [np.maximum(0.0, 1.0 - drawn.y * (drawn.X @ (t * W))).mean() for t in lengths]
    best = min(h + 5e-4 * t**2 * (W**2).sum() for t, h in zip(lengths, hinges, strict=True))
    assert judge.primal[0] <= best * (1.0 + 1e-9)
