"""Engines: where the parts of a source are processed.

A fold asks three things of an engine: run a function on a part, give the state back, and merge two states. Parts and
the order of merges depend on the data alone, so the result has the same bits on every engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from functools import cache, lru_cache
from typing import Any

from mercer._runtime.blas import limit_blas_forever
from mercer._runtime.errors import MercerError, ParameterError, RowError
from mercer._runtime.pool import as_worker, n_threads
from mercer.source.accumulator import Accumulator
from mercer.source.portions import PartFold, PartRows, computed
from mercer.source.progress import report_progress
from mercer.source.recording import FoldRecord
from mercer.source.shipping import dumps, loads

#: Fraction of the portions in progress where their rows come back, which take more memory than states.
_ROWS_AHEAD = 0.25


class EngineError(MercerError):
    """A cluster or a pool of processes that cannot go on."""


class Engine(ABC):
    """Runs a function of portions (see `mercer.source.portions`) elsewhere."""

    #: Left out of what is sent to workers.
    stays_here = True
    #: Portions in progress at a time.
    n_ahead: int

    @abstractmethod
    def broadcast(self, function: Callable[[Any], Any]) -> Any:
        """Send the function of a pass, once; the handle is the first argument of `submit`."""

    @abstractmethod
    def submit(self, function: Any, portion: Any) -> Any:
        """Start a broadcast function on a portion; return a future."""

    @abstractmethod
    def put(self, state: Any) -> Any:
        """The future of a state that is known here."""

    @abstractmethod
    def merge(self, first: Any, second: Any) -> Any:
        """The future of the merged states of two futures."""

    @abstractmethod
    def wait(self, future: Any) -> None:
        """Wait until a future is done; raise the error of its function."""

    @abstractmethod
    def result(self, future: Any) -> Any:
        """The value of a future."""

    def compute(self, value: Any) -> Any:
        """The value of a delayed value, in this process."""
        return computed(value)

    def map(self, function: Callable[[Any], Any], portions: Iterable[Any]) -> list[Any]:
        """The values of a function of portions, in order."""
        handle = self.broadcast(function)
        futures = [self.submit(handle, portion) for portion in portions]
        for future in futures:
            self.wait(future)
        return [self.result(future) for future in futures]


class _RemoteState:
    """The state of a subtree, wherever it is; merges like the state itself."""

    def __init__(self, engine: Engine, future: Any):
        self.engine, self.future = engine, future

    def merge(self, other: _RemoteState) -> _RemoteState:
        return _RemoteState(self.engine, self.engine.merge(self.future, other.future))

    def result(self) -> Any:
        return self.engine.result(self.future)


def accumulate_on(engine: Engine, source: Any, statistic: Any, record: FoldRecord) -> Accumulator:
    """The statistic of all rows of a source, its parts folded on an engine."""
    root, maps = source.origin()
    total, remote = Accumulator(statistic), Accumulator(None)
    done, known = record.restored()
    remote.subtrees = [(level, _RemoteState(engine, engine.put(state))) for level, state in known]
    for rows, future in _in_order(engine, PartFold(root.reader(), maps, statistic), root, done):
        remote.push(_RemoteState(engine, future), rows)
        done += rows
        report_progress(done, source.n_rows)
        if remote.part_rows == 0:
            record.part_done(done, remote.subtrees)
    remote.close()
    record.finished(done, remote.subtrees)
    total.subtrees = [(level, state.result()) for level, state in remote.subtrees]
    return total


def blocks_on(engine: Engine, source: Any) -> Iterator[Any]:
    """The mapped blocks of a source in order, computed on an engine."""
    root, maps = source.origin()
    for _, future in _in_order(engine, PartRows(root.reader(), maps), root, ahead=_ROWS_AHEAD):
        yield from engine.result(future)


def remaining(parts: Iterable[tuple[int, Any]], done: int) -> Iterator[tuple[int, Any]]:
    """The (rows, part) that follow the first `done` rows.

    >>> list(remaining([(2, "a"), (2, "b"), (1, "c")], 4))
    [(1, 'c')]
    """
    for rows, part in parts:
        if done > 0:
            done -= rows
        else:
            yield rows, part


def _in_order(
    engine: Engine, function: Callable[[Any], Any], root: Any, done: int = 0, ahead: float = 1.0
) -> Iterator[tuple[int, Any]]:
    """(rows, future) of each portion when it is done, in order; at most `ahead * n_ahead` more are in progress."""
    handle, pending = engine.broadcast(function), deque[tuple[int, Any]]()

    def first() -> tuple[int, Any]:
        rows, future = pending.popleft()
        try:
            engine.wait(future)
        except RowError as error:
            raise error.located(root.locate) from error
        return rows, future

    for rows, portion in remaining(root.portions(), done):
        pending.append((rows, engine.submit(handle, portion)))
        if len(pending) > ahead * engine.n_ahead:
            yield first()
    while pending:
        yield first()


class ExecutorEngine(Engine):
    """Any executor of `concurrent.futures`; states are merged by the calling process.

    Use it to set `n_ahead`; otherwise give the executor itself as ``engine=``. Prefer Dask for several machines, where
    workers merge states as well.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    n_ahead : number of parts in progress at a time, default=None
        None is two for each core of this machine.
    """

    def __init__(self, executor: Executor, n_ahead: int | None = None):
        self.executor = executor
        self.n_ahead = 2 * n_threads() if n_ahead is None else n_ahead

    def broadcast(self, function: Callable[[Any], Any]) -> bytes:
        return dumps(function)

    def submit(self, function: bytes, portion: Any) -> Any:
        try:
            return [self.executor.submit(run_shipped, function, dumps(portion))]
        except RuntimeError as error:  # the pool is broken or was shut down
            raise _broken(error) from error

    def put(self, state: Any) -> list:
        return [state]

    def merge(self, first: list, second: list) -> list:
        return [first[0].merge(second[0])]

    def wait(self, future: list) -> None:
        try:
            future[0] = loads(future[0].result())
        except BrokenExecutor as error:
            raise _broken(error) from error

    def result(self, future: list) -> Any:
        return future[0]


def _broken(error: Exception) -> EngineError:
    remedy = "A worker may have run out of memory: use fewer workers, or restart the executor and fit again."
    return EngineError(f"The executor stopped working ({error}).", remedy=remedy)


def run_shipped(function: bytes, portion: bytes) -> bytes:
    """A shipped function applied to a shipped portion, on one core."""
    return dumps(on_one_core(_loaded(function), loads(portion)))


def on_one_core(function: Callable[[Any], Any], item: Any) -> Any:
    """`function(item)` without threads of its own, as on a thread of the pool."""
    _prepare_process()
    return as_worker(function, item)


@lru_cache(maxsize=2)
def _loaded(function: bytes) -> Callable[[Any], Any]:
    return loads(function)


@cache
def _prepare_process() -> None:
    limit_blas_forever()


def as_engine(engine: Any) -> Engine | None:
    """An engine from None or "threads" (the threads of this process), an executor, a Dask client, or an engine.

    Use it to give one engine to code of your own that folds sources. Estimators and `read` take an executor or a client
    directly, so calling it is rarely necessary.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from mercer import as_engine
    >>> with ThreadPoolExecutor(2) as executor:
    ...     print(type(as_engine(executor)).__name__)
    ExecutorEngine
    """
    if engine is None or isinstance(engine, Engine):
        return engine
    if isinstance(engine, str) and engine == "threads":
        return None
    if isinstance(engine, Executor):
        return ExecutorEngine(engine)
    if type(engine).__module__.split(".")[0] == "distributed" and hasattr(engine, "scatter"):
        from mercer.source.dask import DaskEngine

        return DaskEngine(engine)
    remedy = 'Give "threads", an executor of concurrent.futures, or a dask.distributed.Client.'
    raise ParameterError("engine", engine, "must be an engine", remedy=remedy)
