"""`read`: every kind of input gives the same rows; mistakes are answered with what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris

import mercer
from mercer.source import MemorySource, ParquetSource

COLUMNS = {"a": [1.0, 2.0, 3.0], "b": [0, 5, 0], "yes": [True, False, True]}
TARGET = {"kind": ["x", "y", "x"]}
X = np.array([[1.0, 0.0, 1.0], [2.0, 5.0, 0.0], [3.0, 0.0, 1.0]])
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def whole(source):
    (block,) = source.blocks()
    X = block.X.toarray() if sparse.issparse(block.X) else block.X
    return X, None if block.y is None else list(block.y)


@pytest.fixture(params=[*FRAMES, "parquet"])
def table(request, tmp_path):
    """A function that puts columns into each kind of table."""

    def make(columns):
        if request.param in FRAMES:
            return FRAMES[request.param](columns)
        pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
        return tmp_path / "rows.parquet"

    return make


def test_tables(table):
    source = mercer.read(table({**COLUMNS, **TARGET}), target="kind")
    got, y = whole(source)
    assert np.array_equal(got, X)
    assert y == ["x", "y", "x"]
    assert source.names == ["a", "b", "yes"]
    assert source.n_rows == 3


def test_columns_and_weight(table):
    source = mercer.read(table({**COLUMNS, **TARGET}), weight="b", columns=["yes", "a"])
    (block,) = source.blocks()
    assert np.array_equal(block.X, X[:, [2, 0]])
    assert list(block.weight) == [0, 5, 0]
    assert source.names == ["yes", "a"]


def test_missing_numbers_become_nan(table):
    got, _ = whole(mercer.read(table({"a": pa.array([1.0, None]).to_pylist(), "b": [1.5, 2.5]})))
    assert np.array_equal(got, [[1.0, 1.5], [np.nan, 2.5]], equal_nan=True)


@pytest.mark.parametrize("kind", FRAMES)
def test_missing_whole_numbers_in_frames(kind):
    frame = FRAMES[kind]({"a": [1, 2]}) if kind != "pandas" else pd.DataFrame({"a": pd.array([1, 2], "Int64")})
    assert np.array_equal(whole(mercer.read(frame))[0], [[1.0], [2.0]])
    values = pd.array([1, None], "Int64") if kind == "pandas" else [1, None]
    got, _ = whole(mercer.read(FRAMES[kind]({"a": values})))
    assert np.array_equal(got, [[1.0], [np.nan]], equal_nan=True)


def test_names_that_do_not_exist(table):
    rows = table({**COLUMNS, **TARGET})
    with pytest.raises(ValueError, match=r"no column named 'knd' \(given as target\). Did you mean 'kind'\?"):
        mercer.read(rows, target="knd")
    with pytest.raises(ValueError, match="It has 'a', 'b', 'yes', 'kind'"):
        mercer.read(rows, target="price")
    with pytest.raises(ValueError, match="given as columns"):
        mercer.read(rows, columns=["c"])
    with pytest.raises(ValueError, match="at once"):
        mercer.read(rows, target="a", columns=["a", "b"])
    with pytest.raises(ValueError, match="write columns="):
        mercer.read(rows, columns="a")


def test_columns_of_text_are_named(table):
    with pytest.raises(ValueError, match=r"1 of the feature columns do not hold numbers: 'kind'.*OneHot"):
        mercer.read(table({**COLUMNS, **TARGET}))


def test_no_rows(table):
    with pytest.raises(ValueError, match="no rows"):
        mercer.read(table({"a": pa.array([], pa.float64()).to_numpy()}))


def test_no_features(table):
    with pytest.raises(ValueError, match="no feature columns are left"):
        mercer.read(table(TARGET), target="kind")


@pytest.mark.parametrize("kind", FRAMES)
def test_missing_targets_are_refused(kind):
    frame = FRAMES[kind]({"a": [1.0, 2.0, 3.0], "kind": ["x", None, None]})
    with pytest.raises(ValueError, match="'kind' misses 2 of its values, first in row 1"):
        mercer.read(frame, target="kind")


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array, np.ndarray.tolist])
def test_arrays(make):
    source = mercer.read(make(X), target=[1, 2, 3], columns=[2, 0])
    got, y = whole(source)
    assert np.array_equal(got, X[:, [2, 0]])
    assert y == [1, 2, 3]


def test_precision_is_kept():
    assert whole(mercer.read(X.astype(np.float32)))[0].dtype == np.float32
    assert whole(mercer.read(pl.DataFrame({"a": X[:, 0].astype(np.float32)})))[0].dtype == np.float32


def test_bunch():
    bunch = load_iris()
    source = mercer.read(bunch)
    got, y = whole(source)
    assert np.array_equal(got, bunch.data)
    assert y == list(bunch.target)
    assert source.names == bunch.feature_names
    framed = mercer.read(load_iris(as_frame=True))
    assert np.array_equal(whole(framed)[0], bunch.data)


def test_frame_of_a_bunch_by_name():
    frame = load_diabetes(as_frame=True).frame
    assert mercer.read(frame, target="target").n_rows == 442


def test_source_passes_through():
    source = MemorySource(X)
    assert mercer.read(source) is source
    assert mercer.io.read_table(source) is source
    for given in ({"target": "a"}, {"weight": "a"}, {"columns": ["a"]}):
        with pytest.raises(ValueError, match="already knows"):
            mercer.read(source, **given)
    for given in ({"target": "a"}, {"weight": "a"}):
        with pytest.raises(ValueError, match="already knows"):
            mercer.io.read_table(source, **given)


def test_parquet_stays_on_disk(tmp_path):
    pq.write_table(pa.table(COLUMNS), tmp_path / "no suffix")
    assert isinstance(mercer.read(str(tmp_path / "no suffix")), ParquetSource)


def test_paths_that_do_not_work(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        mercer.read(tmp_path / "rows.parquet")
    with pytest.raises(FileNotFoundError, match="the folder holds no table"):
        mercer.read(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n1,x\n")
    with pytest.raises(ValueError, match=r"rows.csv: 1 of the feature columns do not hold numbers: 'b'.*TableEncoder"):
        mercer.read(tmp_path / "rows.csv")
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="is empty"):
        mercer.read(tmp_path / "empty")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1....")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        mercer.read(tmp_path / "cut.parquet")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.ones(3), "two dimensions"),
        (np.ones((0, 3)), "nothing to read"),
        (np.array([["a"]]), "not a table of numbers"),
        ([[1.0], [1.0, 2.0]], "do not form a table"),
        (None, "not a table of numbers"),
        (pl.LazyFrame(COLUMNS), "collect"),
    ],
)
def test_inputs_that_are_not_tables(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mercer.read(data)


def test_target_of_an_array_by_name():
    with pytest.raises(ValueError, match="no column names"):
        mercer.read(X, target="a")


def test_target_of_another_length():
    with pytest.raises(ValueError, match="3 rows but y has 2"):
        mercer.read(X, target=[1, 2])
