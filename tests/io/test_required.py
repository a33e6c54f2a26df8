"""Rows without their target or weight: refused with their place, or left out and counted, in every format."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mercer
from mercer.io import read_table

N, GONE = 30, (7, 21)
COLUMNS = {
    "number": ([float(i) for i in range(N)], None),
    "label": (["yes" if i % 2 else "no" for i in range(N)], None),
    "count": ([i % 3 for i in range(N)], None),
}


def table(kind):
    values = list(COLUMNS[kind][0])
    for row in GONE:
        values[row] = None
    return {"x": [float(i) for i in range(N)], "y": values}


def to_csv(data, folder):
    path = folder / "rows.csv"
    pd.DataFrame(data).to_csv(path, index=False)
    return path


def to_parquet(data, folder):
    path = folder / "rows.parquet"
    pq.write_table(pa.table(data), path, row_group_size=10)
    return path


FORMATS = {
    "csv": (to_csv, "rows.csv, line 9"),
    "parquet": (to_parquet, "rows.parquet, row 7"),
    "pandas": (lambda data, _: pd.DataFrame(data), "row 7"),
    "polars": (lambda data, _: pl.DataFrame(data), "row 7"),
    "arrow": (lambda data, _: pa.table(data), "row 7"),
    "dict": (lambda data, _: data, "row 7"),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("what", ["target", "weight"])
def test_they_are_refused_with_their_location(kind, form, what, tmp_path):
    if what == "weight" and kind == "label":
        kind = "number"
    make, place = FORMATS[form]
    data = make(table(kind), tmp_path)
    with pytest.raises(ValueError, match="is missing") as error:
        list(read_table(data, **{what: "y"}).blocks())
    assert place in str(error.value)
    assert what in str(error.value)
    assert "on_bad_rows='skip'" in str(error.value)


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("form", FORMATS)
def test_they_are_left_out_and_counted(kind, form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, _ = FORMATS[form]
    source = read_table(make(table(kind), tmp_path), "y", on_bad_rows="skip")
    blocks = list(source.blocks())
    kept = np.concatenate([block.X.array("x") for block in blocks])
    assert kept.tolist() == [float(i) for i in range(N) if i not in GONE]
    assert np.concatenate([block.y for block in blocks]).tolist() == [
        value for row, value in enumerate(COLUMNS[kind][0]) if row not in GONE
    ]
    assert any(note.startswith("2 bad rows were left out") for note in source.notes)
    if form in ("csv", "parquet"):
        text = (tmp_path / f"rows.{form}.rejected.csv").read_text()
        assert text.count("the target 'y' is missing") == 2


def test_rejected_rows_of_a_frame_are_written_where_asked(tmp_path):
    source = read_table(table("label"), "y", on_bad_rows="skip", rejected=tmp_path / "out.csv")
    assert "out.csv says which and why" in source.notes[0]
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == "table,row 7,the target 'y' is missing,"


@pytest.mark.parametrize("form", ["parquet", "dict"])
def test_only_missing_targets(form, tmp_path):
    data = FORMATS[form][0]({"x": [1.0, 2.0], "y": pa.array([None, None], pa.float64())}, tmp_path)
    with pytest.raises(ValueError, match="lacks its target"):
        read_table(data, "y", on_bad_rows="skip")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_read_refuses_them_too(form, tmp_path):
    make, place = FORMATS[form]
    with pytest.raises(ValueError, match="is missing") as error:
        list(mercer.read(make(table("label"), tmp_path), target="y").blocks())
    assert place in str(error.value)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_arrays_of_labels_with_missing_values(gap):
    y = np.array(["a", "b", gap, "a"], dtype=object)
    with pytest.raises(ValueError, match="The target is missing in row 2"):
        mercer.fit(np.eye(4), y)


def test_the_report_of_a_fit_counts_them():
    data = table("number")
    report = mercer.fit(read_table(data, "y", on_bad_rows="skip"), effort="fast", task="regress").report()
    assert report["rows"] == N - 2
    assert report["notes"][0].startswith("2 bad rows were left out, first row 7")


RAGGED = "a,y\n1,2\n3\n5,6\n7,8,9\n,10\n11,\n13,14\n"


def test_skipped_and_repaired_rows_are_numbered(tmp_path):
    (tmp_path / "rows.csv").write_text(RAGGED)
    skipped = read_table(tmp_path / "rows.csv", on_bad_rows="skip", target="y", rejected=tmp_path / "bad.csv")
    assert skipped.skipped_rows == [1, 3, 5]
    assert skipped.input_rows(0, skipped.n_rows).tolist() == [0, 2, 4, 6]
    assert skipped.input_rows(1, 3).tolist() == [2, 4]
    assert "3 bad rows were left out" in skipped.notes[0]
    repaired = read_table(tmp_path / "rows.csv", on_bad_rows="null")
    assert (repaired.skipped_rows, repaired.repaired_rows) == ([], [1, 3])
    assert repaired.input_rows(0, 7).tolist() == list(range(7))
    assert read_table({"a": [1, 2], "y": [1, 2]}).skipped_rows == []


def test_skipped_rows_of_several_files_and_tables_are_numbered(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,2\n3,4\n")
    (tmp_path / "2.csv").write_text("a,y\n1,\n3,4\n")
    several = read_table(tmp_path / "*.csv", on_bad_rows="skip", target="y", rejected=tmp_path / "bad")
    assert several.skipped_rows == [2]
    memory = read_table({"a": [1, 2, 3], "y": [1.0, None, 3.0]}, target="y", on_bad_rows="skip")
    assert memory.skipped_rows == [1]
    assert memory.input_rows(0, 2).tolist() == [0, 2]
    pq.write_table(pa.table({"a": [1, 2, 3], "y": [None, 2.0, 3.0]}), tmp_path / "rows.parquet")
    parquet = read_table(tmp_path / "rows.parquet", target="y", on_bad_rows="skip", rejected=tmp_path / "bad")
    assert parquet.skipped_rows == [0]


@pytest.mark.parametrize("n_files", [1, 3])
@pytest.mark.parametrize("group", [4, 7, 1000])
def test_skipped_rows_of_parquet_row_groups_and_files_are_numbered(n_files, group, tmp_path):
    n, gone = 3000, [0, 1, 6, 7, 999, 1000, 1024, 1500, 2047, 2048, 2999]
    y = [None if row in gone else float(row) for row in range(n)]
    size = n // n_files
    for i in range(n_files):
        rows = slice(i * size, (i + 1) * size)
        part = pa.table({"x": [float(row) for row in range(n)][rows], "y": pa.array(y[rows], pa.float64())})
        pq.write_table(part, tmp_path / f"{i}.parquet", row_group_size=group)
    source = read_table(tmp_path / "*.parquet", "y", on_bad_rows="skip", rejected=tmp_path / "bad")
    kept = [row for row in range(n) if row not in gone]
    assert source.skipped_rows == gone
    positions, x = [], []
    for block in source.blocks():
        positions += block.positions.tolist()
        x += block.X.array("x").tolist()
    assert x == kept
    assert positions == list(range(len(kept)))
    assert source.input_rows(0, len(kept)).tolist() == kept
    for i in (0, 1, 995, 996, len(kept) - 1):
        at = source.locate(i)
        assert (at.file, at.row) == (str(tmp_path / f"{kept[i] // size}.parquet"), kept[i] % size)
    rejected = pd.read_csv(tmp_path / "bad")
    assert [(file, f"row {row % size}") for file, row in zip(rejected["file"], gone, strict=True)] == [
        (str(tmp_path / f"{row // size}.parquet"), line) for row, line in zip(gone, rejected["line"], strict=True)
    ]
