"""The Hadamard transform: the definition's bits, orthogonality, padding, any layout."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix

from mercer import _numeric

hadamard_definitions = sys.modules["mercer._numeric.sketch.hadamard"]  # the function of that name hides the module
IMPLEMENTATIONS = {"definition": hadamard_definitions} | ({"compiled": _numeric} if _numeric.compiled else {})
every_implementation = pytest.mark.parametrize("name", IMPLEMENTATIONS)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_width = pytest.mark.parametrize("width", [2**k for k in range(14)])


def normal(n, d, dtype, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)
    X.flags.writeable = False
    return X


def random_signs(rounds, width, dtype):
    return np.random.default_rng(1).choice(np.array([-1, 1], dtype), (rounds, width))


@every_implementation
@every_dtype
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 64, 128, 512])
def test_it_is_the_matrix_of_signs(name, dtype, width):
    X, out = normal(5, width, dtype), np.empty((5, width), dtype)
    IMPLEMENTATIONS[name].hadamard(X, out)
    exact = X.astype(float) @ hadamard_matrix(width) / np.sqrt(width)
    error = (np.log2(width) + 2) * np.finfo(dtype).eps * np.abs(X).sum(1, keepdims=True) / np.sqrt(width)
    assert (np.abs(out - exact) <= error).all()


@every_dtype
@every_width
@pytest.mark.parametrize("missing", [0, 1, 37])
def test_compiled_and_defined_give_the_same_bits(dtype, width, missing):
    X, signs = normal(3, max(width - missing, 1), dtype), random_signs(3, width, dtype)
    ours, defined = np.empty((2, 3, width), dtype)
    _numeric.hadamard_signs(X, signs, ours)
    hadamard_definitions.hadamard_signs(X, signs, defined)
    assert ours.tobytes() == defined.tobytes()


@every_implementation
@every_dtype
@every_width
def test_twice_is_nothing_done_and_lengths_stay(name, dtype, width):
    X = normal(4, width, dtype)
    out = X.copy()
    IMPLEMENTATIONS[name].hadamard(out, out)
    tolerance = 4 * np.log2(2 * width) * np.finfo(dtype).eps
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), np.linalg.norm(X, axis=1), rtol=tolerance)
    IMPLEMENTATIONS[name].hadamard(out, out)
    assert np.abs(out - X).max() <= tolerance * np.linalg.norm(X, axis=1).max()


@every_implementation
@every_dtype
@pytest.mark.parametrize("width", [16, 256])
def test_rows_inside_wider_arrays(name, dtype, width):
    X, wider = normal(6, width + 3, dtype)[::2, 1:], np.full((3, width + 5), 7, dtype)
    rows = X[:, : width - 3]
    IMPLEMENTATIONS[name].hadamard(rows, wider[:, 2 : 2 + width])
    alone = np.empty((3, width), dtype)
    IMPLEMENTATIONS[name].hadamard(np.pad(rows, ((0, 0), (0, 3))), alone)
    assert (wider[:, 2 : 2 + width] == alone).all()
    assert (wider[:, :2] == 7).all()
    assert (wider[:, 2 + width :] == 7).all()


@every_implementation
def test_misfits_are_explained(name):
    functions, X = IMPLEMENTATIONS[name], normal(3, 8, np.float64)
    with pytest.raises(ValueError, match="power of two of columns, not 12"):
        functions.hadamard(X, np.empty((3, 12)))
    with pytest.raises(ValueError, match=r"X of shape \(3, 8\) does not fit into out of shape \(3, 4\)"):
        functions.hadamard(X, np.empty((3, 4)))
    with pytest.raises(ValueError, match="signs must have at least one row and the 8 columns"):
        functions.hadamard_signs(X, np.ones((2, 4)), np.empty((3, 8)))


@every_implementation
def test_no_rows_are_no_work(name):
    IMPLEMENTATIONS[name].hadamard(np.empty((0, 8)), np.empty((0, 8)))


LEVELS = ["v2", "v3", "v4"]


@pytest.mark.parametrize("level", LEVELS[: LEVELS.index(_numeric.isa())] if _numeric.isa() in LEVELS else [])
def test_lower_instruction_sets_pass_all_this(level):
    command = [sys.executable, "-m", "pytest", __file__, "-q", "-k", "not instruction_sets", "-p", "no:cacheprovider"]
    done = subprocess.run(command, env={**os.environ, "MERCER_ISA": level}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
