"""Numba's disk cache with one place more to keep things in, and without tags of this process.

`FunctionCache`, `CompileResultCacheImpl` and its locators of `numba.core.caching` (Numba 0.47; the
locators had an underscore before 0.62), and the attribute `_cache` of compiled functions. Importing
this module fails where they are missing: `pegasos.disk_cache` then asks for `cache=True`, no more.
"""

from __future__ import annotations

import os
from typing import Any

from numba.core import caching
from numba.core.caching import CompileResultCacheImpl, FunctionCache

from pegasos.numba_private.tags import class_of, parts_of
from pegasos.private_folder import private_folder

try:
    from numba.core.caching import UserProvidedCacheLocator as Locator
except ImportError:
    Locator = caching._UserProvidedCacheLocator


def keep(dispatcher: Any) -> bool:
    """Give a compiled function its cache; return whether that is one of temporary files.

    RuntimeError: there is no place for one.
    """
    if not hasattr(dispatcher, "_cache"):
        raise AttributeError("_cache")
    cache = CacheOfLastingTags(dispatcher.py_func)
    dispatcher._cache = cache
    return isinstance(cache._impl.locator, PrivateTemporary)


class PrivateTemporary(Locator):  # type: ignore[misc]
    """Finds a folder for each source file in the private one."""

    def __init__(self, function: Any, source: str) -> None:
        self._py_file, self._lineno = source, function.__code__.co_firstlineno
        folder = private_folder()
        if folder is None:
            raise OSError("no private folder")
        self._cache_path = os.path.join(folder, self.get_suitable_cache_subpath(source))

    @classmethod
    def from_function(cls, function: Any, source: str) -> Any:
        try:
            found = cls(function, source)
            found.ensure_cache_path()
        except OSError:
            return None
        return found


class Results(CompileResultCacheImpl):  # type: ignore[misc]
    """What is kept, in the places that Numba knows and a private one."""

    _locator_classes = [*CompileResultCacheImpl._locator_classes, PrivateTemporary]  # noqa: RUF012


class CacheOfLastingTags(FunctionCache):  # type: ignore[misc]
    """Numba's disk cache, except for kernels whose arguments hold a one-process tag."""

    _impl_class = Results

    def load_overload(self, sig: Any, *context: Any) -> Any:
        return None if is_of_this_process(sig) else super().load_overload(sig, *context)

    def save_overload(self, sig: Any, *data: Any) -> None:
        if not is_of_this_process(sig):
            super().save_overload(sig, *data)


def is_of_this_process(kind: Any) -> bool:
    """Whether a Numba type, or one nested in it, is a tag made for this process only."""
    if getattr(class_of(kind), "is_of_this_process", False):
        return True
    return any(is_of_this_process(part) for part in parts_of(kind))
