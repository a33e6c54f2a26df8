"""Hashes: published vectors, twins equal bit for bit, uniform buckets, row hashes of values alone."""

import datetime
import decimal
import hashlib

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from mercer import _numeric
from mercer._numeric.hashing import splitmix as definition
from mercer._numeric.hashing.rows import distinct_hashes

GAMMA = 0x9E3779B97F4A7C15
SEEDS = [0, 1, 2**32, 2**64 - 1]

words = hnp.arrays(np.uint64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
seeds = st.integers(0, 2**64 - 1)
floats = st.floats(width=64) | st.sampled_from([0.0, -0.0, np.nan, -np.nan, np.inf, 5e-324])
tables = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6), elements=floats)


def identical(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def as_csr(X):
    """CSR arrays with every entry stored, explicit zeros included."""
    indices = np.tile(np.arange(X.shape[1]), X.shape[0])
    return X.ravel(), indices, np.arange(X.shape[0] + 1) * X.shape[1]


# --- published values and twins


def test_the_published_stream_of_seed_zero():
    published = [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
        0xF88BB8A8724C81EC,
        0x1B39896A51A8749B,
    ]
    keys = np.array([i * GAMMA % 2**64 for i in range(5)], np.uint64)
    for function in (_numeric.splitmix64, definition.splitmix64):
        assert function(keys).tolist() == published


@given(words, seeds)
def test_twins_of_the_key_functions(keys, seed):
    assert identical(_numeric.splitmix64(keys, seed), definition.splitmix64(keys, seed))
    assert identical(_numeric.buckets(keys, 1 + seed % 2**32), definition.buckets(keys, 1 + seed % 2**32))
    assert identical(_numeric.signs(keys), definition.signs(keys))


@given(tables, seeds)
def test_twins_of_the_row_hashes(X, seed):
    expected = definition.hash_dense_rows(X, seed)
    assert identical(_numeric.hash_dense_rows(X, seed), expected)
    for csr_rows in (_numeric.hash_csr_rows, definition.hash_csr_rows):
        assert identical(csr_rows(*as_csr(X), seed), expected)


@pytest.mark.parametrize("module", [_numeric, definition])
class TestKeys:
    def test_signed_keys_and_any_shape(self, module):
        keys = np.array([[-1, 0], [5, -(2**63)]])
        assert identical(module.splitmix64(keys), module.splitmix64(keys.view(np.uint64)))
        assert identical(module.splitmix64(keys.astype(np.int32)[:, ::-1]), module.splitmix64([[0, -1], [0, 5]]))
        assert module.splitmix64(np.uint64(7)).shape == ()

    def test_seeds_give_different_functions_and_wrap(self, module):
        keys = np.arange(100)
        assert len({module.splitmix64(keys, seed).tobytes() for seed in SEEDS}) == len(SEEDS)
        assert identical(module.splitmix64(keys, -1), module.splitmix64(keys, 2**64 - 1))

    @pytest.mark.parametrize("n_buckets", [0, -3, 2**32 + 1])
    def test_impossible_numbers_of_buckets(self, module, n_buckets):
        with pytest.raises(ValueError, match=r"between 1 and 2\*\*32"):
            module.buckets(np.zeros(3, np.uint64), n_buckets)

    def test_the_largest_number_of_buckets(self, module):
        top = np.array([2**64 - 1, 2**32 - 1], np.uint64)
        assert module.buckets(top, 2**32).tolist() == [2**32 - 1, 0]
        assert module.buckets(top, 1).tolist() == [0, 0]

    @pytest.mark.parametrize("name", ["splitmix64", "signs"])
    def test_floats_are_not_keys(self, module, name):
        with pytest.raises(TypeError, match="must be integers, got an array of float64"):
            getattr(module, name)(np.zeros(3))


# --- uniformity


def three_gram_ids():
    letters = np.arange(97, 123)
    return (letters[:, None, None] * 65536 + letters[:, None] * 256 + letters).ravel()


def grid_rows():
    side = np.linspace(0.0, 1.0, 200)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


HASHED = {
    "sequential": lambda seed: _numeric.splitmix64(np.arange(100_000), seed),
    "multiples of 2^32": lambda seed: _numeric.splitmix64(np.arange(100_000) << 32, seed),
    "3-grams": lambda seed: _numeric.splitmix64(three_gram_ids(), seed),
    "grid": lambda seed: _numeric.hash_dense_rows(grid_rows(), seed),
    "strings": lambda seed: _numeric.hash_strings([f"name={i}" for i in range(20_000)], seed),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("keys", HASHED)
class TestUniformity:
    """Chi-square with p in [1e-6, 1 - 1e-6]: neither lumpy nor suspiciously even."""

    @pytest.mark.parametrize("n_buckets", [2, 64, 1000])
    def test_bucket_counts(self, keys, seed, n_buckets):
        counts = np.bincount(_numeric.buckets(HASHED[keys](seed), n_buckets), minlength=n_buckets)
        assert 1e-6 <= stats.chisquare(counts).pvalue <= 1 - 1e-6

    def test_signs_are_balanced_within_every_bucket(self, keys, seed):
        hashes = HASHED[keys](seed)
        positive = _numeric.signs(hashes) > 0
        counts = np.bincount(_numeric.buckets(hashes, 32) + 32 * positive, minlength=64)
        assert 1e-6 <= stats.chisquare(counts).pvalue <= 1 - 1e-6
        assert 1e-6 <= stats.chi2_contingency(counts.reshape(2, 32)).pvalue <= 1 - 1e-6

    def test_two_seeds_are_independent(self, keys, seed):
        pairs = 16 * _numeric.buckets(HASHED[keys](seed), 16) + _numeric.buckets(HASHED[keys](seed ^ 5), 16)
        assert 1e-6 <= stats.chisquare(np.bincount(pairs, minlength=256)).pvalue <= 1 - 1e-6


def test_no_collisions_among_a_million_rows():
    """Expected collisions: n^2 / 2^65 = 3e-8."""
    side = np.arange(1000) / 8
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert len(np.unique(_numeric.hash_dense_rows(X))) == len(X)


# --- rows


@pytest.mark.parametrize("module", [_numeric, definition])
class TestRows:
    def test_equal_values_hash_equally_whatever_their_storage(self, module):
        X = np.random.default_rng(0).integers(-2, 3, (50, 7)) / 4
        expected = module.hash_dense_rows(X, 3)
        for same in (
            X.astype(np.float32),
            np.asfortranarray(X),
            X[::-1][::-1],
            np.repeat(X, 2, axis=1)[:, ::2],
        ):
            assert identical(module.hash_dense_rows(same, 3), expected)
        read_only = X.copy()
        read_only.flags.writeable = False
        assert identical(module.hash_dense_rows(read_only, 3), expected)

    def test_every_zero_and_every_nan_is_one(self, module):
        odd_nan = np.array([0xFFF0000000000001], np.uint64).view(np.float64)[0]
        hashes = module.hash_dense_rows(np.array([[0.0, np.nan], [-0.0, odd_nan], [np.nan, 0.0]]))
        assert hashes[0] == hashes[1] != hashes[2]
        odd_float32 = np.array([[0, 0xFF800001]], np.uint32).view(np.float32)
        assert module.hash_dense_rows(odd_float32)[0] == hashes[0]

    def test_permuted_and_split_rows(self, module):
        X = np.random.default_rng(1).normal(size=(40, 3))
        hashes, order = module.hash_dense_rows(X), np.random.default_rng(2).permutation(40)
        assert identical(module.hash_dense_rows(X[order]), hashes[order])
        assert identical(np.concatenate([module.hash_dense_rows(X[:13]), module.hash_dense_rows(X[13:])]), hashes)

    def test_permuted_columns_are_other_rows(self, module):
        X = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
        assert len(set(module.hash_dense_rows(X).tolist())) == 4

    @pytest.mark.parametrize("value", [np.float32, np.float64])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_sparse_agrees_with_dense(self, module, value, index):
        X = sp.random(30, 20, 0.2, random_state=0, dtype=value).tocsr()
        order = np.concatenate(
            [
                np.random.default_rng(i).permutation(np.arange(a, b))
                for i, (a, b) in enumerate(zip(X.indptr, X.indptr[1:], strict=False))
            ]
        )
        hashes = module.hash_csr_rows(X.data[order], X.indices[order].astype(index), X.indptr.astype(index), 9)
        assert identical(hashes, module.hash_dense_rows(X.toarray(), 9))

    def test_no_columns_no_rows(self, module):
        assert len(set(module.hash_dense_rows(np.empty((3, 0))).tolist())) == 1
        assert module.hash_dense_rows(np.empty((0, 4))).shape == (0,)
        assert module.hash_csr_rows(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int32)).shape == (0,)

    @pytest.mark.parametrize("indptr", [[], [0, 5], [-1, 2], [0, 2, 1], [0, 3, 2]])
    def test_impossible_row_pointers(self, module, indptr):
        with pytest.raises(ValueError, match=r"rising within 0 .. 2"):
            module.hash_csr_rows(np.ones(2), np.arange(2), np.array(indptr, np.int64))

    def test_unequal_lengths(self, module):
        with pytest.raises(ValueError, match="one length, got 2 and 3"):
            module.hash_csr_rows(np.ones(2), np.arange(3), np.array([0, 2]))


# --- strings and mixed tables


def test_strings_are_keyed_and_stable():
    hashes = _numeric.hash_strings(np.array([["a", ""], ["ä", "a"]]))
    assert hashes.shape == (2, 2)
    assert hashes[0, 0] == hashes[1, 1]
    assert len(np.unique(hashes)) == 3
    assert _numeric.hash_strings(["a"], seed=1)[0] != hashes[0, 0]
    assert _numeric.hash_strings([]).shape == (0,)
    digest = hashlib.blake2b(b"a", digest_size=8, key=bytes(8)).digest()
    assert hashes[0, 0] == int.from_bytes(digest, "little") == 0x3A030DABA6EC79B9


def test_recorded_row_hashes():
    """Samples and folds of saved models rest on these bits: they never change."""
    X = np.array([[1.0, 0.0, np.nan], [0.0, 0.0, 0.0]])
    assert _numeric.hash_dense_rows(X, 1).tolist() == [0xF3974BB77DB77B41, 0xBFEF8030DDC2D772]


def test_strings_must_be_strings():
    with pytest.raises(TypeError, match="must hold str, got an array of int64"):
        _numeric.hash_strings([1, 2])
    with pytest.raises(TypeError, match="must hold str, got 2"):
        _numeric.hash_strings(np.array(["a", 2], object))


def row_hash(*values):
    columns = [np.empty(1, object) for _ in values]
    for column, value in zip(columns, values, strict=True):
        column[0] = value
    return int(_numeric.hash_object_rows(columns)[0])


SAME = [
    (1, 1.0), (True, np.float32(1)), (np.bool_(False), -0.0), (None, np.nan), (None, np.datetime64("NaT")),
    (decimal.Decimal("0.5"), 0.5), (decimal.Decimal("0.10"), decimal.Decimal("0.1")), (2**70, 2.0**70),
    (np.int64(2**60 + 1), 2**60 + 1), (10**400, 10**400), (np.str_("x"), "x"),
    (datetime.date(2020, 1, 2), np.datetime64("2020-01-02T00:00:00", "ns")),
    (datetime.datetime(2020, 1, 2, 3), np.datetime64("2020-01-02T03:00", "s")),
    (datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.UTC), datetime.datetime(2020, 1, 2, 3)),
    (pd.NA, np.nan), (pd.NaT, None), (pd.Timestamp("2020-01-02 03:00"), datetime.datetime(2020, 1, 2, 3)),
    (pd.Timestamp("2020-01-02 03:00", tz="UTC"), datetime.datetime(2020, 1, 2, 3)),
]  # fmt: skip
DIFFERENT = [
    (1, "1"), ("", None), ("x", b"x"), (0, None), (0, ""), (2**60, 2**60 + 1), (10**400, 10**400 + 1),
    (10**400, float("inf")), ("nan", np.nan), (decimal.Decimal("0.1"), 0.1),
    (datetime.date(2020, 1, 2), "2020-01-02"), (pd.Timestamp(1), pd.Timestamp(2)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SAME)
def test_values_that_are_the_same(a, b):
    assert row_hash(3, a) == row_hash(3, b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_values_that_differ(a, b):
    assert row_hash(3, a) != row_hash(3, b)


@given(tables, seeds)
def test_a_table_of_numbers_hashes_as_a_dense_array(X, seed):
    if X.shape[1]:
        expected = _numeric.hash_dense_rows(X, seed)
        assert identical(_numeric.hash_object_rows(list(X.T), seed), expected)
        assert identical(_numeric.hash_object_rows(list(X.astype(object).T), seed), expected)


def test_typed_columns_agree_with_object_columns():
    columns = [
        np.array([0, 5, 2**60 + 1]),
        np.array([0, 5, 2**64 - 1], np.uint64),
        np.array(["a", "", "b"]),
        np.array(["2020-01-01", "NaT", "2021-05-05"], "datetime64[D]"),
        np.array([True, False, True]),
        np.array([0.5, np.nan, -0.0], np.float32),
        np.array([b"a", b"", b"b"]),
    ]
    objects = [column.astype(object) for column in columns]
    assert identical(_numeric.hash_object_rows(columns, 4), _numeric.hash_object_rows(objects, 4))


def test_mixed_tables_that_cannot_be_hashed():
    with pytest.raises(TypeError, match="column 1, row 0 holds a list"):
        row_hash(1, [2])
    with pytest.raises(TypeError, match="column 0, row 0 holds a complex"):
        row_hash(1j)
    with pytest.raises(ValueError, match="of one length"):
        _numeric.hash_object_rows([np.zeros(2), np.zeros(3)])
    assert _numeric.hash_object_rows([]).shape == (0,)


def test_moments_in_an_array_hash_like_each_alone():
    words = np.random.default_rng(0).integers(-(2**50), 2**50, 300)
    rounded = [words // size * size for size in (1, 10, 1000, 10**6, 60 * 10**6, 3600 * 10**6, 86400 * 10**6)]
    moments = np.concatenate(rounded).astype("M8[us]")
    moments[5] = np.datetime64("NaT")
    together = definition.hash_object_rows([moments])
    alone = definition.hash_object_rows([np.array([moment.item() for moment in moments], dtype=object)])
    assert np.array_equal(together, alone)
    assert np.array_equal(together, definition.hash_object_rows([moments.astype("M8[ns]")]))


# --- keyed rows and the order of hashes


@given(st.lists(hnp.arrays(np.uint64, 7), max_size=4), seeds)
def test_twins_of_keyed_rows(keys, seed):
    keys = [np.where(np.arange(7) == j, np.uint64(0), column) for j, column in enumerate(keys)]  # a zero in each
    assert identical(_numeric.hash_keyed_rows(keys, seed), definition.hash_keyed_rows(keys, seed))


def test_keyed_rows_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="keys"):
        _numeric.hash_keyed_rows([np.zeros(2, np.uint64), np.zeros(3, np.uint64)])


@pytest.mark.parametrize("n", [0, 1, 2, 25, 1000, 70_000])
@pytest.mark.parametrize("n_levels", [2, 40, 10**6])
@pytest.mark.parametrize("hashed", [True, False])
def test_hashes_are_put_in_order_and_equal_ones_keep_theirs(n, n_levels, hashed):
    words = np.random.default_rng(n).integers(0, n_levels, n).astype(np.uint64)
    words = definition.splitmix64(words) if hashed else words
    assert identical(_numeric.hash_order(words), definition.hash_order(words))


@given(hnp.arrays(np.uint64, st.integers(0, 40), elements=st.integers(0, 9) | st.integers(2**64 - 3, 2**64 - 1)))
def test_distinct_hashes_are_those_of_unique(hashes):
    values, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    found, times, order = distinct_hashes(hashes)
    assert np.array_equal(found, first)
    assert np.array_equal(hashes[found], values)
    assert np.array_equal(times, counts)
    assert np.array_equal(order, np.argsort(hashes, kind="stable"))
