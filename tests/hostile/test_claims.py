"""What fits claim is true: named cases, a part of the float32 family, a seeded part of the rest.

The rest of the suite, and the large cases, run by `make hostile`.
"""

import pytest

from tests.hostile.generator import draw_plain
from tests.hostile.named import NAMED, forty
from tests.hostile.verdict import judge

SEEDS = [range(start, start + 10) for start in range(0, 100, 10)]


def false_claims(*verdicts):
    """All of them, one to a line."""
    return "\n".join(f"{verdict.name}: {f}" for verdict in verdicts for f in verdict.failures)


@pytest.mark.parametrize("name", NAMED)
def test_a_case_that_was_once_certified_falsely_is_not(name):
    found = false_claims(judge(NAMED[name]()))
    assert not found, found


@pytest.mark.parametrize("number", range(4))
def test_float32_kernels_with_large_penalties_claim_what_is_true(number):
    found = false_claims(judge(forty(4, top=120)[number]()))
    assert not found, found


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_drawn_cases_claim_what_is_true(seeds):
    verdicts = [judge(draw_plain(seed)) for seed in seeds]
    found = false_claims(*verdicts)
    assert not found, found
    assert sum(verdict.is_undecided for verdict in verdicts) <= 2
