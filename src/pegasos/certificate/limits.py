"""Limits of a fit: what users ask for, and what follows from the size of the data.

Without `max_iter` small problems may take more epochs than large ones, and `solver="auto"` goes on
to machine precision where that takes a fraction of a second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pegasos.certificate.stopping import Stopping, StopRule

EPOCHS = 1000  # passes that max_iter=None allows, at least
VALUES = 100_000_000  # values that it lets small problems read: some tenths of a second
VALUES_PER_EPOCH = 20_000  # what an epoch costs beside the values it reads

TINY = 20_000  # values per pass up to which `auto` goes to machine precision
WISH = 1e-22  # that is, until rounding stops it
WISHED_VALUES = 50_000_000  # values read at most on the way there

TINY_MATRIX = 500_000  # values of a kernel matrix up to which `auto` does so too
WISHED_ROUNDS = 40  # and the rounds of a decomposition it may take


class Limits(NamedTuple):
    """What users ask for; `is_auto` tells whether the choice of a solver is left to us."""

    tol: float
    max_iter: int | None
    max_time: float
    rule: StopRule
    is_auto: bool
    max_steps: float = np.inf

    def linear(self, values: int) -> Stopping:
        """Return the limits of a linear fit that reads so many values per pass."""
        work = values + VALUES_PER_EPOCH
        epochs = max(EPOCHS, VALUES // work)
        return self._stopping(epochs, values <= TINY, WISHED_VALUES // work)

    def kernel(self, values: int) -> Stopping:
        """Return the limits of a kernel fit; `values` are those of all models' kernel matrices."""
        return self._stopping(EPOCHS, values <= TINY_MATRIX, WISHED_ROUNDS)

    def examples(self) -> Stopping:
        """Return the limits of a fit to sequences or other structures."""
        return self._stopping(EPOCHS, False, 0)

    def _stopping(self, epochs: int, is_tiny: bool, wish_epochs: int) -> Stopping:
        goes_on = is_tiny and self.is_auto and self.rule == "gap"
        return Stopping(
            tol=self.tol,
            max_iter=self.max_iter or epochs,
            max_time=self.max_time,
            rule=self.rule,
            wish=WISH if goes_on else np.inf,
            wish_epochs=wish_epochs if goes_on else 0,
            max_steps=self.max_steps,
        )
