"""Callbacks of scikit-learn 1.9 and later: one task per epoch. Before 1.9, nothing.

A callback that returns True from `on_fit_task_end` ends the fit after that epoch. An estimator
without callbacks pays nothing per epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegasos.progress import Model, Watch

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in: there are no callbacks to support."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "EpochCallbacks", "with_callbacks"]


class EpochCallbacks(Watch):
    """Tell an estimator's callbacks about the fit and each of its epochs."""

    def __init__(
        self,
        estimator: Any,
        data: dict[str, Any],
        max_iter: int,
        attributes: Callable[[Any, Any], dict[str, Any]],
    ) -> None:
        self._estimator, self._data, self._attributes = estimator, data, attributes
        self._has_callbacks = bool(getattr(estimator, "_skl_callbacks", ()))
        self._root: Any = None
        self._now: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self._root = estimator._init_callback_context(max_subtasks=max_iter)

    def __enter__(self) -> Watch:
        if self._root is not None:
            self._root.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        self._begin_epoch()
        return self

    def _begin_epoch(self) -> None:
        if self._has_callbacks and self._now is None:
            self._now = self._root.subcontext(task_name="epoch")
            self._now.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def epoch(self, epochs: int, model: Model) -> bool:
        if self._now is None:
            return False
        stops = self._now.call_on_fit_task_end(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._attributes(*model()),
            **self._data,
        )
        self._now = None
        return bool(stops)

    def advanced(self, epochs: float, seconds: Callable[[], float]) -> None:
        self._begin_epoch()

    def finish(self) -> None:
        """Tell the callbacks that the fit has ended and the estimator is fitted."""
        if self._now is not None:  # an epoch that was begun and not completed
            self._now.call_on_fit_task_end(estimator=self._estimator)
        if self._root is not None:
            self._root.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes={}, **self._data
            )
