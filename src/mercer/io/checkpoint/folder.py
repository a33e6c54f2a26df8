"""The folder of a checkpoint: who owns it, what it belongs to, and the values and states that it holds."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from mercer._runtime.errors import MercerError
from mercer.io.checkpoint.folds import RecordedFold, is_recorded
from mercer.io.checkpoint.states import dump_hashed, load_hashed
from mercer.io.checks.litter import adopt_folder, own_folder
from mercer.source import EngineError
from mercer.source.recording import FoldRecord, recording

#: The version of the layout of a folder.
_FORMAT = 1
_MANIFEST = "checkpoint.json"
#: Seconds between two writes, and how many times as long as the last write took: writing stays below a tenth.
_SECONDS, _WRITE_SHARE = 15.0, 10.0
#: Errors after which the same command may succeed.
_MAY_GO_ON = (EngineError, OSError, MemoryError)


class CheckpointError(MercerError):
    """A checkpoint that cannot be used, or belongs to something else."""


class Checkpoint:
    """Progress of a long computation in a folder that only its owner can read (mode 0700).

    The folder appears with the first state that is worth keeping: after some seconds of work. It is removed when the
    computation is complete, and when it failed in a way that another attempt would repeat.

    Parameters
    ----------
    path : str
        The folder.
    belongs_to : dict of str to values that JSON has
        Data, options and versions. Progress of anything else is refused.
    resume : bool, default=True
        Continue from the progress that the folder holds. False removes it.
    seconds : float
        Time between two writes, at least.
    """

    def __init__(
        self, path: str | os.PathLike, belongs_to: dict[str, Any], resume: bool = True, seconds: float = _SECONDS
    ):
        self.path, self.seconds = os.path.abspath(os.fspath(path)), seconds
        self.belongs_to = json.loads(json.dumps(belongs_to))
        #: Whether progress of an earlier attempt was found, and whether any remains after an interruption.
        self.resumed = self.kept = False
        self._lock: int | None = None
        self._numbers: dict[str, int] = {}
        self._scope = ""
        self._last, self._write_seconds = time.monotonic(), 0.0
        self._open(resume)

    def _open(self, resume: bool) -> None:
        if not os.path.lexists(self.path):
            return
        self._refuse_foreign()
        self._lock = adopt_folder(self.path)
        if self._lock is None:
            remedy = "Wait until it has ended, or choose another folder."
            raise CheckpointError(f"The checkpoint {self.path} is in use by another process.", remedy=remedy)
        if not resume:
            self.remove()
            return
        try:
            self._compare(self._manifest())
        except BaseException:
            self._release()
            raise
        self.resumed = True

    def _refuse_foreign(self) -> None:
        """Refuse a folder that others can write to, or that is no checkpoint."""
        found = os.lstat(self.path)
        manifest = os.path.join(self.path, _MANIFEST)
        if not os.path.isdir(self.path) or os.path.islink(self.path) or not os.path.isfile(manifest):
            remedy = "Name a folder that does not exist yet."
            raise CheckpointError(f"{self.path} is not a checkpoint of Mercer.", remedy=remedy)
        if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            remedy = "A checkpoint must belong to the user and have mode 0700. Remove it, and start anew."
            raise CheckpointError(f"The checkpoint {self.path} is open to others.", remedy=remedy)

    def _manifest(self) -> dict[str, Any]:
        try:
            manifest = json.loads(self._read(_MANIFEST))
            known = manifest["format"] == _FORMAT and isinstance(manifest["belongs_to"], dict)
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            problem = f"The checkpoint {self.path} is damaged, or of another version of Mercer."
            raise CheckpointError(problem, remedy=_ANEW)
        return manifest

    def _compare(self, manifest: dict[str, Any]) -> None:
        there = manifest["belongs_to"]
        for name in sorted({*there, *self.belongs_to}):
            before, now = there.get(name), self.belongs_to.get(name)
            if before != now:
                problem = f"The checkpoint {self.path} belongs to another fit: {name} was {_short(before)}, "
                raise CheckpointError(problem, f"and is {_short(now)}.", remedy=_ANEW)

    @contextmanager
    def recording(self) -> Iterator[Checkpoint]:
        """Record inside the `with`; at its end remove the folder, or keep it where another attempt may succeed."""
        try:
            with recording(self):
                yield self
        except BaseException as error:
            if isinstance(error, Exception) and not isinstance(error, _MAY_GO_ON):
                self.remove()
            self.kept = os.path.isdir(self.path)
            self._release()
            raise
        self.remove()

    def remove(self) -> None:
        """Remove the folder, if there is one."""
        if self._lock is not None or self.resumed:
            shutil.rmtree(self.path, ignore_errors=True)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def fold(self, source: Any, statistic: Any) -> FoldRecord:
        """The record of the next fold; folds over rows in memory, and over few rows, are not recorded."""
        if not is_recorded(source):
            return FoldRecord()
        return RecordedFold(self, self._next("fold"), source, statistic)

    def value(self, name: str, compute: Callable[[], Any]) -> Any:
        """`compute()`, or what it returned before the interruption."""
        key, scope = self._next(name), self._scope
        if self.resumed:
            with contextlib.suppress(OSError, pickle.UnpicklingError):
                return self.load(f"{key}.value")
        start, self._scope = time.monotonic(), f"{key}."  # numbers outside do not depend on what is computed inside
        try:
            found = compute()
        finally:
            self._scope = scope
        if time.monotonic() - start >= self.seconds / 3:
            self.save(f"{key}.value", found)
        return found

    def is_due(self) -> bool:
        """Whether enough time has passed since the last write."""
        return time.monotonic() - self._last >= max(self.seconds, _WRITE_SHARE * self._write_seconds)

    def save(self, name: str, value: Any) -> None:
        """Write a value to a file of the folder, after the SHA-256 of its bytes."""
        start = time.monotonic()
        self.write(name, lambda file: dump_hashed(value, file))
        self._last = time.monotonic()
        self._write_seconds = self._last - start

    def load(self, name: str) -> Any:
        """The value of a file of the folder; an error if it is not there or damaged."""
        with open(os.path.join(self.path, name), "rb") as file:
            return load_hashed(file)

    def write(self, name: str, fill: Callable[[BinaryIO], Any]) -> None:
        """Write a file of the folder, all of it or nothing. A full disk ends the recording, not the computation."""
        if self._lock is None and not self._create():
            return
        path = os.path.join(self.path, name)
        try:
            with open(f"{path}.new", "wb") as file:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(f"{path}.new", path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.unlink(f"{path}.new")
            if not isinstance(error, OSError):
                raise

    def discard(self, name: str) -> None:
        """Remove a file of the folder."""
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.path, name))

    def _create(self) -> bool:
        """Make the folder; False if that is impossible, as in a folder that is read-only or used by another process."""
        try:
            os.mkdir(self.path, 0o700)
            self._lock = own_folder(self.path)
        except OSError:
            return False
        if self._lock is None:  # no locks on this system
            self._lock = os.open(self.path, os.O_RDONLY)
        manifest = {"format": _FORMAT, "belongs_to": self.belongs_to}
        text = json.dumps(manifest, indent=1)
        self.write(_MANIFEST, lambda file: file.write(text.encode()))
        return True

    def _read(self, name: str) -> bytes:
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def _next(self, name: str) -> str:
        name = self._scope + name
        self._numbers[name] = self._numbers.get(name, 0) + 1
        return f"{name}-{self._numbers[name]}"

    @property
    def bytes(self) -> int:
        """The size of the files of the folder."""
        with contextlib.suppress(OSError), os.scandir(self.path) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
        return 0


_ANEW = "Repeat what it belongs to, or remove the folder to start anew."


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
