"""Time and memory of `mercer.fit` against `time_budget=` and `memory=`, on tables that once exceeded them.

Each fit runs in its own process. The growth is the largest resident size minus that before the fit, after all imports,
a small fit and the making of the table; of a time budget, at most 1.25 budgets plus two seconds should pass. A busy
core, if asked for, is a process that spins. MERCER_BENCH_SIZE=0.1 makes a tenth of the rows or columns.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mercer
from benchmarks.harness import size, table

SIZE = float(os.environ.get("MERCER_BENCH_SIZE", size("1", "0.001")))


def sized(n: int) -> int:
    return max(int(n * SIZE), 100)


def many_classes(seed: int = 0) -> dict[str, Any]:
    """Prices as classes: 20,640 rows of eight columns and thousands of values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sized(20_640), 8))
    price = np.round(np.exp(12 + 0.3 * X[:, 0] + 0.1 * np.sin(X[:, 1]) + 0.2 * rng.normal(size=len(X))), -2)
    return {f"x{j}": x for j, x in enumerate(X.T)} | {"y": price.astype(int)}


def categories(seed: int = 0) -> dict[str, Any]:
    """300 columns of categories, of two to two thousand levels."""
    rng = np.random.default_rng(seed)
    n = sized(20_000)
    levels = np.geomspace(2, 2000, 300).astype(int)
    codes = np.stack([rng.integers(0, k, n) for k in levels], axis=1)
    y = 2.0 * (codes[:, 0] == 1) + np.sin(codes[:, 150]) + 0.3 * rng.normal(size=n)
    return {f"c{j}": np.char.add("v", codes[:, j].astype(str)).astype(object) for j in range(300)} | {"y": y}


def many_columns(seed: int = 0, p: int = 100_000) -> dict[str, Any]:
    """2,000 rows of 100,000 columns, ten of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(size=(2000, sized(p)), dtype=np.float32)
    return {"X": X, "y": X[:, :10].sum(axis=1) + 0.5 * rng.normal(size=2000)}


def texts(seed: int = 0) -> dict[str, Any]:
    """A million short texts of two classes."""
    rng = np.random.default_rng(seed)
    n = sized(1_000_000)
    words = np.array([f"word{i}" for i in range(20_000)])
    drawn = np.minimum(rng.zipf(1.3, size=(n, 6)) - 1, len(words) - 1)
    y = (drawn % 7 == 3).sum(axis=1) + rng.normal(size=n) > 1
    return {"text": [" ".join(row) for row in words[drawn]], "y": np.where(y, "yes", "no")}


def many_rows(seed: int = 0) -> dict[str, Any]:
    """327,000 rows of 30 columns with a weak linear part, products and interactions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sized(327_000), 30))
    y = X @ np.linspace(0.2, 0.0, 30) + 0.5 * X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 2 * rng.normal(size=len(X))
    columns = {f"x{j}": x for j, x in enumerate(X.T)}
    return columns | {"city": rng.choice(list("abcdefgh"), len(X)).astype(object), "y": y}


class Case(NamedTuple):
    make: Callable[[], dict[str, Any]]
    options: dict[str, Any]
    busy: bool = False


CASES = {
    "thousands of classes, no yes": Case(many_classes, {"task": "classification", "memory": 4}),
    "thousands of classes": Case(many_classes, {"task": "classification", "memory": 4, "max_classes": 10_000}),
    "thousands of classes, 30 s": Case(
        many_classes, {"task": "classification", "memory": 4, "max_classes": 10_000, "time_budget": 30}
    ),
    "300 columns of categories": Case(categories, {"memory": 2, "time_budget": 60}),
    "300 columns of categories, 5 s": Case(categories, {"memory": 2, "time_budget": 5}),
    "10,000 columns": Case(lambda: many_columns(p=10_000), {"memory": 4, "time_budget": 60}),
    "100,000 columns": Case(many_columns, {"memory": 4, "time_budget": 60}),
    "10^6 short texts": Case(texts, {"memory": 3, "time_budget": 60}),
    "327,000 rows": Case(many_rows, {"time_budget": 10}),
    "327,000 rows, one core busy": Case(many_rows, {"time_budget": 10}, busy=True),
    "327,000 rows, 30 s": Case(many_rows, {"time_budget": 30}),
}


def run(*words: str) -> None:
    """Measure all cases, or those whose name contains one of the words."""
    rows, words = [], words or size((), ("one core busy",))
    for name, case in CASES.items():
        if words and not any(word in name for word in words):
            continue
        spinning = multiprocessing.Process(target=_spin, daemon=True) if case.busy else None
        if spinning:
            spinning.start()
        found = measured(name)
        if spinning:
            spinning.kill()
        budget, limit = (str(case.options.get(key, "")) for key in ("time_budget", "memory"))
        costs = f"{found['seconds']:8.1f} {budget:>7s} {found['cpu']:7.1f} {found['growth']:7.2f} {limit:>7s}"
        print(f"{name:32s} {costs} {found['score']:>7s}  {found['notes']}", flush=True)
        measured_here = [round(found[key], 2) for key in ("seconds", "cpu", "growth")]
        rows.append([name, budget, limit, *measured_here, found["score"]])
    columns = ["case", "time_budget=, s", "memory=, GB", "wall s", "CPU s", "growth, GB", "score"]
    table("fits of tables that once exceeded their limits", columns, rows)


def _spin() -> None:
    while True:
        pass


def measured(name: str) -> dict[str, Any]:
    """Seconds, CPU seconds, gigabytes of growth, the score and the notes of a case in a separate process."""
    command = [sys.executable, "-m", "benchmarks.resource_limits", name]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def fitted(name: str) -> dict[str, Any]:
    """Fit the model of a case in this process."""
    case = CASES[name]
    data = case.make()
    X, y = (data["X"], data["y"]) if "X" in data else (data, "y")
    mercer.fit(np.random.default_rng(0).normal(size=(300, 4)), np.arange(300) % 2, effort="fast")
    before, start, cpu = _resident(), time.perf_counter(), time.process_time()
    score, notes = "", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = mercer.fit(X, y, **case.options)
        report = model.report()
        score, notes = f"{report['holdout']['model']['value']:.3f}", " ".join(map(str, report["notes"]))
    except ValueError as error:
        score, notes = "refused", str(error)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "growth": _resident() - before,
        "memory": case.options.get("memory"),
        "score": score,
        "notes": notes,
    }


def _resident() -> float:
    """The largest resident size so far in gigabytes; macOS counts bytes, Linux kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


if __name__ == "__main__":
    print(json.dumps(fitted(sys.argv[1])))
