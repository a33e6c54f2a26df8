"""The scatter of tall rows: the compiled function and its definition."""

import os
import subprocess
import sys

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.linalg import scatter

WAYS = {"definition": scatter, "chosen": _numeric}
SHAPES = [(0, 3), (1, 1), (7, 3), (9, 24), (300, 25), (1030, 49), (2100, 101), (70, 700)]
every_way = pytest.mark.parametrize("way", WAYS)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def expected(X, origin, root):
    """z, root and the sums in float64."""
    z = X.astype(np.float64) - (0.0 if origin is None else origin.astype(np.float64))
    root = np.ones(len(X)) if root is None else root.astype(np.float64)
    z = z * root[:, None]
    return z, root


@every_way
@every_dtype
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_sums_are_those_of_float64(way, dtype, centered, weighted, n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d + 5)).astype(dtype)[:, :d]
    origin = rng.normal(size=d).astype(dtype) if centered else None
    root = rng.random(n).astype(dtype) if weighted else None
    S, sums = rng.normal(size=(d, d)), rng.normal(size=d)
    z, weight = expected(X, origin, root)
    S_expected, sums_expected = S + z.T @ z, sums + weight @ z
    WAYS[way].add_scatter(S, sums, X, origin, root)
    # Sums of at most 1,024 terms (all of them in float64) in any order, and a few roundings of z itself.
    tolerance = 2 * (4 + min(n, 1024 if dtype == np.float32 else n)) * np.finfo(dtype).eps
    upper = np.triu_indices(d)
    np.testing.assert_array_less(np.abs(S - S_expected)[upper], tolerance * (1e-3 + np.abs(z).T @ np.abs(z))[upper])
    np.testing.assert_array_less(np.abs(sums - sums_expected), tolerance * (1e-3 + weight @ np.abs(z)))


@every_way
@every_dtype
@pytest.mark.parametrize("height", [1, 10, 48, 77, 530, 600])
def test_the_first_rows_alone(way, dtype, height):
    X = np.random.default_rng(0).integers(-3, 4, size=(1100, 600)).astype(dtype)
    S, sums = np.ones((height, 600)), np.zeros(600)
    WAYS[way].add_scatter(S, sums, X, None, None)
    exact = 1 + (X.astype(np.float64).T @ X)[:height]  # small whole numbers: every order of summation is exact
    np.testing.assert_array_equal(np.triu(S), np.triu(exact))


@every_dtype
def test_long_sums_of_float32_keep_their_digits(dtype):
    rng = np.random.default_rng(0)
    X = (1 + rng.random((40_000, 5))).astype(dtype)
    S, sums = np.zeros((5, 5)), np.zeros(5)
    _numeric.add_scatter(S, sums, X, None, None)
    wide = X.astype(np.float64)
    # Roundings of 1,024 or fewer positive terms, random in sign: about the root of their number.
    tolerance = 64 * np.finfo(dtype).eps
    np.testing.assert_allclose(np.triu(S), np.triu(wide.T @ wide), rtol=tolerance)
    np.testing.assert_allclose(sums, wide.sum(axis=0), rtol=tolerance)


@every_way
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_shows_in_the_sums(way, bad):
    X = np.ones((50, 7), dtype=np.float32)
    X[[13, 14], 5] = bad, -bad
    S, sums = np.zeros((7, 7)), np.zeros(7)
    with np.errstate(invalid="ignore"):
        WAYS[way].add_scatter(S, sums, X, None, None)
    assert np.flatnonzero(~np.isfinite(sums)).tolist() == [5]


def test_every_instruction_set_agrees():
    code = """
import numpy as np
from mercer import _numeric
for dtype in (np.float32, np.float64):
    X = np.random.default_rng(0).integers(-3, 4, size=(1500, 77)).astype(dtype)
    S, sums = np.zeros((77, 77)), np.zeros(77)
    _numeric.add_scatter(S, sums, X, None, None)
    print(np.array_equal(np.triu(S), np.triu(X.T.astype(float) @ X)), np.array_equal(sums, X.sum(axis=0)))
"""
    for level in ("v2", "v3"):  # small whole numbers: every order of summation is exact
        variables = {**os.environ, "MERCER_ISA": level, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)
        assert done.stdout == "True True\n" * 2, done.stderr


def test_shapes_that_do_not_fit_are_refused():
    X = np.ones((4, 3))
    for S, sums, origin, root in [
        (np.zeros((4, 3)), np.zeros(3), None, None),
        (np.zeros((2, 2)), np.zeros(3), None, None),
        (np.zeros((3, 3)), np.zeros(2), None, None),
        (np.zeros((3, 3)), np.zeros(3), np.zeros(2), None),
        (np.zeros((3, 3)), np.zeros(3), None, np.ones(3)),
    ]:
        with pytest.raises(ValueError):
            _numeric.add_scatter(S, sums, X, origin, root)
