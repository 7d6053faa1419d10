"""When certificates are due, and when a try for more than `tol` is over: told by numbers alone."""

import numpy as np
import pytest

from pegasos.certificate.schedule import LONG_PAUSE, PAUSE, Schedule


@pytest.mark.fast
@pytest.mark.parametrize(
    ("least", "epochs"), [(9e-14, 1), (9e-12, 3), (9e-11, 15)], ids=["at", "near", "far"]
)
def test_the_nearer_to_rounding_the_sooner_a_standstill_is_believed(least, epochs):
    schedule = Schedule()
    assert not schedule.has_stalled(7, least, 1e-3)
    for more in range(1, epochs):
        assert not schedule.has_stalled(7 + more, 0.8 * least, 1e-3)
    assert schedule.has_stalled(7 + epochs, 0.8 * least, 1e-3)


@pytest.mark.fast
def test_an_estimate_that_still_halves_has_not_stalled():
    schedule = Schedule()
    assert not any(schedule.has_stalled(t, 1e-13 * 0.4**t, 1e-3) for t in range(9))


@pytest.mark.fast
@pytest.mark.parametrize("pause", [PAUSE, LONG_PAUSE])
def test_milestones_are_certified_after_a_pause(pause):
    schedule = Schedule()
    due = [
        schedule.is_due_if_exact(t, 0.1**t, 1e-99, has_judged=False, is_proven=False, pause=pause)
        for t in range(1, 30)
    ]
    assert 1 + np.argmax(due) == 1 + pause


def test_an_exact_estimate_that_is_half_as_large_is_certified_again_at_once():
    # Newton's next steps would narrow the smoothing, and lead away from what is good enough.
    schedule, known = Schedule(), {"has_judged": True, "is_proven": False}
    assert schedule.is_due_if_exact(25, 8e-4, 1e-3, **known)
    schedule.plan(25, np.inf)
    assert not schedule.is_due_if_exact(26, 7e-4, 1e-3, **known)
    assert schedule.is_due_if_exact(26, 3.9e-4, 1e-3, **known)
