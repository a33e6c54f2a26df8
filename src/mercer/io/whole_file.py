"""Files that appear when they are complete, or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


def check_place(path: str | os.PathLike) -> None:
    """Refuse a path that cannot be written to, before anything is computed for it."""
    path = os.path.realpath(os.fspath(path))
    folder = os.path.dirname(path)
    if _is_special(path):
        return
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: the folder {folder} does not exist.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder: name a file to write.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path}: the folder {folder} cannot be written to. Choose another with --output.")


@contextmanager
def appearing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write under a temporary name, on disk and renamed at the end; nothing is left of a failed attempt.

    A pipe or device is no file that could be replaced: it is written to as it is. A link stays a link.
    """
    path = os.path.realpath(os.fspath(path))
    with _named(path):
        if _is_special(path):
            with open(path, "wb") as file:
                yield file
            return
        with _replacing(path) as file:
            yield file


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    folder = os.path.dirname(path)
    check_place(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=".mercer-", suffix=".tmp", dir=folder)
    except OSError as error:
        raise type(error)(f"{path}: the folder {folder} cannot be written to ({error.strerror}).") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # as any new file, where mkstemp lets nobody else read
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Failures of the disk with the path they happened to."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise OSError(f"{path} could not be written: {error.strerror}. Nothing is left of the attempt.") from error
        raise


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
