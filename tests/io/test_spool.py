"""Text files as one table: several files, bad rows for several reasons, and the place of each row."""

import csv
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer._runtime.errors import DataError
from mercer.io import read_table


def rejected(path):
    with open(path, newline="") as file:
        return [tuple(row[1:]) for row in csv.reader(file)][1:]


def test_a_row_that_is_bad_for_several_reasons_is_skipped_once(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,y,w\n1,1,1,1\nx,y,,\n2,2,,2\n3,3,3,\n4,x,4,4\nx,y,5,5\n6,6,6,6\n")
    types = {"a": "number", "b": "number"}
    how = {"on_bad_rows": "skip", "rejected": tmp_path / "bad.csv", "types": types, "target": "y", "weight": "w"}
    source = read_table(tmp_path / "rows.csv", **how)
    assert source.collect().X.table.to_pydict() == {"a": [1.0, 6.0], "b": [1.0, 6.0]}
    assert source.skipped_rows == [1, 2, 3, 4, 5]
    assert source.input_rows(0, 2).tolist() == [0, 6]
    assert rejected(tmp_path / "bad.csv") == [
        ("3", "the target 'y' is missing", ""),
        ("4", "the target 'y' is missing", ""),
        ("5", "the weight 'w' is missing", ""),
        ("6", "column 'b' holds 'x', not a number", "x"),
        ("7", "column 'a' holds 'x', not a number", "x"),
    ]
    assert source.notes == [f"5 bad rows were left out; {tmp_path / 'bad.csv'} says which and why."]


def test_a_row_that_is_repaired_twice_counts_as_one(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,1\nx,y\n3,3\n")
    source = read_table(tmp_path / "rows.csv", on_bad_rows="null", types={"a": "number", "b": "number"})
    assert source.collect().X.table.to_pydict() == {"a": [1.0, None, 3.0], "b": [1.0, None, 3.0]}
    assert source.repaired_rows == [1]
    assert source.notes == [f"1 bad rows were repaired with missing values, first {tmp_path / 'rows.csv'} line 3."]


def test_the_first_repaired_row_is_that_of_the_file(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,1\n2,x\nx,3\n4,4,4\n")
    source = read_table(tmp_path / "rows.csv", on_bad_rows="null", types={"a": "number", "b": "number"})
    assert source.repaired_rows == [1, 2, 3]
    assert source.notes == [f"3 bad rows were repaired with missing values, first {tmp_path / 'rows.csv'} line 3."]


def test_a_row_with_a_stray_quote_and_too_many_fields_is_repaired_of_both(tmp_path):
    (tmp_path / "rows.csv").write_text('a,b\n"x",1\ny",2,3\nz"\n')
    source = read_table(tmp_path / "rows.csv", on_bad_rows="null")
    assert source.collect().X.table.to_pydict() == {"a": ["x", None, None], "b": [1, 2, None]}
    assert source.repaired_rows == [1, 2]


@pytest.fixture
def files(tmp_path):
    """Two files: values of several lines in the first, blank lines and other columns' order in the second."""
    (tmp_path / "1.csv").write_text('a,y\n"x\ny",1\nz,2\n')
    (tmp_path / "2.csv").write_text("y,a\n\n3,u\n\n4,v\n5,w\n")
    return tmp_path / "*.csv"


def test_the_place_of_a_row_is_its_file_and_line(files):
    source = read_table(files, "y")
    places = [source.locate(row) for row in range(5)]
    assert [(str(place.file)[-5:], place.line) for place in places] == [
        *(("1.csv", 2), ("1.csv", 4)),
        *(("2.csv", 3), ("2.csv", 5), ("2.csv", 6)),
    ]
    assert source.collect().X["a"].tolist() == ["x\ny", "z", "u", "v", "w"]
    assert source.locate(5).row == 5


def test_the_place_of_a_row_counts_only_those_that_are_kept(files, tmp_path):
    (tmp_path / "1.csv").write_text('a,y\n"x\ny",1\nz\nz,2\n')
    source = read_table(files, "y", on_bad_rows="skip", rejected=tmp_path / "bad")
    assert [source.locate(row).line for row in range(5)] == [2, 5, 3, 5, 6]
    assert source.skipped_rows == [1]


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_mistakes_in_a_later_file_name_it(files, tmp_path, policy):
    (tmp_path / "2.csv").write_text("y,a\n3,u\n4\n")
    how = {"on_bad_rows": policy, "rejected": tmp_path / "bad"}
    if policy == "error":
        with pytest.raises(DataError, match=r"2\.csv, line 3: 1 fields"):
            read_table(files, "y", **how)
    else:
        assert read_table(files, "y", **how).skipped_rows == [3]
        assert rejected(tmp_path / "bad") == [("3", "1 fields where there are 2 columns", "4\n")]
    (tmp_path / "2.csv").write_text("y,b\n3,u\n")
    with pytest.raises(DataError, match=r"2\.csv does not have .*1\.csv: missing \['a'\], new \['b'\]"):
        read_table(files, "y", **how)
    (tmp_path / "2.csv").write_text("y,a,c\n3,u,1\n")
    with pytest.raises(DataError, match=r"missing none, new \['c'\]"):
        read_table(files, "y", **how)


def test_a_later_file_may_be_empty_below_its_header(files, tmp_path):
    (tmp_path / "2.csv").write_text("y,a\n")
    assert read_table(files, "y").n_rows == 2
    (tmp_path / "1.csv").write_text("a,y\n")
    with pytest.raises(DataError, match=r"1\.csv has no rows below its header"):
        read_table(files, "y")


@pytest.mark.parametrize(("length", "shown"), [(60, "'{}'"), (61, "'{}...'")])
def test_long_lines_are_cut_in_messages(tmp_path, length, shown):
    line = "x" * length
    (tmp_path / "rows.csv").write_text(f"a,b\n{line}\n")
    with pytest.raises(DataError) as found:
        read_table(tmp_path / "rows.csv", header=True)
    assert f"2 columns: {shown.format(line if length == 60 else line[:57])}. " in str(found.value)


def test_a_name_that_is_not_there_may_be_in_row_1(tmp_path):
    (tmp_path / "rows.csv").write_text("1,y\n2,z\n")
    with pytest.raises(DataError, match=r"no column named 'y'.* Row 1 was taken for values: header=True if it names"):
        read_table(tmp_path / "rows.csv", "y")
    with pytest.raises(DataError) as found:
        read_table(tmp_path / "rows.csv", "z", header=True)
    assert "Row 1" not in str(found.value)


def test_folders_of_partitions_are_no_columns_of_text(tmp_path):
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "rows.csv").write_text("a,b\n1,2\n")
    source = read_table(tmp_path)
    assert list(source.schema) == ["a", "b"]
    assert source.notes == ["Folders named year=... are columns for Parquet files only: not read."]


def test_columns_of_parquet_that_no_table_holds_are_left_out(tmp_path):
    pq.write_table(pa.table({"a": [1], "list": [[1, 2]], "y": [1.0]}), tmp_path / "rows.parquet")
    source = read_table(tmp_path / "rows.parquet", "y")
    assert source.names == ["a"]
    assert len(source.notes) == 1
    assert source.notes[0].startswith("Column 'list' is left out: list<")


def test_files_of_parquet_without_rows(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"rows\.parquet has no rows"):
        read_table(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="target must be the name of one of its columns"):
        read_table(tmp_path / "rows.parquet", [1.0])


def test_tables_without_rows():
    with pytest.raises(DataError, match="The table has no rows"):
        read_table({"a": []})


def test_standard_input_may_be_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="Standard input is closed"):
        read_table("-")


@pytest.mark.parametrize("careful", [False, True])
def test_options_of_types_are_checked(tmp_path, careful):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n" + "3\n" * careful)
    for types, match in (
        ({"b": "numbers"}, r"must be one of boolean, integer, number, date, text"),
        ({"c": "text"}, "'c'"),
    ):
        with pytest.raises(ValueError, match=match):
            read_table(tmp_path / "rows.csv", types=types, on_bad_rows="null")
