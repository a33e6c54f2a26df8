"""Parts and blocks: the same bits for any pieces, threads or engine, and halves that merge exactly."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import hash_rows
from mercer.source import Accumulator, MemorySource, ParquetSource, StreamSource, accumulator, listening
from mercer.stats import Gram, Moments, Sample


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Small blocks and parts, so that short data have many of both."""
    from mercer.source import base, memory

    for module in (accumulator, base, memory):
        for name, size in (("BLOCK_ROWS", 16), ("PART_ROWS", 64)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, size)


def rows(n, dtype=np.float32):
    rng = np.random.default_rng(3)
    return rng.normal(size=(n, 6)).astype(dtype), rng.normal(size=n)


def state(gram):
    return gram.n, gram.G.tobytes(), gram.C.tobytes(), gram.T.tobytes(), gram.z_origin.tobytes()


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 700), cuts=st.lists(st.floats(0, 1), max_size=7))
def test_a_gram_has_the_same_bits_for_any_pieces(n, cuts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accumulator, "BLOCK_ROWS", 16)
        patch.setattr(accumulator, "PART_ROWS", 64)
        X, y = rows(n)
        whole = MemorySource(X, y).fold(Gram(3))
        pieces = Accumulator(Gram(3))
        bounds = [0, *sorted(int(c * n) for c in cuts), n]
        for a, b in itertools.pairwise(bounds):
            pieces.add(Block(X[a:b], y[a:b]))
        assert state(pieces.result()) == state(whole)
        assert state(pieces.result()) == state(whole)  # asking does not consume


@pytest.mark.parametrize("n", [65, 128, 129, 500, 1000])
def test_halves_fitted_separately_merge_to_the_same_bits(n):
    X, y = rows(n)
    source = MemorySource(X, y)
    first, second = source.halves()
    assert first.n_rows + second.n_rows == n
    merged = first.accumulate(Gram(3)).merge(second.accumulate(Gram(3)))
    assert state(merged.result()) == state(source.fold(Gram(3)))


def test_threads_streams_and_files_agree(monkeypatch, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = rows(333, np.float64)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(6)}, "y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=50)
    stream = StreamSource(lambda: (Block(X[i : i + 37], y[i : i + 37]) for i in range(0, 333, 37)))
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_THREADS", threads)
        sources = (MemorySource(X, y), stream, ParquetSource(tmp_path / "rows.parquet", target="y"))
        results += [state(source.fold(Gram(3))) for source in sources]
    assert len(set(results)) == 1


def test_exact_statistics_do_not_even_mind_the_order():
    X, _ = rows(300)
    whole = MemorySource(X).fold(Moments()).finish()
    backwards = MemorySource(X[::-1].copy()).fold(Moments()).finish()
    assert whole.mean.tobytes() == backwards.mean.tobytes()
    assert whole.std.tobytes() == backwards.std.tobytes()


def test_maps_and_filters_keep_the_identity_of_rows():
    X, y = rows(200, np.float64)
    source = MemorySource(X, y)
    positive = source.where(lambda block: block.y > 0)
    assert positive.fold(Moments()).n == np.sum(y > 0)
    sample = source.map(lambda block: block.with_X(10 * block.X)).fold(Sample(20)).finish()
    np.testing.assert_array_equal(sample.X, 10 * source.fold(Sample(20)).finish().X)


def test_blocks_come_in_order_and_errors_come_through():
    X, _ = rows(200, np.float64)
    source = MemorySource(X)
    np.testing.assert_array_equal(np.vstack([block.X for block in source.blocks()]), X)

    def fail(block):
        if block.start >= 96:
            raise ValueError(f"row {block.start}")
        return block

    with pytest.raises(ValueError, match="row 96"):
        source.map(fail).fold(Moments())


def test_progress_is_reported_to_the_listener():
    X, _ = rows(200)
    heard = []
    with listening(lambda done, total: heard.append((done, total))):
        MemorySource(X).fold(Moments())
    assert heard[-1] == (200, 200)
    assert [done for done, _ in heard] == sorted(done for done, _ in heard)


def test_errors_of_sources_name_the_problem(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(ValueError, match="X has 3 rows but y has 2"):
        MemorySource(np.zeros((3, 1)), np.zeros(2))
    pq.write_table(pa.table({"a": [1.0], "name": ["x"]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="no column named 'b'"):
        ParquetSource(tmp_path / "t.parquet", target="b")
    with pytest.raises(ValueError, match="column 'name' holds string"):
        ParquetSource(tmp_path / "t.parquet").fold(Moments())


@pytest.mark.parametrize("layout", ["C", "F", "csr"])
def test_collected_rows_are_those_of_all_blocks_with_the_hashes_of_the_rows_as_read(layout):
    X = np.random.default_rng(0).normal(size=(200, 3))
    rows = sparse.csr_matrix(X) if layout == "csr" else np.asarray(X, order=layout)
    source = MemorySource(rows, np.arange(200), np.ones(200)).map(lambda block: block.with_X(block.X * 2.0))
    block = source.where(lambda block: block.y % 2 == 0).collect()
    assert np.array_equal(block.X.toarray() if layout == "csr" else block.X, 2.0 * X[::2])
    assert np.array_equal(block.y, np.arange(0, 200, 2))
    assert np.array_equal(block.ids, hash_rows(X[::2]))
    if layout != "csr":
        assert source.collect().X.strides == np.concatenate([block.X for block in source.blocks()]).strides


def test_a_source_without_rows_cannot_be_collected():
    source = MemorySource(np.ones((5, 1)))
    with pytest.raises(ValueError, match="no rows"):
        source.where(lambda block: np.zeros(len(block), dtype=bool)).collect()
