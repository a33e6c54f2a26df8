"""Atomic writing: a file appears when it is complete, or not at all."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from mercer.io.checks.litter import remove_abandoned_files, temporary_file

_MASK_LOCK = threading.Lock()


def check_writable(path: str | os.PathLike) -> None:
    """Refuse a path that cannot be written to, before the results for it are computed."""
    path = _target(path)
    folder = os.path.dirname(path)
    if _is_special(path):
        return
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: the folder {folder} does not exist.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder: name a file to write.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path}: the folder {folder} cannot be written to. Choose another folder.")


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write under a temporary name, synced and renamed at the end; a failed attempt leaves nothing.

    A pipe or device cannot be replaced and is written to directly. A symbolic link stays a link.
    """
    path = _target(path)
    with _with_path(path):
        if _is_special(path):
            with open(path, "wb") as file:
                yield file
            return
        with _replacing(path) as file:
            yield file


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text in UTF-8, all of it or nothing."""
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    folder = os.path.dirname(path)
    check_writable(path)
    remove_abandoned_files(folder)
    try:
        handle, temporary = temporary_file(folder)
    except OSError as error:
        raise type(error)(f"{path}: the folder {folder} cannot be written to ({error.strerror}).") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # as any new file: mkstemp makes them private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@contextmanager
def _with_path(path: str) -> Iterator[None]:
    """Add the path to errors of the disk."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise OSError(f"{path} could not be written: {error.strerror}. No partial file was left.") from error
        raise


def _target(path: str | os.PathLike) -> str:
    """The file that a path leads to through symbolic links; one that leads in a circle is refused."""
    path = os.fspath(path)
    found = os.path.realpath(path)
    for each in (found, os.path.dirname(found)):  # what is still a link cannot be resolved
        if os.path.islink(each):
            which = path if each == found else f"{path}: the folder {each}"
            raise FileNotFoundError(
                f"{which} is a symbolic link that leads in a circle. Remove it, or name another file."
            )
    return found


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _umask() -> int:
    """The mask for new files. It can only be read by setting it, which two threads must not do at once."""
    with _MASK_LOCK:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask
