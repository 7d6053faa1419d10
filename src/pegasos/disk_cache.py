"""Where compiled code is kept between processes: Numba's folders, else a private temporary one."""

from __future__ import annotations

from typing import Any

from pegasos.numba_private import note_absence

try:
    from pegasos.numba_private import caching
except Exception as error:  # whatever another version of Numba makes of it
    note_absence("the classes of the disk cache", error)
    caching = None  # type: ignore[assignment]

LASTING = "once per machine"
TEMPORARY = (
    "until temporary files are removed: no other folder is writable; set NUMBA_CACHE_DIR to one"
)
NOWHERE = "again in every process: no folder for a cache is writable; set NUMBA_CACHE_DIR to one"

_kept_in = {LASTING}  # what was found for the functions compiled so far


def how_often() -> str:
    """Say how often a kind of data is compiled for, given where the results can be kept."""
    return next(text for text in (NOWHERE, TEMPORARY, LASTING) if text in _kept_in)


def keep_on_disk(dispatcher: Any) -> None:
    """Keep on disk what is compiled of a function, wherever there is a place for it."""
    if not hasattr(dispatcher, "py_func"):  # NUMBA_DISABLE_JIT
        return
    try:
        if caching is None:
            dispatcher.enable_caching()  # what `cache=True` does
        elif caching.keep(dispatcher):
            _kept_in.add(TEMPORARY)
    except RuntimeError:  # no locator
        _kept_in.add(NOWHERE)
    except Exception as error:
        note_absence("a disk cache", error)
        _kept_in.add(NOWHERE)
