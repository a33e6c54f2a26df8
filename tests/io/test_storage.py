"""Folders, patterns, packed files, huge row groups and object stores: the rows of one plain file."""

import bz2
import gzip
import io
import sys

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mercer
from bits import bits
from cluster import guarded, running
from mercer._runtime.errors import DataError
from mercer.io import read, read_table
from mercer.io.storage import prepare
from mercer.io.storage.find import found_files, partitions_of
from mercer.source.shipping import dumps, loads
from mercer.source.storage import StoredPath, filesystem
from mercer.stats import Gram, Sample
from s3_server import s3_server

N = 300


def table(first=0, n=N):
    rows = np.arange(first, first + n)
    city = np.where(rows % 3 == 0, "Bern", "Oslo")
    return pa.table({"a": np.cos(rows), "n": rows % 7, "city": city, "y": np.sin(rows)})


def parquet_bytes(rows):
    out = io.BytesIO()
    pq.write_table(rows, out, row_group_size=70)
    return out.getvalue()


def csv_bytes(rows):
    lines = [",".join(map(str, row.values())) for row in rows.to_pylist()]
    return "\n".join([",".join(rows.column_names), *lines]).encode() + b"\n"


def collected(source):
    block = source.collect()
    return block.X.table.to_pydict(), bits(np.asarray(block.y))


@pytest.fixture
def whole():
    """All rows, as read from memory."""
    return collected(read_table(table(), "y"))


@pytest.fixture
def folder(tmp_path):
    """Three files of 100 rows in folders, and files that are no tables."""
    for i in range(3):
        (tmp_path / "rows" / f"part{i}").mkdir(parents=True)
        (tmp_path / "rows" / f"part{i}" / "rows.parquet").write_bytes(parquet_bytes(table(100 * i, 100)))
    for name in ("_SUCCESS", ".hidden.parquet", "README.md", "_metadata.parquet"):
        (tmp_path / "rows" / name).write_text("no table")
    return tmp_path / "rows"


def test_a_folder_is_read_in_sorted_order(folder, whole):
    assert collected(read_table(folder, "y")) == whole
    assert collected(read_table(f"file://{folder}", "y")) == whole
    assert collected(read_table(str(folder / "part*" / "*.parquet"), "y")) == whole
    assert collected(read_table(str(folder.parent / "**" / "rows.parquet"), "y")) == whole


def test_numbers_of_a_folder(folder):
    rows = table()
    X = np.column_stack([rows["a"].to_numpy(), rows["n"].to_numpy().astype(float)])
    there = read(folder, "y", columns=["a", "n"])
    assert bits(there.fold(Gram(2)).finish()) == bits(read(X, rows["y"].to_numpy()).fold(Gram(2)).finish())


def test_files_of_a_folder_must_agree(folder):
    pq.write_table(table().drop(["n"]), folder / "part2" / "rows.parquet")
    for function in (read_table, read):
        with pytest.raises(DataError, match=r"part2.rows\.parquet does not have the columns.*'n' is missing"):
            function(folder, "y")


def test_a_folder_without_tables(tmp_path):
    (tmp_path / "notes.md").write_text("nothing")
    with pytest.raises(FileNotFoundError, match=r"holds no table.*\.parquet"):
        read_table(tmp_path)


def test_folders_of_partitions_are_columns(tmp_path):
    for year, place in ((2023, "Bern"), (2024, "Oslo%20S")):
        (tmp_path / f"year={year}" / f"place={place}").mkdir(parents=True)
        pq.write_table(table(year, 50), tmp_path / f"year={year}" / f"place={place}" / "rows.parquet")
    source = read_table(tmp_path, "y")
    assert source.schema == {"a": "number", "n": "integer", "city": "text", "year": "integer", "place": "text"}
    rows = source.collect().X
    assert rows["year"].tolist() == [2023] * 50 + [2024] * 50
    assert rows["place"].tolist() == ["Bern"] * 50 + ["Oslo S"] * 50
    assert read_table(tmp_path, "year").schema.keys() == {"a", "n", "city", "y", "place"}
    assert read(tmp_path, "y", columns=["a", "year"]).collect().X[-1, 1] == 2024
    sent = source.reader()
    assert loads(dumps(sent)).read(0, 100).X.table.equals(source.read(0, 100).X.table)


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["a=1", "a=-2"], {"a": [1, -2]}),
        (["a=1", "a=__HIVE_DEFAULT_PARTITION__"], {"a": [1, None]}),
        (["a=x", "a=__HIVE_DEFAULT_PARTITION__"], {"a": ["x", None]}),
        (["a=1", "a=x"], {"a": ["1", "x"]}),
        (["a=1.5"], {"a": ["1.5"]}),
        (["a=b=c/d=1"], {"a": ["b=c"], "d": [1]}),
        (["=1/plain"], {}),
        (["a%20b=%2F"], {"a b": ["/"]}),
        (["."], {}),
    ],
)
def test_names_of_partitions(folders, expected):
    assert partitions_of([f"there/{folder}/x=1.parquet" for folder in folders]) == expected


@pytest.mark.parametrize("name", ["A.PARQUET", "a.CSV.GZ", "a.tsv.bz2", "a.psv", "a.txt.zst", "a.pq"])
def test_names_of_tables(tmp_path, name):
    (tmp_path / "in").mkdir()
    for other in (name, f".{name}", f"_{name}", "a.json", "a.gz", "csv"):
        (tmp_path / "in" / other).touch()
    assert found_files(str(tmp_path)) == [str(tmp_path / "in" / name)]


def test_partitions_that_do_not_agree(tmp_path):
    for name in ("year=2023", "month=1"):
        (tmp_path / name).mkdir()
        pq.write_table(table(), tmp_path / name / "rows.parquet")
    with pytest.raises(DataError, match="name=value"):
        read_table(tmp_path, "y")


def zstd(data):
    return pa.Codec("zstd").compress(data, asbytes=True)


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", zstd)])
def test_packed_text(suffix, pack, tmp_path, whole):
    for i in range(2):
        rows = table(150 * i, 150)
        (tmp_path / f"rows{i}.csv.{suffix}").write_bytes(pack(csv_bytes(rows)))
    assert collected(read_table(tmp_path, "y")) == whole


def test_damaged_packed_text(tmp_path):
    path = tmp_path / "rows.csv.bz2"
    path.write_bytes(bz2.compress(csv_bytes(table()))[:-40])
    with pytest.raises(DataError, match=r"rows\.csv\.bz2"):
        read_table(path, "y")


def test_huge_row_groups_are_cut(tmp_path, whole, monkeypatch):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(), path, row_group_size=N)
    monkeypatch.setattr(prepare, "MAX_GROUP_BYTES", 1000)
    monkeypatch.setattr("mercer.io.temporary.GROUP_ROWS", 64)
    source = read_table(path, "y")
    assert np.diff(source.bounds).max() == 64
    assert "smaller" in source.notes[0]
    assert collected(source) == whole


@pytest.fixture
def memory_store():
    store = fsspec.filesystem("memory")
    yield store
    store.rm("/", recursive=True)


def test_the_memory_of_fsspec(memory_store, whole):
    for i in range(3):
        memory_store.pipe(f"/bucket/part{i}.parquet", parquet_bytes(table(100 * i, 100)))
        memory_store.pipe(f"/text/part{i}.csv.gz", gzip.compress(csv_bytes(table(100 * i, 100))))
        memory_store.pipe(f"/deep/a/{i}/b/rows.parquet", parquet_bytes(table(100 * i, 100)))
    for address in ("memory://deep", "memory://deep/a/*/b/rows.parquet"):
        assert collected(read_table(address, "y")) == whole
    for address in ("memory://bucket", "memory://bucket/part*.parquet", "memory://text/"):
        assert collected(read_table(address, "y")) == whole
    one = "memory://bucket/part1.parquet"
    assert read_table(one, "y", storage_options={"skip_instance_cache": True}).n_rows == 100
    assert read(one, "y", columns=["a"], storage_options={"skip_instance_cache": True}).n_rows == 100


@pytest.mark.parametrize(
    ("address", "error", "match"),
    [
        ("memory://nowhere/rows.csv", FileNotFoundError, "no such file"),
        ("memory://nowhere/*.csv", (FileNotFoundError, DataError), "nowhere"),
        ("nosuch://bucket/rows.csv", DataError, "nosuch.*s3://"),
    ],
)
def test_addresses_that_do_not_work(address, error, match):
    with pytest.raises(error, match=match):
        read_table(address)


@pytest.mark.parametrize(
    ("address", "options", "kind"),
    [
        ("gs://anonymous@bucket/rows.parquet", None, "gcs"),
        ("memory://bucket/rows.parquet", None, "py::fsspec+memory"),
        ("file:///tmp/rows.parquet", {"auto_mkdir": False}, "py::fsspec+('file', 'local')"),
    ],
)
def test_which_file_system_opens_an_address(address, options, kind):
    assert filesystem(address, options)[0].type_name == kind


@pytest.mark.parametrize(
    ("address", "options", "package"),
    [("az://container/rows.parquet", None, "adlfs"), ("gs://bucket/rows.parquet", {"token": "anon"}, "gcsfs")],
)
def test_an_object_store_whose_package_is_missing(address, options, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError, match=rf"{address} cannot be opened.*Install the package of fsspec.*{package}"):
        read_table(address, storage_options=options)


@pytest.fixture
def s3(monkeypatch):
    """Objects of a bucket on a server; pyarrow finds it through the environment."""
    objects = {f"rows/part{i}.parquet": parquet_bytes(table(100 * i, 100)) for i in range(3)}
    objects["text/rows.csv.gz"] = gzip.compress(csv_bytes(table()))
    with s3_server("bucket", objects) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        yield server


@pytest.mark.parametrize(
    "address", ["s3://bucket/rows", "s3://bucket/rows/part*.parquet", "s3://bucket/text/rows.csv.gz"]
)
def test_an_object_store(address, s3, whole):
    assert collected(read_table(address, "y")) == whole


def test_an_object_that_is_not_there(s3):
    with pytest.raises(FileNotFoundError, match="s3://bucket/rows/part9"):
        read_table("s3://bucket/rows/part9.parquet")


def test_workers_read_their_parts_from_the_object_store(s3, tmp_path):
    source = read_table("s3://bucket/rows", "y")
    here = source.fold(Sample(40)).finish().X.table
    with running(tmp_path) as cluster:
        there = guarded(lambda: source.on(cluster.client).fold(Sample(40)).finish().X.table)
    assert there.equals(here)


def test_an_address_keeps_its_options():
    path = StoredPath("s3://bucket/rows.parquet", {"anon": True})
    assert loads(dumps([path]))[0].options == {"anon": True}


def test_a_model_of_a_folder(folder):
    model = mercer.fit(str(folder), "y", effort="fast")
    assert bits(model.predict(table())) == bits(mercer.fit(table(), "y", effort="fast").predict(table()))
