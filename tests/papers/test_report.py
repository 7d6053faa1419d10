"""Reports: verdicts from checks, no claim without one."""

import pytest

from papers.harness.report import FAILS, HOLDS, IN_PART, Claim, Report, Scale, verdict

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ({"a": True}, HOLDS),
        ({"a": True, "b": True}, HOLDS),
        ({"a": True, "b": False}, IN_PART),
        ({"a": False, "b": False}, FAILS),
    ],
)
def test_a_verdict_is_what_its_checks_come_to(checks, expected):
    assert verdict(checks) == expected


def test_a_verdict_needs_a_check():
    with pytest.raises(ValueError, match="at least one check"):
        verdict({})


def test_checks_that_fail_are_named():
    report = Report({"fast": Claim("it is fast", "Sec. 1")})
    report.judge("fast", {"on a": True, "on b": False}, "2 s.")
    assert report.judged["fast"] == (IN_PART, "2 s. Not met: on b.")


def test_a_claim_without_a_verdict_is_refused():
    report = Report({"fast": Claim("it is fast", "Sec. 1")})
    with pytest.raises(RuntimeError, match="no verdict: fast"):
        report.check_complete()
    with pytest.raises(KeyError, match="not among the claims"):
        report.judge("slow", {"a": True})


def test_a_scale_picks_sizes_and_seeds():
    assert (Scale().pick(1, 2), Scale(True).pick(1, 2)) == (1, 2)
    assert len(Scale().seeds) == 1
