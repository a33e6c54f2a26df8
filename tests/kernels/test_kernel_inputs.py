"""What kernels accept, what they refuse, and what they say."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from mercer.kernels import Constant, Gaussian, Laplace, Linear, Overlap, Polynomial, Precomputed

X = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [3.0, -2.0, 0.0]])
NAMES = ["a", "b", "c"]
FRAMES = {
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
    "arrow": pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_data_frames_of_numbers(frame):
    np.testing.assert_array_equal(Gaussian()(frame), Gaussian()(X))
    np.testing.assert_array_equal((Gaussian() + 1)(frame, frame), (Gaussian() + 1)(X))


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(("columns", "same"), [("b", [1]), (["c", "a"], [2, 0]), (1, [1]), (slice(1, 3), [1, 2])])
def test_columns_of_data_frames(frame, columns, same):
    np.testing.assert_allclose(Laplace().on(columns)(frame), Laplace()(X[:, same]))


def test_lists_integers_and_masks():
    np.testing.assert_array_equal(Linear()(X.tolist()), Linear()(X))
    assert Linear()([[1, 2], [3, 4]]).dtype == np.float64
    np.testing.assert_array_equal(Linear().on(np.array([True, False, True]))(X), Linear()(X[:, [0, 2]]))
    np.testing.assert_array_equal(Linear().on([0, 2])(X.tolist()), Linear()(X[:, [0, 2]]))
    np.testing.assert_array_equal(Linear()(X > 0), Linear()((X > 0).astype(float)))
    np.testing.assert_array_equal(Linear()(sparse.coo_matrix(X)), Linear()(X))


def test_sparse_with_repeated_entries():
    rows, columns, values = [0, 0, 1], [1, 1, 0], [1.0, 2.0, 5.0]
    matrix = sparse.csr_matrix((values, columns, [0, 2, 3]), shape=(2, 3))
    assert not matrix.has_canonical_format
    dense = np.zeros((2, 3))
    np.add.at(dense, (rows, columns), values)
    for kernel in (Gaussian(5.0), Linear(), Overlap(), Laplace(norm="l1")):
        np.testing.assert_allclose(kernel(matrix), kernel(dense))
        np.testing.assert_allclose(kernel.diag(matrix), kernel.diag(dense))
    assert matrix.nnz == 3


def test_float32_frames_stay_float32():
    for frame in (FRAMES["pandas"].astype(np.float32), FRAMES["polars"].cast(pl.Float32)):
        assert (Gaussian() + 1)(frame).dtype == np.float32


def test_mixed_tables():
    tags = [{"a", "b"}, {"b"}, set()]
    expected = Overlap()(tags) + Gaussian()(X[:, :2])
    kernel = Overlap().on(0) + Gaussian().on([1, 2])
    table = [(tag, *row[:2]) for tag, row in zip(tags, X, strict=True)]
    np.testing.assert_allclose(kernel(table), expected)
    array = np.empty((3, 3), dtype=object)
    for i, row in enumerate(table):
        array[i] = row
    np.testing.assert_allclose(kernel(array), expected)
    np.testing.assert_allclose(kernel(array, table), expected)
    frame = pd.DataFrame({"tags": [list(t) for t in tags], "u": X[:, 0], "v": X[:, 1]})
    named = Overlap().on("tags") + Gaussian("median").on(["u", "v"])
    np.testing.assert_allclose(named(frame), Overlap()(tags) + Gaussian("median")(X[:, :2]))
    np.testing.assert_allclose(named(pl.from_pandas(frame)), named(frame))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones(5), r"2-D .* reshape\(-1, 1\)"),
        (np.ones((2, 2, 2)), "3 dimensions"),
        (np.ones((3, 0)), "no columns"),
        ([[1.0, np.nan], [1.0, 2.0]], "NaN .* column 1, first in row 0"),
        ([[1.0, 2.0], [-np.inf, 2.0]], "infinite value in column 0, first in row 1"),
        (sparse.csr_matrix([[0.0, 1.0], [0.0, np.nan]]), "NaN .* column 1, first in row 1"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}), "NaN .* column 'b', first in row 1"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), r"found 'x' in column 'b', .*\.on\(columns\)"),
        (np.ones((2, 2)) * 1j, "complex"),
    ],
)
def test_refused_rows(rows, message):
    for kernel in (Linear(), Gaussian() + 1, Polynomial().normalized()):
        with pytest.raises(ValueError, match=message):
            kernel(rows)


def test_refusals_name_the_argument():
    with pytest.raises(ValueError, match="Y has NaN"):
        Linear()(X, X * np.nan)
    with pytest.raises(ValueError, match="X has 3 columns and Y has 2"):
        Gaussian()(X, X[:, :2])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (3, "only 3 columns"),
        ([0, -4], "only 3 columns"),
        ("a", "not a data frame"),
        ([True, False], "mask"),
    ],
)
def test_refused_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        Linear().on(columns)(X)


def test_refused_names_and_tables():
    with pytest.raises(ValueError, match="no column 'z'; the columns are a, b, c"):
        Linear().on("z")(FRAMES["pandas"])
    with pytest.raises(ValueError, match="no columns to choose from"):
        Overlap().on(0)([{"a"}, {"b"}])


def test_constant_takes_rows_of_any_kind():
    np.testing.assert_array_equal(Constant(2.0)(["a", "b"], [{1}]), [[2.0], [2.0]])


def test_precomputed():
    K = X @ X.T
    K.flags.writeable = False
    result = Precomputed()(K)
    np.testing.assert_array_equal(result, K)
    assert result.flags.writeable
    np.testing.assert_array_equal(Precomputed().diag(K), np.diag(K))
    np.testing.assert_array_equal(Precomputed()(K[:2], K), K[:2])
    np.testing.assert_allclose(Precomputed().distance(K), Linear().distance(X), atol=1e-7)
    np.testing.assert_allclose((2 * Precomputed() + 1)(K[:2], K), 2 * K[:2] + 1)
    np.testing.assert_allclose(Precomputed().normalized()(K), Linear().normalized()(X))
    with pytest.raises(ValueError, match="3 training rows, but Y has 2"):
        Precomputed()(K, K[:2])
    with pytest.raises(ValueError, match="square"):
        Precomputed().diag(K[:2])
    with pytest.raises(ValueError, match="training matrix as Y"):
        (Precomputed() + 1)(K[:2])
