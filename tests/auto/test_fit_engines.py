"""`mercer.fit` on engines: the model has the bits it has on threads, also if the rows do not fit into memory."""

import json
import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mercer
from bits import bits
from cluster import guarded, running, small_blocks
from estimates import LONG
from mercer import cli

N = 1500


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    small_blocks(monkeypatch, 256, 512)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    with running(tmp_path_factory.mktemp("two"), 2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 3))
    y = X[:, 0] - np.abs(X[:, 1]) + 0.3 * rng.normal(size=N)
    labels = np.where(np.arange(N) % 300 == 7, "rare", np.where(y > 0, "high", "low"))
    city = rng.choice(["Bern", "Oslo", "Rome"], N)
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "city": city, "y": y, "label": labels})


def found(path, target, engine, memory):
    model = guarded(lambda: mercer.fit(path, target, effort="fast", memory=memory, engine=engine))
    report = model.report()
    return bits(model.predict(path)), report.get("holdout"), report["notes"], report["blocks"]


@pytest.mark.parametrize("memory", [4.0, 0.003], ids=["in memory", "sample"])
@pytest.mark.parametrize("target", ["y", "label"])
def test_a_model_has_the_same_bits_on_every_engine(target, memory, table, processes, cluster, tmp_path):
    path = str(tmp_path / "rows.parquet")
    pq.write_table(table.drop(["label" if target == "y" else "y"]), path, row_group_size=700)
    here = found(path, target, None, memory)
    assert ("do not fit into" in " ".join(here[2])) == (memory < 1)
    assert found(path, target, processes, memory) == here
    assert found(path, target, cluster.client, memory) == here


@pytest.mark.parametrize("kill", range(30 if LONG else 2))
def test_killed_workers_do_not_change_a_bit_of_a_model(kill, table, two_workers, tmp_path, record_property):
    """Memory, files, threads, one worker (above) and two workers with kills at random moments: the same model."""
    target = ("y", "label")[kill % 2]
    path = str(tmp_path / "rows.parquet")
    pq.write_table(table.drop(["label" if target == "y" else "y"]), path, row_group_size=700)
    here = found(path, target, None, 0.003)
    two_workers.wait_for_workers(2)
    ended, rng = threading.Event(), np.random.default_rng(kill)

    def replace_workers():
        for _ in range(2):
            if ended.wait(rng.uniform(0.0, 4.0)):
                return
            two_workers.kill_worker(int(rng.integers(2)))
            record_property("killed", kill)
            two_workers.start_worker()
            two_workers.wait_for_workers(2)

    killer = threading.Thread(target=replace_workers)
    killer.start()
    try:
        assert found(path, target, two_workers.client, 0.003) == here
    finally:
        ended.set()
        killer.join()


def test_rows_of_classes_outside_the_sample_are_counted_on_workers(table, processes, tmp_path):
    path = str(tmp_path / "rows.parquet")
    pq.write_table(table.drop(["y"]), path, row_group_size=700)
    notes = found(path, "label", processes, 0.001)[2]
    assert notes == found(path, "label", None, 0.001)[2]
    assert any("classes that are not in the sample (rare)" in note for note in notes)


def run(*arguments):
    return guarded(lambda: cli._run([str(argument) for argument in arguments]))


def test_the_command_line_fits_on_a_cluster(table, cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table.drop(["label"]), "rows.parquet", row_group_size=700)
    fit = ["fit", "rows.parquet", "--target", "y", "--effort", "fast", "--quiet", "--json"]
    assert run(*fit, "--output", "here.mercer") == 0
    here = json.loads(capsys.readouterr().out)
    assert run(*fit, "--output", "there.mercer", "--engine", "dask", "--scheduler", cluster.address) == 0
    there = json.loads(capsys.readouterr().out)
    assert there["holdout"] == here["holdout"]
    first, second = (bits(mercer.load(name).predict("rows.parquet")) for name in ("here.mercer", "there.mercer"))
    assert first == second


def test_the_command_line_starts_workers_of_its_own(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERCER_THREADS", "1")
    pq.write_table(table.drop(["label"]), "rows.parquet", row_group_size=700)
    assert run("fit", "rows.parquet", "--target", "y", "--effort", "fast", "--quiet", "--engine", "dask") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.mercer", "rows.parquet", "rows.report.html"]


def test_mistakes_on_the_command_line(tmp_path, monkeypatch, table, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table, "rows.parquet")
    assert run("fit", "rows.parquet", "--target", "y", "--scheduler", "tcp://127.0.0.1:9") == 2
    assert "add --engine dask" in capsys.readouterr().err
    assert run("fit", "rows.parquet", "--target", "y", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9") == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "code"), [("3MB", 0), ("0.003", 0), ("-1", 2), ("3 bags", 2), ("nan", 2), ("0MB", 2)]
)
def test_memory_with_a_unit(given, code, table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table.drop(["label"]), "rows.parquet", row_group_size=700)
    found = run("fit", "rows.parquet", "--target", "y", "--effort", "fast", "--quiet", "--memory", given)
    out, err = capsys.readouterr()
    assert found == code, err
    assert ("do not fit into 0.003 GB" in " ".join(out.split())) == (code == 0)


def test_memory_that_is_no_size(table):
    with pytest.raises(ValueError, match=r"memory must be a size.*MiB"):
        mercer.fit(table, "y", memory="a lot")


@pytest.mark.parametrize(
    "option", [{"groups": "city"}, {"time": "c", "gap": 20}, {"groups": "pack", "class_weight": "balanced"}]
)
def test_splits_have_the_bits_of_threads(option, table, processes, tmp_path):
    path, target = tmp_path / "rows.parquet", "label" if "class_weight" in option else "y"
    table = table.append_column("pack", pa.array(np.arange(N) // 10)).drop_columns(
        ["y" if target == "label" else "label"]
    )
    pq.write_table(table, path, row_group_size=500)

    def made(engine):
        model = mercer.fit(path, target, effort="fast", memory=0.003, engine=engine, report=False, **option)
        return bits(model.predict(path)), model.report()["holdout"]

    assert made(processes) == made(None)
