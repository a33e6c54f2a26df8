"""Every public estimator, and `mercer.fit`, on two threads while another process occupies a core, against one thread.

Each fit runs in a process of its own, on so many rows that it takes about MERCER_BENCH_SECONDS (0.5) on one thread. The
columns are the seconds on one thread with free cores, those on two threads with a core taken, their ratio (at most 1.3
is the aim), and the ratio of CPU seconds of two threads to one (at most 1.15): threads that spin while they wait cost
CPU time, also on a machine on which the clock tells nothing. `python -m benchmarks.busy_machine cpu` measures only the
latter, in one process.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

import mercer
from benchmarks.harness import size
from benchmarks.harness import table as table_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
SECONDS = float(os.environ.get("MERCER_BENCH_SECONDS", size("0.5", "0.001")))
MAX_ROWS = 400_000
FITS = ("mercer.fit, regression", "mercer.fit, classes", "mercer.fit, texts")


class Cost(NamedTuple):
    seconds: float
    cpu: float


def estimators() -> dict[str, Any]:
    """The estimators of the contract tables, by their representations."""
    from contracts import test_estimator_contract, test_machine_contract, test_normalize_contract

    tables = (
        test_estimator_contract.TABLE,
        test_estimator_contract.ITERATED,
        test_normalize_contract.NUMERIC,
        test_machine_contract.TABLE,
    )
    return {" ".join(str(each).split()): each for table in tables for each in table}


def rows(estimator: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    from mercer.kernels import Gaussian, Precomputed

    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(n, 12 if type(estimator).__name__ == "BestSubset" else 24)))
    y = X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    if isinstance(getattr(estimator, "kernel", None), Precomputed):
        X = Gaussian(3.0)(X)
    return X, np.where(y > -0.5, "high", "low") if is_classifier(estimator) else y


def table(name: str, n: int) -> dict[str, Any]:
    """Columns and a target for `mercer.fit`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    if name == FITS[2]:
        words = np.array([f"word{i}" for i in range(500)])
        texts = [" ".join(row) for row in words[rng.integers(0, 500, (n, 15))]]
        return {
            "text": [f"{text} {'good' if s > 0 else 'bad'}" for text, s in zip(texts, score, strict=True)],
            "y": score > 0,
        }
    columns = {f"x{j}": x for j, x in enumerate(X.T)}
    return columns | {"y": score if name == FITS[0] else np.digitize(score, [-1, 0, 1])}


def cost(name: str, n: int, threads: int) -> Cost:
    """The cost of a fit and of what it makes of its rows, after a small fit for whatever is loaded at first use."""
    os.environ["MERCER_THREADS"] = str(threads)
    warnings.simplefilter("ignore")
    if name in FITS:
        small, data = table(name, 300), table(name, n)
        mercer.fit(small, "y", effort="fast", report=False)
        start = time.perf_counter(), time.process_time()
        mercer.fit(data, "y", effort="fast", report=False).predict(data)
    else:
        estimator = estimators()[name]
        _use(clone(estimator), *rows(estimator, 300))
        data = rows(estimator, n)
        start = time.perf_counter(), time.process_time()
        _use(clone(estimator), *data)
    return Cost(time.perf_counter() - start[0], time.process_time() - start[1])


def _use(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    model.fit(X, y)
    getattr(model, "transform" if hasattr(model, "transform") else "predict")(X)


def enough_rows(name: str) -> int:
    """The number of rows that take about SECONDS of CPU time on one thread."""
    n, seconds = 500, cost(name, 500, 1).cpu
    while seconds < SECONDS / 2 and n < MAX_ROWS:
        n = min(int(n * np.clip(SECONDS / max(seconds, 1e-3), 1.5, 4.0)), MAX_ROWS)
        seconds = cost(name, n, 1).cpu
    return n


def run(*words: str) -> None:
    """Measure all estimators and fits, or those whose name contains one of the words."""
    found, words = [], words or size((), ("Standardize()",))
    for name in [*estimators(), *FITS]:
        if words and not any(word in name for word in words):
            continue
        n = int(_child("rows", name))
        one = Cost(*json.loads(_child("cost", name, n, 1)))
        spinning = multiprocessing.Process(target=_spin, daemon=True)
        spinning.start()
        two = Cost(*json.loads(_child("cost", name, n, 2)))
        spinning.kill()
        ratios = f"{two.seconds / one.seconds:6.2f} {two.cpu / one.cpu:6.2f}"
        print(f"{n:8d} {one.seconds:9.2f} {two.seconds:9.2f} {ratios}  {name[:90]}", flush=True)
        found.append((name, n, two.seconds / one.seconds, two.cpu / one.cpu))
    if found:
        _summary(found)


def _summary(found: list[tuple[str, int, float, float]]) -> None:
    """The largest ratios, and how many are within the aims."""
    wall, cpu = np.array([row[2:] for row in found]).T
    title = f"{len(found)} fits on two threads beside a busy core, relative to one thread: at most 1.3 x the time in "
    title += f"{np.sum(wall <= 1.3)}, at most 1.15 x the CPU in {np.sum(cpu <= 1.15)}; the largest"
    worst = sorted(found, key=lambda row: -row[2])[:10]
    table_of(title, ["fit", "rows", "ratio of wall", "ratio of CPU"], [[row[0][:60], *row[1:]] for row in worst])


def compare_cpu() -> None:
    """Print the ratios of CPU seconds of two threads and one: the least of five, as clearing of pages varies."""
    for name in [*estimators(), *FITS]:
        n = enough_rows(name)
        one, two = (min(cost(name, n, threads).cpu for _ in range(5)) for threads in (1, 2))
        print(f"{n:8d} {one:9.3f} {two:9.3f} {two / one:6.2f}  {name[:90]}", flush=True)


def _child(*arguments: Any) -> str:
    command = [sys.executable, "-m", "benchmarks.busy_machine", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]


def _spin() -> None:
    """Occupy the last core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    while True:
        pass


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["cpu"]:
            compare_cpu()
        case ["rows", name]:
            print(enough_rows(name))
        case ["cost", name, n, threads]:
            print(json.dumps(cost(name, int(n), int(threads))))
