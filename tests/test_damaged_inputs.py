"""Damaged files, links and outputs: each gives a sentence with the file and a remedy, and exit code 1."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from estimates import LONG
from mercer._runtime.errors import DataError
from mercer.io import load, read_table

N_PARQUET = 500 if LONG else 80


def mutated(data, rng):
    """The bytes of a file, cut off, changed anywhere or in the footer, or with some of them missing."""
    data, kind = bytearray(data), rng.integers(4)
    if kind == 0:
        return bytes(data[: rng.integers(5, len(data))])
    if kind == 1:
        at = rng.integers(4, len(data) - 50)
        del data[at : at + rng.integers(1, 50)]
        return bytes(data)
    low = 4 if kind == 2 else max(4, len(data) - 800)
    for _ in range(rng.integers(1, 20)):
        data[rng.integers(low, len(data))] = rng.integers(256)
    return bytes(data)


def test_damaged_parquet_is_read_right_or_refused_by_name(tmp_path, record_property):
    record_property("cases", N_PARQUET)
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=300), "s": [f"w{i % 7}" for i in range(300)], "y": rng.normal(size=300)}
    pq.write_table(pa.table(columns), tmp_path / "whole.parquet", row_group_size=100, write_page_checksum=True)
    whole, path = (tmp_path / "whole.parquet").read_bytes(), tmp_path / "damaged.parquet"
    refused = 0
    for _ in range(N_PARQUET):
        path.write_bytes(mutated(whole, rng))
        try:
            source = read_table(path, target="y")
            rows = sum(len(block) for block in source.blocks())
        except DataError as error:
            refused += "damaged.parquet" in str(error)
        else:
            refused += 1
            assert rows <= 300
    assert refused == N_PARQUET


def test_encrypted_parquet_is_named(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PARE" + bytes(range(200)) + b"PARE")
    with pytest.raises(DataError, match=r"rows.parquet is an encrypted Parquet file"):
        read_table(tmp_path / "rows.parquet")


def test_links_that_lead_nowhere(tmp_path):
    os.symlink(tmp_path / "b", tmp_path / "a")
    os.symlink(tmp_path / "a", tmp_path / "b")
    with pytest.raises(FileNotFoundError, match="symbolic link that leads to no file, or in a circle"):
        read_table(tmp_path / "a")
    with pytest.raises(FileNotFoundError, match="symbolic link that leads to no file, or in a circle"):
        load(tmp_path / "a")


def mercer(*arguments, **options):
    command = [sys.executable, "-c", "from mercer.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **options)


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n3,4\n")
    return tmp_path / "rows.csv"


def test_a_closed_output_is_a_failure(rows):
    done = mercer("inspect", rows, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert "Standard output is closed" in done.stderr


def test_a_full_output_is_a_failure(rows):
    with open("/dev/full", "w") as full:
        done = mercer("inspect", rows, stdout=full)
    assert done.returncode == 1
    assert "The output could not be written: No space left on device" in done.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model, and many rows for it."""
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    lines = [",".join(f"{value:.6g}" for value in row) for row in rng.normal(size=(2000, 3))]
    (folder / "rows.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    made = ["--effort", "fast", "--no-report", "--quiet", "-o", folder / "m.mercer"]
    assert mercer("fit", folder / "rows.csv", "--target", "y", *made, stdout=subprocess.DEVNULL).returncode == 0
    return folder


PRINTING = {
    "predict": ["predict", "m.mercer", "rows.csv"],
    "predict json": ["predict", "m.mercer", "rows.csv", "--format", "json"],
    "predict few": ["predict", "m.mercer", "few.csv", "-o", "-"],
    "transform": ["transform", "m.mercer", "few.csv"],
    "explain": ["explain", "m.mercer", "few.csv"],
    "explain json": ["explain", "m.mercer", "few.csv", "--format", "json"],
    "report": ["report", "m.mercer", "--json"],
    "report table": ["report", "m.mercer", "--format", "table"],
    "compare": ["compare", "rows.csv", "few.csv"],
    "inspect": ["inspect", "few.csv", "--json"],
    "select": ["select", "rows.csv", "--target", "y", "-k", "1"],
    "dimension": ["dimension", "--rows", "1000"],
    "help": ["--help"],
    "version": ["--version"],
}


@pytest.mark.parametrize("name", PRINTING if LONG else ["predict", "explain json", "help"])
def test_output_that_cannot_be_written_is_a_failure_of_every_command(model, name, monkeypatch):
    monkeypatch.chdir(model)
    (model / "few.csv").write_text("".join((model / "rows.csv").read_text().splitlines(keepends=True)[:30]))
    before = {path.name: path.stat().st_mtime_ns for path in model.iterdir()}
    assert mercer(*PRINTING[name], stdout=subprocess.DEVNULL).returncode == 0
    with open("/dev/full", "w") as full:
        done = mercer(*PRINTING[name], stdout=full)
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.stat().st_mtime_ns for path in model.iterdir()} == before


def test_long_names_are_cut(tmp_path):
    (tmp_path / "rows.csv").write_text("x" * 100_000 + ",y\n1,2\n")
    done = mercer("fit", tmp_path / "rows.csv", "--target", "z", stdout=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "no column named 'z'" in done.stderr
    assert len(done.stderr) < 1000


@pytest.mark.parametrize("name", ["x" * 100_000, "x " * 50_000])
@pytest.mark.parametrize("command", ["inspect", "select"])
def test_long_names_are_cut_in_reports(tmp_path, command, name):
    lines = [f"{i},{i * i % 7},{i % 5}\n" for i in range(60)]
    (tmp_path / "rows.csv").write_text(f"{name},b,y\n" + "".join(lines))
    done = mercer(command, tmp_path / "rows.csv", "--target", "y", stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "x" * 20 in done.stdout or "x x x x" in done.stdout
    assert len(done.stdout) < 15_000
