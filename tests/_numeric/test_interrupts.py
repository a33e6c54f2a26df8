"""Ctrl-C ends compiled loops that would run for minutes or for ever."""

import signal
import subprocess
import sys
import time

import pytest

from mercer import _numeric

_BEGIN = """
import numpy as np
from mercer import _numeric
rng = np.random.default_rng(0)
A = rng.normal(size=(400, 300))
def lasso(_=None):
    w, q = np.zeros(300), A.T @ A[:, 0]
    _numeric.lasso_descent(A.T @ A, A.T @ A[:, 0], 400.0, 1e-9, w, q, -1.0, 10**15)
"""
_SWEEP = """
X, order = rng.normal(size=(4, 3000)), np.tile(np.arange(4), 10**7)
"""
#: Calls that do not end: a tolerance that is never reached, or very many steps.
CALLS = {
    "lasso_descent": "\nprint('begin', flush=True)\nlasso()",
    "hinge_ascent": """
B = rng.normal(size=(2000, 20))
Q, y = B @ B.T, np.where(rng.random(2000) < 0.5, 1.0, -1.0)
print("begin", flush=True)
while True:
    _numeric.hinge_ascent(Q, y, np.ones(2000), 1e-12, np.zeros(2000), np.zeros(2000), -1.0, 10**15)
""",
    "hinge_sweep": _SWEEP
    + """
print("begin", flush=True)
_numeric.hinge_sweep(X, np.ones(4), np.ones(4), order, np.zeros(4), np.zeros(3000), 0.0, 1.0, 1.0)
""",
    "perceptron_sweep": _SWEEP
    + """
print("begin", flush=True)
state = np.zeros((2, 3000)), np.zeros(2), np.zeros((2, 3000)), np.zeros(2)
_numeric.perceptron_sweep(X, np.arange(4) % 2, order, *state, 0.0)
""",
    "grow_rounds": """
bins = rng.integers(0, 200, (20_000, 20)).astype(np.uint8)
columns, widths = np.tile(np.arange(20), (100_000, 1)), np.full(20, 200)
y = rng.normal(size=(20_000, 1))
print("begin", flush=True)
_numeric.grow_rounds(bins, np.zeros_like(y), y, np.ones(20_000), False, columns, widths, 31, 1.0, 1.0, 0.1)
""",
    "subsequence_pairs": """
codes = rng.integers(0, 4, 600_000).astype(np.int32)
starts, pair = np.array([0, 300_000, 600_000]), (np.array([0]), np.array([1]))
print("begin", flush=True)
_numeric.subsequence_pairs(codes, starts, *pair, 3, 0.5, np.zeros((0, 0)))
""",
    "tree_pairs": """
leaves, no = np.zeros(2000, dtype=np.int64), np.zeros(0, dtype=np.int64)
left = np.zeros(10**6, dtype=np.int64)
print("begin", flush=True)
_numeric.tree_pairs(leaves, np.zeros(2001, dtype=np.int64), no, np.array([0, 1000, 2000]), left, left + 1, 0.5)
""",
    "add_sparse_gram": """
n, m = 10**6, 5000
rows = np.arange(0, 20 * n + 1, n), np.zeros(20 * n, dtype=np.int32), np.ones(20 * n)
other = np.array([0, m]), np.arange(m, dtype=np.int32), np.ones(m)
print("begin", flush=True)
_numeric.add_sparse_gram(*rows, *other, 1.0, False, 0, np.zeros((20, m)))
""",
    "the pool": """
import os
os.environ["MERCER_THREADS"] = "2"
from mercer._runtime.pool import for_each
print("begin", flush=True)
for_each(lasso, range(4))
""",
}


@pytest.mark.skipif(not _numeric.compiled, reason="tests the compiled core")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_compiled_loop(name):
    command = [sys.executable, "-c", _BEGIN + CALLS[name]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begin\n", process.stderr.read()
            time.sleep(0.4)  # into the loop
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert error.rstrip().endswith("KeyboardInterrupt")
