"""One thread pool over blocks of rows, with the threads of BLAS limited meanwhile.

Compiled functions and BLAS release the interpreter lock, so threads are enough. Nobody spins: an idle worker
sleeps, and a busy machine costs its share of time and no more.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
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


#: Seconds of work that an item must be for a worker to be woken, which takes about as long.
_WORTH_WAKING = 3e-4

#: Seconds of work that an item of each kind was last time.
_last_time: dict[Any, float] = {}


def ordered_map(function: Callable[[Any], Any], items: Iterable[Any], kind: Any = None) -> Generator[Any, None, None]:
    """Yield `function(item)` for each item, in order, computed on all cores.

    The thread that asks works as well: what no worker has begun when it is needed is done here. Where items were so
    little work when a function of the same `kind` (its code, unless given) was called last that waking a worker would
    take longer, they are all done here, until one is more. At most one item per thread and one more is in flight, so
    memory stays bounded however long `items` is. Inside a worker it runs serially, which makes nesting safe.
    """
    if getattr(_inside, "worker", False):
        yield from map(function, items)
        return
    threads = n_threads()
    with single_threaded_blas():
        if threads == 1:
            yield from map(function, items)
            return
        timed = _Timed(function, kind or getattr(function, "__code__", type(function)))
        rest = iter(items)
        for item in rest:
            if not timed.is_short():
                yield from _shared(timed, chain([item], rest), threads)
                return
            yield timed(item)


def _shared(function, items, threads: int) -> Generator[Any, None, None]:
    waiting: deque[_Shared] = deque()
    try:
        for item in items:
            waiting.append(_Shared(function, item, _pool(threads - 1)))
            if len(waiting) > threads:
                yield _first_of(waiting)
        while waiting:
            yield _first_of(waiting)
    finally:
        for shared in waiting:
            shared.drop()


class _Timed:
    """A function that remembers how long its last call took, for all functions of its kind."""

    def __init__(self, function, kind):
        self.function, self.kind = function, kind

    def is_short(self) -> bool:
        return _last_time.get(self.kind, 1.0) < _WORTH_WAKING

    def __call__(self, item):
        start = time.thread_time()  # that others hold the interpreter meanwhile does not make an item long
        try:
            return self.function(item)
        finally:
            _last_time[self.kind] = time.thread_time() - start


class _Shared:
    """An item for whoever is free first, a worker or the thread that waits for it.

    What is left of it in the queue of the pool once it is done here holds nothing.
    """

    def __init__(self, function, item, pool: ThreadPoolExecutor):
        self._work: tuple | None = (function, item)
        self._future: Future | None = pool.submit(self._done)

    def _done(self) -> Any:
        function, item = self._work  # type: ignore[misc]
        self._work = None
        return _as_worker(function, item)

    @property
    def is_done(self) -> bool:
        return self._future is not None and self._future.done()

    def done_here(self) -> bool:
        """Computes the item on this thread, unless another one has begun to."""
        if self._future is None or not self._future.cancel():
            return False
        self._future = Future()
        self._future.set_result(self._done())
        return True

    def drop(self) -> None:
        """Leave it undone, unless another thread has begun."""
        if self._future is not None and self._future.cancel():
            self._work = self._future = None

    def taken(self) -> Any:
        """The result, which is let go."""
        future, self._future = self._future, None
        return future.result()  # type: ignore[union-attr]


def _first_of(waiting: deque[_Shared]) -> Any:
    """The result of the first item that waits, which is let go; until it is there this thread does others."""
    first = waiting[0]
    if not first.done_here():
        for other in islice(waiting, 1, None):
            if first.is_done:
                break
            other.done_here()
    return waiting.popleft().taken()


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
    before = getattr(_inside, "worker", False)
    _inside.worker = True
    try:
        return function(item)
    finally:
        _inside.worker = before


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
