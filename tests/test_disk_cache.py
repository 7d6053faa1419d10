"""Compiled code is kept where nobody else may write; without any such place, all else works."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import pegasos
from pegasos import disk_cache
from pegasos.numba_private import caching
from pegasos.private_folder import private_folder

SOURCES = str(Path(pegasos.__file__).parents[1])


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Return an empty folder in the place of that of temporary files; Numba has no other."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(disk_cache, "_kept_in", {disk_cache.LASTING})
    monkeypatch.setattr(caching.Results, "_locator_classes", [caching.PrivateTemporary])
    monkeypatch.delenv("NUMBA_CACHE_LOCATOR_CLASSES", raising=False)
    return tmp_path


class Dispatcher:
    """Stand for a function that is to be compiled."""

    _cache = None

    @staticmethod
    def py_func():
        pass


def test_where_numba_has_no_folder_a_private_temporary_one_serves(temporary):
    dispatcher = Dispatcher()
    disk_cache.keep_on_disk(dispatcher)
    folder = Path(dispatcher._cache.cache_path).parent
    assert folder.parent == temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert disk_cache.how_often() == disk_cache.TEMPORARY


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o710])
def test_a_folder_that_others_may_enter_is_not_trusted(temporary, mode):
    folder = Path(private_folder())
    folder.chmod(mode)
    assert private_folder() is None
    dispatcher = Dispatcher()
    disk_cache.keep_on_disk(dispatcher)
    assert dispatcher._cache is None
    assert disk_cache.how_often() == disk_cache.NOWHERE


def test_a_link_to_a_private_folder_is_not_trusted(temporary):
    folder = Path(private_folder())
    folder.rename(temporary / "elsewhere")
    folder.symlink_to(temporary / "elsewhere")
    assert private_folder() is None


def test_a_folder_that_others_may_replace_is_not_trusted(temporary):
    assert private_folder() is not None
    temporary.chmod(0o777)
    assert private_folder() is None
    temporary.chmod(0o1777)  # as /tmp: only the owner may rename what is in it
    assert private_folder() is not None


def test_a_folder_of_somebody_else_is_not_trusted(temporary, monkeypatch):
    uid = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    assert private_folder() is None


CODE = """
import tempfile
tempfile.tempdir = {!r}
import numpy as np
from pegasos import disk_cache
from pegasos.numba_private import caching
from pegasos.private_folder import private_folder
from pegasos.kernel_matrix.store import gather
out = np.empty((1, 1))
gather(np.ones((1, 1)), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64), out)
assert out[0, 0] == 1.0
print(disk_cache.how_often())
"""


# Another user, who may read what only root may, so that it does not matter where Python lies.
AS_NOBODY = [
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search",
]  # fmt: skip


def can_be_nobody():
    is_root = hasattr(os, "getuid") and os.getuid() == 0 and shutil.which("setpriv")
    return is_root and subprocess.run([*AS_NOBODY, "true"], check=False).returncode == 0


@pytest.mark.skipif(not can_be_nobody(), reason="only root can be another user")
@pytest.mark.parametrize("has_temporary", [True, False])
def test_another_user_without_a_home_can_use_the_package(has_temporary):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        place = folder if has_temporary else "/proc"
        done = subprocess.run(
            [*AS_NOBODY, sys.executable, "-B", "-c", CODE.format(place)],
            env={"HOME": "/nonexistent", "PYTHONPATH": SOURCES, "PATH": os.environ["PATH"]},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        expected = disk_cache.TEMPORARY if has_temporary else disk_cache.NOWHERE
        assert done.stdout.strip() == expected
        kept = [path.name for path in Path(folder).rglob("*.nbi")]
        assert len(kept) == has_temporary
