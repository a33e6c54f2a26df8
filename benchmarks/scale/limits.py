"""A limit of the resident size that the kernel enforces: a memory control group, or RLIMIT_DATA without one."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Where control groups are mounted, and the file of the limit: version 1, then version 2.
_GROUPS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))


@contextmanager
def enforced(gigabytes: float | None) -> Iterator[tuple[str, Callable[[], None] | None]]:
    """The name of the limit, and what the child process calls to put itself under it; it is killed beyond the limit.

    A control group counts resident memory, shared with the page cache, which gives way. RLIMIT_DATA, for machines
    where none can be made, counts all private writable memory, also what allocators reserve and never use.
    """
    if gigabytes is None:
        yield "no limit", None
        return
    size = int(gigabytes * 1e9)
    group = _group(size)
    if group is None:
        yield "RLIMIT_DATA", lambda: resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        return

    def join() -> None:
        with open(os.path.join(group, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))

    try:
        yield "control group", join
    finally:
        os.rmdir(group)


def _group(size: int) -> str | None:
    """A new memory control group with that limit, or None where this process may not make one."""
    for root, name in _GROUPS:
        group = os.path.join(root, f"mercer-{os.getpid()}")
        if not os.path.exists(os.path.join(root, "cgroup.procs")):
            continue
        try:
            os.mkdir(group)
            with open(os.path.join(group, name), "w") as file:
                file.write(str(size))
            return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None
