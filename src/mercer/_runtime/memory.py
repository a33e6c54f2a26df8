"""Available memory, checked before a large result is allocated."""

from __future__ import annotations

import os
from pathlib import Path

#: Largest fraction of the available memory that one result may take.
_MAX_FRACTION = 0.8


def available_memory() -> int | None:
    """Bytes this process can still allocate without swapping, or None where the system does not report it."""
    known = [limit for limit in (_linux_available(), _cgroup_available()) if limit is not None]
    if known:
        return min(known)
    try:  # elsewhere: all of the physical memory is better than no limit
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def refuse_too_large(rows: int, columns: int, itemsize: int, instead: str) -> None:
    """Raise MemoryError with the size and the remedy `instead` if a dense result would not fit."""
    _refuse(rows * columns * itemsize, f"{rows:,} rows x {columns:,} columns x {itemsize} bytes", instead)


def refuse_too_many_entries(entries: int, bytes_each: int, instead: str) -> None:
    """Raise MemoryError with the size and the remedy `instead` if a sparse result would not fit."""
    _refuse(entries * bytes_each, f"{entries:,} stored entries x {bytes_each} bytes", instead)


def _refuse(needed: int, sizes: str, instead: str) -> None:
    available = available_memory()
    if available is not None and needed > _MAX_FRACTION * available:
        raise MemoryError(
            f"The result would take {sizes} = {needed / 1e9:,.1f} GB, and {available / 1e9:,.1f} GB are available. "
            + instead
        )


def _linux_available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def _cgroup_available() -> int | None:
    """Memory left below the limit of the container; the file cache counts as free, since the kernel drops it first."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit, used = (folder / "memory.max").read_text().strip(), int((folder / "memory.current").read_text())
        cache = [line.split()[1] for line in (folder / "memory.stat").read_text().splitlines() if line[:5] == "file "]
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used + int(cache[0] if cache else 0))
