"""What killed processes leave behind: temporary folders and half-written files that no living process owns.

An owner holds a lock on its folder or file. The system releases it with the process, however that ends. A folder shows
its lock only once it is held. One that has none is left alone, unless its name tells that its process, of this machine,
is gone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from typing import Any

try:
    import fcntl
except ImportError:  # no locks on this system: nothing is removed
    fcntl = None  # type: ignore[assignment]

FOLDER_PREFIX = "mercer-"
_FILE_PREFIX, _FILE_SUFFIX = ".mercer-", ".tmp"
_LOCK = "owner.lock"
#: Names the checkpoint that needs a temporary folder.
_KEPT = "checkpoint.path"


def folder_prefix() -> str:
    """The beginning of the names of temporary folders of this process."""
    return f"{FOLDER_PREFIX}{_machine()}-{os.getpid()}-"


def own_folder(path: str) -> int | None:
    """Lock a new temporary folder; the handle holds the lock until it is closed, or the process ends."""
    if fcntl is None:
        return None
    handle, name = tempfile.mkstemp(dir=path)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.rename(name, os.path.join(path, _LOCK))
    return handle


def adopt_folder(path: str) -> int | None:
    """Lock a folder whose owner is gone; None if another process has it. The handle is that of `own_folder`."""
    lock = os.path.join(path, _LOCK)
    if fcntl is None or not os.path.isfile(lock):
        return os.open(path, os.O_RDONLY)
    handle = os.open(lock, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    if _lock(handle):
        return handle
    os.close(handle)
    return None


def keep_folder(path: str, checkpoint: str) -> None:
    """Keep a temporary folder beyond its process, as long as the folder of a checkpoint exists that needs it."""
    with open(os.path.join(path, _KEPT), "w", encoding="utf-8") as file:
        file.write(checkpoint)


def is_kept(path: str) -> bool:
    """Whether a checkpoint needs a temporary folder."""
    with contextlib.suppress(OSError, ValueError), open(os.path.join(path, _KEPT), encoding="utf-8") as file:
        return os.path.isdir(file.read())
    return False


def remove_abandoned_folders(parent: str) -> None:
    """Remove temporary folders of this user whose owners are gone, unless a checkpoint needs them."""
    for entry in _entries(parent, FOLDER_PREFIX, ""):
        lock = os.path.join(entry.path, _LOCK)
        with contextlib.suppress(OSError):
            if not entry.is_dir(follow_symlinks=False):
                continue
            if os.path.isfile(lock):
                with _owned(lock) as owned:
                    if not owned and not is_kept(entry.path):
                        shutil.rmtree(entry.path, ignore_errors=True)
            elif entry.name.startswith(f"{FOLDER_PREFIX}{_machine()}-") and _owner_is_gone(entry.name):
                shutil.rmtree(entry.path, ignore_errors=True)  # killed before it could lock the folder


def temporary_file(folder: str) -> tuple[int, str]:
    """A new file in `folder`, locked, whose name tells the machine and process that owns it."""
    prefix = f"{_FILE_PREFIX}{_machine()}-{os.getpid()}-"
    handle, path = tempfile.mkstemp(prefix=prefix, suffix=_FILE_SUFFIX, dir=folder)
    if fcntl is not None:
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle, path


def remove_abandoned_files(folder: str) -> None:
    """Remove half-written files of processes of this machine that are gone."""
    for entry in _entries(folder, f"{_FILE_PREFIX}{_machine()}-", _FILE_SUFFIX):
        with contextlib.suppress(OSError):
            if _owner_is_gone(entry.name.removesuffix(_FILE_SUFFIX)) and entry.is_file(follow_symlinks=False):
                with _owned(entry.path) as owned:
                    if not owned:
                        os.unlink(entry.path)


def _entries(folder: str, prefix: str, suffix: str) -> list[os.DirEntry]:
    """The entries of this user with such names; none where there are no locks."""
    if fcntl is None:
        return []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        named = [entry for entry in entries if entry.name.startswith(prefix) and entry.name.endswith(suffix)]
        return [entry for entry in named if entry.stat(follow_symlinks=False).st_uid == os.geteuid()]
    return []


@contextlib.contextmanager
def _owned(path: str) -> Iterator[bool]:
    """Whether another process holds the lock of this file; if not, it is held meanwhile."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        yield not _lock(handle)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    locks: Any = fcntl
    try:
        locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _machine() -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in socket.gethostname())[:40]


def _owner_is_gone(name: str) -> bool:
    """Whether the process in a name, before its random end, is not running."""
    owner = name.rsplit("-", 2)[-2]
    return owner.isdigit() and not _is_alive(int(owner))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
