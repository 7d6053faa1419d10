"""Reports: verdicts from checks, no claim without one."""

from math import inf, nan

import numpy as np
import pytest

from papers.harness.report import FAILS, HOLDS, IN_PART, OPEN, Claim, Report, Scale, below, verdict

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ({"a": True}, HOLDS),
        ({"a": True, "b": True}, HOLDS),
        ({"a": True, "b": False}, IN_PART),
        ({"a": False, "b": False}, FAILS),
        ({"a": True, "b": None}, IN_PART),
        ({"a": False, "b": None}, FAILS),
        ({"a": None}, OPEN),
        ({}, OPEN),
    ],
)
def test_a_verdict_is_what_its_checks_come_to(checks, expected):
    assert verdict(checks) == expected


def test_what_never_arrived_is_below_nothing():
    assert below(1.0, 2.0) is below(1.0, inf) is True
    assert below(2.0, 1.0) is below(inf, 1.0) is below(1.0, 1.0) is False
    assert below(inf, inf) is below(nan, 1.0) is None


def test_checks_that_fail_are_named():
    report = Report({"fast": Claim("it is fast", "Sec. 1")})
    for no in (False, np.False_):
        report.judge("fast", {"on a": np.True_, "on b": no}, "2 s.")
        assert report.judged["fast"] == (IN_PART, "2 s. Not met: on b.")
    report.judge("fast", {"on a": False, "on b": False, "on c": None}, "2 s.")
    assert report.judged["fast"] == (FAILS, "2 s. Not met: on a; on b. Not decided: on c.")


def test_a_claim_without_a_verdict_is_refused():
    report = Report({"fast": Claim("it is fast", "Sec. 1")})
    with pytest.raises(RuntimeError, match="no verdict: fast"):
        report.check_complete()
    with pytest.raises(KeyError, match="not among the claims"):
        report.judge("slow", {"a": True})


def test_a_scale_picks_sizes_and_seeds():
    assert (Scale().pick(1, 2), Scale(True).pick(1, 2)) == (1, 2)
    assert len(Scale().seeds) == 1
