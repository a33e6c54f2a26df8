"""A short soak: single rows, batches, loads, saves and small fits, with the resident memory after each round.

`python -m load FOLDER ROUNDS` prints one line of JSON: the memory in megabytes after each round, and whether all
answers were those of the first.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

#: Calls of a round.
SINGLE, BATCHES, LOADS, FITS = 1000, 25, 10, 3
N_COLUMNS = 5


def rows(n: int, seed: int = 0) -> np.ndarray:
    """Random rows."""
    return np.random.default_rng(seed).normal(size=(n, N_COLUMNS))


def prepare(folder: Path) -> None:
    """A model of some rows."""
    import mercer

    X = rows(300)
    mercer.fit(X, X[:, 0] * X[:, 1] - X[:, 2], effort="fast", report=False).save(folder / "model.mercer")


def resident() -> float:
    """The resident memory of this process in megabytes, after returning to the system what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def run_round(path: Path, model: Any, X: np.ndarray) -> list:
    """The answers of one round of calls."""
    import mercer
    from mercer.linear import RidgeRegressor

    answers = [model.predict(X[i % len(X)][None])[0] for i in range(SINGLE)]
    answers += [model.predict(X).sum() for _ in range(BATCHES)]
    for _ in range(LOADS):
        again = mercer.load(path)
        again.save(path.with_suffix(".again.mercer"))
        answers.append(again.predict(X[:1])[0])
    answers += [RidgeRegressor().fit(X, X[:, 0]).coef_.sum() for _ in range(10 * FITS)]
    answers += [mercer.fit(X[:60], X[:60, 0], effort="fast", report=False).predict(X[:1])[0] for _ in range(FITS)]
    return answers


def main() -> None:
    """Run the rounds."""
    import mercer

    path, n_rounds = Path(sys.argv[1]) / "model.mercer", int(sys.argv[2])
    model, X = mercer.load(path), rows(400, 1)
    first = run_round(path, model, X)
    memory, same = [resident()], True
    for _ in range(n_rounds):
        same &= run_round(path, model, X) == first
        memory.append(resident())
    print(json.dumps({"memory": memory, "same": same}))


if __name__ == "__main__":
    main()
