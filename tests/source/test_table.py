"""Tables as blocks of rows: the same rows, types and hashes whatever they came in."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris

from mercer._numeric.block import Block, concatenate
from mercer.io import read_table
from mercer.source import Columns, MemorySource, split_holdout
from mercer.stats import Sample

DAYS = [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 2, 1, 10), None]
TABLE = {
    "n": [1, 2, 3],
    "x": [0.5, None, -1.0],
    "flag": [True, False, True],
    "when": DAYS,
    "word": ["a", None, "ß"],
}
KINDS = {"n": "integer", "x": "number", "flag": "boolean", "when": "date", "word": "text"}
MAKE = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", MAKE)
def test_every_frame_is_the_same_table(kind):
    table, reference = Columns.of(MAKE[kind](TABLE)), Columns.of(TABLE)
    assert table.schema == KINDS
    assert table.table.to_pydict() == TABLE
    assert np.array_equal(Block(table).ids, Block(reference).ids)


def test_hashes_are_those_of_the_values():
    numbers = np.array([[1.0, 2.0], [3.0, np.nan]])
    assert np.array_equal(Block(Columns.of(numbers)).ids, Block(numbers).ids)
    whole = Columns.of({"a": [2**60 + 1, 5, None], "b": [1, 2, 3]})
    parts = [Block(whole[rows]).ids for rows in (slice(0, 1), slice(1, 3))]
    assert np.array_equal(np.concatenate(parts), Block(whole).ids)


def test_rows_are_selected_like_those_of_an_array():
    table, n = Columns.of({"i": np.arange(10)}), np.arange(10)
    for chosen in (slice(2, 5), slice(None, None, 3), n % 2 == 0, np.array([3, 3, 0]), slice(8, 4)):
        assert table[chosen].array("i").tolist() == n[chosen].tolist()
    assert len(table[n < 0]) == 0
    assert concatenate(Block(table[:4]), Block(table[4:])).X.array("i").tolist() == n.tolist()
    assert pickle.loads(pickle.dumps(table[2:4])).array("i").tolist() == [2, 3]


def test_columns_as_arrays():
    table = Columns.of({**TABLE, "gap": [1, None, 3], "big": [2**60 + 1, None, 0]})
    assert table.array("n").dtype == np.int64
    assert np.array_equal(table.array("gap"), [1.0, np.nan, 3.0], equal_nan=True)
    assert table.array("big").tolist() == [2**60 + 1, None, 0]
    assert table.array("word").tolist() == ["a", None, "ß"]
    assert table.array("when").dtype == np.dtype("datetime64[us]")


def test_types_that_other_libraries_have():
    zoned = pd.Series(pd.to_datetime(["2020-01-01 12:00"])).dt.tz_localize("Europe/Berlin")
    frame = pd.DataFrame({"c": pd.Categorical(["x"]), "i8": np.array([1], "int8"), "zoned": zoned})
    table = Columns.of(frame)
    assert table.schema == {"c": "text", "i8": "integer", "zoned": "date"}
    assert table.table["zoned"].to_pylist() == [datetime.datetime(2020, 1, 1, 11)]
    mixed = Columns.of(pd.DataFrame({"m": [1, "a", None]}))
    assert mixed.table["m"].to_pylist() == ["1", "a", None]
    assert Columns.of(np.array([[1, "a"], [None, "b"]], dtype=object)).schema == {"x0": "integer", "x1": "text"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (np.ones(3), "two dimensions"),
        (np.ones((2, 2), complex), "Complex data not supported"),
        ({"a": [1], "b": [1, 2]}, "one length"),
        ({"a": [{"x": 1}, 2]}, "argument must be a string"),
        (pa.table({"a": [[1.0]]}), "'a' holds list"),
        (pa.table([[1], [2]], names=["a", "a"]), "2 columns named 'a'"),
        (pl.LazyFrame({"a": [1]}), "collect"),
    ],
)
def test_what_is_no_table(data, said):
    with pytest.raises((ValueError, TypeError), match=said):
        read_table(data)


def test_memory_and_parquet_give_the_same_blocks(tmp_path):
    n = 20_000
    table = {"a": np.arange(n), "b": [str(i % 7) for i in range(n)], "y": np.arange(n) % 2}
    pq.write_table(pa.table(table), tmp_path / "rows.parquet", row_group_size=3000)
    memory, file = read_table(table, target="y"), read_table(tmp_path / "rows.parquet", target="y")
    assert memory.schema == file.schema == {"a": "integer", "b": "text"}
    for ours, theirs in zip(memory.blocks(), file.blocks(), strict=True):
        assert ours.X.table.equals(theirs.X.table)
        assert np.array_equal(ours.ids, theirs.ids)
        assert np.array_equal(ours.y, theirs.y)
    sides = [source.fold(Sample(50)).finish() for source in (memory, file)]
    assert sides[0].X.table.equals(sides[1].X.table)
    assert sum(len(block) for side in split_holdout(file) for block in side.blocks()) == n


def test_bunch_array_and_source():
    bunch = load_iris()
    source = read_table(bunch)
    assert source.names == bunch.feature_names
    assert read_table(source) is source
    assert isinstance(read_table(bunch.data, target=bunch.target), MemorySource)
    with pytest.raises(ValueError, match="already knows"):
        read_table(source, target="x")
    with pytest.raises(ValueError, match="Did you mean 'age'"):
        read_table({"age": [1], "b": [2]}, target="Age")
    with pytest.raises(ValueError, match="no rows"):
        read_table({"age": []})
