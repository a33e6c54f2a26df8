"""Dask arrays, Dask data frames and delayed blocks: the bits of the same rows in memory, whatever their chunks."""

from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import mercer
from bits import bits, learned_bits
from cluster import guarded, running, small_blocks
from mercer._runtime.errors import DataError
from mercer.io import read, read_table
from mercer.linear import RidgeRegressor
from mercer.normalize import Standardize
from mercer.stats import Gram, Sample

N = 900


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    small_blocks(monkeypatch, 64, 256)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def rows():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(N, 4))
    return X, X @ rng.normal(size=4) + rng.normal(size=N)


def frame():
    X, y = rows()
    city = np.where(X[:, 0] > 0, "Bern", "Oslo")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "n": np.arange(N) % 9, "city": city, "y": y})


def parts(table, bounds=(0, 100, 101, 101, 500, N)):
    """Delayed blocks of unequal lengths, one of them without rows."""
    return [dask.delayed(lambda a=a, b=b: table[a:b])() for a, b in pairwise(bounds)]


def learned(source):
    scaled = Standardize().fit(source)
    return learned_bits(scaled), learned_bits(RidgeRegressor().fit(scaled.transform(source)))


@pytest.mark.parametrize("chunks", [(N, 4), (150, 4), (64, 2), ((1, 899), (4,))], ids=str)
def test_an_array_in_any_chunks(chunks, cluster):
    X, y = rows()
    here = learned(read(X, y))
    lazy = da.from_array(X, chunks=chunks), da.from_array(y, chunks=77)
    assert learned(read(*lazy)) == here
    assert guarded(lambda: learned(read(*lazy, engine=cluster.client))) == here


def test_columns_targets_and_weights_of_arrays():
    X, y = rows()
    weight = np.abs(y) + 0.1
    here = learned(read(X[:, [2, 0]], y, weight))
    whole = da.from_array(np.column_stack([X, y, weight]), chunks=(150, 6))
    assert learned(read(whole, "x4", "x5", columns=["x2", "x0"])) == here
    apart = da.from_array(X, chunks=(150, 4)), da.from_array(y, chunks=77), da.from_array(weight, chunks=500)
    assert learned(read(*apart, columns=["x2", "x0"])) == here
    with pytest.raises(DataError, match=r"two dimensions, got shape \(900,\)"):
        read(da.from_array(y, chunks=100))


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "?"])
def test_arrays_keep_their_dtype(dtype):
    X = (rows()[0] > 0).astype(dtype)
    block = read(parts(X)).collect()
    assert block.X.dtype == X.dtype
    assert np.array_equal(block.X, X)


def test_an_array_whose_lengths_are_unknown():
    X, y = rows()
    lazy, target = da.from_array(X, chunks=(200, 4)), da.from_array(y, chunks=200)
    keep = target > 0
    assert np.isnan(lazy[keep].chunks[0][0])
    assert learned(read(lazy[keep], target[keep])) == learned(read(X[y > 0], y[y > 0]))


def test_delayed_blocks_of_arrays():
    X, y = rows()
    source = read(parts(X), parts(y))
    assert source.n_rows == N
    assert learned(source) == learned(read(X, y))


def test_delayed_blocks_of_frames(cluster):
    table = frame()
    here = read_table(table, "y").fold(Sample(30)).finish()
    for engine in (None, cluster.client):
        source = read_table(parts(table), "y", engine=engine)
        assert source.schema == {"a": "number", "b": "number", "n": "integer", "city": "text"}
        there = guarded(lambda source=source: source.fold(Sample(30)).finish())
        assert there.X.table.equals(here.X.table)
        assert bits(there.y) == bits(here.y)


def test_numbers_of_frames():
    table = frame().drop(columns="city")
    source = read(parts(table), "y")
    assert source.names == ["a", "b", "n"]
    assert bits(source.fold(Gram(2)).finish()) == bits(read(table, "y").fold(Gram(2)).finish())
    with pytest.raises(DataError, match="city"):
        read(parts(frame()), "y")


def test_a_model_of_a_frame(cluster):
    table = frame()
    here = mercer.fit(table, "y", effort="fast")
    there = guarded(lambda: mercer.fit(dd.from_pandas(table, npartitions=3), "y", effort="fast", engine=cluster.client))
    assert bits(there.predict(table)) == bits(here.predict(table))
    assert there.report()["holdout"] == here.report()["holdout"]


def test_collections_held_by_the_workers(cluster):
    X, y = rows()
    lazy = cluster.client.persist(da.from_array(X, chunks=(300, 4)))
    target = cluster.client.persist(da.from_array(y, chunks=300))
    assert guarded(lambda: learned(read(lazy, target, engine=cluster.client))) == learned(read(X, y))


def test_the_client_of_the_process_is_used(cluster):
    X, y = rows()
    lazy = da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300)
    assert read(*lazy).engine is None
    with cluster.client.as_current():
        source = read(*lazy)
    assert source.engine.client is cluster.client


def test_types_are_unified_over_all_chunks():
    first = pd.DataFrame({"k": pd.Categorical(["b", "a"]), "n": [1, 2], "t": [None, None], "y": [0.0, 1.0]})
    second = pd.DataFrame({"k": pd.Categorical(["c", "b"]), "n": [0.5, 2.0], "t": ["x", None], "y": [2.0, 3.0]})
    source = read_table([dask.delayed(first), dask.delayed(second)], "y")
    assert source.schema == {"k": "text", "n": "number", "t": "text"}
    whole = source.collect().X
    assert whole["k"].tolist() == ["b", "a", "c", "b"]
    assert whole["n"].tolist() == [1.0, 2.0, 0.5, 2.0]
    assert whole["t"].tolist() == [None, None, "x", None]


@pytest.mark.parametrize(
    ("chunks", "target", "match"),
    [
        ([{"a": [1.0], "y": [1.0]}, {"b": [1.0], "y": [1.0]}], "y", "Chunk 1 has the columns b, y; .* a, y"),
        ([{"a": [1.0], "y": [1.0]}, {"a": ["x"], "y": [1.0]}], "y", "'a' is string in chunk 1, and double .*astype"),
        ([{"a": [1.0], "y": [1.0]}], "z", "z"),
        ([{"a": [1.0], "y": [None]}], "y", "target column 'y' is missing in row 0"),
        ([pa.table({"a": pa.array([], pa.float64()), "y": pa.array([], pa.float64())})], "y", "no rows"),
        ([{"a": [1.0]}], np.ones(1), "target is a ndarray.*same chunks"),
        ([{"a": [1.0]}], [dask.delayed(np.ones(1)), dask.delayed(np.ones(1))], "1 chunks, the target 2"),
        ([{"a": [1.0]}], [dask.delayed(np.ones(2))], "chunk of 1 rows has 2 entries of the target"),
    ],
)
def test_mistakes(chunks, target, match):
    chunks = [dask.delayed(pa.table(chunk) if isinstance(chunk, dict) else chunk) for chunk in chunks]
    with pytest.raises(DataError, match=match):
        read_table(chunks, target).fold(Sample(5))
