"""Products of rows: correct, and for each row the same bits alone, in a block and in a part of a wider array."""

import numpy as np
import pytest

from mercer import _numeric

SHAPES = [(1, 1, 1), (3, 0, 4), (0, 5, 3), (13, 7, 33), (100, 300, 70), (97, 130, 16)]
needs_core = pytest.mark.skipif(not _numeric.compiled, reason="BLAS chooses its order by the number of rows")


def made(n, depth, columns):
    rng = np.random.default_rng(n + depth + columns)
    return rng.normal(size=(n, depth)), rng.normal(size=(depth, columns))


def product(X, W, out=None):
    out = np.full((len(X), W.shape[1]), np.nan) if out is None else out
    _numeric.row_products(X, _numeric.pack_columns(W), W.shape[1], out)
    return out


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_matrices(shape):
    X, W = made(*shape)
    bound = (shape[1] + 2) * np.finfo(float).eps * (np.abs(X) @ np.abs(W))
    assert np.all(np.abs(product(X, W) - X @ W) <= bound)


@needs_core
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_does_not_depend_on_other_rows(shape):
    X, W = made(*shape)
    whole = product(X, W)
    for start in range(0, len(X), 5):
        np.testing.assert_array_equal(product(X[start : start + 1], W), whole[start : start + 1])
        np.testing.assert_array_equal(product(X[start:], W), whole[start:])


def test_rows_may_be_parts_of_wider_arrays():
    X, W = made(20, 30, 40)
    wide, out = np.full((20, 50), np.nan), np.full((20, 60), np.nan)
    wide[:, 7:37] = X
    product(wide[:, 7:37], W, out[:, 3:43])
    np.testing.assert_array_equal(out[:, 3:43], product(X, W))
    assert np.isnan(out[:, :3]).all()
    assert np.isnan(out[:, 43:]).all()


def test_wrong_shapes_are_refused():
    X, W = made(4, 5, 6)
    packed = _numeric.pack_columns(W)
    for rows, columns, out in ((X[:, :4].copy(), 6, (4, 6)), (X, 6, (3, 6)), (X, 60, (4, 60))):
        with pytest.raises(ValueError, match=r"X|out|packed"):
            _numeric.row_products(rows, packed, columns, np.empty(out))
