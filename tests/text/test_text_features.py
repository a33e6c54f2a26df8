"""`TextFeatures` beside scikit-learn's vectorizers, and on awkward input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer.text import TextFeatures, stop_languages, stop_list

ANALYZERS = ["word", "char", "char_wb"]
SPANS = [(1, 1), (1, 2), (2, 2), (1, 3), (3, 5)]
AWKWARD = [
    "The cat sat on the mat; the CAT sat.",
    "Καλημέρα ΣΟΦΟΣ κόσμε, ΣΟΦΟΣ!",
    "İstanbul'da ışık IŞIK",
    "e\u0301te\u0301 été naïve nai\u0308ve",
    "שלום עולם مرحبا بالعالم",
    "漢字 かな 한국어 テスト",
    "😀😀 👩‍👩‍👧 ok 👍🏽",
    "a\x00b \x00\x00 nul\x00nul",
    "   leading\t\ttabs\n\nand  blanks ",
    "",
    " ",
    "x",
    "١٢٣ ²³ Ⅳ _under_score_ snake_case",
]

letters = st.one_of(st.sampled_from("aAbB \t\nΣςİ.'é\u0301_0\x00😀漢"), st.characters(exclude_categories=["Cs"]))
corpora = st.lists(st.text(letters, max_size=25), min_size=1, max_size=5)
DATA = {"ngram_range": (1, 2), "analyzer": "word"}


def counts(analyzer, span, **more):
    return TextFeatures(span, analyzer, weighting="count", norm=None, **more)


def agree(ours, peer, documents):
    """The same columns, and the same matrix to the last bit."""
    try:
        theirs = peer.fit_transform(documents)
    except ValueError:  # there is no term in them
        with pytest.raises(ValueError, match="vocabulary is empty"):
            ours.fit(documents)
        return
    for rows in (
        ours.fit_transform(documents),
        ours.transform(documents),
        clone(ours).fit(documents).transform(documents),
    ):
        assert (rows != theirs).nnz == 0
        assert rows.shape == theirs.shape
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert ours.vocabulary_ == peer.vocabulary_


@pytest.mark.parametrize("analyzer", ANALYZERS)
@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("lowercase", [True, False])
def test_counts_are_those_of_scikit_learn(analyzer, span, lowercase):
    peer = CountVectorizer(analyzer=analyzer, ngram_range=span, lowercase=lowercase)
    agree(counts(analyzer, span, lowercase=lowercase), peer, AWKWARD)


@settings(max_examples=60)
@given(corpora, st.sampled_from(ANALYZERS), st.sampled_from(SPANS))
@example(["ΑΣ ΑΣΑ Σ", "ǅungla ẞ"], "word", (1, 1))
def test_counts_of_any_text_are_those_of_scikit_learn(documents, analyzer, span):
    agree(counts(analyzer, span), CountVectorizer(analyzer=analyzer, ngram_range=span), documents)


@settings(max_examples=40)
@given(corpora, st.sampled_from(ANALYZERS), st.sampled_from(SPANS), st.booleans(), st.sampled_from([7, 64, 1000]))
def test_murmur_buckets_are_those_of_scikit_learn(documents, analyzer, span, signed, m):
    peer = HashingVectorizer(analyzer=analyzer, ngram_range=span, n_features=m, alternate_sign=signed, norm=None)
    ours = counts(analyzer, span, n_buckets=m, hash="murmur3", signed=signed).transform(documents)
    theirs = peer.transform(documents)
    theirs.sum_duplicates()
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_murmur_with_binary_weights_and_norms():
    peer = HashingVectorizer(ngram_range=(1, 2), n_features=16, binary=True, norm="l1")
    ours = TextFeatures((1, 2), n_buckets=16, hash="murmur3", weighting="binary", norm="l1")
    np.testing.assert_allclose(ours.transform(AWKWARD).toarray(), peer.transform(AWKWARD).toarray(), rtol=1e-15)


@pytest.mark.parametrize("analyzer", ANALYZERS)
@pytest.mark.parametrize("norm", ["l1", "l2", None])
@pytest.mark.parametrize("log", [False, True])
def test_tf_idf_is_that_of_scikit_learn(analyzer, norm, log):
    ours = TextFeatures((1, 2), analyzer, weighting="log-tfidf" if log else "tfidf", norm=norm)
    peer = TfidfVectorizer(analyzer=analyzer, ngram_range=(1, 2), norm=norm, sublinear_tf=log)
    theirs = peer.fit_transform(AWKWARD).toarray()
    # A row is a sum of at most 200 terms: each of both ways to round it is off by at most 200 eps.
    np.testing.assert_allclose(ours.fit_transform(AWKWARD).toarray(), theirs, rtol=400 * np.finfo(float).eps)
    np.testing.assert_allclose(ours.idf_, peer.idf_, rtol=1e-15)


def test_idf_of_buckets_is_learned_in_a_pass():
    ours = TextFeatures((1, 2), n_buckets=32, hash="murmur3")
    hashing = HashingVectorizer(ngram_range=(1, 2), n_features=32, norm=None)
    peer = make_pipeline(hashing, TfidfTransformer())
    np.testing.assert_allclose(ours.fit_transform(AWKWARD).toarray(), peer.fit_transform(AWKWARD).toarray(), rtol=1e-13)
    with pytest.raises(ValueError, match="not fitted"):
        TextFeatures(n_buckets=32).transform(AWKWARD)


@pytest.mark.parametrize("limits", [{"min_df": 2}, {"max_df": 0.2}, {"min_df": 0.1, "max_df": 3}, {"max_features": 4}])
def test_frequencies_choose_the_vocabulary(limits):
    documents = [
        " ".join(["one"] * 9 + ["two"] * 7 + ["three"] * 5 + ["four"] * 3),
        "two three",
        *AWKWARD,
        "four four four",
    ]
    agree(counts("word", (1, 1), **limits), CountVectorizer(**limits), documents)


def test_by_hand():
    text = TextFeatures((1, 1), norm=None).fit(["red red sea", "red ship", "sea"])
    assert text.vocabulary_ == {"red": 0, "sea": 1, "ship": 2}
    assert text.document_frequency_.tolist() == [2, 2, 1]
    np.testing.assert_allclose(
        text.transform(["red red sea"]).toarray(), [[2 * (1 + np.log(4 / 3)), 1 + np.log(4 / 3), 0]]
    )
    log = TextFeatures((1, 1), weighting="log", norm=None).fit(["red red sea"])
    np.testing.assert_allclose(log.transform(["red red red sea"]).toarray(), [[1 + np.log(3), 1]])


@pytest.mark.parametrize("weighting", ["tfidf", "log-tfidf", "count", "binary", "log"])
@pytest.mark.parametrize("n_buckets", [None, 64])
def test_rows_are_normalized_by_default_only_with_idf_weights(weighting, n_buckets):
    documents = ["red red sea", "red ship", "sea"]
    rows = TextFeatures((1, 1), weighting=weighting, n_buckets=n_buckets).fit_transform(documents)
    norm = "l2" if weighting.endswith("tfidf") else None
    chosen = TextFeatures((1, 1), weighting=weighting, n_buckets=n_buckets, norm=norm).fit_transform(documents)
    assert (rows != chosen).nnz == 0
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1)).A1
    expected = {"count": [np.sqrt(5), np.sqrt(2), 1], "binary": [np.sqrt(2), np.sqrt(2), 1]}
    if weighting != "log":
        np.testing.assert_allclose(lengths, expected.get(weighting, [1, 1, 1]))


def test_files_of_format_1_keep_their_norm():
    from mercer.io.pack import pack, unpack

    text = TextFeatures((1, 1), weighting="count", norm="l2").fit(["red red sea", "ship"])
    tree, arrays = pack(text)
    former = {"ngram_range": "ngrams", "norm": "normalize"}
    state = {former.get(key, key): value for key, value in tree["state"].items()}
    loaded = unpack({"class": "text.features.TextFeatures", "state": state}, arrays)
    assert loaded.get_params() == text.get_params()
    np.testing.assert_array_equal(
        loaded.transform(["red sea sea"]).toarray(), text.transform(["red sea sea"]).toarray()
    )


def test_stop_words_are_removed_before_n_grams_are_formed():
    text = counts("word", (2, 2), stop_words=["of", "THE"]).fit(["the ship of the sea"])
    assert text.get_feature_names_out().tolist() == ["ship sea"]
    words = ["the", "of", "naïve"]
    agree(counts("word", (1, 2), stop_words=words), CountVectorizer(ngram_range=(1, 2), stop_words=words), AWKWARD)


def test_stop_lists_of_many_languages():
    assert len(stop_languages()) >= 12
    for language in stop_languages():
        words = stop_list(language)
        assert len(words) > 80
        assert all(word == word.lower() and word.strip() == word for word in words)
    assert counts("word", (1, 1), stop_words="german").fit(["Das ist ein Haus"]).vocabulary_ == {"haus": 0}
    with pytest.raises(ValueError, match="no list of stop words called 'klingon'"):
        TextFeatures(stop_words="klingon").fit(["a b"])


def test_each_distinct_word_is_stemmed_once(monkeypatch):
    from mercer.text import analysis
    from mercer.text.stemming import Stems

    known, asked = Stems("english"), []
    stem_all = known._stem_all
    monkeypatch.setattr(known, "_stem_all", lambda words: asked.extend(words) or stem_all(words))
    monkeypatch.setattr(analysis, "stems", lambda language: known)
    documents = ["running runs ran", "runs easily and fairly", "running running"] * 5
    text = counts("word", (1, 2), stem="english").fit(documents)
    rows = text.transform(documents)
    assert sorted(asked) == sorted({word for document in documents for word in document.split()})
    peer = CountVectorizer(ngram_range=(1, 2), tokenizer=lambda t: known.of(t.split()), token_pattern=None)
    assert (rows != peer.fit_transform(documents)).nnz == 0
    assert text.vocabulary_ == peer.vocabulary_


def test_missing_stemmer_is_reported_with_its_remedy(monkeypatch):
    import sys

    from mercer.text import stemming

    monkeypatch.setitem(sys.modules, "Stemmer", None)
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    stemming.stems.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'mercer\[text\]'"):
        TextFeatures(stem="english").fit(["words"])
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"stem must be None or one of .*english"):
        TextFeatures(stem="klingon").fit(["words"])


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"\w+", r"(?u)\b\w+\b", r"[^\W\d]+", r"#(\w+)", r"\S+"])
def test_token_patterns_are_those_of_scikit_learn(pattern):
    documents = [*AWKWARD, "#one two #three 4 #five_six"]
    peer = CountVectorizer(ngram_range=(1, 2), token_pattern=pattern, stop_words=["cat", "one"])
    agree(counts("word", (1, 2), token_pattern=pattern, stop_words=["cat", "one"]), peer, documents)


def test_one_megabyte_in_one_document():
    rng = np.random.default_rng(0)
    words = np.array(["alpha", "βήτα", "gamma_ray", "дельта", "e", "ζ😀"])
    document = " ".join(rng.choice(words, 150_000))
    assert len(document.encode()) > 1_000_000
    documents = ["small", document, "", document[:1000]]
    agree(counts("word", (1, 2)), CountVectorizer(ngram_range=(1, 2)), documents)
    hashed = counts("word", (1, 2), n_buckets=2**18, hash="murmur3").transform(documents)
    assert (
        abs(hashed - HashingVectorizer(ngram_range=(1, 2), n_features=2**18, norm=None).transform(documents)).sum() == 0
    )


def test_many_distinct_terms_are_numbered_in_parts():
    documents = [" ".join(f"w{k * 31 % 90_001}" for k in range(i, i + 9000)) for i in range(0, 90_000, 4500)]
    agree(counts("word", (1, 1)), CountVectorizer(), documents)


def frames():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    texts = ["one two", None, "two three", "été"]
    plain = ["one two", "", "two three", "été"]
    yield "list", texts, plain
    yield "generator", iter(texts), plain
    yield "tuple", tuple(texts), plain
    yield "NaN", ["one two", float("nan"), "two three", "été"], plain
    yield "objects", np.array(texts, dtype=object), plain
    yield "unicode array", np.array(plain), plain
    yield "strings of NumPy", np.array(plain, dtype=np.dtypes.StringDType()), plain
    yield "one column", np.array(texts, dtype=object)[:, None], plain
    yield "pandas", pd.Series(texts), plain
    yield "pandas objects", pd.Series(texts, dtype=object), plain
    yield "pandas categories", pd.Series(texts, dtype="category"), plain
    yield "pandas frame", pd.DataFrame({"text": texts}), plain
    yield "polars", pl.Series(texts), plain
    yield "polars frame", pl.DataFrame({"text": texts}), plain
    yield "polars categories", pl.Series(texts, dtype=pl.Categorical), plain
    yield "arrow", pa.array(texts), plain
    yield "arrow slice", pa.array(["skipped", *texts, "cut"])[1:5], plain
    yield "arrow large", pa.array(texts, pa.large_string()), plain
    yield "arrow view", pa.array(texts, pa.string_view()), plain
    yield "arrow chunks", pa.chunked_array([texts[:1], texts[1:]]), plain
    yield "arrow table", pa.table({"text": texts}), plain
    yield "arrow dictionary", pa.array(texts).dictionary_encode(), plain
    yield "bytes", [b"one two", None, b"two three", "été".encode()], plain


@pytest.mark.parametrize(
    ("name", "given", "plain"), list(frames()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_kind_of_column(name, given, plain):
    expected = TextFeatures().fit(plain)
    given = list(given) if name == "generator" else given
    ours = TextFeatures().fit(given)
    assert ours.vocabulary_ == expected.vocabulary_
    np.testing.assert_array_equal(ours.transform(given).toarray(), expected.transform(plain).toarray())
    assert ours.n_features_in_ == 1


def test_several_columns_at_once():
    import pandas as pd

    frame = pd.DataFrame({"title": ["red sea", None, "sea"], "body": ["the ship", "red ship ship", None]})
    text = TextFeatures((1, 1)).fit(frame)
    assert text.get_feature_names_out().tolist() == ["title=red", "title=sea", "body=red", "body=ship", "body=the"]
    rows = text.transform(frame).toarray()
    title, body = TextFeatures((1, 1)), TextFeatures((1, 1))
    expected = [title.fit_transform(frame["title"]).toarray(), body.fit_transform(frame["body"]).toarray()]
    np.testing.assert_array_equal(rows, np.hstack(expected))
    np.testing.assert_array_equal(TextFeatures((1, 1)).fit_transform(frame).toarray(), rows)
    assert text.columns_of("ship", 1) == [3]
    assert text.vocabulary_[1]["ship"] == 3
    assert text.feature_names_in_.tolist() == ["title", "body"]
    hashed = TextFeatures((1, 1), n_buckets=8).fit(frame)
    assert hashed.transform(frame).shape == (3, 16)
    assert hashed.columns_of("ship", 1)[0] >= 8
    with pytest.raises(ValueError, match="expecting 2 features"):
        text.transform(["one column"])
    with pytest.raises(ValueError, match="feature names"):
        text.transform(frame[["body", "title"]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("one string", "put it into a list"),
        ([1.5, 2.0], "holds 1.5, a float, at row 0"),
        (["a", 3], "holds 3, a int, at row 1"),
        (np.zeros((2, 2)), "holds 0.0, a float"),
        (["bad \ud800"], "lone surrogate"),
        (np.zeros((1, 1, 1)), "3 dimensions"),
        ([], "no documents"),
        (["", None], "vocabulary is empty"),
    ],
)
def test_non_text_is_refused_with_its_position(wrong, message):
    with pytest.raises(ValueError, match=message):
        TextFeatures().fit(wrong)


def test_missing_documents_may_be_refused():
    with pytest.raises(ValueError, match="no document at row 1"):
        TextFeatures(missing="error").fit(["a word", None])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": 2}, "ngram_range"),
        ({"analyzer": "letters"}, "analyzer must be one of"),
        ({"weighting": "idf"}, "weighting must be one of"),
        ({"norm": "max"}, "norm must be one of"),
        ({"min_df": 0}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"min_df": 3, "max_df": 1}, "fewer than min_df"),
        ({"max_features": 0}, "max_features"),
        ({"n_buckets": 0}, "n_buckets"),
        ({"n_buckets": 10, "nonzeros": 3}, "multiple of nonzeros"),
        ({"n_buckets": 10, "nonzeros": 2, "hash": "murmur3"}, "nonzeros=1"),
        ({"n_buckets": 10, "min_df": 2}, "needs a vocabulary"),
        ({"analyzer": "char", "stop_words": "english"}, "needs analyzer='word'"),
        ({"token_pattern": "(a)(b)"}, "one group"),
        ({"stop_words": ["a", 1]}, "not a string"),
        ({"hash": "md5"}, "hash must be one of"),
        ({"missing": "skip"}, "missing must be one of"),
    ],
)
def test_invalid_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        TextFeatures(**wrong).fit(["some words", "more words", "words again"])


def test_hashing_keeps_inner_products_on_average():
    """Over keys the inner product of hashed rows has the mean of the exact one: within 5 standard errors."""
    pair = ["red ship on the red sea", "a ship on a sea of ships"]
    exact = counts("word", (1, 1)).fit_transform(pair)
    product = (exact[0] @ exact[1].T).toarray().item()
    for nonzeros in (1, 4):
        drawn = []
        for key in range(400):
            rows = counts("word", (1, 1), n_buckets=16, nonzeros=nonzeros, random_state=key).transform(pair)
            drawn.append((rows[0] @ rows[1].T).toarray().item())
        assert abs(np.mean(drawn) - product) < 5 * np.std(drawn) / np.sqrt(len(drawn))


def test_weights_are_those_of_terms_not_of_buckets():
    text = TextFeatures((1, 1), n_buckets=1, weighting="log", signed=False, norm=None)
    np.testing.assert_allclose(text.transform(["red red red sea"]).toarray(), [[2 + np.log(3)]])
    np.testing.assert_allclose(text.set_params(weighting="binary").transform(["red red red sea"]).toarray(), [[2.0]])


def test_collisions_are_counted_and_top_terms_named():
    documents = [" ".join(f"word{k}" for k in range(i, i + 60)) for i in range(0, 600, 30)]
    wide = TextFeatures((1, 1), n_buckets=2**20, weighting="count")
    seen = wide.collisions(documents)
    assert (seen.n_terms, seen.used + seen.collided // 2) == (630, 630)
    narrow = TextFeatures((1, 1), n_buckets=512, weighting="count").collisions(documents)
    # The share is a mean of 630 dependent indicators; two standard deviations of independent ones, doubled.
    assert abs(narrow.fraction - narrow.expected) < 4 * np.sqrt(0.25 / 630)
    four = TextFeatures((1, 1), n_buckets=512, nonzeros=4, weighting="count").collisions(documents)
    assert 0 <= four.weight <= 1
    column = wide.columns_of("word77")[0]
    assert ("word77", 2) in wide.top_terms(documents, [column])[column]
    assert TextFeatures(n_buckets=9, hash="murmur3", weighting="count").columns_of("word") == [
        int(HashingVectorizer(n_features=9).transform(["word"]).indices[0])
    ]
    with pytest.raises(ValueError, match="Set n_buckets"):
        TextFeatures().fit(documents).collisions(documents)


def test_terms_and_columns_are_found_both_ways():
    text = TextFeatures((1, 2)).fit(["red sea", "red ship"])
    assert [text.columns_of(term) for term in ("red", "red ship", "blue")] == [[0], [2], []]
    assert [row.tolist() for row in text.inverse_transform(text.transform(["a red ship", ""]))] == [
        ["red", "red ship", "ship"],
        [],
    ]


def test_in_a_pipeline():
    documents = ["good film", "fine good story", "bad film", "dull bad story"] * 5
    model = make_pipeline(TextFeatures(), LogisticRegression()).fit(documents, [1, 1, 0, 0] * 5)
    assert model.predict(["good", "bad"]).tolist() == [1, 0]
    assert TextFeatures((1, 1)).set_output(transform="default").fit_transform(documents).shape == (20, 6)


def test_long_lists_of_terms_are_taken_in_parts():
    from mercer.text.vocabulary import _taken

    terms = [f"t{k}".encode() for k in range(600_000)]
    bounds = np.cumsum([0, *map(len, terms)])
    rows = np.random.default_rng(0).permutation(len(terms)).astype(np.int32)
    places, data = _taken(bounds, np.frombuffer(b"".join(terms), np.uint8), rows)
    assert data.tobytes() == b"".join(terms[row] for row in rows)
    assert np.diff(places).tolist() == [len(terms[row]) for row in rows]
