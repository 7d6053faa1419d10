"""When the next certificate is due: by a solver's own estimate of its gap, or by the epochs behind.

The clock has no say: equal seeds give equal answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FIRST_CHECK = 4  # epochs before the first certificate that no estimate asks for
MILESTONE = 0.03  # fall of an exact estimate since the last certificate that is worth another,
AGAIN = 0.5  # fall of one that promised the end in vain, which is worth another at once
PAUSE = 5  # after so many epochs: a fit that ends sooner is certified once
LONG_PAUSE = 20  # on the way to machine precision: small fits, of which a certificate is a part
LAG = 0.8  # epochs by which a solver's estimate is behind
EPOCHS_PER_CERTIFICATE = 5  # where there is a choice; a certificate costs about two epochs
SAMPLED = 0.85  # of the target: an estimate from a sample that promises a certificate
CURRENT_WAITS = 2  # times the epochs to the next certificate, without a hint by such an estimate
STALLED_EPOCHS = 15  # in which an exact estimate must halve, or it is as small as it gets
ROUNDING_BEGINS = 1e4  # relative gap, in units of the last place, below which rounding may rule
STALLED_CERTIFICATES = 4  # in which the gap must halve, or rounding does rule
NEAR_ROUNDING, STALLED_NEAR_ROUNDING = 1e-11, 3  # the same for estimates below: epochs
AT_ROUNDING, STALLED_AT_ROUNDING = 1e-13, 1


@dataclass
class Schedule:
    """Epochs at which certificates are due, and what was learned of the solver's estimates."""

    next_check: int = FIRST_CHECK
    next_hint: int = 1  # the epoch from which a certificate is due if hinted at
    hint: float = 2.0  # an estimate may be this many times the target to be worth checking
    estimate: float = float("inf")  # the solver's last one
    milestone: int = 0  # the epoch that it was of, if exact
    least: float = float("inf")  # the smallest of those that are exact,
    least_at: int = 0  # and the epoch it was of

    def is_due(self, epochs: int, estimate: float, target: float) -> bool:
        """Whether a certificate is due, by the solver's own estimate or by the epochs behind."""
        return epochs >= (self.next_hint if self._is_hinted(estimate, target) else self.next_check)

    def is_due_if_current(self, epochs: int, estimate: float, target: float) -> bool:
        """Whether one is due by an estimate of the present state, which a sample of rows gave."""
        self.estimate = estimate
        is_hinted = 0.0 <= estimate <= SAMPLED * target
        return epochs >= (self.next_hint if is_hinted else CURRENT_WAITS * self.next_check)

    def is_due_if_exact(
        self, epochs: int, estimate: float, target: float, has_judged: bool, is_proven: bool,
        pause: int = PAUSE,
    ) -> bool:  # fmt: skip
        """Whether one is due of a solver that knows its gap as well as a certificate does.

        That is when it is done and, for the history, once in a while before, until what was asked
        for is proven. One that said otherwise is repeated once the estimate is half as large: the
        next steps may lead away from what is good enough.
        """
        waits = has_judged and epochs < self.next_hint and not estimate <= AGAIN * self.estimate
        fell = not is_proven and estimate <= MILESTONE * self.estimate < np.inf
        is_done = estimate <= 0.9 * target and not waits
        due = is_done or (fell and epochs >= self.milestone + pause)
        if due or not np.isfinite(self.estimate):
            self.estimate, self.milestone = estimate, epochs
        return due

    def _is_hinted(self, estimate: float, target: float) -> bool:
        """Whether the solver's own estimate suggests that the target is reached.

        An estimate is of the middle of its epoch; one that falls fast is behind the truth.
        """
        fall = estimate / self.estimate if self.estimate > 0.0 else 1.0
        self.estimate = estimate
        now = estimate * fall**LAG if 0.0 < fall < 1.0 else estimate
        return 0.0 <= min(estimate / self.hint, now) <= target

    def plan(self, epochs: int, forecast: float) -> None:
        """Plan the certificate after one, given the forecast of the epochs to the target.

        Half of what the forecast says, but enough that certificates take a small share of the time,
        and at most half of what is behind.
        """
        wanted = max(0.5 * forecast if np.isfinite(forecast) else 1.0, EPOCHS_PER_CERTIFICATE)
        self.next_check = epochs + int(np.clip(wanted, 1.0, 1.0 + 0.5 * epochs))
        self.next_hint = epochs + 1 + epochs // 10

    def learn_from(self, estimate: float, proven: float) -> None:
        """Calibrate the solver's own estimate by the certificate it was just followed by."""
        if estimate > 0.0 and np.isfinite(estimate) and proven > 0.0:
            self.hint = float(np.clip(0.9 * estimate / proven, 0.1, 10.0))

    def has_stalled(self, epochs: int, estimate: float, tol: float) -> bool:
        """Whether an exact estimate is below `tol` and no longer falls."""
        if not estimate >= 0.5 * self.least:
            self.least, self.least_at = estimate, epochs
        patience = STALLED_EPOCHS
        if self.least <= NEAR_ROUNDING:
            is_at_rounding = self.least <= AT_ROUNDING
            patience = STALLED_AT_ROUNDING if is_at_rounding else STALLED_NEAR_ROUNDING
        return epochs - self.least_at >= patience and self.least <= tol

    def forget_estimate(self, epochs: int) -> None:
        """Go on with another run, whose estimates are its own."""
        self.estimate, self.milestone, self.next_hint = float("inf"), epochs, epochs + 1


def rounding_rules(gaps: list[float], unit: float) -> bool:
    """Whether relative gaps of all certificates, in numbers of this last place, no longer fall."""
    recent = gaps[-1 - STALLED_CERTIFICATES :]
    is_known = len(recent) > STALLED_CERTIFICATES
    return is_known and recent[0] <= ROUNDING_BEGINS * unit and recent[-1] > 0.5 * recent[0]
