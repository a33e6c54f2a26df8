"""`mercer.fit` with a checkpoint: what progress belongs to, and the folder that keeps it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np

from mercer._runtime.errors import MercerError, ParameterError, Setting
from mercer.io.checkpoint import Checkpoint
from mercer.io.storage.find import found_files
from mercer.source.recording import current_recorder
from mercer.source.storage import StoredPath, filesystem

_Function = TypeVar("_Function", bound=Callable)
#: Packages whose versions may change bits.
_PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn", "pyarrow")
#: Arguments of `mercer.fit` that do not change the model.
_WITHOUT_EFFECT = ("data", "progress", "engine", "checkpoint")


def resumable(fit: _Function) -> _Function:
    """Decorate `mercer.fit`: with `checkpoint` it continues what an interrupted call has begun."""

    @wraps(fit)
    def recorded(data: Any, *args: Any, checkpoint: Any = None, **options: Any) -> Any:
        if checkpoint is None or current_recorder() is not None:
            return fit(data, *args, **options)
        refuse_time_budget(options.get("time_budget"))
        known = belongs_to(data, {"target": args[0] if args else None, **options})
        with Checkpoint(checkpoint, known).recording():
            return fit(data, *args, **options)

    return recorded  # type: ignore[return-value]


def refuse_time_budget(time_budget: float | None) -> None:
    """A fit with a time budget does what the clock allows: another attempt would do something else."""
    if time_budget is not None:
        problem = ("A fit with ", Setting("time_budget", time_budget), " cannot be continued:")
        raise MercerError(
            *problem, remedy="what it does depends on the clock. Leave the time budget or the checkpoint out."
        )


def belongs_to(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Files with size and time of change, options, and versions, as JSON has them."""
    if not isinstance(data, (str, os.PathLike)) or os.fspath(data) == "-":
        remedy = "Rows in memory would have to be the same again: write them to Parquet, and fit the file."
        raise ParameterError("checkpoint", type(data).__name__, "needs data in files", remedy=remedy)
    storage = options.get("storage_options")
    return {
        "data": [_file(path) for path in found_files(os.fspath(data), storage)],
        "options": {name: _plain(value) for name, value in sorted(options.items()) if name not in _WITHOUT_EFFECT},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        "machine": platform.machine(),
    }


def _file(path: str) -> list[Any]:
    """Path, bytes and time of the last change."""
    if isinstance(path, StoredPath):
        system, inside = filesystem(path, path.options)
        info = system.get_file_info(inside)
        return [str(path), info.size, info.mtime_ns]
    found = os.stat(path)
    return [os.path.abspath(path), found.st_size, found.st_mtime_ns]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return np.asarray(value).tolist() if isinstance(value, np.ndarray) else repr(value)
