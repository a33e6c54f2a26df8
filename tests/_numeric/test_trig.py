"""Cosines and sines against NumPy's float64 ones: accuracy, range, layout, any split of the rows."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.sketch import trig

IMPLEMENTATIONS = {"definition": trig} | ({"compiled": _numeric} if _numeric.compiled else {})
SINGLE = float(np.finfo(np.float32).eps)
# A few roundings of a result near one, each half of SINGLE / 2; NumPy promises four units in the last place.
ERROR = {"definition": 2 * SINGLE, "compiled": SINGLE}
LARGEST = {np.float32: 1e4, np.float64: 1e9}

every_implementation = pytest.mark.parametrize("name", IMPLEMENTATIONS)
every_dtype = pytest.mark.parametrize("dtype", LARGEST)
SHAPES = [
    (1, 1, 1),
    (6, 16, 16),
    (7, 3, 5),
    (50, 64, 100),
    (13, 700, 37),
    (97, 1100, 40),
    (5, 0, 3),
    (0, 4, 3),
    (3, 2, 0),
]
every_shape = pytest.mark.parametrize(("n", "d", "m"), SHAPES)


def frozen(array):
    array.flags.writeable = False
    return array


def problem(n, d, m, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    W = rng.standard_normal((m, d)).astype(dtype)
    shift = rng.uniform(0, 2 * np.pi, m).astype(dtype)
    return frozen(X), frozen(W), frozen(shift)


def argument_grid(dtype):
    """Small, large, tiny arguments, and those near multiples of a quarter turn."""
    rng = np.random.default_rng(1)
    largest = LARGEST[dtype]
    quarters = np.arange(-3000, 3000) * np.pi / 2
    pieces = [
        np.linspace(-10, 10, 40_001),
        rng.uniform(-largest, largest, 20_000),
        np.geomspace(1e-30, largest, 5_000),
        quarters,
        quarters * (1 + 2 * SINGLE),
    ]
    return frozen(np.concatenate(pieces)[:, None].repeat(3, axis=1).astype(dtype))


def in_wider(n, columns, dtype):
    """A result that is a range of columns of a larger array, whose other entries must survive."""
    wider = np.full((n, columns + 5), 7, dtype)
    return wider, wider[:, 2 : 2 + columns]


def assert_untouched_around(wider, columns):
    assert (wider[:, :2] == 7).all()
    assert (wider[:, 2 + columns :] == 7).all()


def phase_error(X, W, shift):
    """Bound of the rounding error of X W' + shift: (d + 3) eps times the sum of absolute terms."""
    terms = np.abs(X).astype(float) @ np.abs(W).T.astype(float) + np.abs(shift)
    return (X.shape[1] + 3) * np.finfo(X.dtype).eps * terms


@every_implementation
@every_dtype
def test_cosine_and_sine_of_given_arguments(name, dtype):
    arguments = argument_grid(dtype)
    wider, out = in_wider(len(arguments), 6, dtype)
    IMPLEMENTATIONS[name].cos_sin(arguments, 1.0, out)
    exact = arguments.astype(np.float64)
    assert np.abs(out[:, :3] - np.cos(exact)).max() <= ERROR[name]
    assert np.abs(out[:, 3:] - np.sin(exact)).max() <= ERROR[name]
    assert np.abs(out).max() <= 1
    assert_untouched_around(wider, 6)


@every_implementation
@every_dtype
def test_cosine_of_shifted_arguments(name, dtype):
    arguments = argument_grid(dtype)
    shift = frozen(np.array([0, 1.5, 6], dtype))
    wider, out = in_wider(len(arguments), 3, dtype)
    IMPLEMENTATIONS[name].cos_shifted(arguments, shift, 0.25, out)
    exact = (arguments + shift).astype(np.float64)
    assert np.abs(out - 0.25 * np.cos(exact)).max() <= 0.25 * ERROR[name] + 0.25 * SINGLE / 4
    assert_untouched_around(wider, 3)


@every_implementation
@every_dtype
def test_absurd_arguments_stay_in_range_and_missing_ones_stay_missing(name, dtype):
    huge = np.geomspace(1e4, np.finfo(dtype).max / 8, 999, dtype=dtype)[:, None]
    huge = np.vstack([huge, -huge])
    out = np.empty((len(huge), 2), dtype)
    IMPLEMENTATIONS[name].cos_sin(huge, 1.0, out)
    assert np.abs(out).max() <= 1
    missing = np.array([[np.nan, 1, np.inf, -np.inf]], dtype)
    out = np.empty((1, 8), dtype)
    with np.errstate(invalid="ignore"):
        IMPLEMENTATIONS[name].cos_sin(missing, 1.0, out)
    assert np.isnan(out[0]).tolist() == [True, False, True, True] * 2


@every_implementation
@every_dtype
@every_shape
def test_fused_cosine_and_sine(name, dtype, n, d, m):
    functions = IMPLEMENTATIONS[name]
    X, W, _ = problem(n, d, m, dtype)
    wider, out = in_wider(n, 2 * m, dtype)
    functions.fourier_cos_sin(X, functions.pack_frequencies(W), m, 0.5, out)
    arguments = X.astype(float) @ W.T.astype(float)
    exact = 0.5 * np.hstack([np.cos(arguments), np.sin(arguments)])
    bound = 0.5 * np.hstack([phase_error(X, W, 0)] * 2) + ERROR[name]
    assert (np.abs(out - exact) <= bound).all()
    assert_untouched_around(wider, 2 * m)


@every_implementation
@every_dtype
@every_shape
def test_fused_shifted_cosine(name, dtype, n, d, m):
    functions = IMPLEMENTATIONS[name]
    X, W, shift = problem(n, d, m, dtype)
    wider, out = in_wider(n, m, dtype)
    functions.fourier_cos_shifted(X, functions.pack_frequencies(W), shift, 2.0, out)
    exact = 2 * np.cos(X.astype(float) @ W.T.astype(float) + shift)
    bound = 2 * phase_error(X, W, shift) + 2 * ERROR[name] + SINGLE
    assert (np.abs(out - exact) <= bound).all()
    assert_untouched_around(wider, m)


@pytest.mark.parametrize("name", [name for name in IMPLEMENTATIONS if name == "compiled"])
@every_dtype
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_row_is_the_same_bits_in_every_split(name, dtype, data):
    functions = IMPLEMENTATIONS[name]
    n, d, m = data.draw(st.tuples(st.integers(1, 230), st.integers(1, 600), st.integers(1, 70)))
    X, W, shift = problem(n, d, m, dtype)
    packed = functions.pack_frequencies(W)
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=4))), n]
    whole, split = np.empty((2, n, 3 * m), dtype)
    for out, ends in ((whole, [0, n]), (split, cuts)):
        for first, last in pairwise(ends):
            functions.fourier_cos_sin(X[first:last], packed, m, 0.5, out[first:last, : 2 * m])
            functions.fourier_cos_shifted(X[first:last], packed, shift, 0.5, out[first:last, 2 * m :])
    assert (whole == split).all()


@every_implementation
def test_a_result_of_the_wrong_shape_is_refused(name):
    functions = IMPLEMENTATIONS[name]
    X, W, shift = problem(4, 3, 5, np.float32)
    packed = functions.pack_frequencies(W)
    wrong = np.empty((3, 7), np.float32)
    with pytest.raises(ValueError, match="shape"):
        functions.cos_sin(X, 1.0, wrong)
    with pytest.raises(ValueError, match="shape"):
        functions.cos_shifted(X, shift[:3], 1.0, wrong)
    with pytest.raises(ValueError, match="shape"):
        functions.fourier_cos_sin(X, packed, 5, 1.0, wrong)
    with pytest.raises(ValueError, match="shape"):
        functions.fourier_cos_shifted(X, packed, shift, 1.0, wrong)


@pytest.mark.parametrize("name", [name for name in IMPLEMENTATIONS if name == "compiled"])
def test_misfits_are_explained(name):
    functions = IMPLEMENTATIONS[name]
    X, W, shift = problem(4, 3, 50, np.float64)
    packed, out = functions.pack_frequencies(W), np.empty((4, 100))
    with pytest.raises(ValueError, match=r"pack_frequencies\(W\)"):
        functions.fourier_cos_sin(X, packed, 500, 1.0, out)
    with pytest.raises(ValueError, match="X has 2 columns but the frequencies have 3"):
        functions.fourier_cos_shifted(X[:, :2].copy(), packed, shift, 1.0, out[:, :50])
    with pytest.raises(ValueError, match="out must have C-ordered rows"):
        functions.fourier_cos_sin(X, packed, 50, 1.0, np.empty((4, 100), order="F"))
    with pytest.raises(TypeError):
        functions.fourier_cos_sin(X.astype(np.float32), packed, 50, 1.0, out)


LEVELS = ["v2", "v3", "v4"]


@pytest.mark.parametrize("level", LEVELS[: LEVELS.index(_numeric.isa())] if _numeric.isa() in LEVELS else [])
def test_lower_instruction_sets_pass_all_this(level):
    command = [
        sys.executable,
        "-m",
        "pytest",
        __file__,
        "-q",
        "-k",
        "not instruction_sets",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, env={**os.environ, "MERCER_ISA": level}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
