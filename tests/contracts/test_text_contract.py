"""What every estimator of documents promises: scikit-learn's conventions, and the same fit however documents arrive.

scikit-learn's own list of checks is about tables of numbers; those of its checks that need no data are run here one by
one.
"""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import estimator_checks, get_tags

from mercer._numeric.block import Block
from mercer.source import MemorySource, Source, StreamSource
from mercer.source.accumulator import BLOCK_ROWS
from mercer.text import TextFeatures

TEXTS = [
    TextFeatures(),
    TextFeatures((1, 3), weighting="log", min_df=2, stop_words="english"),
    TextFeatures((2, 3), "char", weighting="binary", max_features=40, norm=None),
    TextFeatures((1, 4), "char_wb", weighting="log-tfidf", max_df=0.5, norm="l1"),
    TextFeatures(stem="english", weighting="count"),
    TextFeatures(token_pattern=r"[a-z]+", weighting="count"),
    TextFeatures(n_buckets=60),
    TextFeatures(n_buckets=60, nonzeros=3, weighting="log", signed=False),
    TextFeatures((3, 3), "char", n_buckets=64, hash="murmur3", weighting="count"),
]

CHECKS = [
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_valid_tag_types",
    "check_mixin_order",
]

every_text = pytest.mark.parametrize("estimator", TEXTS, ids=str)

WORDS = [
    "the",
    "a",
    "running",
    "runs",
    "ran",
    "Red",
    "RED",
    "green",
    "sea",
    "ship",
    "été",
    "Straße",
    "ΣΟΦΟΣ",
    "42",
    "x",
]


def problem(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return ["the red sea", *(" ".join(rng.choice(WORDS, size=rng.integers(0, 9))) for _ in range(n - 1))]


def learned(estimator):
    """Every learned array, as bytes, and the names of the columns."""
    names = sorted(name for name in vars(estimator) if name.endswith("_") and not name.startswith("_"))
    names = {name: np.asarray(getattr(estimator, name)).tobytes() for name in names}
    return names | {"columns": estimator.get_feature_names_out().tolist()}


def streamed(texts, step=17) -> Source:
    rows = np.array(texts, dtype=object)
    return StreamSource(lambda: (Block(rows[i : i + step]) for i in range(0, len(rows), step)))


@every_text
@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learn_conventions(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


@every_text
def test_tags_say_that_documents_are_strings(estimator):
    tags = get_tags(estimator)
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.requires_fit == (estimator.n_buckets is None or "tfidf" in estimator.weighting)


@every_text
def test_memory_stream_pieces_and_merge_give_the_same_bits(estimator):
    texts = problem()
    whole = clone(estimator).fit(texts)
    once = clone(estimator)
    rows = once.fit_transform(texts)
    stream = clone(estimator).fit(streamed(texts))
    pieces = clone(estimator)
    for part in np.array_split(np.array(texts, dtype=object), 7):
        pieces.partial_fit(part)
    merged = clone(estimator).set_params(min_df=1, max_df=1.0).fit(texts[:50])
    merged = merged.merge(clone(merged).fit(texts[50:]))
    merged.set_params(min_df=estimator.min_df, max_df=estimator.max_df)._learn()
    assert learned(whole) == learned(once) == learned(stream) == learned(pieces) == learned(merged)
    same(rows, whole.transform(texts))
    blocks = stream.transform(streamed(texts)).blocks()
    np.testing.assert_array_equal(np.vstack([block.X.toarray() for block in blocks]), rows.toarray())


@every_text
def test_more_documents_may_follow_one_pass(estimator):
    texts = problem()
    later = clone(estimator)
    later.fit_transform(texts[:70])
    later.partial_fit(texts[70:])
    assert learned(later) == learned(clone(estimator).fit(texts))


@every_text
def test_documents_are_independent_of_their_neighbors(estimator):
    texts = problem()
    fitted = clone(estimator).fit(texts)
    whole = fitted.transform(texts)
    for rows in (slice(0, 1), slice(13, 40), slice(119, 120)):
        same(fitted.transform(texts[rows]), whole[rows])


@every_text
def test_pickled_estimators_continue(estimator):
    texts = problem()
    fitted = clone(estimator).fit(texts[:80])
    again = pickle.loads(pickle.dumps(fitted))
    same(again.transform(texts), fitted.transform(texts))
    assert learned(again.partial_fit(texts[80:])) == learned(fitted.partial_fit(texts[80:]))


@every_text
def test_rows_are_canonical_and_finite(estimator):
    fitted = clone(estimator)
    rows = fitted.fit_transform([*problem(), "", None])
    assert rows.dtype == np.float64
    assert np.isfinite(rows.data).all()
    assert rows[-2:].nnz == 0
    checked = csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)  # without cached flags
    assert checked.has_canonical_format
    assert rows.shape[1] == len(fitted.get_feature_names_out())


@every_text
def test_a_source_cannot_be_contradicted(estimator):
    with pytest.raises(TypeError):
        clone(estimator).fit(MemorySource(np.array(problem(), dtype=object)), None, np.ones(120))


@settings(max_examples=20)
@given(st.lists(st.integers(0, 120), max_size=5))
def test_any_split_equals_the_whole(cuts):
    texts, estimator = problem(), TextFeatures((1, 2), weighting="log-tfidf")
    pieces = clone(estimator)
    bounds = [0, *sorted(cuts), 120]
    for begin, end in pairwise(bounds):
        if end > begin:
            pieces.partial_fit(texts[begin:end])
    assert learned(pieces) == learned(clone(estimator).fit(texts))


def test_blocks_and_threads_do_not_matter(monkeypatch):
    texts = problem(n=BLOCK_ROWS + 100)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_THREADS", threads)
        text = TextFeatures((1, 3))
        rows = text.fit_transform(texts)
        found.append((learned(text), rows.data.tobytes(), rows.indices.tobytes()))
        assert learned(TextFeatures((1, 3)).fit(texts)) == learned(text)
    assert found[0] == found[1]


def same(a, b):
    assert a.shape == b.shape
    np.testing.assert_array_equal(a.toarray(), b.toarray())
