"""Fork only while no other thread compiles: a child could not, if a thread it lacks held the lock.

`numba.core.compiler_lock.global_compiler_lock` (Numba 0.35). Without, a process that forks in one
thread while it compiles in another may leave a child that waits for ever once it compiles.
"""

from __future__ import annotations

import os

from pegasos.numba_private import note_absence


def fork_only_between_compilations() -> None:
    """Have every fork wait for the compiler."""
    if not hasattr(os, "register_at_fork"):
        return
    try:
        from numba.core.compiler_lock import global_compiler_lock as lock

        acquire, release = lock.acquire, lock.release
    except (ImportError, AttributeError) as error:
        note_absence("the lock of the compiler", error)
        return
    os.register_at_fork(before=acquire, after_in_parent=release, after_in_child=release)
