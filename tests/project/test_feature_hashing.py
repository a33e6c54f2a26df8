"""Feature hashing: what a row means, the block-hash map of its names, the same in every process."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.project import FeatureHashing
from mercer.source import StreamSource
from mercer.text import TextFeatures
from naive import hashed_index

DICTS = [{"color": "red", "size": 2.5}, {"color": "blue", "big": True}, {}, {"size": -1, "color": None}]
PAIRS = [[("color=red", 1), ("size", 2.5)], [("color=blue", 1), ("big", 1)], [], [("size", -1.0)]]


def by_hand(entries, m, s, signed=True, seed=0):
    """The definition, entry by entry."""
    out = np.zeros((len(entries), m))
    for i, row in enumerate(entries):
        for name, value in row:
            key = _numeric.term_hashes(np.array([0, len(name)]), np.frombuffer(name.encode(), np.uint8), seed)
            for b in range(s):
                place, sign = hashed_index(key, b, m // s)
                out[i, b * (m // s) + place] += (sign if signed else 1) * value / np.sqrt(s)
    return out


@pytest.mark.parametrize(("m", "s", "signed"), [(16, 1, True), (64, 4, True), (30, 3, False)])
def test_it_is_the_definition(m, s, signed):
    hashing = FeatureHashing(m, s, signed, random_state=3)
    for rows in (DICTS, PAIRS, np.array(DICTS, dtype=object), iter(DICTS), tuple(PAIRS)):
        Z = hashing.transform(rows)
        np.testing.assert_allclose(Z.toarray(), by_hand(PAIRS, m, s, signed, 3), atol=1e-15)
        assert sparse.issparse(Z)
        assert Z.has_canonical_format


@pytest.mark.parametrize("nonzeros", [1, 4])
@pytest.mark.parametrize(("analyzer", "ngrams"), [("word", (1, 2)), ("char", (2, 5))])
def test_names_and_ngrams_of_text_have_one_hash(nonzeros, analyzer, ngrams):
    documents = ["New York, new YORK!", "", "Ein Gewürztraminer aus Württemberg 😀 שלום", "x" * 40 + " a b cc"]
    how = {"nonzeros": nonzeros, "random_state": 7}
    text = TextFeatures(ngrams, analyzer, n_buckets=64, weighting="count", **how)
    counted = TextFeatures(ngrams, analyzer, weighting="count").fit(documents)
    names = counted.get_feature_names_out()
    rows = counted.transform(documents)
    pairs = [[(names[j], rows[i, j]) for j in rows[[i]].indices] for i in range(len(documents))]
    hashing = FeatureHashing(64, **how)
    np.testing.assert_allclose(hashing.transform(pairs).toarray(), text.transform(documents).toarray(), atol=1e-12)
    assert all(hashing.columns_of(name) == text.columns_of(name) for name in names)


def test_repeated_tokens_add_up():
    Z = FeatureHashing(64).transform([["a", "rose", "is", "a", "rose", "is", "a", "rose"]])
    expected = by_hand([[("a", 3), ("rose", 3), ("is", 2)]], 64, 1)
    np.testing.assert_array_equal(Z.toarray(), expected)


def test_tables_are_dicts_of_their_columns():
    table = {"color": ["red", "blue", None], "size": [2.5, 0.0, 1.0], "n": [1, 2, 3]}
    expected = by_hand(
        [[("color=red", 1), ("size", 2.5), ("n", 1)], [("color=blue", 1), ("n", 2)], [("size", 1), ("n", 3)]], 64, 2
    )
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        np.testing.assert_allclose(FeatureHashing(64, 2).transform(frame).toarray(), expected, atol=1e-15)
        np.testing.assert_allclose(FeatureHashing(64, 2).fit_transform(frame).toarray(), expected, atol=1e-15)
    strings = np.array([["red", "s"], ["blue", "m"]])
    expected = by_hand([[("x0=red", 1), ("x1=s", 1)], [("x0=blue", 1), ("x1=m", 1)]], 64, 2)
    np.testing.assert_allclose(FeatureHashing(64, 2).transform(strings).toarray(), expected, atol=1e-15)


def test_numbers_keep_their_precision_and_blocks_do_not_matter():
    X = np.random.default_rng(0).normal(size=(20_000, 3)).astype(np.float32)
    Z = FeatureHashing(32).transform(X)
    assert Z.dtype == np.float32
    assert abs(Z - sparse.vstack([FeatureHashing(32).transform(part) for part in np.array_split(X, 7)])).nnz == 0


def test_every_process_hashes_alike():
    code = (
        "from mercer.project import FeatureHashing\n"
        "Z = FeatureHashing(2**20, 2).transform([{'ä': 'ß', 'n': 3}, {'': '', '\\U0001f600': 1.5}])\n"
        "T = FeatureHashing(2**20).transform([['ä', 'b', '\\U0001f600'], ['b']])\n"
        "S = FeatureHashing(2**20).transform(__import__('numpy').array([['x', 'ß']], dtype=object))\n"
        "print(Z.indices.tolist(), Z.data.tolist(), T.indices.tolist(), S.indices.tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True
    )
    Z = FeatureHashing(2**20, 2).transform([{"ä": "ß", "n": 3}, {"": "", "\U0001f600": 1.5}])
    T = FeatureHashing(2**20).transform([["ä", "b", "\U0001f600"], ["b"]])
    S = FeatureHashing(2**20).transform(np.array([["x", "ß"]], dtype=object))
    expected = f"{Z.indices.tolist()} {Z.data.tolist()} {T.indices.tolist()} {S.indices.tolist()}\n"
    assert done.stdout == expected, done.stderr


def test_heavy_names_are_found_again():
    rng = np.random.default_rng(0)
    rows = [[f"w{k}" for k in np.minimum(rng.zipf(1.5, size=30), 10**6)] for _ in range(400)]
    hashing = FeatureHashing(256, nonzeros=2, keep_keys=50).fit(rows)
    counts = pd.Series(np.concatenate(rows)).value_counts()
    slack = counts.sum() / 51
    assert len(hashing.keys_) <= 50
    assert set(counts.index[counts > slack]) <= set(hashing.keys_)
    for name, weight in zip(hashing.keys_, hashing.weights_, strict=True):
        assert counts[name] - slack <= weight <= counts[name]
    for column in hashing.columns_of("w1"):
        assert hashing.lookup(column)[0][0] == "w1"
    assert sum(name == "w1" for column in range(256) for name, _ in hashing.lookup(column)) == 2


def test_streams_pieces_and_merges_keep_the_same_names():
    rows = [[f"w{k}" for k in range(i % 37)] for i in range(300)]
    array = np.empty(300, dtype=object)
    array[:] = rows
    whole = FeatureHashing(64, keep_keys=10).fit(rows)
    stream = FeatureHashing(64, keep_keys=10).fit(
        StreamSource(lambda: (Block(array[i : i + 7]) for i in range(0, 300, 7)))
    )
    pieces = FeatureHashing(64, keep_keys=10)
    for i in range(0, 300, 50):
        pieces.partial_fit(rows[i : i + 50])
    for other in (stream, pieces):
        assert other.keys_.tolist() == whole.keys_.tolist()
        assert other.weights_.tolist() == whole.weights_.tolist()
    merged = FeatureHashing(64, keep_keys=10).fit(rows[:100]).merge(FeatureHashing(64, keep_keys=10).fit(rows[100:]))
    assert merged.keys_[0] == whole.keys_[0]
    with pytest.raises(ValueError, match="same parameters"):
        whole.merge(FeatureHashing(32, keep_keys=10).fit(rows))


def test_a_certificate_measures_against_one_column_per_name():
    rows = [{f"w{k}": 1.0 + k for k in range(i, i + 12)} for i in range(40)]
    hashing = FeatureHashing(2**12, 4)
    exact, _ = hashing.one_column_per_name(rows)
    Z, (i, j) = hashing.transform(rows), np.triu_indices(40, 1)
    wanted = np.asarray((exact[i] - exact[j]).power(2).sum(axis=1)).ravel()
    found = np.asarray((Z[i] - Z[j]).power(2).sum(axis=1)).ravel()
    np.testing.assert_allclose(hashing.certificate(rows).max, abs(found / wanted - 1).max(), rtol=1e-9)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a b", "c"], "Row 0 is 'a b': a row must be a dict"),
        ([["a"], [("b", 1, 2)]], r"Row 1 holds \('b', 1, 2\)"),
        ([{"a": float("nan")}], "Row 0 contains NaN under 'a'"),
        ([{"a": 1}, {"a": float("inf")}], "Row 1 contains infinity under 'a'"),
        ([{"a": [1]}], "Row 0 has a list under 'a'"),
        ([{3: 1.0}], "Row 0 names an entry 3"),
        (pd.DataFrame({"s": ["x", "y"], "f": [1.0, np.nan]}), r"NaN: column 1 \('f'\), first at row 1"),
    ],
)
def test_what_is_no_row_is_refused_with_its_index(rows, message):
    with pytest.raises((ValueError, TypeError), match=message):
        FeatureHashing(16).transform(rows)


def test_the_risk_is_that_of_the_names():
    rows = [{"a": 1.0, "b": 1.0}, {"c": 1.0, "d": -1.0}]
    assert FeatureHashing(1024).risk(rows).safe
    assert not FeatureHashing(64).risk(rows).safe
    assert FeatureHashing(64).risk(rows).kurtosis == pytest.approx(64)
    assert FeatureHashing(64, 8).risk(rows).kurtosis == pytest.approx(64 / 64 + 3 * (1 - 1 / 8))


def test_misuse_is_explained():
    with pytest.raises(ValueError, match="n_components=10 cannot be cut into nonzeros=4"):
        FeatureHashing(10, 4).fit(DICTS)
    with pytest.raises(ValueError, match="No names were kept"):
        FeatureHashing(16).fit(DICTS).lookup(0)
    with pytest.raises(ValueError, match="keep_keys must be"):
        FeatureHashing(16, keep_keys=-1).fit(DICTS)
    with pytest.raises(ValueError, match=r"column must be one of 0 \.\. 15"):
        FeatureHashing(16, keep_keys=5).fit(DICTS).lookup(16)


def test_inner_products_are_kept_on_average():
    """Over R keys the mean is within 5 standard errors; Var <= (||x||^2 ||x'||^2 + <x, x'>^2)/m."""
    rows = [{"a": 1.0, "b": 2.0, "c": 1.0}, {"b": 1.0, "c": -1.0, "d": 3.0}]
    found = [
        float((Z[0] @ Z[1].T).toarray()[0, 0])
        for Z in (FeatureHashing(16, 2, random_state=seed).transform(rows) for seed in range(400))
    ]
    assert abs(np.mean(found) - 1.0) <= 5 * np.sqrt((6 * 11 + 1) / 16 / 400)
