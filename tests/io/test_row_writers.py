"""Rows written block by block: any reader gets back what was written, and no half-written file is left."""

import csv
import io
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer._runtime.errors import MercerError
from mercer.io.row_writers import format_of, open_rows

TEXTS = ["plain", 'say "hi", twice', "two\nlines", "tab\tinside", "ß身", "", None]
N = len(TEXTS)
#: Values as they are given, and as JSON and Parquet hold them.
COLUMNS = {
    "text": (np.array(TEXTS, dtype=object), TEXTS),
    "label": (np.array([f"c{i}" for i in range(N)]), [f"c{i}" for i in range(N)]),
    "number": (np.arange(N) / 4, [i / 4 for i in range(N)]),
    "whole": (np.arange(N) - 3, [i - 3 for i in range(N)]),
    "truth": (np.arange(N) % 2 == 0, [i % 2 == 0 for i in range(N)]),
    "arrow": (pa.array([1, None, 3, 4, 5, 6, 7]), [1, None, 3, 4, 5, 6, 7]),
}


#: The columns in blocks of 3 rows and of the rest.
BLOCKS = [{name: values[start:stop] for name, (values, _) in COLUMNS.items()} for start, stop in ((0, 3), (3, N))]


def write(path, form=None, blocks=BLOCKS):
    with open_rows(path, form) as out:
        for block in blocks:
            out.write(block)


def fields(path, delimiter):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter))


@pytest.mark.parametrize(("name", "delimiter"), [("out.csv", ","), ("out.TXT", ","), ("out.tsv", "\t"), ("out", ",")])
def test_text_is_read_back(tmp_path, name, delimiter):
    write(str(tmp_path / name))
    header, *rows = fields(tmp_path / name, delimiter)
    assert header == list(COLUMNS)
    for row, *expected in zip(rows, *(values for _, values in COLUMNS.values()), strict=True):
        shown = ["" if value is None else value for value in expected]
        assert row[:2] == shown[:2]
        assert [float(cell) for cell in row[2:4]] == shown[2:4]
        assert row[4:] == [str(shown[4]).lower(), str(shown[5])]


def test_values_without_delimiters_are_not_quoted(tmp_path):
    write(str(tmp_path / "out.csv"), blocks=[{"a,b": ["x"], "n": [1]}])
    assert (tmp_path / "out.csv").read_bytes() == b'"a,b",n\nx,1\n'


def test_json_lines_are_read_back(tmp_path):
    write(str(tmp_path / "out.jsonl"))
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found == [
        dict(zip(COLUMNS, row, strict=True)) for row in zip(*(values for _, values in COLUMNS.values()), strict=True)
    ]


def test_json_has_no_numbers_that_json_lacks(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write(str(tmp_path / "out.json"), blocks=[{"a": [1.0, np.nan]}])
    assert os.listdir(tmp_path) == []


def test_parquet_is_read_back(tmp_path):
    write(str(tmp_path / "out.pq"))
    assert pq.read_table(tmp_path / "out.pq").to_pydict() == {name: values for name, (_, values) in COLUMNS.items()}


@pytest.mark.parametrize("name", ["out.csv", "out.json"])
def test_no_rows_make_an_empty_file(tmp_path, name):
    write(str(tmp_path / name), blocks=[])
    assert (tmp_path / name).read_bytes() == b""


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.json"])
def test_a_file_appears_when_it_is_complete(tmp_path, name):
    (tmp_path / name).write_text("old")

    def interrupted():
        yield BLOCKS[0]
        assert (tmp_path / name).read_text() == "old"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(str(tmp_path / name), blocks=interrupted())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "old"}


def test_the_format_is_that_of_the_name_unless_given(tmp_path):
    known = {"a": "csv", "a.csv": "csv", "a.tab": "tsv", "a.TSV": "tsv", "a.ndjson": "json", "a.pq": "parquet"}
    assert {name: format_of(name) for name in known} == known
    assert format_of("a.csv", "json") == format_of(None, "json") == format_of("-", "json") == "json"
    assert format_of(None) == format_of("-") == "csv"
    with pytest.raises(MercerError, match=r"a\.xlsx: rows are not written as \.xlsx, only as \.csv, .*format"):
        format_of("a.xlsx")
    os.mkfifo(tmp_path / "pipe.xlsx")  # what the name of a pipe or device ends in says nothing
    assert format_of(str(tmp_path / "pipe.xlsx")) == "csv"


@pytest.mark.parametrize("path", [None, "-"])
@pytest.mark.parametrize("form", [None, "json"])
def test_standard_output_gets_the_rows_and_stays_open(tmp_path, monkeypatch, path, form):
    monkeypatch.chdir(tmp_path)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    write(path, form)
    write(str(tmp_path / "file"), form or "csv")
    assert written.getvalue() == (tmp_path / "file").read_bytes()
    assert os.listdir(tmp_path) == ["file"]


def test_parquet_is_not_written_to_standard_output():
    with pytest.raises(MercerError, match=r"Parquet is not written to a terminal .*output"), open_rows("-", "parquet"):
        pass


@pytest.mark.parametrize(
    ("names", "texts", "n"), [(["=a", "b"], ["x", "y"], "1 text"), (["=a", "+b|c"], ["@x", "y"], "4 texts")]
)
def test_formulas_of_all_blocks_are_counted_and_those_of_names_once(tmp_path, names, texts, n):
    columns = {name: np.array(texts, dtype=object) for name in names[:1]} | {names[1]: np.arange(2)}
    with pytest.warns(UserWarning, match=rf"^{n} that a spreadsheet"):
        write(str(tmp_path / "out.csv"), blocks=[columns, columns])
    assert [row[0] for row in fields(tmp_path / "out.csv", ",")].count("'=a") == 1
