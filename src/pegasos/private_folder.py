"""A folder among the temporary files for what this user compiled.

Loading from a cache runs what it holds. A folder in a place where others may write is used only if
it belongs to this user, nobody else may enter it, and nobody else can put another in its place.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


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
