"""Kernels on sequences beside enumeration of all words, and what they refuse."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mercer import kernels
from mercer.kernels import Mismatch, Spectrum, Subsequence, WeightedDegree, check_mercer
from mercer.kernels.discrete.mismatches import Neighborhood

IUPAC = dict(
    R="AG",
    Y="CT",
    S="CG",
    W="AT",
    K="GT",
    M="AC",
    B="CGT",
    D="AGT",
    H="ACT",
    V="ACG",
    N="ACGT",
    **{c: c for c in "ACGT"},
)
texts = st.lists(st.text("abc", max_size=9), min_size=1, max_size=5)


def gram(features, X, Y):
    """Inner products of feature dictionaries."""
    rows = [[features(s) for s in group] for group in (X, Y)]
    return np.array(
        [[sum(v * z.get(word, 0) for word, v in x.items()) for z in rows[1]] for x in rows[0]], dtype=float
    ).reshape(len(X), len(Y))


def windows(s, k):
    return [s[i : i + k] for i in range(len(s) - k + 1)]


def spectrum(k):
    return lambda s: Counter(windows(s, k))


def mismatch(k, m, alphabet):
    def features(s):
        found = Counter()
        for word in itertools.product(alphabet, repeat=k):
            near = sum(sum(a != b for a, b in zip(word, w, strict=True)) <= m for w in windows(s, k))
            if near:
                found[word] = near
        return found

    return features


def struck_out(k, m):
    def features(s):
        gaps = itertools.combinations(range(k), m)
        return Counter((gap, tuple(c for i, c in enumerate(w) if i not in gap)) for gap in gaps for w in windows(s, k))

    return features


def subsequences(k, decay):
    def features(s):
        found = Counter()
        for places in itertools.combinations(range(len(s)), k):
            found["".join(s[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        return found

    return features


def weighted_degree(k):
    def features(s):
        weight = lambda j: (2 * (k - j + 1) / (k * (k + 1))) ** 0.5  # noqa: E731
        return {(p, w): weight(j) for j in range(1, k + 1) for p, w in enumerate(windows(s, j))}

    return features


CASES = [
    (Spectrum(1), spectrum(1)),
    (Spectrum(3), spectrum(3)),
    (Spectrum(2, alphabet="cba"), spectrum(2)),
    (Mismatch(1, 0), spectrum(1)),
    (Mismatch(3, 1), struck_out(3, 1)),
    (Mismatch(4, 2), struck_out(4, 2)),
    (Mismatch(3, 0, alphabet="abc"), spectrum(3)),
    (Mismatch(3, 1, alphabet="abc"), mismatch(3, 1, "abc")),
    (Mismatch(4, 2, alphabet="abcd"), mismatch(4, 2, "abcd")),
    (Mismatch(4, 3, alphabet="abc"), mismatch(4, 3, "abc")),
    (WeightedDegree(3), weighted_degree(3)),
    (WeightedDegree(1, alphabet="abc"), weighted_degree(1)),
    (Subsequence(1, decay=0.7), subsequences(1, 0.7)),
    (Subsequence(3, decay=0.5), subsequences(3, 0.5)),
    (Subsequence(2, decay=1.0), subsequences(2, 1.0)),
]
each_case = pytest.mark.parametrize(
    ("kernel", "features"), CASES, ids=lambda case: repr(case) if case in KERNELS else ""
)
KERNELS = [kernel for kernel, _ in CASES]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


@each_case
@settings(max_examples=10)
@given(X=texts, Y=texts)
def test_every_kernel_is_its_enumeration(kernel, features, X, Y):
    exact = gram(features, X, Y)
    np.testing.assert_allclose(kernel(X, Y), exact, rtol=1e-12, atol=1e-12)
    own = gram(features, X, X)
    np.testing.assert_allclose(kernel(X), own, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(own), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(kernel(X), kernel(X).T)


@each_kernel
def test_algebra_distance_and_parameters(kernel):
    X, Y = ["abcab", "", "a", "bbbbb", "abcab"], ["cabca", "ab"]
    K = kernel(X, Y)
    np.testing.assert_array_equal((kernel + Spectrum(1))(X, Y), K + Spectrum(1)(X, Y))
    np.testing.assert_array_equal((2.0 * kernel * Spectrum(1))(X, Y), 2 * K * Spectrum(1)(X, Y))
    squares = kernel.diag(X)[:, None] + kernel.diag(Y) - 2 * K
    np.testing.assert_allclose(kernel.distance(X, Y), np.sqrt(np.maximum(squares, 0)), atol=1e-9)
    normalized = kernel.normalized()(X)
    np.testing.assert_array_equal(np.diag(normalized), kernel.diag(X) > 0)
    assert normalized.max() <= 1 + 1e-12
    assert clone(kernel) == kernel
    assert eval(repr(kernel), vars(kernels)) == kernel
    assert kernel.resolve(X) is kernel
    assert check_mercer(kernel, X).valid
    assert kernel([], Y).shape == (0, 2)
    assert kernel(X, []).shape == (5, 0)
    assert kernel([]).shape == (0, 0)
    assert kernel.diag([]).shape == (0,)


@each_kernel
def test_blocks_of_rows_do_not_matter(kernel):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abc"), rng.integers(0, 30))) for _ in range(40)]
    whole = kernel(X)
    for rows in np.array_split(np.arange(40), 3):
        some = [X[i] for i in rows]
        np.testing.assert_allclose(kernel(some, X), whole[rows], rtol=1e-12)
        np.testing.assert_allclose(kernel(some), whole[np.ix_(rows, rows)], rtol=1e-12)


@pytest.mark.parametrize("kernel", [Spectrum(2), Mismatch(3, 1), WeightedDegree(2), Subsequence(2)], ids=repr)
def test_text_bytes_and_tokens_are_sequences_alike(kernel):
    words = ["abcabc", "cab", "", "bbb"]
    expected = kernel(words)
    as_objects = np.array(words, dtype=object)
    forms = [
        tuple(words), np.array(words), as_objects, as_objects[:, None],
        [word.encode() for word in words], [list(word) for word in words],
        [tuple(ord(c) for c in word) for word in words], [np.array(list(word)) for word in words],
        [[("token", c) for c in word] for word in words],
    ]  # fmt: skip
    for rows in forms:
        np.testing.assert_array_equal(kernel(rows), expected)
    assert kernel([list("abcabc")], ["abcabc"])[0, 0] == expected[0, 0]
    import pandas as pd

    table = pd.DataFrame({"n": [1.0, 2, 3, 4], "s": words})
    np.testing.assert_array_equal(kernel.on("s")(table), expected)


def test_letters_of_all_scripts():
    X = ["naïve café", "ελληνικά", "\u05e9\u05dc\u05d5\u05dd", "👍🏽👍", "a\0b\0\0", "e\u0301e\u0301", "\ud800x"]
    np.testing.assert_array_equal(Spectrum(2)(X), gram(spectrum(2), X, X))
    np.testing.assert_array_equal(Mismatch(2, 1)(X), gram(struck_out(2, 1), X, X))


@pytest.mark.parametrize("k", [9, 33, 64, 65, 200])
def test_words_longer_than_a_machine_word_are_distinguished(k):
    rng = np.random.default_rng(k)
    alphabet = [chr(0x400 + i) for i in range(100)]
    base = "".join(rng.choice(alphabet, 150))
    X = [base, base[:100] + "x" + base[101:], base[::-1], base * 3, base[:5] + "Z" + base[6:]]
    np.testing.assert_array_equal(Spectrum(k)(X), gram(spectrum(k), X, X))
    np.testing.assert_allclose(WeightedDegree(3)(X), gram(weighted_degree(3), X, X), rtol=1e-12)
    dna = ["ACGT" * 60, "ACGA" * 60, "TTTT" * 50]
    np.testing.assert_array_equal(Spectrum(k, alphabet="dna")(dna), gram(spectrum(k), dna, dna))


# --- DNA


def readings(word):
    return list(itertools.product(*(IUPAC[c] for c in word)))


def ambiguous_spectrum(k):
    def features(s):
        found = Counter()
        for word in windows(s, k):
            meant = readings(word)
            for reading in meant if len(meant) <= 256 else ():
                found["".join(reading)] += 1 / len(meant)
        return found

    return features


def ambiguous_mismatch(k, m):
    exact, counted = mismatch(k, m, "ACGT"), ambiguous_spectrum(k)

    def features(s):
        total = Counter()
        for word, count in counted(s).items():
            for near, times in exact(word).items():
                total[near] += times * count
        return total

    return features


dna = st.lists(st.text("ACGT", max_size=8) | st.text("".join(IUPAC), max_size=8), min_size=1, max_size=3)


@settings(max_examples=25)
@given(X=dna, k=st.integers(1, 4))
def test_ambiguous_letters_have_equal_weights(X, k):
    exact = gram(ambiguous_spectrum(k), X, X)
    np.testing.assert_allclose(Spectrum(k, alphabet="dna")(X), exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(Spectrum(k, alphabet="dna").diag(X), np.diag(exact), rtol=1e-12)


@settings(max_examples=10)
@given(X=dna)
def test_mismatches_of_ambiguous_letters(X):
    exact = gram(ambiguous_mismatch(3, 1), X, X)
    kernel = Mismatch(3, 1, alphabet="dna")
    np.testing.assert_allclose(kernel(X), exact, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diag(X), np.diag(exact), rtol=1e-9, atol=1e-9)


def test_runs_of_n_say_nothing():
    assert Spectrum(5, alphabet="dna")(["NNNNN", "ANNNN"]).tolist() == [[0, 0], [0, 1 / 256]]
    assert Spectrum(3, alphabet="dna")(["N" * 400]).shape == (1, 1)


def strand(s):
    return s[::-1].translate(str.maketrans("ACGT", "TGCA"))


@settings(max_examples=30)
@given(st.lists(st.text("ACGT", max_size=12), min_size=1, max_size=4), st.integers(1, 4))
def test_either_strand_is_the_same_sequence(X, k):
    kernel = Spectrum(k, reverse_complement=True)
    canonical = lambda s: Counter(min(w, strand(w)) for w in windows(s, k))  # noqa: E731
    exact = gram(canonical, X, X)
    np.testing.assert_array_equal(kernel(X), exact)
    np.testing.assert_array_equal(kernel([strand(s) for s in X], X), exact)
    np.testing.assert_array_equal(kernel.diag(X), np.diag(exact))


@pytest.mark.parametrize("alphabet", [None, "dna"])
@pytest.mark.parametrize(("k", "m"), [(3, 1), (4, 2), (4, 0)])
def test_mismatches_of_both_strands(k, m, alphabet):
    rng = np.random.default_rng(k)
    X = ["".join(rng.choice(list("ACGT"), rng.integers(0, 12))) for _ in range(6)] + ["ACGNRT", "acgu"]
    Y = ["".join(rng.choice(list("ACGT"), 9)) for _ in range(3)]
    other = [y[::-1].translate(str.maketrans("ACGT", "TGCA")) for y in Y]
    one = Mismatch(k, m, alphabet="dna" if alphabet else None)
    both = Mismatch(k, m, alphabet=alphabet, reverse_complement=True)
    plain = [x for x in X if set(x) <= set("ACGT")] if alphabet is None else X
    np.testing.assert_allclose(both(plain, Y), one(plain, Y) + one(plain, other), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(both(X, Y), both(X, other), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(both(X), both(X, list(X)), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(both.diag(X), np.diag(both(X)), rtol=1e-12, atol=1e-9)
    assert np.linalg.eigvalsh(both(X)).min() > -1e-9 * max(np.trace(both(X)), 1)


def ambiguous_subsequences(k, decay):
    def features(s):
        found = Counter()
        for places in itertools.combinations(range(len(s)), k):
            meant = readings([s[i] for i in places])
            for word in meant:
                found["".join(word)] += decay ** (places[-1] - places[0] + 1) / len(meant)
        return found

    return features


@settings(max_examples=15)
@given(X=dna, k=st.integers(1, 3))
def test_subsequences_of_ambiguous_letters_and_both_strands(X, k):
    one, both = Subsequence(k, 0.6, "dna"), Subsequence(k, 0.6, reverse_complement=True)
    exact = gram(ambiguous_subsequences(k, 0.6), X, X)
    np.testing.assert_allclose(one(X), exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.diag(X), np.diag(exact), rtol=1e-12, atol=1e-12)
    other = [x[::-1].translate(str.maketrans("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN")) for x in X]
    total = exact + gram(ambiguous_subsequences(k, 0.6), X, other)
    np.testing.assert_allclose(both(X), total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both(X, list(X)), total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both(X, other), total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both.diag(X), np.diag(total), rtol=1e-12, atol=1e-12)


def test_reverse_complements_of_long_words():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), 120)) for _ in range(3)]
    X += [strand(X[0])]
    K = Spectrum(50, reverse_complement=True)(X)
    assert K[0, 3] == K[0, 0] == 71


def test_lower_case_rna_and_proteins():
    assert Spectrum(3, "dna")(["gauuaca"], ["GATTACA"])[0, 0] == 5
    assert Spectrum(3, "dna")(["gatnaca"], ["GATNACA"])[0, 0] == Spectrum(3, "dna").diag(["GATNACA"])[0]
    assert Spectrum(1, "protein")(["UO"], ["CK"])[0, 0] == 2
    np.testing.assert_allclose(Spectrum(1, "protein")(["BZJX"], ["DEIA"]), [[1 / 2 + 1 / 2 + 1 / 2 + 4 / 20]])


# --- the two ways to a mismatch kernel


@pytest.mark.parametrize(("k", "m", "n_letters"), [(3, 1, 2), (4, 1, 4), (5, 2, 3), (3, 2, 1), (4, 3, 3)])
def test_the_gap_coefficients_are_those_of_common_neighbors(k, m, n_letters):
    near = Neighborhood(k, m, n_letters)
    words = list(itertools.product(range(n_letters), repeat=k))
    balls = [{w for w in words if sum(a != b for a, b in zip(w, v, strict=True)) <= m} for v in words]
    from math import comb

    coefficients = near.gap_coefficients()
    for v, ball in zip(words, balls, strict=True):
        d = sum(a != b for a, b in zip(v, words[0], strict=True))
        assert near.common(d) == len(ball & balls[0])
        summed = sum(c * comb(k - d, j - d) for j, c in enumerate(coefficients) if j >= d)
        assert summed == near.common(d)
    assert near.size == len(balls[0])


@pytest.mark.parametrize("prefers", [False, True])
def test_both_ways_agree(monkeypatch, prefers):
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("ACGT"), rng.integers(3, 40))) for _ in range(10)]
    expected = gram(mismatch(4, 1, "ACGT"), X, X)
    monkeypatch.setattr(Neighborhood, "prefers_words", lambda *_: prefers)
    kernel = Mismatch(4, 1, alphabet="dna")
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel(X, X[:3]), expected[:, :3])


def test_many_rows_take_the_sparse_and_the_dense_way():
    rng = np.random.default_rng(2)
    X = ["".join(rng.choice(list("ab"), 60)) for _ in range(300)]
    for k in (2, 12):
        K = Spectrum(k)(X)
        np.testing.assert_array_equal(K[:4], gram(spectrum(k), X[:4], X))
        np.testing.assert_array_equal(K, K.T)


# --- refusals


@pytest.mark.parametrize(
    ("kernel", "rows", "message"),
    [
        (Spectrum(2, "dna"), ["ACGT", "ACGXT"], r"row 1 of X has 'X' at position 3, .* alphabet 'dna'"),
        (Spectrum(2, "ab"), [["a", "b", "zz"]], "row 0 of X has 'zz' at position 2"),
        (Spectrum(2), ["abc", None], r"row 1 of X is None \(NoneType\): a sequence must be text"),
        (Spectrum(2), ["abc", 3.0], r"row 1 of X is 3.0 \(float\)"),
        (Spectrum(2), [{"a", "b"}], r"row 0 of X is .* \(set\)"),
        (Subsequence(2), [[["a"]]], "unhashable type: 'list': the tokens of a sequence"),
        (Spectrum(2), np.array([["a", "b"]], dtype=object), r"choose the one .* with \.on\(column\)"),
        (Spectrum(0), ["a"], "k must be a whole number >= 1"),
        (Spectrum(2.5), ["a"], "k must be a whole number >= 1"),
        (Spectrum(2, "aa"), ["a"], "alphabet must be None, 'dna', 'protein' or a text of distinct letters"),
        (Spectrum(2, ""), ["a"], "alphabet must be"),
        (Spectrum(2, "protein", True), ["A"], "reverse_complement=True needs alphabet='dna'"),
        (Mismatch(2, 1, "protein", True), ["A"], "reverse_complement=True needs alphabet='dna'"),
        (Mismatch(2, 2), ["a"], "mismatches must be less than k=2"),
        (Mismatch(2, -1), ["a"], "mismatches must be a whole number >= 0"),
        (Subsequence(2, decay=0.0), ["a"], "decay must be a number > 0 and <= 1"),
        (Subsequence(2, decay=1.5), ["a"], "decay must be"),
    ],
)
def test_what_is_refused(kernel, rows, message):
    with pytest.raises(ValueError, match=message):
        kernel(rows)


def test_the_position_of_a_wrong_letter_in_y():
    with pytest.raises(ValueError, match="row 1 of Y has '-' at position 2"):
        Spectrum(2, "dna")(["A", "C"], ["ACG", "AC-"])
