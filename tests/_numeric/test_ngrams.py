"""Compiled text functions beside their definitions, and both beside Python's own strings."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.text import ngrams, unicode
from mercer._numeric.text.unicode import unicode_tables

DEFINED = {name: getattr(module, name) for module in _numeric.definitions for name in module.__all__}
NO_STOP = np.zeros(0, np.uint8), np.zeros(1, np.int64)

AWKWARD = "aAbBzZ09_ \t\n\u3000.,'’-ΣσςİıßÄéǅʰⅣȺ٣漢字שלוםñ\u0301\u0307\u200d\x00😀\U0001e900"
texts = st.text(st.one_of(st.sampled_from(AWKWARD), st.characters(exclude_categories=["Cs"])), max_size=40)
documents = st.lists(texts, max_size=5)


def packed(strings):
    encoded = [s if isinstance(s, bytes) else s.encode() for s in strings]
    bounds = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    return bounds, np.frombuffer(b"".join(encoded), np.uint8)


def units_of(strings, kind, min_length=2, lowercase=True, stop=NO_STOP, function=None):
    bounds, data = packed(strings)
    function = function or _numeric.text_units
    return function(data, bounds, kind, min_length, lowercase, *unicode_tables(), *stop)


def grams(units, kind, low, high):
    return *units, int(kind == 0), low, high, kind == 2


def assert_same(ours, defined):
    for a, b in zip(ours, defined, strict=True):
        assert a.dtype == b.dtype
        if a.dtype == float:  # sums of the same terms in the same order; the library's logarithm may differ
            np.testing.assert_allclose(a, b, rtol=4 * np.finfo(float).eps, atol=1e-15)
        else:
            np.testing.assert_array_equal(a, b)


def test_tables_say_what_python_says_of_every_code_point():
    flags, lower = unicode_tables()
    letters = [*map(chr, range(unicode.N_CODE_POINTS))]
    words = np.fromiter(map(str.isalnum, letters), bool)
    words[ord("_")] = True
    np.testing.assert_array_equal(flags & unicode.WORD > 0, words)
    np.testing.assert_array_equal(flags & unicode.SPACE > 0, np.fromiter(map(str.isspace, letters), bool))
    lows = [*map(str.lower, letters)]
    single = np.fromiter(map(len, lows), int) == 1
    np.testing.assert_array_equal(lower[: len(lows)][single], [ord(low) for low in lows if len(low) == 1])
    for c in np.flatnonzero(~single):
        assert lower[lower[c] : lower[c] + len(lows[c]) + 1].tolist() == [*map(ord, lows[c]), 0]


@settings(max_examples=150)
@given(documents, st.sampled_from([0, 1, 2]), st.booleans(), st.sampled_from([1, 2]))
@example(["ΑΣ", "Σ", "ΑΣ.", "ΑΣ'Β", "Α\u0301Σ", "ΑΣ\u0301Α", "İΣ"], 0, True, 1)
def test_units_are_those_of_the_definition(strings, kind, lowercase, min_length):
    ours = units_of(strings, kind, min_length, lowercase)
    assert_same(ours, units_of(strings, kind, min_length, lowercase, function=DEFINED["text_units"]))


@settings(max_examples=100)
@given(st.lists(texts, max_size=6))
def test_lower_case_is_that_of_python(strings):
    text = "x".join(strings)
    bytes_, *_ = units_of([text], kind=1)
    assert bytes(bytes_[: -ngrams.PADDING]).decode() == re.sub(r"\s\s+", " ", text.lower())


@settings(max_examples=100)
@given(documents, st.sampled_from([0, 1, 2]), st.integers(1, 3), st.integers(0, 2))
def test_counts_are_those_of_the_definition(strings, kind, low, more):
    units = grams(units_of(strings, kind), kind, low, low + more)
    assert_same(_numeric.counted_ngrams(*units), DEFINED["counted_ngrams"](*units))


@settings(max_examples=100)
@given(documents, st.sampled_from([0, 1, 2]), st.sampled_from([(1, 1), (1, 2), (2, 3)]), st.data())
def test_buckets_are_those_of_the_definition(strings, kind, span, draw):
    units = grams(units_of(strings, kind), kind, *span)
    nonzeros = draw.draw(st.sampled_from([1, 2, 3]))
    weighting, signed = draw.draw(st.sampled_from([0, 1, 2])), draw.draw(st.booleans())
    seed = draw.draw(st.integers(0, 2**40))
    hashed = [(seed, False, m * nonzeros, nonzeros, signed, weighting) for m in (10, 8, 256, 2**16)]
    for how in [*hashed, (seed % 2**32, True, 31, 1, signed, weighting)]:
        assert_same(_numeric.hashed_ngrams(*units, *how), DEFINED["hashed_ngrams"](*units, *how))


def test_long_rows_are_sorted_like_short_ones():
    text = " ".join(f"word{k * 7919 % 3001}" for k in range(4000))
    units = grams(units_of([text, "a bb", text[:900]], 0), 0, 1, 2)
    for how in [(0, False, 2**20, 1, True, 0), (0, False, 999, 3, True, 1), (0, True, 2**18, 1, True, 0)]:
        assert_same(_numeric.hashed_ngrams(*units, *how), DEFINED["hashed_ngrams"](*units, *how))


terms = st.lists(
    st.binary(max_size=20) | st.sampled_from([b"", b"a", b"a\0", b"aaaaaaaa", b"aaaaaaaa\0", b"aaaaaaaab"])
)


@settings(max_examples=100)
@given(terms, st.integers(0, 2**63))
def test_hashes_and_lists_are_those_of_the_definitions(strings, seed):
    bounds, data = packed(strings)
    assert_same([_numeric.term_hashes(bounds, data, seed)], [DEFINED["term_hashes"](bounds, data, seed)])
    first = np.unique(np.array([strings.index(term) for term in strings], np.int32))
    for parts in (1, 3):
        ordered = [_numeric.sort_terms(bounds, data, first, part, parts) for part in range(parts)]
        assert_same(ordered, [DEFINED["sort_terms"](bounds, data, first, part, parts) for part in range(parts)])
        assert [strings[i] for i in np.concatenate(ordered)] == sorted(set(strings))
    assert_same(_numeric.take_terms(bounds, data, first[::-1]), DEFINED["take_terms"](bounds, data, first[::-1]))


def table(strings):
    """A table of terms in the order of partitions."""
    hashes = _numeric.term_hashes(*packed(strings), 0)
    order = np.argsort(hashes >> np.uint64(56), kind="stable")
    counts = np.arange(len(strings)), np.arange(len(strings)) ** 2
    return hashes[order], *packed([strings[i] for i in order]), *counts


@settings(max_examples=50)
@given(st.lists(terms, min_size=1, max_size=4), st.integers(1, 255))
def test_tables_are_merged_like_the_definition(lists, cut):
    tables = [table(strings) for strings in lists]
    n = sum(map(len, lists))
    for partitions in [(0, 256), (0, cut), (cut, 256)]:
        codes, defined_codes = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        ours = _numeric.merge_terms(tables, codes, *partitions)
        assert_same([*ours, codes], [*DEFINED["merge_terms"](tables, defined_codes, *partitions), defined_codes])
    whole = _numeric.merge_terms(tables, codes, 0, 256)
    assert len(whole[0]) == len({term for strings in lists for term in strings})
    assert np.all(np.diff((whole[0] >> np.uint64(56)).astype(int)) >= 0)


def test_tables_out_of_order_are_refused():
    wrong = np.array([2 << 56, 1 << 56], np.uint64), *packed(["a", "b"]), np.ones(2, np.int64), np.ones(2, np.int64)
    with pytest.raises(ValueError, match="order of the upper eight bits"):
        _numeric.merge_terms([wrong], np.zeros(2, np.int32), 0, 256)


@settings(max_examples=50)
@given(terms, terms)
def test_terms_are_found_where_they_are(known, wanted):
    known = list(dict.fromkeys(known))
    (known_bounds, known_data), (bounds, data) = packed(known), packed(wanted)
    known_hashes, hashes = _numeric.term_hashes(known_bounds, known_data, 0), _numeric.term_hashes(bounds, data, 0)
    slots = _numeric.term_slots(known_hashes)
    assert_same([slots], [DEFINED["term_slots"](known_hashes)])
    args = slots, known_hashes, known_bounds, known_data, hashes, bounds, data
    found = _numeric.find_terms(*args)
    assert_same([found], [DEFINED["find_terms"](*args)])
    assert found.tolist() == [known.index(term) if term in known else -1 for term in wanted]


def test_equal_hashes_do_not_confuse_terms():
    """Terms with one hash for all, as if it had collided, are still distinguished by their bytes."""
    strings = [f"term {k % 50}" for k in range(200)]
    bounds, data = packed(strings)
    same, ones = np.full(len(strings), 12345, np.uint64), np.ones(len(strings), np.int64)
    codes = np.zeros(len(strings), np.int32)
    first, _, _, documents, _ = _numeric.merge_terms([(same, bounds, data, ones, ones)], codes, 0, 256)
    assert codes.tolist() == [k % 50 for k in range(200)]
    assert documents.tolist() == [4] * 50
    known = packed(strings[:50])
    slots = _numeric.term_slots(same[:50])
    found = _numeric.find_terms(slots, same[:50], *known, same, bounds, data)
    assert found.tolist() == codes.tolist()
    assert len(first) == 50


def test_rows_are_renumbered_and_scaled_like_the_definitions():
    rng = np.random.default_rng(0)
    indptr = np.array([0, 3, 3, 400])
    codes = np.concatenate([rng.permutation(500)[:3], rng.permutation(500)[:397]]).astype(np.int32)
    counts = rng.integers(1, 9, 400).astype(np.int32)
    numbers = np.where(rng.random(500) < 0.2, -1, rng.permutation(500)).astype(np.int32)
    ours = _numeric.renumber_rows(indptr, codes, counts, numbers)
    assert_same(ours, DEFINED["renumber_rows"](indptr, codes, counts, numbers))
    for norm in (1, 2):
        mine, defined = ours[2].copy(), ours[2].copy()
        _numeric.scale_rows(ours[0], mine, norm)
        DEFINED["scale_rows"](ours[0], defined, norm)
        np.testing.assert_allclose(mine, defined, rtol=400 * np.finfo(float).eps)


@pytest.mark.parametrize(
    "bad", [b"\xff", b"a\x80b", b"\xc3", b"\xe2\x82", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"ok \xf0\x9f"]
)
def test_bytes_that_are_not_text_do_no_harm(bad):
    for kind in (0, 1, 2):
        bytes_, *_ = units_of([bad, b"fine words"], kind)
        bytes(bytes_).decode()


def test_arguments_that_do_not_fit_are_refused():
    if not _numeric.compiled:
        pytest.skip("the definition trusts its input")
    units = units_of(["some words here"], 0)
    with pytest.raises(ValueError, match="low <= high"):
        _numeric.counted_ngrams(*grams(units, 0, 2, 1))
    with pytest.raises(ValueError, match="runs must rise"):
        _numeric.counted_ngrams(units[0], units[1], np.array([0, 99]), units[3], 1, 1, 1, False)
    with pytest.raises(ValueError, match="offsets must rise"):
        _numeric.text_units(np.zeros(3, np.uint8), np.array([0, 9]), 0, 2, True, *unicode_tables(), *NO_STOP)


@pytest.mark.parametrize("function", [_numeric.scale_rows, ngrams.scale_rows], ids=["exported", "definition"])
@pytest.mark.parametrize("norm", [1, 2])
def test_rows_of_any_positive_norm_are_scaled(function, norm):
    values = np.array([0.25, -0.5, 1e-3, 0.0, 0.0, 8.0])
    indptr = np.array([0, 2, 3, 5, 6])
    function(indptr, values, norm)
    for begin, end in itertools.pairwise(indptr):
        size = np.linalg.norm(values[begin:end], norm)
        assert size == pytest.approx(1.0) or not values[begin:end].any()


def test_tables_of_code_points_are_read_only():
    assert not any(table.flags.writeable for table in unicode_tables())
