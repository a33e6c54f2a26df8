"""A disk that is full: the old file stays, nothing half-written is left, and the message says what to do."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest

import mercer

#: Bytes that a file may have: less than the results and the converted text.
LIMIT = 60_000


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A model, rows, an old file of results, and a folder for temporary files."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    lines = [",".join(f"{value:.17g}" for value in (*row, row[0] - row[1] ** 2)) for row in X]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,y", *lines]))
    table = {"a": X[:300, 0], "b": X[:300, 1], "c": X[:300, 2], "y": X[:300, 0] - X[:300, 1] ** 2}
    mercer.fit(table, "y", effort="fast", report=False).save("m.mercer")
    (tmp_path / "out.csv").write_text("old")
    (tmp_path / "temporary").mkdir()
    return tmp_path


def limited(place, *arguments, limit=LIMIT):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    environment = {**os.environ, "TMPDIR": str(place / "temporary")}
    command = [sys.executable, "-m", "mercer", *arguments, "--quiet"]
    return subprocess.run(command, env=environment, preexec_fn=small_files, capture_output=True, text=True)


def test_no_space_for_the_converted_rows(place):
    before = sorted(os.listdir("."))
    done = limited(place, "fit", "rows.csv", "--target", "y", "-o", "m.mercer", "--effort", "fast")
    assert done.returncode == 1
    assert "folder for temporary files" in done.stderr
    assert "TMPDIR" in done.stderr
    assert sorted(os.listdir(".")) == before
    assert os.listdir("temporary") == []
    assert mercer.load("m.mercer").task == "regression"


def test_no_space_for_the_results(place):
    size = os.path.getsize("rows.csv")  # the converted rows are smaller, all columns and the prediction larger
    done = limited(place, "predict", "m.mercer", "rows.csv", "--keep", "all", "-o", "out.csv", limit=size)
    assert done.returncode == 1
    assert "out.csv could not be written" in done.stderr
    assert (place / "out.csv").read_text() == "old"
    assert sorted(os.listdir(".")) == ["m.mercer", "out.csv", "rows.csv", "temporary"]
    assert os.listdir("temporary") == []
