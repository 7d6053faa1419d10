"""How many threads a library takes for a product of matrices.

From version 3.8 on, threadpoolctl lets one thread of the process set limits, the first that did,
and does nothing for others. `_real_set_num_threads` behind it works in any thread. It is private;
without it, that first thread is made to give way (`clear_controlling_thread`), which others who set
limits in this process may notice.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

IN_ANY_THREAD = "_real_set_num_threads"


@cache
def libraries(per_thread: bool) -> list[Any]:
    """Return what multiplies matrices by threads, as far as it is loaded; or whom it asks.

    Some count their threads by OpenMP, which has a limit for every thread that calls; the limit of
    the others is of the whole process.
    """
    found = ThreadpoolController()
    blas = found.select(user_api="blas").lib_controllers
    if not per_thread:
        return list(blas)
    asks = any(getattr(library, "threading_layer", "") == "openmp" for library in blas)
    return list(found.select(user_api="openmp").lib_controllers) if asks else []


def limit(of: list[Any], counts: int | list[int]) -> list[int]:
    """Set the threads of each library, or of all; return what they were."""
    before = [library.num_threads for library in of]
    counts = [counts] * len(of) if isinstance(counts, int) else counts
    for library, count in zip(of, counts, strict=True):
        if hasattr(library, IN_ANY_THREAD):
            getattr(library, IN_ANY_THREAD)(count)
            continue
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)
        library.set_num_threads(count)
    return before
