"""Converted files that are kept with a checkpoint: text as Parquet, and Parquet in smaller row groups."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Any

from mercer.io.checkpoint.folder import Checkpoint
from mercer.io.temporary import TemporaryFolder
from mercer.source.recording import current_recorder

#: The paths to read, and the names of their columns.
Converted = tuple[list[str], list[str]]


def converted_once(spool: Any, convert: Callable[[], Converted]) -> Converted:
    """`convert()`, which writes to the folder of a spool and notes there what it finds; or what it left before.

    The files stay where temporary files are, not in the checkpoint, which holds their folder and what was found.
    """
    checkpoint = current_recorder()
    if not isinstance(checkpoint, Checkpoint):
        return convert()
    found = _found(checkpoint, spool)
    if found is not None:
        return found
    start = time.monotonic()
    made = convert()
    if time.monotonic() - start >= checkpoint.seconds / 3 and len(os.listdir(spool.folder.path)) > 1:
        attributes = {name: value for name, value in vars(spool).items() if name != "folder"}
        checkpoint.save(_NAME, (spool.folder.path, attributes, made))
        with contextlib.suppress(OSError):
            spool.folder.keep_for(checkpoint.path)
    return made


_NAME = "converted.value"


def _found(checkpoint: Checkpoint, spool: Any) -> Converted | None:
    """What an interrupted process has converted, if its files are still there; the spool is then as it was."""
    if not checkpoint.resumed:
        return None
    with contextlib.suppress(Exception):  # damaged or gone: it is converted again
        path, attributes, made = checkpoint.load(_NAME)
        folder = TemporaryFolder.adopted(path)
        if folder is not None and all(os.path.exists(each) for each in made[0]):
            vars(spool).update(attributes)
            spool.folder = folder
            return made
    return None
