"""Callbacks of scikit-learn 1.9 and later: one task per epoch. Before 1.9, nothing.

A callback that returns True from `on_fit_task_end` ends the fit after that epoch. An estimator
without callbacks pays nothing per epoch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from pegasos.progress import Model, Watch

HAS_CALLBACKS = find_spec("sklearn.callback") is not None  # scikit-learn 1.9


class CallbackSupport:
    """scikit-learn's `CallbackSupportMixin`, imported only if used: it brings `rich` with it."""

    if HAS_CALLBACKS:

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Set the callbacks that scikit-learn calls during `fit`.

            Parameters
            ----------
            *callbacks : callback instances
                Such as `sklearn.callback.ProgressBar()`; none removes those set before.

            Returns
            -------
            self : estimator
                The estimator itself.
            """
            from sklearn.callback import CallbackSupportMixin

            return CallbackSupportMixin.set_callbacks(self, *callbacks)

        def _init_callback_context(self, **options: Any) -> Any:
            from sklearn.callback import CallbackSupportMixin

            return CallbackSupportMixin._init_callback_context(self, **options)


def uses_callbacks(estimator: Any) -> bool:
    """Whether an estimator, or one that it is part of, follows its fit with callbacks."""
    attributes = vars(estimator)
    return bool(attributes.get("_skl_callbacks")) or "_parent_callback_ctx" in attributes


def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method open and close the callbacks of its estimator, if it has any."""

    @functools.wraps(method)
    def managed(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if not uses_callbacks(estimator):
            return method(estimator, *args, **kwargs)
        from sklearn.callback import with_callbacks

        return with_callbacks(method)(estimator, *args, **kwargs)

    return managed


class EpochCallbacks(Watch):
    """Tell an estimator's callbacks about the fit and each of its epochs."""

    def __init__(
        self,
        estimator: Any,
        data: dict[str, Any],
        max_iter: int,
        attributes: Callable[..., dict[str, Any]],
    ) -> None:
        self._estimator, self._data, self._attributes = estimator, data, attributes
        self._has_callbacks = bool(vars(estimator).get("_skl_callbacks"))
        self._root: Any = None
        self._now: Any = None
        if uses_callbacks(estimator):
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
