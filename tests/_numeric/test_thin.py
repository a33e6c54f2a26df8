"""Thin products: the compiled functions and their definitions."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.linalg import thin

WAYS = {"definition": thin, "chosen": _numeric}
SHAPES = [(1, 5, 2, 1), (7, 21, 2, 4), (9, 8, 70, 4), (64, 33, 0, 3), (5, 1, 1, 0)]
every_way = pytest.mark.parametrize("way", WAYS)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@every_way
@every_dtype
@pytest.mark.parametrize(("n", "D", "c", "p"), SHAPES)
def test_products_are_those_of_float64(way, dtype, n, D, c, p):
    rng = np.random.default_rng(0)
    Z, R, V = rng.normal(size=(n, 2 * D)).astype(dtype)[:, :D], rng.normal(size=(n, c)), rng.normal(size=(D, p))
    C, P = rng.normal(size=(D, c)), rng.normal(size=(D, p))
    wide = Z.astype(np.float64)
    expected = C + wide.T @ R, P + wide.T @ (wide @ V)
    WAYS[way].add_thin_products(Z, R, V, C, P)
    # Sums of n (and D) terms in any order: n eps times the sum of magnitudes.
    tolerance = 4 * (n + D) * np.finfo(float).eps
    np.testing.assert_allclose(C, expected[0], atol=tolerance * (1 + np.abs(wide).sum() * np.abs(R).max(initial=1)))
    np.testing.assert_allclose(
        P, expected[1], atol=tolerance * (1 + np.abs(wide).sum() ** 2 * np.abs(V).max(initial=1))
    )


@every_dtype
def test_gathered_rows_have_the_bits_of_the_definition(dtype):
    rng = np.random.default_rng(0)
    Z, origin = rng.normal(size=(50, 13)).astype(dtype), rng.normal(size=13).astype(dtype)
    order, root = rng.integers(0, 50, size=70), rng.random(70).astype(dtype)
    for scale in (None, root):
        outs = [np.full((70, 13), np.nan, dtype) for _ in WAYS]
        for functions, out in zip(WAYS.values(), outs, strict=True):
            functions.gather_rows(Z, order, origin, scale, out)
        np.testing.assert_array_equal(*outs)


def test_rows_that_are_not_there_are_refused():
    with pytest.raises((ValueError, IndexError)):
        _numeric.gather_rows(np.eye(3), np.array([3]), np.zeros(3), None, np.empty((1, 3)))
