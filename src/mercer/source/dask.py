"""A Dask cluster as an engine: workers read their own parts and merge states; the client gets the last few states.

Every value is a task with a recipe, also the broadcast function, so whatever dies with a worker is computed again.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from mercer._runtime.errors import DataError, ParameterError
from mercer._runtime.pool import n_threads
from mercer.source.engine import Engine, EngineError, on_one_core
from mercer.source.portions import DelayedChunks
from mercer.source.shipping import Shipped, dumps, loads

#: Packages whose versions must be the same everywhere: other versions may round differently or read other bytes.
PACKAGES = ("python", "mercer", "numpy", "scipy", "pyarrow")
#: Seconds to wait for a result before asking whether the scheduler is alive, and for its answer.
_WAIT_SECONDS, _ANSWER_SECONDS = 5.0, 10.0
#: Seconds without a single worker after which a pass is given up.
_NO_WORKER_SECONDS = 60.0
#: Parts in progress for each thread of the cluster: a worker that is so many times slower does not keep others waiting.
_PARTS_PER_THREAD = 8
#: Neighboring parts that one worker is asked to process: their states are merged first, and need not travel for that.
_NEIGHBORS = 4
#: A call is tried elsewhere as well after so many times the longest one so far, and so many seconds.
_STRAGGLER, _STRAGGLER_SECONDS = 2.0, 5.0
#: Seconds between two looks at which of two calls has ended.
_POLL_SECONDS = 0.02
#: Lets glibc keep memory for the next block of features on workers of this machine. Dask sets thresholds so low that
#: every array is a new mapping, whose pages the kernel clears one by one: 40 % more CPU for a Gram matrix of random
#: features. Only the first arena keeps large arrays, and the threads of workers would have others.
_MALLOC = {"MALLOC_TRIM_THRESHOLD_": 2**30, "MALLOC_MMAP_THRESHOLD_": 2**30, "MALLOC_ARENA_MAX": 1}


@dataclass
class Attempt:
    """A call on the cluster: what was called, its future, when it was started, and a second future if it was slow."""

    call: tuple
    future: Any
    started: float
    other: Any = None


def _is_open(value: Any) -> bool:
    """Whether a value is a call that has not ended."""
    return isinstance(value, Attempt) and bool(value.call) and not value.future.done()


class DaskEngine(Engine):
    """The workers of a `dask.distributed.Client`, which is used as it is: its address, its security, its workers.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any):
        if client.asynchronous:
            remedy = "Create it with asynchronous=False."
            raise ParameterError("engine", client, "must be a client that waits for results", remedy=remedy)
        self.client, self.n_ahead = client, _PARTS_PER_THREAD
        self._without_workers: float | None = None
        #: The addresses of the workers when the pass began, and the parts of it so far.
        self._workers: list[str] = []
        self._n_parts = 0
        #: The longest time from the start to the end of a call so far.
        self._longest = 0.0
        compare_versions(self._versions())

    def broadcast(self, function: Callable[[Any], Any]) -> Any:
        workers = self._asked(self.client.scheduler.identity)["workers"]
        self.n_ahead = _PARTS_PER_THREAD * max(1, sum(worker["nthreads"] for worker in workers.values()))
        self._workers, self._n_parts = [each for each, worker in workers.items() for _ in range(worker["nthreads"])], 0
        return self._submit(Shipped.of, dumps(function))

    def submit(self, function: Any, portion: Any) -> Attempt:
        if not isinstance(portion, DelayedChunks):
            return self._attempt(run_part, function, dumps(portion), **self._beside_neighbors())
        chunks = [self._started(value) for value in portion.chunks]
        return self._attempt(run_chunks, function, dumps(portion._replace(chunks=[])), *chunks)

    def _beside_neighbors(self) -> dict[str, Any]:
        """The worker that the next part is meant for; others may take it if that one is busy or gone."""
        k, self._n_parts = self._n_parts // _NEIGHBORS, self._n_parts + 1
        if not self._workers:
            return {}
        return {"workers": [self._workers[k % len(self._workers)]], "allow_other_workers": True}

    def _attempt(self, *call: Any, **where: Any) -> Attempt:
        return Attempt(call, self._submit(*call, **where), time.monotonic())

    def _again(self, attempt: Attempt, **where: Any) -> Any:
        """The future of a call that is made once more, and of the calls before it that have not ended."""
        function, *args = attempt.call
        args = [Attempt((), self._again(arg, **where), 0.0) if _is_open(arg) else arg for arg in args]
        return self._submit(function, *args, **where)

    def _started(self, value: Any) -> Any:
        with self._explained():
            return self.client.compute(value) if hasattr(value, "__dask_graph__") else value

    def compute(self, value: Any) -> Any:
        future = self._started(value)
        return self._patiently(lambda seconds: future.result(timeout=seconds)) if future is not value else value

    def put(self, state: Any) -> Attempt:
        return self._attempt(Shipped.of, dumps(state))

    def merge(self, first: Attempt, second: Attempt) -> Attempt:
        for each in (first, second):
            each.call = each.call if _is_open(each) else ()  # what has ended needs no recipe here: states are released
        return self._attempt(merge_states, first, second)

    def _submit(self, function: Callable, *args: Any, **where: Any) -> Any:
        import dask

        args = tuple(arg.future if isinstance(arg, Attempt) else arg for arg in args)
        with self._explained(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PB"}):
            return self.client.submit(function, *args, pure=False, **where)

    def wait(self, future: Attempt) -> None:
        error = self._patiently(lambda seconds: self._first_error(future, seconds))
        if isinstance(error, CancelledError):
            raise _lost(self._address, error)
        if error is not None:
            raise _explained_failure(error)
        if future.other is None:
            self._longest = max(self._longest, time.monotonic() - future.started)

    def _first_error(self, attempt: Attempt, seconds: float) -> BaseException | None:
        """The error, or None, of the call that ends first; a call that takes far too long is made elsewhere as well."""
        late = attempt.started + _STRAGGLER * self._longest + _STRAGGLER_SECONDS - time.monotonic()
        if attempt.other is None:
            try:
                return attempt.future.exception(timeout=min(seconds, max(late, 0.1)))
            except TimeoutError:
                if late > seconds:
                    raise
            attempt.other = self._elsewhere(attempt)
        end = time.monotonic() + seconds
        while not attempt.future.done():
            if attempt.other.done():
                attempt.future = attempt.other
            elif time.monotonic() > end:
                raise TimeoutError
            time.sleep(_POLL_SECONDS)
        return attempt.future.exception(timeout=seconds)

    def _elsewhere(self, attempt: Attempt) -> Any:
        """The future of the same call on other workers, if there are any."""
        busy = self._asked(self.client.scheduler.processing)
        others = [worker for worker, keys in busy.items() if attempt.future.key not in keys]
        return self._again(attempt, **({"workers": others, "allow_other_workers": True} if others else {}))

    def result(self, future: Attempt) -> Any:
        self.wait(future)
        return self._patiently(lambda seconds: future.future.result(timeout=seconds)).value

    def _patiently(self, ask: Callable[[float], Any]) -> Any:
        """The answer to a question, however long it takes as long as the cluster is alive."""
        while True:
            with self._explained():
                try:
                    return ask(_WAIT_SECONDS)
                except TimeoutError:
                    pass
            self._refuse_dead()

    def _refuse_dead(self) -> None:
        """Raise an error if the scheduler does not answer, or has had no worker for a while."""
        if self._asked(self.client.scheduler.identity)["workers"]:
            self._without_workers = None
            return
        self._without_workers = self._without_workers or time.monotonic()
        if time.monotonic() - self._without_workers > _NO_WORKER_SECONDS:
            problem = f"The Dask scheduler at {self._address} has had no worker for {_NO_WORKER_SECONDS:.0f} s."
            raise EngineError(problem, remedy=f"Start some with `dask worker {self._address}`, and fit again.")

    def _versions(self) -> dict[str, Any]:
        with self._explained():
            return self.client.get_versions(packages=[name for name in PACKAGES if name != "python"])

    def _asked(self, question: Callable) -> Any:
        with self._explained():
            return self.client.sync(question, callback_timeout=_ANSWER_SECONDS)

    @property
    def _address(self) -> str:
        return getattr(self.client.scheduler, "address", None) or "an unknown address"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn failures of the connection into an error that says what to do."""
        address = self._address
        try:
            yield
        except Exception as error:
            if isinstance(error, (CancelledError, OSError)) or self.client.status != "running":
                raise _lost(address, error) from error
            raise


def compare_versions(versions: Mapping[str, Any]) -> None:
    """Refuse workers whose Python or packages are not those of this process."""
    here = _known(versions["client"])
    for address, found in sorted(versions["workers"].items()):
        there = _known(found)
        wrong = [
            f"{name} {there[name] or 'missing'}, not {here[name]}" for name in PACKAGES if there[name] != here[name]
        ]
        if wrong:
            problem = f"The Dask worker at {address} has other versions than this process: {'; '.join(wrong)}."
            remedy = "Results would not be the same on every machine: install the same versions on all workers."
            raise EngineError(problem, remedy=remedy)


def _known(found: Any) -> dict[str, str | None]:
    """The versions of `PACKAGES`; of Python the first two numbers, with which functions can be sent."""
    packages = found["packages"] if isinstance(found, Mapping) else {}
    known = {name: packages.get(name) for name in PACKAGES}
    return known | {"python": None if known["python"] is None else ".".join(known["python"].split(".")[:2])}


def run_part(function: Shipped, portion: bytes) -> Shipped:
    """The state of a portion, on a worker."""
    try:
        return Shipped(on_one_core(function.value, loads(portion)))
    except OSError as error:
        remedy = (
            "Every worker needs the files at their paths: use a folder that all machines share, or an object store. "
            "Text files are first converted to a temporary file of this machine: convert them to Parquet."
        )
        raise DataError(f"The worker on {socket.gethostname()} cannot read its rows: {error}", remedy=remedy) from error


def run_chunks(function: Shipped, portion: bytes, *chunks: Any) -> Shipped:
    """The state of chunks of a Dask collection, on a worker; values that come from others are copied, aligned."""
    here = [loads(dumps(chunk)) for chunk in chunks]
    return Shipped(on_one_core(function.value, loads(portion)._replace(chunks=here)))


def merge_states(first: Shipped, second: Shipped) -> Shipped:
    """The merged states of two subtrees, on a worker."""
    return Shipped(first.value.merge(second.value))


def _lost(address: str, error: Exception) -> EngineError:
    why = (str(error) or type(error).__name__).splitlines()[0]
    remedy = "Is it running? Start it again with its workers, and fit again."
    return EngineError(f"The connection to the Dask scheduler at {address} was lost: {why}", remedy=remedy)


def _explained_failure(error: BaseException) -> BaseException:
    if type(error).__name__ != "KilledWorker":
        return error
    problem = f"Workers died while they processed the same part: {str(error).splitlines()[0]}"
    return EngineError(problem, remedy="They may have run out of memory: use workers with more of it or fewer threads.")


@contextmanager
def lean_workers() -> Iterator[None]:
    """Let workers that are started in this block reuse the memory of their arrays, and do without Dask's profiler.

    The profiler looks at every thread a hundred times a second, for a dashboard that nobody opens: 5 % of the CPU.
    """
    import dask

    environment = "distributed.nanny.pre-spawn-environ"
    before = dask.config.get(environment, {})
    with dask.config.set({environment: {**before, **_MALLOC}, "distributed.worker.profile.enabled": False}):
        yield


@contextmanager
def dask_engine(address: str | None = None) -> Iterator[DaskEngine]:
    """An engine on the scheduler at an address, or on a cluster of processes on this machine that ends with it."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise EngineError("Dask is not installed:", remedy='pip install "mercer[dask]".') from error
    with ExitStack() as stack:
        if address is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mercer-", ignore_cleanup_errors=True))
            with lean_workers():
                cluster: Any = LocalCluster(
                    n_workers=n_threads(),
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    local_directory=folder,
                )
            stack.enter_context(cluster)
        try:
            client = Client(address or cluster, timeout=_ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            remedy = "Start one with `dask scheduler`, or leave the address out for a cluster on this machine."
            if isinstance(error, TypeError):  # the message of Dask is about its own code
                remedy = "Name the certificates of tls:// in the configuration of Dask, distributed.comm.tls."
            raise EngineError(f"No Dask scheduler answers at {address} ({error}).", remedy=remedy) from error
        yield DaskEngine(stack.enter_context(client))
