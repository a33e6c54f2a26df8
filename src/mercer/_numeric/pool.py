"""One thread pool over blocks of rows, with the threads of BLAS limited meanwhile.

Compiled functions and BLAS release the interpreter lock, so threads are enough. Nobody spins: an idle worker
sleeps, and a busy machine costs its share of time and no more.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

_inside = threading.local()


def n_threads() -> int:
    """Threads to use: the environment variable MERCER_THREADS, or the cores this process may run on."""
    asked = os.environ.get("MERCER_THREADS", "")
    if asked:
        if not asked.isdigit() or int(asked) < 1:
            raise ValueError(f"MERCER_THREADS must be a positive whole number, not {asked!r}.")
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(function: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any, None, None]:
    """Yield `function(item)` for each item, in order, computed on all cores.

    At most one item per thread and one more is in flight, so memory stays bounded however long `items` is.
    Called from inside a worker it runs serially, which makes nesting safe.
    """
    if getattr(_inside, "worker", False):
        yield from map(function, items)
        return
    threads = n_threads()
    with single_threaded_blas():
        if threads == 1:
            yield from map(function, items)
            return
        waiting: deque = deque()
        try:
            for item in items:
                waiting.append(_pool(threads).submit(_as_worker, function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def for_each(function: Callable[[Any], Any], items: Iterable[Any]) -> None:
    """Call `function(item)` for each item on all cores, for its effect."""
    deque(ordered_map(function, items), maxlen=0)


@contextmanager
def single_threaded_blas():
    """Limit BLAS to one thread.

    threadpoolctl lets one Python thread at a time command the BLAS of the process, so each entry restores on the
    thread that limited; an entry on another thread meanwhile is left without effect.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


def _as_worker(function, item):
    _inside.worker = True
    return function(item)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="mercer")


@cache
def _controller():
    # SciPy ships its own BLAS: it must be loaded before the libraries are counted, or it stays unlimited.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _forget_pool_after_fork():
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool_after_fork)
