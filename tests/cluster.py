"""A Dask scheduler and Dask workers as processes of their own on 127.0.0.1, and a guard against tests that hang."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

START_SECONDS = 120


class Cluster:
    """Starts processes in a folder; `stop` ends them all."""

    def __init__(self, folder: Path, *tls: str, security=None):
        """`tls` are options of `dask scheduler` and `dask worker`; `security` is that of the client."""
        self.folder, self.processes, self.workers, self.tls = folder, [], [], tls
        self.file = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self._start("scheduler", *options)
        wait_until(self.file.exists, self.scheduler)
        options = {"set_as_default": False, "timeout": START_SECONDS, "security": security}
        self.client = Client(scheduler_file=str(self.file), **options)

    @property
    def address(self) -> str:
        return self.client.scheduler.address

    def start_worker(self, **environment: str) -> subprocess.Popen:
        """Start one worker of one thread; it need not have connected yet."""
        options = ["--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        files = ["--scheduler-file", str(self.file), "--local-directory", str(self.folder)]
        self.workers.append(self._start("worker", *options, *files, **environment))
        return self.workers[-1]

    def wait_for_workers(self, n: int) -> None:
        self.client.wait_for_workers(n, timeout=START_SECONDS)

    def kill_worker(self, index: int = 0) -> None:
        """Kill a worker with SIGKILL: it cannot say goodbye."""
        worker = self.workers.pop(index)
        worker.kill()
        worker.wait(START_SECONDS)

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
        self.client.close(timeout=10)
        for process in self.processes:
            process.kill()
            process.wait(START_SECONDS)

    def _start(self, kind: str, *options: str, **environment: str) -> subprocess.Popen:
        with open(self.folder / f"{kind}-{len(self.processes)}.log", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", kind, *options, *self.tls],
                stdout=log,
                stderr=log,
                env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(self.folder), **environment},
                cwd=self.folder,
            )
        self.processes.append(process)
        return process


@contextmanager
def running(folder: Path, n_workers: int = 1, *tls: str, security=None, **environment: str):
    """A cluster of that many workers, which share the given environment variables; its processes end with the block."""
    cluster = Cluster(folder, *tls, security=security)
    try:
        for _ in range(n_workers):
            cluster.start_worker(**environment)
        cluster.wait_for_workers(n_workers)
        yield cluster
    finally:
        cluster.stop()


def small_blocks(monkeypatch, rows: int, part_rows: int) -> None:
    """Blocks and parts of few rows. Workers need not know: the positions of blocks come with the part."""
    for module in ("accumulator", "base", "files", "delayed"):
        monkeypatch.setattr(f"mercer.source.{module}.BLOCK_ROWS", rows)
        monkeypatch.setattr(f"mercer.source.{module}.PART_ROWS", part_rows)


def wait_until(condition, process, seconds=START_SECONDS):
    """Wait for a condition while a process is alive."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process has ended"
        assert time.monotonic() < end, "the process does not start"
        time.sleep(0.05)


def guarded(function, seconds=240):
    """`function()` in a thread: its result or error, or a failure instead of a test that hangs."""
    found: dict = {}

    def run():
        try:
            found["value"] = function()
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"not done after {seconds} s"
    if "error" in found:
        raise found["error"]
    return found["value"]
