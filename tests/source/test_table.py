"""Tables as blocks of rows: the same rows, types and hashes whatever they came in."""

import datetime
import pickle
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from mercer._numeric.block import Block, concatenate
from mercer.io import read_table
from mercer.source import Columns, MemorySource, split_holdout
from mercer.source import table as table_module
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.table import table_in_memory
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


def test_hashes_of_wide_tables_are_computed_in_parts_and_kept(monkeypatch):
    rng = np.random.default_rng(0)
    data = {f"x{j}": x for j, x in enumerate(rng.normal(size=(150, 70)))}
    data["x3"] = np.where(data["x3"] > 1, np.nan, data["x3"])
    known = Columns.of(data).row_hashes()
    monkeypatch.setattr(table_module, "_MAX_ARRAY_ENTRIES", 150 * 16)
    assert Columns.of(data).row_hashes().tolist() == known.tolist()
    monkeypatch.setattr(table_module, "_MIN_ARRAY_COLUMNS", 1000)
    assert Columns.of(data).row_hashes().tolist() == known.tolist()


def test_each_pass_over_a_table_in_memory_hashes_no_row_again(monkeypatch):
    n = 2 * BLOCK_ROWS + 5
    source = table_module.table_in_memory({"a": np.arange(float(n)), "b": ["x", "y", "z"] * (n // 3) + ["x"] * (n % 3)})
    first = [block.ids for block in source.blocks()]
    monkeypatch.setattr(table_module._numeric, "hash_keyed_rows", lambda *_: pytest.fail("hashed again"))
    again = [block.ids for block in source.blocks()]
    assert np.array_equal(np.concatenate(first), np.concatenate(again))
    assert source.read(3, 8).X.shape == (5, 2)
    assert len(pickle.loads(pickle.dumps(source))._tables) == 0


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


HOUR = datetime.timedelta(hours=1)
#: A column as some library keeps it, and what it is in a table: kind and values.
KEPT = {
    "durations": (pd.Series([HOUR, None, 2.5 * HOUR]), "number", [3600.0, None, 9000.0]),
    "times": (pd.Series([datetime.time(1), None, datetime.time(0, 0, 2, 500000)]), "number", [3600.0, None, 2.5]),
    "hours": (pd.Series(np.array([1, 2], "m8[h]")), "number", [3600.0, 7200.0]),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 0, 7])), "integer", [0, 0, 7]),
    "sparse gaps": (pd.Series(pd.arrays.SparseArray([np.nan, 1.5])), "number", [None, 1.5]),
    "periods": (
        pd.Series(pd.PeriodIndex(["2020-01", None], freq="M")),
        "date",
        [datetime.datetime(2020, 1, 1), None],
    ),
    "intervals": (pd.cut(pd.Series([0.0, 2.0, None]), [-1, 1, 3]), "text", ["(-1.0, 1.0]", "(1.0, 3.0]", None]),
    "uuids": (pd.Series([uuid.UUID(int=5)]), "text", [str(uuid.UUID(int=5))]),
    "unsigned": (pd.Series(np.array([2**63 + 2048], "uint64")), "number", [float(2**63 + 2048)]),
    "long codes": (pd.Series([10**30, 7], dtype=object), "text", [str(10**30), "7"]),
    "objects": (pd.Series([1, "a", pd.NA, None, np.nan], dtype=object), "text", ["1", "a", None, None, None]),
    "128 bits": (pl.Series([5, None], dtype=pl.Int128), "integer", [5, None]),
    "runs": (pc.run_end_encode(pa.array([3, 3, 4])), "integer", [3, 3, 4]),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("times", [1, 40])
def test_columns_of_any_library(name, times):
    """Few rows and many are read on different ways, to the same values."""
    column, kind, values = KEPT[name]
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[type(column).__module__.split(".")[0]]
    joined = {"pandas": pd.concat, "polars": pl.concat, "pyarrow": pa.chunked_array}[make.__module__.split(".")[0]]
    table = Columns.of(make({"c": joined([column] * times)}))
    assert table.schema == {"c": kind}
    assert table.table["c"].to_pylist() == values * times


def test_arrays_of_several_kinds():
    fields = np.array([(1.5, "u"), (2.5, "v")], dtype=[("x", "f8"), ("c", "U1")])
    assert Columns.of(fields).table.to_pydict() == {"x": [1.5, 2.5], "c": ["u", "v"]}
    masked = np.ma.masked_less(np.array([[1.0, -5.0], [2.0, 3.0]]), 0)
    assert Columns.of(masked).table.to_pydict() == {"x0": [1.0, 2.0], "x1": [None, 3.0]}
    batch = pa.record_batch({"a": [1, 2]})
    assert Columns.of(batch).table.to_pydict() == {"a": [1, 2]}


def test_names_that_are_no_text():
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2))
    assert read_table(frame, target=1).y.tolist() == [1.0, 3.0, 5.0]
    frame.columns = pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")])
    assert read_table(frame, target=("b", "y")).y.tolist() == [1.0, 3.0, 5.0]
    assert read_table(pd.DataFrame(np.eye(3)), target=[0, 1, 1]).y.tolist() == [0, 1, 1]
    assert read_table(pd.DataFrame(np.eye(3)), target=[[0, 1], [1, 1], [1, 0]]).y.shape == (3, 2)
    with pytest.raises(ValueError, match="are names of columns"):
        read_table(pd.DataFrame({"a": [1], "b": [2], "c": [3]}), target=["a", "b"])


#: Targets given as arrays, and what they become.
GIVEN = {
    "truths": (np.array([True, False], dtype=object), [True, False], "b"),
    "numbers": (np.array([1, 2.5], dtype=object), [1.0, 2.5], "f"),
    "mixed": (np.array(["a", 1], dtype=object), ["a", "1"], "O"),
    "durations": (np.array([60, 90], "m8[m]"), [3600.0, 5400.0], "f"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_targets_are_plain(name):
    given, values, kind = GIVEN[name]
    source = table_in_memory({"a": [1, 2]}, given, np.ones((2, 1)))
    assert source.y.tolist() == values
    assert source.y.dtype.kind == kind
    assert source.weight.shape == (2,)


def test_a_missing_truth_is_a_missing_target():
    with pytest.raises(ValueError, match="target is missing in row 1"):
        table_in_memory({"a": [1, 2]}, pd.Series([True, None], dtype="boolean"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "not a NoneType"),
        (pd.Series([1, 2]), "two dimensions"),
        (sparse.csr_array(np.eye(2)), "toarray"),
        (pd.DataFrame({"a": [1j]}), "Complex data|complex"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "2 columns named 'a'"),
        (np.ones(3), "two dimensions"),
        (np.ones((2, 2), complex), "Complex data not supported"),
        ({"a": [1], "b": [1, 2]}, "one length"),
        ({"a": [{"x": 1}, 2]}, "argument must be a string"),
        (pa.table({"a": [[1.0]]}), "'a' holds list"),
        (pa.table([[1], [2]], names=["a", "a"]), "2 columns named 'a'"),
        (pl.LazyFrame({"a": [1]}), "collect"),
    ],
)
def test_inputs_that_are_not_tables(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
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


def test_numbers_of_a_frame_are_those_of_its_arrays():
    columns = {
        "gap": np.array([0.5, np.nan, -0.0]),
        "single": np.array([1.5, np.nan, np.inf], dtype=np.float32),
        "byte": np.array([1, 2, 255], dtype=np.uint8),
        "long": np.array([1, 2, 2**64 - 1], dtype=np.uint64),
        "flag": np.array([True, False, True]),
        "text": np.array(["a", None, "b"], dtype=object),
    }
    frame = pd.DataFrame(columns, index=[2, 1, 0])
    masked = frame.assign(whole=pd.array([1, None, 3], dtype="Int64"))[["whole", *columns]]
    assert Columns.of(frame).table.equals(Columns.of(columns).table)
    assert Columns.of(masked).table["whole"].to_pylist() == [1, None, 3]
    assert Columns.of(masked).table.select(list(columns)).equals(Columns.of(columns).table)
