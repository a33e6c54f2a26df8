"""Executors as engines: the bits of a fold do not depend on where its parts are processed."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from bits import bits, learned_bits
from cluster import small_blocks
from mercer._numeric.block import Block
from mercer._runtime.errors import Location, ParameterError
from mercer.expand import RandomFeatures
from mercer.io import read_table
from mercer.learn import PCA, ClusterFeatures
from mercer.linear import LogisticClassifier, RidgeRegressor
from mercer.normalize import Quantile, Standardize
from mercer.source import (
    EngineError,
    ExecutorEngine,
    MemorySource,
    ParquetSource,
    StreamSource,
    as_engine,
    listening,
    split_holdout,
)
from mercer.source.shipping import Shipped, dumps, loads
from mercer.stats import Gram, Moments, Sample

N = 1100


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    small_blocks(monkeypatch, 64, 256)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(3) as pool:
        yield pool


def rows(dtype=np.float64):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, 7)).astype(dtype)
    return X, X @ rng.normal(size=7) + rng.normal(size=N)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    X, y = rows()
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(7)} | {"y": y}), path, row_group_size=150)
    return path


def sources(path):
    X, y = rows()
    wide = np.column_stack([X, X])
    return {
        "memory": MemorySource(X, y),
        "float32": MemorySource(X.astype(np.float32), y),
        "Fortran order": MemorySource(np.asfortranarray(X), y),
        "every other column": MemorySource(wide[:, ::2], y),
        "backward": MemorySource(X[:, ::-1], y),
        "sparse": MemorySource(sparse.csr_matrix(np.where(X > 1, X, 0)), y),
        "file": ParquetSource(path, target="y"),
        "stream": StreamSource(lambda: (Block(X[i : i + 100], y[i : i + 100], start=i) for i in range(0, N, 100))),
        "mapped": MemorySource(X, y).map(lambda block: block.with_X(np.tanh(block.X))),
        "training rows": split_holdout(MemorySource(X, y))[0],
        "half": MemorySource(X, y).halves()[1],
    }


KINDS = [
    "memory", "float32", "Fortran order", "every other column", "backward", "sparse", "file", "stream", "mapped",
    "training rows", "half",
]  # fmt: skip


@pytest.mark.parametrize("statistic", [Moments(), Gram(3), Sample(50)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_a_statistic_has_the_same_bits_on_every_engine(kind, statistic, parquet, processes, threads):
    source = sources(parquet)[kind]
    here = bits(source.fold(statistic).finish())
    assert bits(source.on(processes).fold(statistic).finish()) == here
    assert bits(source.on(threads).fold(statistic).finish()) == here


@pytest.mark.parametrize("kind", ["memory", "file", "training rows"])
def test_mapped_blocks_are_the_same_on_every_engine(kind, parquet, processes):
    source = sources(parquet)[kind].map(lambda block: block.with_X(np.cos(block.X)))
    here, there = source.collect(), source.on(processes).collect()
    assert bits([there.X, there.y, there.weight]) == bits([here.X, here.y, here.weight])
    assert np.array_equal(there.ids, here.ids)  # rows are identified by their values as read
    starts = [block.start for block in source.blocks()]
    assert [block.start for block in source.on(processes).blocks()] == starts


def fitted(source):
    """Everything that estimators of several kinds learn, one after the other."""
    scaled = Standardize().fit(source)
    quantiles = Quantile(n_quantiles=50).fit(source)
    features = RandomFeatures(n_components=32).fit(scaled.transform(source))
    mapped = features.transform(scaled.transform(source))
    pca = PCA(n_components=3).fit(mapped)
    clusters = ClusterFeatures(n_clusters=3).fit(source)
    ridge = RidgeRegressor().fit(mapped)
    return [learned_bits(each) for each in (scaled, quantiles, features, pca, clusters, ridge)]


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_estimators_learn_the_same_bits_on_every_engine(kind, parquet, processes, threads):
    source = sources(parquet)[kind]
    here = fitted(source)
    assert fitted(source.on(processes)) == here
    assert fitted(source.on(threads)) == here


def test_iterations_fold_on_the_engine(processes):
    X, y = rows()
    labels = np.where(y > 0.3, "high", "low")
    here = LogisticClassifier().fit(MemorySource(X, labels))
    there = LogisticClassifier().fit(MemorySource(X, labels).on(processes))
    assert learned_bits(there) == learned_bits(here)


def test_a_fit_on_an_engine_continues_with_more_rows(processes):
    X, y = rows()
    source, more = MemorySource(X, y).on(processes), np.random.default_rng(1).normal(size=(90, 7))
    there = Standardize().fit(source).partial_fit(more)
    here = Standardize().fit(MemorySource(X, y)).partial_fit(more)
    assert learned_bits(there) == learned_bits(here)


def test_a_map_sends_no_statistics_and_no_data(processes):
    X, y = rows()
    ridge = RidgeRegressor().fit(MemorySource(X, y).on(processes))
    assert len(dumps(ridge)) < X.nbytes / 2
    assert np.array_equal(loads(dumps(ridge)).predict(X), ridge.predict(X))


def test_a_table_of_text_and_dates(tmp_path, processes):
    path = tmp_path / "people.csv"
    lines = [f"{i % 7},{'abc'[i % 3]},2020-01-{1 + i % 28:02d},{i * 0.5}" for i in range(700)]
    path.write_text("\n".join(["n,letter,day,y", *lines]))
    source = read_table(path, "y")
    here, there = source.fold(Sample(20)).finish(), source.on(processes).fold(Sample(20)).finish()
    assert there.X.table.equals(here.X.table)
    assert bits(there.y) == bits(here.y)


def test_rows_of_a_text_file_are_located_by_the_caller(tmp_path, processes):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": np.arange(600.0), "y": [None if i == 500 else 1.0 for i in range(600)]}), path)
    source = read_table(path, "y")
    with pytest.raises(ValueError, match=r"rows\.parquet, row 500") as here:
        source.fold(Sample(5))
    with pytest.raises(ValueError) as there:
        source.on(processes).fold(Sample(5))
    assert str(there.value) == str(here.value)
    source.locate_line = lambda row: Location("rows.csv", line=row + 2)
    with pytest.raises(ValueError, match=r"rows\.csv, line 502"):
        source.on(processes).fold(Sample(5))


def test_progress_is_reported_part_by_part(processes):
    X, y = rows()
    seen = []
    with listening(lambda done, total: seen.append((done, total))):
        MemorySource(X, y).on(processes).fold(Moments())
    assert seen == [(256, N), (512, N), (768, N), (1024, N), (N, N)]


def test_parts_in_progress_are_bounded(threads):
    X, y = rows()
    started, finished = [], []

    class Counting(ExecutorEngine):
        def submit(self, function, portion):
            started.append(portion)
            assert len(started) - len(finished) <= self.n_ahead + 1
            return super().submit(function, portion)

        def wait(self, future):
            super().wait(future)
            finished.append(future)

    MemorySource(X, y).on(Counting(threads, n_ahead=2)).fold(Moments())
    assert len(started) == len(finished) == 5


def test_a_broken_pool_is_an_error_with_a_remedy():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        source = MemorySource(*rows()).map(_exit).on(pool)
        with pytest.raises(EngineError, match="fewer workers"):
            source.fold(Moments())
    with ThreadPoolExecutor(1) as closed:
        pass
    with pytest.raises(EngineError, match="shutdown"):
        MemorySource(*rows()).on(closed).fold(Moments())


def _exit(block):
    import os

    os._exit(3)


def test_what_is_no_engine():
    assert as_engine(None) is None
    assert as_engine("threads") is None
    with pytest.raises(ParameterError, match=r"concurrent\.futures.*Client"):
        as_engine("spark")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(4, 6),
        np.asfortranarray(np.arange(24.0).reshape(4, 6)),
        np.arange(48.0).reshape(8, 6)[2:5],
        np.asfortranarray(np.arange(48.0).reshape(8, 6))[2:5],
        np.arange(48.0).reshape(4, 12)[:, ::2],
        np.arange(24.0).reshape(4, 6)[::-1, ::-1],
        np.arange(24.0).reshape(4, 6)[:, ::-1].T,
        np.arange(60.0).reshape(3, 4, 5).transpose(1, 2, 0)[:, 1:],
        np.zeros((0, 3))[::2],
        np.array(["a", None, 1.5], dtype=object)[::-1],
        np.frombuffer(b"x" + np.arange(6.0).tobytes(), dtype=np.float64, offset=1),
    ],
    ids=str,
)
def test_arrays_arrive_aligned_with_the_layout_that_products_see(array):
    sent = loads(dumps(array))
    assert np.array_equal(sent, array)
    assert sent.flags.aligned
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    if array.size:
        assert sorted(range(sent.ndim), key=lambda axis: -abs(sent.strides[axis])) == order
        assert np.array_equal(np.sign(sent.strides), np.sign(array.strides))
        unit = [abs(a.strides[order[-1]]) == a.itemsize for a in (sent, array)]
        assert unit[0] == unit[1]


def test_a_slice_of_a_table_is_sent_without_the_other_rows():
    table = pa.table({"x": np.arange(100_000)})
    sent = dumps(table.slice(10, 20))
    assert len(sent) < 10_000
    assert loads(sent).equals(table.slice(10, 20))
    assert Shipped.of(dumps(3)).value == 3
