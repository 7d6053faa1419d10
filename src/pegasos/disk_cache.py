"""Where compiled code is kept between processes: Numba's folders, else a private temporary one.

Loading from a cache runs what it holds. A folder in a place where others may write is used only if
it belongs to this user, nobody else may enter it, and nobody else can put another in its place.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

LASTING = "once per machine"
TEMPORARY = (
    "until temporary files are removed: no other folder is writable; set NUMBA_CACHE_DIR to one"
)
NOWHERE = "again in every process: no folder for a cache is writable; set NUMBA_CACHE_DIR to one"

_kept_in = {LASTING}  # what was found for the functions compiled so far


def how_often() -> str:
    """Say how often a kind of data is compiled for, given where the results can be kept."""
    return next(text for text in (NOWHERE, TEMPORARY, LASTING) if text in _kept_in)


def cache_for(function: Any) -> Any | None:
    """Return the disk cache of a function to be compiled; None where there is no place for one."""
    try:
        cache = _CacheOfLastingTags(function)
    except RuntimeError:  # no locator
        _kept_in.add(NOWHERE)
        return None
    if isinstance(cache._impl.locator, _PrivateTemporary):
        _kept_in.add(TEMPORARY)
    return cache


def private_folder() -> str | None:
    """Return a folder for this user's eyes only among the temporary files; None if there is none.

    It has the same name in all processes of a user. Whoever takes that name first denies it to its
    owner, and no more than that.
    """
    if not hasattr(os, "getuid"):  # temporary files of other systems are private anyway
        return None
    folder = Path(tempfile.gettempdir()) / f"pegasos-compiled-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found, parent = folder.lstat(), folder.parent.stat()
    except OSError:
        return None
    is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    others_may_write = parent.st_mode & 0o022 and not parent.st_mode & stat.S_ISVTX
    is_in_place = parent.st_uid in (0, os.getuid()) and not others_may_write
    return str(folder) if is_private and found.st_uid == os.getuid() and is_in_place else None


class _PrivateTemporary(UserProvidedCacheLocator):  # type: ignore[misc]
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


class _Results(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _PrivateTemporary]  # noqa: RUF012


class _CacheOfLastingTags(FunctionCache):  # type: ignore[misc]
    """Numba's disk cache, except for kernels whose arguments hold a one-process tag."""

    _impl_class = _Results

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if is_of_this_process(sig):
            return None
        return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not is_of_this_process(sig):
            super().save_overload(sig, data)


def is_of_this_process(numba_type: Any) -> bool:
    """Whether a Numba type, or one nested in it, is a tag made for this process only."""
    if isinstance(numba_type, tuple | list | types.BaseTuple):
        tag = getattr(numba_type, "instance_class", None)
        return getattr(tag, "is_of_this_process", False) or any(
            is_of_this_process(part) for part in numba_type
        )
    return False
