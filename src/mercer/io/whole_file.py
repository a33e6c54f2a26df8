"""Files that appear when they are complete, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


def check_place(path: str | os.PathLike) -> None:
    """Refuse a path that cannot be written to, before anything is computed for it."""
    path = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: the folder {folder} does not exist.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder: name a file to write.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path}: the folder {folder} cannot be written to. Choose another with --output.")


@contextmanager
def appearing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write under a temporary name, on disk and renamed at the end; nothing is left of a failed attempt."""
    path = os.path.abspath(os.fspath(path))
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
