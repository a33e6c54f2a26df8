"""The record of a fold: the states of its complete subtrees, one file each, and how many rows they hold."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from mercer.io.checkpoint.states import dumps
from mercer.source import MemorySource
from mercer.source.accumulator import BLOCK_ROWS, PART_ROWS
from mercer.source.delayed import DelayedSource
from mercer.source.recording import FoldRecord, Subtrees

if TYPE_CHECKING:
    from mercer.io.checkpoint.folder import Checkpoint


def is_recorded(source: Any) -> bool:
    """Whether a fold over a source may be long, and its rows are the same in another process."""
    root, _ = source.origin()
    return (
        source.n_rows is not None and source.n_rows > PART_ROWS and not isinstance(root, (MemorySource, DelayedSource))
    )


class RecordedFold(FoldRecord):
    """States of a fold in a checkpoint.

    A record is used again only for the same statistic of the same rows: the state of the first block, computed again,
    must have the bits that it had. This covers the values of the rows, the maps applied to them, the settings of the
    statistic and the rounding of this machine.
    """

    def __init__(self, checkpoint: Checkpoint, name: str, source: Any, statistic: Any):
        self.checkpoint, self.name, self.source, self.statistic = checkpoint, name, source, statistic
        self.begun = time.monotonic()
        self._proof: str | None = None
        self.files: set[str] = set()

    def restored(self) -> tuple[int, Subtrees]:
        if self.checkpoint.resumed:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, pickle.UnpicklingError):
                return self._restored(self.checkpoint.load(f"{self.name}.fold"))
        return 0, []

    def _restored(self, known: dict[str, Any]) -> tuple[int, Subtrees]:
        if known["statistic"] != self._kind() or known["proof"] != self.proof():
            return 0, []
        found = []
        for level, file in known["subtrees"]:
            state = self.checkpoint.load(file)
            if type(state) is not type(self.statistic):
                return 0, []
            found.append((level, state))
        self.files = {file for _, file in known["subtrees"]}
        return known["rows"], found

    def part_done(self, rows: int, subtrees: Subtrees) -> None:
        if self.checkpoint.is_due():
            self._save(rows, subtrees)

    def finished(self, rows: int, subtrees: Subtrees) -> None:
        if self.files or time.monotonic() - self.begun >= self.checkpoint.seconds / 3:
            self._save(rows, subtrees)

    def _save(self, rows: int, subtrees: Subtrees) -> None:
        """Write the subtrees that are new, then the list of all, then remove those that were merged."""
        start, listed = 0, []
        for level, state in subtrees:
            file = f"{self.name}.{start}-{level}.state"
            start += 1 << level
            if file not in self.files:
                result = getattr(state, "result", None)
                self.checkpoint.save(file, state if result is None else result())
            listed.append((level, file))
        known = {"statistic": self._kind(), "proof": self.proof(), "rows": rows, "subtrees": listed}
        self.checkpoint.save(f"{self.name}.fold", known)
        for file in self.files - {file for _, file in listed}:
            self.checkpoint.discard(file)
        self.files = {file for _, file in listed}

    def _kind(self) -> str:
        kind = type(self.statistic)
        return f"{kind.__module__}.{kind.__qualname__} of {self.source.n_rows} rows"

    def proof(self) -> str:
        """The SHA-256 of the state of the first block that has rows, and of the part's length."""
        if self._proof is None:
            tasks = islice(self.source.tasks(), max(1, PART_ROWS // BLOCK_ROWS))
            block = next((block for block in (task.read() for task in tasks) if len(block)), None)
            state = b"" if block is None else dumps(self.statistic.of(block))
            self._proof = hashlib.sha256(state).hexdigest()
        return self._proof
