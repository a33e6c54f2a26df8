"""Packed trees give the exact sums of trees, and row-wise products do not depend on the other rows."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.trees import prediction


def forest(seed, n_trees=21, columns=6, outputs=2, max_splits=8, unit=2):
    """Random trees, nodes in a row; some are a single leaf. Thresholds are multiples of 1 / unit."""
    rng = np.random.default_rng(seed)
    roots, column, threshold, left, right, value = [], [], [], [], [], []
    for t in range(n_trees):
        roots.append(len(column))
        size = 1 + 2 * int(rng.integers(0, max_splits + 1)) * (t > 0)
        free, start = [0], len(column)
        column += [-1] * size
        threshold += [0.0] * size
        left += [-1] * size
        right += [-1] * size
        value += rng.normal(size=size).tolist()
        for made in range(1, size, 2):
            node = start + free.pop(int(rng.integers(len(free))))
            column[node], threshold[node] = (
                int(rng.integers(columns)),
                float(rng.integers(1 - 2 * unit, 2 * unit)) / unit,
            )
            left[node], right[node] = start + made, start + made + 1
            free += [made, made + 1]
    parts = zip((roots, column, threshold, left, right, value), "qqdqqd", strict=True)
    nodes = [np.array(part, dtype=kind) for part, kind in parts]
    return nodes, rng.integers(0, outputs, n_trees)


def rows(n, seed=9):
    X = np.random.default_rng(seed).integers(-4, 5, size=(n, 6)) / 2  # often equal to a threshold
    X[::5, 2] = np.nan
    X[1::7, 3] = np.inf
    X[2::7, 3] = -np.inf
    X[3::4, 1] = -0.0
    return X


@pytest.mark.parametrize("module", [_numeric, prediction])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 127, 256, 513])
def test_packed_trees_are_the_trees(module, n):
    nodes, output = forest(n)
    X = rows(n)
    expected, found = np.ones((n, 2)), np.ones((n, 2))
    prediction.add_trees(X, *nodes, output, expected)
    module.add_packed_trees(X, module.pack_trees(*nodes), output, found)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("max_splits", [1, 2, 3, 30, 31, 32, 62, 200, 255, 256, 400])
def test_trees_may_have_any_number_of_leaves(max_splits):
    nodes, output = forest(max_splits, n_trees=9, max_splits=max_splits)
    check_alike(nodes, output, rows(300))


@pytest.mark.parametrize("unit", [20, 63, 64, 65, 200])
def test_columns_may_have_any_number_of_thresholds(unit):
    nodes, output = forest(unit, n_trees=90, columns=2, max_splits=20, unit=unit)
    X = np.random.default_rng(unit).integers(-2 * unit, 2 * unit + 1, size=(300, 2)) / unit
    X[::7, 0] = np.nan
    check_alike(nodes, output, X)


def check_alike(nodes, output, X):
    expected, found = np.ones((len(X), 2)), np.ones((len(X), 2))
    prediction.add_trees(X, *nodes, output, expected)
    _numeric.add_packed_trees(X, _numeric.pack_trees(*nodes), output, found)
    assert np.array_equal(found, expected)


def test_every_instruction_set_finds_the_same_leaves():
    code = """
import numpy as np
from mercer import _numeric
rng = np.random.default_rng(0)
left = np.arange(1, 62, 2)  # a full tree of 32 leaves, parents first
column, threshold = rng.integers(0, 5, 31), rng.normal(size=31)
nodes = [np.append(each, end) for each, end in ((column, [-1] * 32), (threshold, [0.0] * 32),
         (left, [-1] * 32), (left + 1, [-1] * 32))]
X, out, expected = rng.normal(size=(700, 5)), np.zeros((700, 1)), np.zeros((700, 1))
nodes = (np.array([0]), *nodes, np.arange(63.0))
_numeric.add_packed_trees(X, _numeric.pack_trees(*nodes), np.array([0]), out)
_numeric.add_trees(X, *nodes, np.array([0]), expected)
print(np.array_equal(out, expected))
"""
    for level in ("v2", "v3"):
        variables = {**os.environ, "MERCER_ISA": level, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)
        assert done.stdout == "True\n", done.stderr


def test_many_threads_may_be_the_first_to_use_packed_trees():
    nodes, output = forest(3, n_trees=200, max_splits=30)
    X, expected = rows(40), np.zeros((40, 2))
    prediction.add_trees(X, *nodes, output, expected)
    packed = _numeric.pack_trees(*nodes)

    def scores(_):
        out = np.zeros((40, 2))
        _numeric.add_packed_trees(X, packed, output, out)
        return out

    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(found, expected) for found in pool.map(scores, range(32)))


@pytest.mark.parametrize("module", [_numeric, prediction])
@pytest.mark.parametrize("n", [0, 3, 20])
def test_no_trees_add_nothing(module, n):
    none = [np.zeros(0, dtype=kind) for kind in "qqdqqd"]
    out = np.ones((n, 1))
    module.add_packed_trees(np.zeros((n, 2)), module.pack_trees(*none), np.zeros(0, np.int64), out)
    assert np.array_equal(out, np.ones((n, 1)))


@pytest.mark.parametrize(
    ("left", "right"), [(0, 1), (1, 1), (1, 3), (-1, 2), (2, 2)], ids=["loop", "twice", "outside", "before", "shared"]
)
def test_malformed_trees_are_rejected(left, right):
    if not _numeric.compiled:
        pytest.skip("the definition trusts its input")
    with pytest.raises(ValueError, match="well formed"):
        _numeric.pack_trees(
            np.array([0]),
            np.array([0, -1, -1]),
            np.zeros(3),
            np.array([left, -1, -1]),
            np.array([right, -1, -1]),
            np.ones(3),
        )


def test_columns_and_outputs_must_exist():
    if not _numeric.compiled:
        pytest.skip("the definition trusts its input")
    nodes, output = forest(0)
    packed = _numeric.pack_trees(*nodes)
    with pytest.raises(ValueError, match="a column that X has not"):
        _numeric.add_packed_trees(np.zeros((1, 2)), packed, output, np.zeros((1, 2)))
    with pytest.raises(ValueError, match="columns of out"):
        _numeric.add_packed_trees(np.zeros((1, 6)), packed, output + 1, np.zeros((1, 2)))
    with pytest.raises(ValueError, match="for each tree"):
        _numeric.add_packed_trees(np.zeros((1, 6)), packed, output[1:], np.zeros((1, 2)))
    with pytest.raises(ValueError, match="for each row"):
        _numeric.add_packed_trees(np.zeros((1, 6)), packed, output, np.zeros((2, 2)))


@pytest.mark.parametrize("module", [_numeric, prediction])
@pytest.mark.parametrize("outputs", [1, 2, 3, 7])
@pytest.mark.parametrize("width", [1, 7, 8, 1295])
def test_products_are_those_of_each_row_alone(module, outputs, width):
    rng = np.random.default_rng(width)
    Z, coef = rng.normal(size=(50, width)).astype(np.float32), rng.normal(size=(width, outputs))
    whole = np.empty((50, outputs))
    module.rowwise_matmul(Z, coef, whole)
    # Two orders of n float64 terms differ by at most n eps times the sum of their sizes.
    bound = width * np.finfo(float).eps * (np.abs(Z).astype(float) @ np.abs(coef))
    assert np.all(np.abs(whole - Z.astype(float) @ coef) <= bound)
    for size in (1, 3, 17):
        for start in range(0, 50, size):
            part = np.empty((min(size, 50 - start), outputs))
            module.rowwise_matmul(Z[start : start + size], coef, part)
            assert np.array_equal(part, whole[start : start + size])


@pytest.mark.parametrize("module", [_numeric, prediction])
def test_piecewise_linear_functions_rise_from_0_to_1(module):
    rng = np.random.default_rng(0)
    X, low, length = rng.normal(size=(40, 3)), rng.normal(size=23), rng.uniform(0.1, 2, size=23)
    X[3, 1] = np.nan
    column = np.sort(rng.integers(0, 3, 23))
    column[-1] = 0  # in any order
    wide = np.full((40, 30), 7, dtype=np.float32)
    module.write_piecewise_linear(X, column, low, length, wide[:, 4:27])
    expected = np.clip((X[:, column] - low) / length, 0, 1).astype(np.float32)
    assert np.array_equal(wide[:, 4:27], expected, equal_nan=True)
    assert np.all(wide[:, :4] == 7)
    assert np.all(wide[:, 27:] == 7)


def test_piecewise_linear_arguments_are_checked():
    if not _numeric.compiled:
        pytest.skip("the definition trusts its input")
    X, pieces, out = np.zeros((2, 2)), (np.zeros(3), np.ones(3)), np.zeros((2, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="columns of X"):
        _numeric.write_piecewise_linear(X, np.array([0, 1, 2]), *pieces, out)
    with pytest.raises(ValueError, match="same basis functions"):
        _numeric.write_piecewise_linear(X, np.array([0, 1]), *pieces, out)
    with pytest.raises(ValueError, match="shape"):
        _numeric.write_piecewise_linear(X, np.array([0, 1, 1]), *pieces, out[:, :2])
