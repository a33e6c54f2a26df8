"""Keys of named values: the compiled reader beside the definition, and BLAKE2b beside hashlib."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.hashing import names as definition
from mercer._numeric.sketch import projection
from mercer.project.tokens import cell_entries, row_entries

texts = st.text(max_size=6) | st.sampled_from(["ä", "😀", "\ud800", "a\0b", "x" * 127, "x" * 128, "y" * 300])
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70) | st.booleans()
values = numbers | texts | st.none() | st.sampled_from([np.float32(2.5), np.int64(3), np.bool_(True), np.str_("s")])
rows = st.lists(
    st.dictionaries(texts, values, max_size=5)
    | st.lists(texts, max_size=5)
    | st.tuples(texts, texts)
    | st.lists(st.tuples(texts, values), max_size=4)
    | st.lists(st.tuples(texts, values) | texts, max_size=4),
    max_size=6,
)


def same(*given):
    for ours, theirs in zip(_numeric.hash_entries(*given), definition.hash_entries(*given), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@given(rows, st.integers(-5, 2**64))
def test_rows(rows, seed):
    same(rows, None, seed, row_entries)


@settings(max_examples=50)
@given(st.lists(st.lists(values | st.just(float("nan")), min_size=3, max_size=3), max_size=5))
def test_tables(cells):
    names = ["a", "ö", ""]
    same(cells, names, 0, lambda row, i: cell_entries(names, row, i))


def test_more_names_than_the_table_first_holds():
    same([[f"w{i}" for i in range(10_000)] * 2], None, 7, row_entries)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=9), st.integers(1, 5), st.integers(1, 2**28), st.booleans())
def test_places_of_keys(keys, nonzeros, width, with_signs):
    given = np.array(keys, np.uint64), nonzeros, nonzeros * width, with_signs
    for ours, theirs in zip(_numeric.key_buckets(*given), projection.key_buckets(*given), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 15, 16, 17, 24, 127, 128, 129, 1000])
def test_the_keys_are_those_of_terms_of_text(length):
    name = "näme"[: length % 5] + "n" * length
    key, _, _ = _numeric.hash_entries([[name]], None, 2**63 + 5, row_entries)
    data = np.frombuffer(name.encode(), np.uint8)
    assert key[0] == _numeric.term_hashes(np.array([0, len(data)]), data, 2**63 + 5)[0]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 127, 128, 129, 256, 257, 1000])
def test_strings_hash_as_hashlib_says(length):
    data = np.full(length, ord("n"), np.uint8)
    key = _numeric.hash_utf8(data, np.array([0, length]), 2**63 + 5)
    digest = hashlib.blake2b(data.tobytes(), digest_size=8, key=(2**63 + 5).to_bytes(8, "little")).digest()
    assert int(key[0]) == int.from_bytes(digest, "little")


@pytest.mark.parametrize("module", [_numeric, definition])
def test_mistakes(module):
    with pytest.raises(ValueError, match="Row 1 contains NaN under 'a'"):
        module.hash_entries([{}, {"a": float("nan")}], None, 0, row_entries)
    with pytest.raises(TypeError, match="Row 0 names an entry 3"):
        module.hash_entries([{3: 1.0}], None, 0, row_entries)
    with pytest.raises(ValueError, match="a cell for each name"):
        module.hash_entries([["x"]], ["a", "b"], 0, lambda row, i: cell_entries(["a", "b"], row, i))


@pytest.mark.parametrize("module", [_numeric, definition], ids=["in use", "definition"])
def test_strings_where_they_lie_hash_as_strings(module):
    words = ["", "a", "ß", "12345678", "123456789", "x" * 16, "x" * 17, "y" * 300, "a", "\0", "x" * 17]
    data = [word.encode() for word in words]
    offsets = np.cumsum([0, *map(len, data)])
    found = module.hash_utf8(np.frombuffer(b"".join(data), np.uint8), offsets, 7)
    assert np.array_equal(found, _numeric.hash_strings(np.array(words, dtype=object), 7))
    assert module.hash_utf8(np.zeros(0, np.uint8), np.zeros(1, np.int64)).shape == (0,)
    for wrong in ([0, 2, 1], [-1, 1], [0, 9], []):
        with pytest.raises(ValueError, match="offsets"):
            module.hash_utf8(np.zeros(3, np.uint8), np.array(wrong, np.int64))
