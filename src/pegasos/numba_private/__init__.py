"""All that is used of Numba's insides, each kind in a module of its own with a plain substitute.

    options        `_nrt`, `forceinline` and others  without: loops count references, and are slower
    caching        the classes of the disk cache     without: `cache=True`, in Numba's folders only
    events         `numba.core.event`                without: compiling is part of a fit's time
    intrinsics     instructions, in terms of LLVM    without: plain loops; same results
    register_sums  a loop, in terms of LLVM          without: a plain loop; same results
    tags           `instance_class` of named tuples  without: classes are told apart by name
    compiler_lock  the lock of the compiler          without: a fork may find the compiler locked

None of it is promised by Numba. A release that renames something costs speed: it is noted in
`absent`, told to the logger "pegasos", and models are the same up to the order of sums.
"""

import logging

import numba

absent: dict[str, str] = {}  # what this version of Numba has not, and how that was found out


def note_absence(name: str, error: Exception) -> None:
    """Take note, and tell once, that something is not there or does not work."""
    if name not in absent:
        absent[name] = f"{type(error).__name__}: {error}"
        logging.getLogger("pegasos").warning(
            "pegasos does without %s, which Numba %s has not (%s): slower, not worse",
            name,
            numba.__version__,
            absent[name].splitlines()[0],
        )
