"""A Dask cluster of separate processes: the same bits with any number of workers, whichever of them are killed."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client

import mercer
from bits import bits, learned_bits
from cluster import guarded, running, small_blocks
from estimates import LONG
from mercer._runtime.errors import DataError, ParameterError
from mercer.expand import RandomFeatures
from mercer.linear import RidgeRegressor
from mercer.normalize import Standardize
from mercer.source import EngineError, MemorySource, ParquetSource, as_engine
from mercer.source.dask import DaskEngine, compare_versions, dask_engine
from mercer.stats import Gram, Moments, Sample

N_KILLS = 30 if LONG else 2


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    small_blocks(monkeypatch, 64, 256)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers."""
    with running(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6000, 7))
    columns = {f"x{j}": X[:, j] for j in range(7)} | {"y": X @ rng.normal(size=7) + rng.normal(size=len(X))}
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1000)
    return path


def memory(path):
    table = pq.read_table(path)
    X = np.column_stack([table[f"x{j}"].to_numpy() for j in range(7)])
    return MemorySource(X, table["y"].to_numpy(), names=[f"x{j}" for j in range(7)])


def fitted(source):
    scaled = Standardize().fit(source)
    mapped = RandomFeatures(n_components=48).fit(scaled.transform(source)).transform(scaled.transform(source))
    return [learned_bits(scaled), learned_bits(RidgeRegressor().fit(mapped)), bits(mapped.fold(Sample(40)).finish().X)]


def test_memory_files_threads_and_workers_have_the_same_bits(cluster, parquet):
    here = fitted(memory(parquet))
    assert fitted(ParquetSource(parquet, target="y")) == here
    assert guarded(lambda: fitted(memory(parquet).on(cluster.client))) == here
    assert guarded(lambda: fitted(ParquetSource(parquet, target="y").on(cluster.client))) == here
    read = guarded(lambda: fitted(mercer.read(parquet, "y", engine=cluster.client)))
    assert read == here


def test_the_number_of_workers_does_not_matter(cluster, parquet):
    source = ParquetSource(parquet, target="y")
    here = bits(source.fold(Gram(3)))
    first = next(iter(cluster.client.scheduler_info()["workers"]))

    class OneWorker(DaskEngine):
        def _submit(self, function, *args, **where):
            return super()._submit(function, *args, workers=[first])

    for engine in (OneWorker(cluster.client), DaskEngine(cluster.client)):
        assert bits(guarded(lambda engine=engine: source.on(engine).fold(Gram(3)))) == here


def test_only_states_travel_from_files(cluster, parquet):
    sent = []

    class Listening(DaskEngine):
        def _submit(self, function, *args, **where):
            sent.append(sum(len(arg) for arg in args if isinstance(arg, bytes)))
            return super()._submit(function, *args, **where)

    source = ParquetSource(parquet, target="y").on(Listening(cluster.client))
    guarded(lambda: source.fold(Moments()))
    assert sum(sent) < 50_000 < parquet.stat().st_size
    # a broadcast, 24 parts, and the merges of a binary tree of 24 leaves that stands as 16 + 8
    assert len(sent) == 1 + 24 + 22


@pytest.mark.parametrize("kill", range(N_KILLS))
def test_a_killed_worker_does_not_change_a_bit(kill, cluster, parquet):
    cluster.wait_for_workers(2)
    source = ParquetSource(parquet, target="y")
    slow = source.map(lambda block: [time.sleep(0.02), block][1])
    here = bits(source.fold(Gram(3)).finish())
    delay = np.random.default_rng(kill).uniform(0.0, 1.5)

    def replace_worker():
        time.sleep(delay)
        cluster.kill_worker(kill % 2)
        cluster.start_worker()

    killer = threading.Thread(target=replace_worker)
    killer.start()
    there = guarded(lambda: bits(slow.on(cluster.client).fold(Gram(3)).finish()))
    killer.join()
    assert there == here


def test_all_workers_killed_at_once(cluster, parquet):
    cluster.wait_for_workers(2)
    source = ParquetSource(parquet, target="y")
    slow = source.map(lambda block: [time.sleep(0.02), block][1])

    def replace_workers():
        time.sleep(0.7)
        for _ in range(2):
            cluster.kill_worker()
            cluster.start_worker()

    killer = threading.Thread(target=replace_workers)
    killer.start()
    there = guarded(lambda: bits(slow.on(cluster.client).fold(Gram(3)).finish()))
    killer.join()
    assert there == bits(source.fold(Gram(3)).finish())


def test_a_slow_worker_does_not_stall_the_others(tmp_path, parquet, monkeypatch):
    """A worker that sleeps for an hour in every part: its parts are computed by the other one."""
    monkeypatch.setattr("mercer.source.dask._STRAGGLER_SECONDS", 0.5)
    source = ParquetSource(parquet, target="y")
    stuck = source.map(lambda block: [time.sleep(3600 * bool(os.environ.get("MERCER_TEST_STUCK"))), block][1])
    with running(tmp_path, 1, MERCER_TEST_STUCK="1") as cluster:
        cluster.start_worker()
        cluster.wait_for_workers(2)
        there = guarded(lambda: bits(stuck.on(cluster.client).fold(Gram(3)).finish()))
    assert there == bits(source.fold(Gram(3)).finish())


def test_the_error_of_a_map_is_raised_here(cluster, parquet):
    source = ParquetSource(parquet, target="y").map(lambda block: block.missing)
    with pytest.raises(AttributeError, match="missing"):
        guarded(lambda: source.on(cluster.client).fold(Moments()))


def test_a_file_that_workers_do_not_have(cluster, parquet, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(parquet.read_bytes())
    source = ParquetSource(path, target="y").on(cluster.client)
    path.unlink()
    with pytest.raises(DataError, match=r"worker on .* cannot read.*rows\.parquet.*shared?"):
        guarded(lambda: source.fold(Moments()))


def test_a_file_that_is_another_one_on_the_workers(cluster, parquet, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(parquet.read_bytes())
    source = ParquetSource(path, target="y")
    pq.write_table(pq.read_table(parquet), path, row_group_size=999)
    with pytest.raises(DataError, match=r"rows\.parquet has changed"):
        guarded(lambda: source.on(cluster.client).fold(Moments()))


def test_other_versions_on_a_worker_are_refused(tmp_path, parquet):
    older = tmp_path / "older" / "mercer-0.0.9.dist-info"
    older.mkdir(parents=True)
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: mercer\nVersion: 0.0.9\n")
    problem = r"worker at .* mercer 0\.0\.9, not .*install the same versions"
    with running(tmp_path, PYTHONPATH=str(older.parent)) as cluster, pytest.raises(EngineError, match=problem):
        guarded(lambda: mercer.read(parquet, "y", engine=cluster.client))


def test_versions_that_are_missing():
    def known(**packages):
        return {"packages": {"python": "3.12.1.final.0", "numpy": "2.1", "scipy": "1.15", "pyarrow": "20"} | packages}

    client = known(mercer="1.0")
    compare_versions({"client": client, "workers": {"tcp://a:1": known(mercer="1.0", python="3.12.7.final.0")}})
    with pytest.raises(EngineError, match=r"tcp://b:1.*python 3\.13, not 3\.12; mercer missing"):
        compare_versions({"client": client, "workers": {"tcp://b:1": known(python="3.13.0.final.0")}})


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_scheduler_that_is_gone_is_an_error(how, tmp_path, parquet):
    with running(tmp_path) as cluster:
        source = ParquetSource(parquet, target="y").map(lambda block: [time.sleep(0.05), block][1])
        source = source.on(cluster.client)
        ending = threading.Timer(1.0, lambda: cluster.scheduler.send_signal(how))
        ending.start()
        with pytest.raises(EngineError, match=r"connection to the Dask scheduler at tcp://127.* was lost"):
            guarded(lambda: source.fold(Moments()), seconds=60)
        ending.join()


def test_an_address_where_nobody_answers():
    problem = r"No Dask scheduler answers at tcp://127\.0\.0\.1:9.*dask scheduler"
    with pytest.raises(EngineError, match=problem), dask_engine("tcp://127.0.0.1:9"):
        pass


def test_an_asynchronous_client_is_refused(cluster):
    import asyncio

    async def refused():
        async with Client(cluster.address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(ParameterError, match="asynchronous=False"):
                as_engine(client)

    with ThreadPoolExecutor(1) as other:  # the thread of the tests may run a loop of its own, for a browser
        other.submit(asyncio.run, refused()).result()
