"""`mercer predict`, `transform`, `explain` and `select` on a Dask cluster of separate processes: the same bytes."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mercer
from cluster import guarded, running, small_blocks
from mercer import cli

N = 1300


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    small_blocks(monkeypatch, 100, 200)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def files_of(tmp_path_factory):
    """A model, and a table with its target, a column to keep and an unseen category."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] - np.abs(X[:, 1]) + 0.3 * rng.normal(size=N) > 0, "high", "low")
    city = rng.choice(["Bern", "Oslo", "Rome"], N)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "city": city, "y": y})
    mercer.fit(table, "y", effort="fast", report=False).save(folder / "m.mercer")
    city[[700, 1234]] = "Genf"
    table = table.set_column(3, "city", pa.array(city)).append_column("id", pa.array(np.arange(N)))
    pq.write_table(table, folder / "rows.parquet", row_group_size=333)
    return folder


def run(capsys, *arguments):
    code = guarded(lambda: cli._run([str(argument) for argument in arguments]))
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "m.mercer", "rows.parquet", "--proba", "--keep", "id"],
        ["predict", "m.mercer", "rows.parquet", "--format", "json", "--interval", "0.9"],
        ["transform", "m.mercer", "rows.parquet", "--format", "csv"],
        ["explain", "m.mercer", "rows.parquet", "--row", "3,777", "--format", "csv"],
        ["select", "rows.parquet", "--target", "y", "-k", "2", "--output", "-"],
        ["select", "rows.parquet", "--target", "y", "-k", "2", "--how", "filter", "--json"],
    ],
    ids=lambda command: " ".join(command[:1] + command[3:]),
)
def test_the_same_bytes_on_threads_and_workers(command, cluster, files_of, monkeypatch, capsys):
    monkeypatch.chdir(files_of)
    here = run(capsys, *command, "--quiet")
    there = run(capsys, *command, "--quiet", "--engine", "dask", "--scheduler", cluster.address)
    assert here[0] == 0, here[2]
    assert there == here
    if command[0] == "predict":
        assert "2 rows hold categories that were not seen in fit, such as 'Genf'" in here[2]


def test_rows_arrive_in_order_with_their_score(cluster, files_of, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(files_of)
    out = tmp_path / "out.parquet"
    dask = ["--engine", "dask", "--scheduler", cluster.address]
    code, _, err = run(capsys, "predict", "m.mercer", "rows.parquet", "--keep", "id", "-o", out, *dask)
    assert code == 0
    assert "accuracy" in err
    found, known = pq.read_table(out), pq.read_table("rows.parquet").drop(["id"])
    assert found["id"].to_pylist() == list(range(N))
    assert found["prediction"].to_pylist() == mercer.load("m.mercer").predict(known).tolist()


def test_a_bad_value_is_located(cluster, files_of, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(files_of)
    table = pq.read_table("rows.parquet")
    a = table["a"].to_numpy().copy()
    a[901] = np.inf
    pq.write_table(table.set_column(0, "a", pa.array(a)), tmp_path / "bad.parquet", row_group_size=333)
    dask = ["--engine", "dask", "--scheduler", cluster.address]
    here = run(capsys, "predict", "m.mercer", tmp_path / "bad.parquet", "--quiet")
    there = run(capsys, "predict", "m.mercer", tmp_path / "bad.parquet", "--quiet", *dask)
    assert here[0] == there[0] == 1
    assert "bad.parquet, row 901" in here[2]
    assert there[2] == here[2]


def test_columns_that_are_ignored_are_noted_once(cluster, files_of, monkeypatch, capsys):
    monkeypatch.chdir(files_of)
    dask = ["--engine", "dask", "--scheduler", cluster.address]
    notes = [run(capsys, "predict", "m.mercer", "rows.parquet", "--quiet", *how)[2] for how in ([], dask)]
    assert notes[0] == notes[1]
    assert notes[0].count("'id'") == 1


def test_no_class_probabilities_of_a_regression(files_of, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mercer.fit({"a": np.arange(60.0), "y": np.sqrt(np.arange(60.0))}, "y", effort="fast", report=False).save("r.mercer")
    code, out, err = run(capsys, "predict", "r.mercer", files_of / "rows.parquet", "--proba")
    assert (code, out) == (2, "")
    assert "omit --proba" in err


def test_the_scheduler_dies_and_the_fit_continues(files_of, tmp_path, monkeypatch):
    """A dead scheduler is an error that says how to continue; --resume then continues on threads."""
    code = """
        import sys, threading
        from mercer import cli
        from mercer.io.checkpoint import folder, folds
        from mercer.source import accumulator, base, files
        for module in (accumulator, base, files, folds):
            module.BLOCK_ROWS, module.PART_ROWS = 100, 200
        folder.Checkpoint.__init__.__defaults__ = (True, 0.0)
        write = folder.Checkpoint.write
        def told(self, name, data):
            write(self, name, data)
            print(name, flush=True)
            sys.stdin.readline()
        folder.Checkpoint.write = told
        sys.exit(cli._run(sys.argv[1:]))
    """
    import textwrap

    monkeypatch.chdir(tmp_path)
    fit = ["fit", str(files_of / "rows.parquet"), "--target", "y", "--effort", "fast", "--memory", "2MB"]
    fit += ["--no-report", "--json", "-o", "m.mercer"]
    with running(tmp_path) as cluster:
        command = [
            sys.executable,
            "-c",
            textwrap.dedent(code),
            *fit,
            "--engine",
            "dask",
            "--scheduler",
            cluster.address,
        ]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, **streams)
        for line in process.stdout:
            if line.endswith(".fold\n"):
                break
            process.stdin.write("go on\n")
            process.stdin.flush()
        cluster.scheduler.kill()
        err = process.communicate("go on\n" * 1000, timeout=300)[1]
        assert process.returncode == 1, err
        assert "was lost" in err
        assert "--resume continues it" in err
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *fit, "--resume"],
        input="\n" * 1000,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "continues from" in done.stderr
    whole = mercer.fit(files_of / "rows.parquet", "y", effort="fast", memory="2MB", report=False)
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert report["holdout"] == whole.report()["holdout"]
