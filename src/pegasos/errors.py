"""Every exception and warning of the package."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class InvalidParameter(ValueError):
    """A parameter, or a pair of parameters, that cannot work; the message says what to use."""


class InvalidData(ValueError):
    """Data that cannot be trained on or predicted for; the message says what is wrong where."""


class InvalidType(InvalidData, TypeError):
    """Data of a kind that is no array; also a TypeError, as scikit-learn's contract asks."""


class NotCertified(AttributeError):
    """A certificate, or what follows from one, was asked of a model that has none."""


class NotSaved(TypeError):
    """A run holds something that is no data, or a file something that this version cannot load."""


class ToleranceNotReached(ConvergenceWarning):  # type: ignore[misc]
    """A fit ended above `tol`; the message carries the gap reached and a remedy."""


class IndefiniteKernel(UserWarning):
    """A kernel turned out not to be positive semi-definite: there is no certificate."""


class FitInterrupted(UserWarning):
    """Ctrl-C ended a fit; the half-trained model of that moment is kept, with its certificate."""
