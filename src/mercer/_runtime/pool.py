"""One thread pool over blocks of rows, with BLAS limited to one thread meanwhile.

Compiled functions and BLAS release the interpreter lock, so threads suffice. Idle workers sleep instead of spinning.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from itertools import chain, islice
from typing import Any

from mercer._runtime.blas import single_threaded_blas

_thread_state = threading.local()


def n_threads() -> int:
    """Return the number of threads: the environment variable MERCER_THREADS, or the cores of this process."""
    requested = os.environ.get("MERCER_THREADS", "")
    if requested:
        if not requested.isdigit() or int(requested) < 1:
            raise ValueError(f"MERCER_THREADS must be a positive whole number, not {requested!r}.")
        return int(requested)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


#: Shortest CPU time in seconds of an item given to a worker: waking one takes about as long.
_MIN_TASK_SECONDS = 3e-4

#: CPU time in seconds of the last item of each kind.
_last_seconds: dict[Any, float] = {}


def ordered_map(function: Callable[[Any], Any], items: Iterable[Any], kind: Any = None) -> Generator[Any, None, None]:
    """Yield `function(item)` for each item, in order, computed on all cores.

    The calling thread works as well: it computes items that no worker has started when they are needed. If the last
    item of the same `kind` (by default, the code of the function) took less time than waking a worker, items are
    computed serially until one takes longer. At most one item per thread plus one is in flight, so memory stays
    bounded for any length of `items`. Inside a worker the map runs serially, which makes nesting safe.
    """
    if getattr(_thread_state, "is_worker", False):
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
                yield from _parallel_map(timed, chain([item], rest), threads)
                return
            yield timed(item)


def _parallel_map(function: Callable[[Any], Any], items: Iterable[Any], threads: int) -> Generator[Any, None, None]:
    pending: deque[_Task] = deque()
    try:
        for item in items:
            pending.append(_Task(function, item, _pool(threads - 1)))
            if len(pending) > threads:
                yield _first_result(pending)
        while pending:
            yield _first_result(pending)
    finally:
        for task in pending:
            task.cancel()


class _Timed:
    """A function that records the CPU time of its last call for all functions of its kind."""

    def __init__(self, function: Callable[[Any], Any], kind: Any):
        self.function, self.kind = function, kind

    def is_short(self) -> bool:
        return _last_seconds.get(self.kind, 1.0) < _MIN_TASK_SECONDS

    def __call__(self, item: Any) -> Any:
        start = time.thread_time()  # waiting for the interpreter lock does not count
        try:
            return self.function(item)
        finally:
            _last_seconds[self.kind] = time.thread_time() - start


class _Task:
    """An item computed by a worker or by the thread that waits for it, whichever is free first.

    Once computed here, the entry left in the queue of the pool holds no reference to the function or the item.
    """

    def __init__(self, function: Callable[[Any], Any], item: Any, pool: ThreadPoolExecutor):
        # The item is computed in the context of the caller: what NumPy does about overflow, for example.
        self._work: tuple | None = (copy_context(), function, item)
        self._canceled = False
        self._future: Future | None = pool.submit(self._run)

    def _run(self) -> Any:
        context, function, item = self._work  # type: ignore[misc]
        self._work = None
        before, _thread_state.task = getattr(_thread_state, "task", None), self
        try:
            return context.run(as_worker, function, item)
        finally:
            _thread_state.task = before

    def raise_if_canceled(self) -> None:
        if self._canceled:
            raise CancelledError

    @property
    def is_done(self) -> bool:
        return self._future is not None and self._future.done()

    def run_here(self) -> bool:
        """Compute the item on this thread unless another one has started; return whether it was computed here."""
        if self._future is None or not self._future.cancel():
            return False
        self._future = Future()
        try:
            self._future.set_result(self._run())
        except Exception as error:  # raised in its turn: an earlier item may fail as well
            self._future.set_exception(error)
        return True

    def cancel(self) -> None:
        """Cancel the item; a thread that has started it ends at its next call of `raise_if_canceled`."""
        self._canceled = True
        if self._future is not None and self._future.cancel():
            self._work = self._future = None

    def result(self) -> Any:
        """Wait for the result, return it and release the reference to it."""
        future, self._future = self._future, None
        return future.result()  # type: ignore[union-attr]


def raise_if_canceled() -> None:
    """End the task of this thread if its result is not wanted any more; long compiled loops call this now and then."""
    task: _Task | None = getattr(_thread_state, "task", None)
    if task is not None:
        task.raise_if_canceled()


def _first_result(pending: deque[_Task]) -> Any:
    """Remove the first task and return its result; while a worker computes it, this thread computes later ones."""
    first = pending[0]
    if not first.run_here():
        for other in islice(pending, 1, None):
            if first.is_done:
                break
            other.run_here()
    return pending.popleft().result()


def for_each(function: Callable[[Any], Any], items: Iterable[Any]) -> None:
    """Call `function(item)` for each item on all cores, for its side effects."""
    deque(ordered_map(function, items), maxlen=0)


def as_worker(function: Callable[[Any], Any], item: Any) -> Any:
    """`function(item)` as on a worker of the pool: maps inside run serially."""
    before = getattr(_thread_state, "is_worker", False)
    _thread_state.is_worker = True
    try:
        return function(item)
    finally:
        _thread_state.is_worker = before


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="mercer")


def _forget_pool_after_fork() -> None:
    _pool.cache_clear()
    single_threaded_blas().forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool_after_fork)
