"""What a run of a benchmark leaves: a log of all it printed, and its comparisons and tables as JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO

RESULTS = Path(__file__).parent / "results"
PEERS = (
    *("mercer", "numpy", "scipy", "scikit-learn", "pyarrow", "pandas", "polars", "lightgbm", "xgboost", "catboost"),
    *("interpret-core", "xrfm", "celer", "skglm", "fastcan", "spams-bin"),
)

_current: dict[str, Any] | None = None


def add(kind: str, entry: dict[str, Any]) -> None:
    """Add a comparison or a table to the record of the running benchmark, if there is one."""
    if _current is not None:
        _current[kind].append(entry)


@contextmanager
def recording(name: str, folder: Path = RESULTS) -> Iterator[dict[str, Any]]:
    """Record a benchmark: everything it prints goes to NAME.log, what it measures to NAME.json.

    A benchmark that measured nothing (its data or its peers are missing) leaves the former files as they are.
    """
    global _current
    record: dict[str, Any] = {"benchmark": name, "machine": machine(), "versions": versions()}
    record |= {"seconds": 0.0, "comparisons": [], "figures": []}
    start, _current, terminal = time.perf_counter(), record, sys.stdout
    copy = _Copy(terminal)
    sys.stdout = copy  # type: ignore[assignment]
    try:
        yield record
    finally:
        sys.stdout, _current = terminal, None
    record["seconds"] = round(time.perf_counter() - start, 1)
    if record["comparisons"] or record["figures"]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.log").write_text("".join(copy.written), encoding="utf-8")
        (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def load(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """The last record of a benchmark, or None."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def machine() -> dict[str, Any]:
    """Processor, cores and system."""
    return {"processor": _processor(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def versions() -> dict[str, str]:
    """Versions of Python, Mercer and the peers that are installed."""
    found = {"python": platform.python_version()}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


class _Copy:
    """Standard output that also keeps what was written."""

    def __init__(self, terminal: TextIO) -> None:
        self.terminal, self.written = terminal, []

    def write(self, text: str) -> int:
        self.written.append(text)
        return self.terminal.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)
