"""Workers that lack something, and an encrypted cluster: clear errors, and the same bits."""

import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, Security

import mercer
from bits import bits
from cluster import guarded, running
from mercer._runtime.errors import DataError
from mercer.source import EngineError, ParquetSource
from mercer.source.dask import dask_engine
from mercer.stats import Moments

WITHOUT_MERCER = """
import importlib.metadata as metadata

found = metadata.Distribution.from_name.__func__

def from_name(cls, name):
    if name == "mercer":
        raise metadata.PackageNotFoundError(name)
    return found(cls, name)

metadata.Distribution.from_name = classmethod(from_name)
"""


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": np.arange(1000.0), "y": np.arange(1000.0)}), path, row_group_size=100)
    return path


def test_a_cluster_with_tls(tmp_path, parquet):
    """Certificates made here: without them nobody gets in, with them the result is the same."""
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, *names]
    subprocess.run(make, check=True, capture_output=True)
    files = ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]
    security = Security(
        tls_ca_file=certificate, tls_client_cert=certificate, tls_client_key=key, require_encryption=True
    )
    source = ParquetSource(parquet, target="y")
    with running(tmp_path, 1, "--protocol", "tls", *files, security=security) as cluster:
        assert cluster.address.startswith("tls://")
        there = guarded(lambda: bits(source.on(cluster.client).fold(Moments()).finish()))
        with (
            pytest.raises(EngineError, match=r"No Dask scheduler answers at tls://.*certificates"),
            dask_engine(cluster.address),
        ):
            pass
    assert there == bits(source.fold(Moments()).finish())


def test_a_worker_without_mercer(tmp_path, parquet):
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text(WITHOUT_MERCER)
    problem = r"worker at .* mercer missing, not .*install the same versions"
    with running(tmp_path, PYTHONPATH=str(tmp_path / "without")) as cluster, pytest.raises(EngineError, match=problem):
        guarded(lambda: mercer.read(parquet, "y", engine=cluster.client))


def test_a_path_that_workers_cannot_read(tmp_path, parquet, monkeypatch):
    """A relative path works, because workers get absolute ones; a file that is gone on a worker is an error."""
    monkeypatch.chdir(tmp_path)
    with running(tmp_path) as cluster:
        client: Client = cluster.client
        assert guarded(lambda: mercer.read("rows.parquet", "y", engine=client).fold(Moments())).n == 1000
        source = mercer.read("rows.parquet", "y", engine=client)
        os.rename("rows.parquet", "elsewhere.parquet")
        with pytest.raises(DataError, match=r"worker on .* cannot read its rows.*rows\.parquet.*shared?"):
            guarded(lambda: source.fold(Moments()))
