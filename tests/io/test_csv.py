"""Text tables: small files that others have stumbled over, and random tables written and read back."""

import csv
import datetime
import gc
import gzip
import io
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mercer
from mercer.io import read_table
from mercer.io.csv_text import BadRows, Unclean, careful_batches
from mercer.io.dialect import Dialect
from mercer.io.temporary import GROUP_ROWS


def columns(source):
    tables = [block.X.table for block in source.blocks()]
    return pa.concat_tables(tables).to_pydict()


@pytest.fixture
def read(tmp_path):
    """A function that writes a file and reads it as a table."""

    def go(content, name="rows.csv", **options):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(tmp_path / name, **options)

    return go


DAY = datetime.datetime

GOLDEN = {
    "plain": ("a,b\n1,2\n3,4.5\n", {"a": [1, 3], "b": [2.0, 4.5]}),
    "quotes": ('a,b\n"x, y",1\n"say ""hi""",2\n', {"a": ["x, y", 'say "hi"'], "b": [1, 2]}),
    "inner quote": ('a,b\n5" pipe,1\nx,2\n', {"a": ['5" pipe', "x"], "b": [1, 2]}),
    "newlines inside": ('a,b\n"x\ny",1\n"z\r\nw",2\n', {"a": ["x\ny", "z\r\nw"], "b": [1, 2]}),
    "bom and crlf": ("\ufeffa,ß\r\n1,x\r\n2,y\r\n", {"a": [1, 2], "ß": ["x", "y"]}),
    "latin-1": ("name,n\nJosé,1\nZoë,2\n".encode("latin-1"), {"name": ["José", "Zoë"], "n": [1, 2]}),
    "utf-16": ("a,b\n1,é\n2,x\n".encode("utf-16"), {"a": [1, 2], "b": ["é", "x"]}),
    "decimal comma": ("a;b\n1,5;x\n-2,25e3;y\n", {"a": [1.5, -2250.0], "b": ["x", "y"]}),
    "tabs": ("a\tb\n1\tx y\n2\tz\n", {"a": [1, 2], "b": ["x y", "z"]}),
    "pipes, single quotes": ("a|b\n'x|y'|2\n'z'|3\n", {"a": ["x|y", "z"], "b": [2, 3]}),
    "no header": ("1,x\n2,y\n", {"x0": [1, 2], "x1": ["x", "y"]}),
    "header above text": ("2019,name\n1,x\n2,y\n", {"x0": [2019, 1, 2], "x1": ["name", "x", "y"]}),
    "header above numbers": ("year,2019\na,3\nb,4\n", {"x0": ["year", "a", "b"], "x1": [2019, 3, 4]}),
    "one column": ("a\n1\n2\n", {"a": [1, 2]}),
    "no last newline": ("a,b\n1,2\n3,4", {"a": [1, 3], "b": [2, 4]}),
    "blank lines": ("\na,b\n\n1,2\n\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}),
    "blanks": ("a, b\n1, x\n2, NA\n", {"a": [1, 2], "b": ["x", None]}),
    "duplicates": ("a,a,,a_2\n1,2,3,4\n5,6,7,8\n", {"a": [1, 5], "a_3": [2, 6], "column3": [3, 7], "a_2": [4, 8]}),
    "unicode names": ("größe,身長\n1,2\n3,4\n", {"größe": [1, 3], "身長": [2, 4]}),
    "missing": ("a,b\n1,\n?,x\nNA,null\n", {"a": [1, None, None], "b": [None, "x", None]}),
    "nothing but gaps": ("a,b\n1,\n2,NA\n", {"a": [1, 2], "b": [None, None]}),
    "codes": ("zip,n\n00501,1\n10001,02\n", {"zip": ["00501", "10001"], "n": ["1", "02"]}),
    "extremes": ("a,b\n1e308,1e-320\n-1.7e308,0\n", {"a": [1e308, -1.7e308], "b": [1e-320, 0.0]}),
    "beyond float64": ("a,b\n1e400,1\n2,2\n", {"a": ["1e400", "2"], "b": [1, 2]}),
    "infinities": ("a,b\ninf,1\n-Infinity,2\n", {"a": [np.inf, -np.inf], "b": [1, 2]}),
    "64 bits": ("a,b\n9223372036854775807,1\n-9223372036854775808,2\n", {"a": [2**63 - 1, -(2**63)], "b": [1, 2]}),
    "huge whole numbers": ("a,b\n9223372036854775808,1\n5,2\n", {"a": ["9223372036854775808", "5"], "b": [1, 2]}),
    "hexadecimal": ("a,b\n0x1F,1\n0x2A,2\n", {"a": ["0x1F", "0x2A"], "b": [1, 2]}),
    "signs": ("a,b\n+5,+.5\n-0,1.\n", {"a": [5, 0], "b": [0.5, 1.0]}),
    "booleans": ("a,b\ntrue,1\nFALSE,0\n", {"a": [True, False], "b": [1, 0]}),
    "dates": (
        "a,b,c\n2020-01-02,2020-01-02T03:04:05Z,31.12.2020\n2020-02-29,2020-01-02 03:04:05+02:00,01.02.2021\n",
        {
            "a": [DAY(2020, 1, 2), DAY(2020, 2, 29)],
            "b": [DAY(2020, 1, 2, 3, 4, 5), DAY(2020, 1, 2, 1, 4, 5)],
            "c": [DAY(2020, 12, 31), DAY(2021, 2, 1)],
        },
    ),
    "day and month": ("a,b\n01/02/2020,1\n31/01/2020,2\n", {"a": [DAY(2020, 2, 1), DAY(2020, 1, 31)], "b": [1, 2]}),
    "day or month": ("a,b\n01/02/2020,1\n03/04/2020,2\n", {"a": ["01/02/2020", "03/04/2020"], "b": [1, 2]}),
    "no such day": ("a,b\n2020-02-30,1\n2020-01-01,2\n", {"a": ["2020-02-30", "2020-01-01"], "b": [1, 2]}),
    "nul": ("a,b\nx\0y,1\nz,2\n", {"a": ["x\0y", "z"], "b": [1, 2]}),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_files(read, name):
    content, expected = GOLDEN[name]
    got = columns(read(content))
    assert got == expected
    assert [[type(value) for value in column] for column in got.values()] == [
        [type(value) for value in column] for column in expected.values()
    ]


@pytest.mark.parametrize("name", GOLDEN)
def test_the_careful_reader_gives_the_same_table(read, name, monkeypatch):
    def unclean(*_):
        raise Unclean

    monkeypatch.setattr("mercer.io.spool.fast_batches", unclean)
    content, expected = GOLDEN[name]
    assert columns(read(content)) == expected


@pytest.mark.parametrize("name", ["plain", "quotes", "latin-1", "utf-16", "newlines inside"])
def test_gzip_is_unpacked(read, name):
    content, expected = GOLDEN[name]
    packed = gzip.compress(content.encode() if isinstance(content, str) else content)
    assert columns(read(packed, "rows.csv.gz")) == expected


LATE = 200_000  # rows: several batches of the reader


@pytest.mark.parametrize(
    ("late", "kind", "value"),
    [("1.5", "number", 1.5), ("x", "text", "x"), ("", "integer", None), ("2020-01-01", "text", "2020-01-01")],
)
def test_a_late_value_decides_the_kind_of_all(read, late, kind, value):
    source = read("a,b\n" + "7,1\n" * LATE + f"{late},1\n")
    assert source.schema == {"a": kind, "b": "integer"}
    assert source.n_rows == LATE + 1
    assert source.read(LATE, LATE + 1).X.table["a"].to_pylist() == [value]
    assert source.read(0, 1).X.table["a"].to_pylist() == [{"text": "7"}.get(kind, 7)]
    assert bool(source.notes) == (kind == "text")


def test_values_that_turn_numbers_into_text_are_noted(read):
    source = read("a,b\n" + "7,1\n" * 50 + "n.a.,1\n")
    assert source.notes[0].startswith("Column 'a' is text because of 'n.a.' in row 51; until there it was number.")
    assert read("a,b\n" + "7,1\n" * 50 + "n.a.,1\n", missing=["n.a."]).schema["a"] == "integer"


def test_late_bytes_that_are_no_utf8(read):
    content = b"a,b\n" + b"1,x\n" * LATE + "2,é\n".encode("latin-1")
    source = read(content)
    assert source.read(LATE, LATE + 1).X.table["b"].to_pylist() == ["é"]
    assert "cp1252" in source.notes[0]
    with pytest.raises(ValueError, match="is not"):
        read(content, encoding="ascii")


SWALLOWED = {
    "to the end": 'a,b\n1,x\n2,"open\n3,y\n4,z\n',
    "in the last line": 'a,b\n1,x\n2,"open',
    "in the last line of two": 'a,b\n1,x\n2,"open" "',
    "to the next quote": 'a,b\n1,x\n2,"open\n3,"y"\n4,z\n',
    "of a megabyte": 'a,b\n1,x\n2,"open\n' + "3,y\n" * 2_000_000,
}


@pytest.mark.parametrize("name", SWALLOWED)
def test_a_swallowed_quote_is_an_error_with_its_line(read, name):
    with pytest.raises(ValueError, match=r"rows.csv, line 3: '2,\"open.*' (opens|has) a quote"):
        read(SWALLOWED[name])


RAGGED = "a,b\n1,x\n3\n5,y\n6,z,7\n"


def test_ragged_rows_are_errors_with_line_and_remedy(read):
    with pytest.raises(ValueError, match=r"rows.csv, line 3: 1 fields where there are 2 columns: '3'.*on_bad_rows"):
        read(RAGGED)
    with pytest.raises(ValueError, match=r"line 5: 3 fields"):  # a value of two lines before
        read('a,b\n"1\n2",x\n4,y\n3,4,5\n')


def test_ragged_rows_filled(read):
    source = read(RAGGED, on_bad_rows="null")
    assert columns(source) == {"a": [1, 3, 5, 6], "b": ["x", None, "y", "z"]}
    assert "2 bad rows were repaired" in source.notes[0]


def test_ragged_rows_left_out_are_kept_in_a_file(read, tmp_path):
    source = read(RAGGED, on_bad_rows="skip", rejected=tmp_path / "bad.csv")
    assert columns(source) == {"a": [1, 5], "b": ["x", "y"]}
    with open(tmp_path / "bad.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert [row[1:3] for row in rows] == [
        ["line", "reason"],
        ["3", "1 fields where there are 2 columns"],
        ["5", "3 fields where there are 2 columns"],
    ]
    assert "2 bad rows were left out" in source.notes[0]


TYPED = "a,b\n1,2020-01-01\nx,2020-01-02\n3,never\n"


def test_values_that_contradict_declared_types(read, tmp_path):
    types = {"a": "number", "b": "date"}
    with pytest.raises(ValueError, match=r"line 3: column 'a' holds 'x', not a number.*missing="):
        read(TYPED, types=types)
    assert columns(read(TYPED, types=types, on_bad_rows="null")) == {
        "a": [1.0, None, 3.0],
        "b": [DAY(2020, 1, 1), DAY(2020, 1, 2), None],
    }
    skipped = read(TYPED, types=types, on_bad_rows="skip", rejected=tmp_path / "bad.csv")
    assert columns(skipped)["a"] == [1.0]
    assert columns(read(TYPED, types={"a": "text"}))["a"] == ["1", "x", "3"]
    assert read("a,b\n1,2\n", types={"a": "number"}).schema["a"] == "number"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": {"c": "number"}}, "no column named 'c'"),
        ({"types": {"a": "float"}}, "must be one of"),
        ({"on_bad_rows": "drop"}, "must be one of error, skip, null"),
        ({"delimiter": "::"}, "one character"),
        ({"quote": "''"}, "quote must be one character"),
        ({"decimal": "x"}, "decimal must be '.' or ','"),
        ({"delimiter": ",", "decimal": ","}, "delimiter and decimal are both ','"),
        ({"target": "a", "weight": "a"}, "target and the weight at once"),
        ({"encoding": "klingon"}, "not an encoding"),
        ({"target": "c"}, "no column named 'c'"),
        ({"target": [1, 2]}, "must be the name"),
    ],
)
def test_wrong_options(read, options, message):
    with pytest.raises(ValueError, match=message):
        read("a,b\n1,2\n", **options)


def test_files_without_rows(read):
    for content in ("", "\n\n", "a,b\n"):
        with pytest.raises(ValueError, match=r"is empty|has no rows"):
            read(content)


def test_options_overrule_what_is_sniffed(read):
    assert columns(read("a,b\n1,2\n", header=False)) == {"x0": ["a", "1"], "x1": ["b", "2"]}
    assert columns(read("a;b\n1,5;2\n", decimal=".")) == {"a": ["1,5"], "b": [2]}
    assert columns(read("a,b\nNA,1\n", missing=[])) == {"a": ["NA"], "b": [1]}
    assert str(read("a;b\n1;2\n").dialect) == "delimiter ';', quote \", header, decimal '.', utf-8"


def test_nothing_is_quoted(read):
    text = 'a,b\n"x,1\ny",2\n'
    assert columns(read(text, quote="")) == {"a": ['"x', 'y"'], "b": [1, 2]}
    with pytest.raises(ValueError, match="line 3: 1 fields"):
        read('a,b\n"x,1\ny"\n', quote="")


def test_a_given_encoding_may_have_a_byte_order_mark(read):
    assert columns(read("\ufeffa,b\n1,2\n", encoding="utf-8")) == {"a": [1], "b": [2]}


def test_a_failed_reading_leaves_nothing_behind(read, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with pytest.raises(ValueError, match="line 3"):
        read(RAGGED)
    gc.collect()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_target_and_weight_are_taken_out(read):
    source = read("a,y,w\n1,yes,2\n3,no,1\n", target="y", weight="w")
    (block,) = source.blocks()
    assert source.names == ["a"]
    assert block.y.tolist() == ["yes", "no"]
    assert block.weight.tolist() == [2, 1]
    with pytest.raises(ValueError, match="line 3: the target 'y' is missing"):
        list(read("a,y\n1,yes\n3,\n", target="y").blocks())


def test_globs_read_files_of_one_schema(tmp_path):
    (tmp_path / "part-1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "part-2.csv").write_text("b,a\ny,2.5\n")
    source = read_table(tmp_path / "part-*.csv")
    assert columns(source) == {"a": [1.0, 2.5], "b": ["x", "y"]}
    (tmp_path / "part-3.csv").write_text("a,c\n1,x\n")
    with pytest.raises(ValueError, match=r"part-3.csv does not have the columns of .*part-1.csv: missing \['b'\]"):
        read_table(tmp_path / "part-*.csv")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        read_table(tmp_path / "nothing-*.csv")


def test_globs_of_parquet(tmp_path):
    for i, value in enumerate((1.0, 2.0)):
        pq.write_table(pa.table({"a": [value], "b": [str(i)]}), tmp_path / f"{i}.parquet")
    assert columns(read_table(tmp_path / "*.parquet")) == {"a": [1.0, 2.0], "b": ["0", "1"]}
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2.parquet does not have the columns .* 'a' is string, was double"):
        read_table(tmp_path / "*.parquet")
    (tmp_path / "3.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="cannot be read as one table"):
        read_table(tmp_path / "*")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    assert columns(read_table("-")) == {"a": [1], "b": ["x"]}


def test_numbers_go_straight_into_an_estimator(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,y\n1,true,1\n2.5,false,2\nNA,,3\n")
    source = mercer.read(tmp_path / "rows.csv", target="y")
    (block,) = source.blocks()
    assert np.array_equal(block.X, [[1.0, 1.0], [2.5, 0.0], [np.nan, np.nan]], equal_nan=True)
    assert block.y.tolist() == [1, 2, 3]


def test_the_temporary_file_goes_with_the_source(read):
    source = read("a,b\n1,2\n")
    view = source.map(lambda block: block)
    folder = os.path.dirname(source.path)
    del source
    assert os.path.exists(folder)
    assert len(list(view.blocks())) == 1
    del view
    assert not os.path.exists(folder)


def test_blocks_and_row_groups_are_bounded(read):
    source = read("a,b\n" + "1,x\n" * 150_000)
    with pq.ParquetFile(source.path) as file:
        groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    assert sum(groups) == 150_000
    assert max(groups) == GROUP_ROWS
    assert max(len(block) for block in source.blocks()) == 8192


def test_batches_of_the_careful_reader_are_bounded(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n" + "1,x\n" * 40_000 + "2\n")
    found = careful_batches(str(tmp_path / "rows.csv"), Dialect(), 2, BadRows("null"), "rows.csv")
    assert [len(batch.columns[0]) for batch in found] == [2**14, 2**14, 40_001 - 2**15]


# Random tables: what was written is read back. Text begins with a letter, so that it is not a number or a gap.
WORDS = st.from_regex(r"[a-z][ -~äßé身\n]{0,8}", fullmatch=True).filter(lambda w: w.strip() == w and w != "null")
VALUES = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "date": st.datetimes(DAY(1900, 1, 1), DAY(2100, 1, 1)),
    "text": WORDS,
}


@st.composite
def tables(draw):
    n = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=2, max_size=5))
    table = {}
    for j, kind in enumerate(kinds):
        gaps = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        values = draw(st.lists(VALUES[kind], min_size=n, max_size=n))
        table[f"c{j}"] = [
            None if gap and row else value for row, (gap, value) in enumerate(zip(gaps, values, strict=True))
        ]
    return kinds, table


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(drawn=tables(), delimiter=st.sampled_from(",;\t|"), ending=st.sampled_from(["\n", "\r\n"]))
def test_tables_survive_the_round_trip(read, drawn, delimiter, ending):
    kinds, table = drawn
    rows = [list(table), *([_written(value) for value in row] for row in zip(*table.values(), strict=True))]
    text = "".join(_line(row, delimiter) + ending for row in rows)
    source = read(text, delimiter=delimiter, decimal=".", quote='"', encoding="utf-8", header=True)
    got = columns(source)
    assert list(got) == list(table)
    for (name, values), kind in zip(table.items(), kinds, strict=True):
        if kind == "number":  # 2.0 may be written 2.0 or 2e0; whole columns of them stay numbers
            assert [None if v is None else float(v) for v in got[name]] == values
        else:
            assert got[name] == values


def _line(fields, delimiter):
    """One line without its end; a writer that may end lines by \\r\\n quotes fields with either letter."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow(fields)
    return out.getvalue()[:-2]


def _written(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return value


def test_a_missing_value_above_numbers_is_no_header(tmp_path):
    (tmp_path / "rows.csv").write_text("NA,1\n2,3\n4,5\n")
    assert read_table(tmp_path / "rows.csv").n_rows == 3
    (tmp_path / "rows.csv").write_text("a,1\n2,3\n4,5\n")
    assert read_table(tmp_path / "rows.csv").n_rows == 2
