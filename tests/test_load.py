"""One model used by many threads and processes at once, and for long: the same answers, and no growth."""

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import load
import mercer
from estimates import LONG

N_CALLS = 40 if LONG else 4
N_ROUNDS = 20 if LONG else 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("load")
    load.prepare(folder)
    return folder


def answers(path, seed):
    """Bits of predictions, of single rows and of batches, by a model of its own."""
    return answers_of(mercer.load(path), seed)


def answers_of(model, seed):
    X = load.rows(64, seed)
    found = [model.predict(X[:1]), model.predict(X), model.predict(X[::-1])[::-1], model.transform(X).sum(axis=1)]
    return b"".join(np.ascontiguousarray(each).tobytes() for each in found)


def test_fifty_threads_share_a_model(folder, record_property):
    record_property("cases", 50 * N_CALLS)
    model = mercer.load(folder / "model.mercer")
    expected = [answers(folder / "model.mercer", seed) for seed in range(5)]
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(lambda i: answers_of(model, i % 5), range(50 * N_CALLS)))
    assert found == [expected[i % 5] for i in range(50 * N_CALLS)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_eight_processes_share_a_file(folder, method, record_property):
    n_processes = 8 if LONG else 2
    record_property("cases", n_processes * N_CALLS)
    path = folder / "model.mercer"
    expected = [answers(path, seed) for seed in range(5)]
    code = "import sys, test_load; print(test_load.with_processes(*sys.argv[1:]))"
    command = [sys.executable, "-W", "ignore", "-c", code, str(path), method, str(n_processes)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == repr([expected[i % 5].hex() for i in range(n_processes * N_CALLS)])


def with_processes(path, method, n_processes):
    """Answers of worker processes. Those that are forked inherit a model that this process has used."""
    answers(path, 0)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(int(n_processes), mp_context=context) as pool:
        n = int(n_processes) * N_CALLS
        return [each.hex() for each in pool.map(answers, [path] * n, [i % 5 for i in range(n)])]


def test_no_growth_over_many_calls(folder, record_property):
    """The slope of a line through the memory after each round is not positive by more than its error allows."""
    calls = load.SINGLE + load.BATCHES + load.LOADS + 11 * load.FITS
    record_property("cases", (N_ROUNDS + 1) * calls)
    command = [sys.executable, "-W", "ignore", "-m", "load", str(folder), str(N_ROUNDS)]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["same"]
    memory = np.array(found["memory"])
    if LONG:
        later = memory[len(memory) // 4 :]  # buffers and thread pools are made in the first rounds
        slope, error = line(later)
        assert slope < 3 * error + 0.05, memory  # megabytes per round
    assert memory[-1] < memory[0] + 60


def line(values):
    """The least-squares slope over the index, and its standard error."""
    t = np.arange(len(values)) - (len(values) - 1) / 2
    slope = t @ values / (t @ t)
    residual = values - values.mean() - slope * t
    return slope, np.sqrt(residual @ residual / max(len(values) - 2, 1) / (t @ t))
