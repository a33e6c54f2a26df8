"""Documents to rows of weighted n-grams, with a vocabulary or hashed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._runtime.pool import ordered_map
from mercer.base import StreamingTransformer, seed_of
from mercer.source import Accumulator, Source
from mercer.stats import Statistic
from mercer.text.analysis import Analysis
from mercer.text.documents import Documents, as_documents, chunks_of
from mercer.text.lookup import TermLookup
from mercer.text.parameters import check_parameters
from mercer.text.rows import (
    Counting,
    CsrRows,
    Hashing,
    Weights,
    inverse_document_frequency,
    known_rows,
    side_by_side,
    stacked,
)
from mercer.text.stop_words import stop_set
from mercer.text.vocabulary import BucketCounts, CountedRows, TermCounts, choose, numbered

#: Bytes of text per chunk: its hash table stays in the cache.
_COUNTED_BYTES, _HASHED_BYTES = 1 << 19, 1 << 18


class TextFeatures(TermLookup, StreamingTransformer):
    """Documents to a CSR matrix of weighted n-grams of words or characters.

    With the term frequency tf of a term t in a document, its document frequency df(t) and the number n of documents
    seen by `fit`, an entry is

    ============= =================================================
    "count"       tf
    "binary"      1
    "log"         1 + log tf
    "tfidf"       tf (1 + log((1 + n)/(1 + df(t))))
    "log-tfidf"   (1 + log tf) (1 + log((1 + n)/(1 + df(t))))
    ============= =================================================

    Rows are then scaled to unit norm (`norm`), by default only with tf-idf weights. The columns are the distinct terms
    in code point order. With `n_buckets`, terms are hashed into that many columns instead: no vocabulary is stored and
    no `fit` is needed, except for idf weights, which are learned per bucket. Each term then has s = `nonzeros` buckets,
    with random signs that keep inner products unbiased (see `mercer.project.SparseProjection`).

    Words are runs of at least two word characters (``\\w`` in Python): letters and digits of any script and the
    underscore, but no combining marks, which end a word (normalize text to NFC first). Tokens, n-grams, vocabulary,
    counts and weights equal those of scikit-learn's vectorizers.

    Parameters
    ----------
    ngram_range : (int, int), default=(1, 2)
        Smallest and largest n of the n-grams.
    analyzer : {"word", "char", "char_wb"}, default="word"
        Words, characters, or characters within words, each padded with a blank on both sides. Two or more white spaces
        count as one blank.
    stem : str or None, default=None
        Language of the Snowball stemmer, such as "english"; needs PyStemmer or snowballstemmer.
    stop_words : str, list of str or None, default=None
        Words to remove before n-grams are formed: a language of `stop_languages`, or a list.
    weighting : {"tfidf", "log-tfidf", "count", "binary", "log"}, default="tfidf"
    norm : {"auto", "l2", "l1", None}, default="auto"
        Norm to which rows are scaled. "auto" is "l2" with tf-idf weights and None with all others: a count stays a
        count. Several text columns are normalized separately.
    n_buckets : int or None, default=None
        Hash into this many columns instead of building a vocabulary.
    nonzeros : int, default=1
        Buckets per term when hashing; must divide n_buckets.
    min_df, max_df : int or float, default=1 and 1.0
        Keep terms in at least and at most this many documents, or this fraction of the documents if a float.
    max_features : int or None, default=None
        Keep the most frequent terms only; ties go to the first in code point order.
    lowercase : bool, default=True
        Convert to lower case first, as `str.lower` does.
    signed : bool, default=True
        Random signs when hashing.
    token_pattern : str or None, default=None
        Regular expression of a word. None is scikit-learn's default, which is compiled, as is ``\\w+``.
    hash : {"keyed", "murmur3"}, default="keyed"
        "murmur3" gives exactly the columns and signs of scikit-learn's HashingVectorizer.
    missing : {"empty", "error"}, default="empty"
        Treat None and NaN as empty documents, or refuse them.
    random_state : int, RandomState or None, default=0
        Key of the hash.

    Attributes
    ----------
    document_frequency_ : array, the number of documents with an entry in each column
    idf_ : array, with idf weights
    n_documents_ : int

    Examples
    --------
    >>> from mercer.text import TextFeatures
    >>> documents = ["The cat sat.", "The cat sat on the cat!", None]
    >>> text = TextFeatures(weighting="count", stop_words="english").fit(documents)
    >>> text.get_feature_names_out().tolist()
    ['cat', 'cat sat', 'sat', 'sat cat']
    >>> text.transform(documents).toarray()
    array([[1., 1., 1., 0.],
           [2., 1., 1., 1.],
           [0., 0., 0., 0.]])
    >>> TextFeatures(analyzer="char", ngram_range=(3, 5), n_buckets=2**20, weighting="log").transform(documents).shape
    (3, 1048576)

    References
    ----------
    Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008, chapter 6. Weinberger et al., "Feature
    hashing for large scale multitask learning", 2009.
    """

    #: Attributes of model files of format 1 that were renamed.
    _former = {"ngrams": "ngram_range", "normalize": "norm"}

    def __init__(
        self,
        ngram_range: tuple[int, int] = (1, 2),
        analyzer: str = "word",
        stem: str | None = None,
        stop_words: str | list[str] | None = None,
        weighting: str = "tfidf",
        norm: str | None = "auto",
        n_buckets: int | None = None,
        nonzeros: int = 1,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        lowercase: bool = True,
        signed: bool = True,
        token_pattern: str | None = None,
        hash: str = "keyed",
        missing: str = "empty",
        random_state: Any = 0,
    ):
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.stem = stem
        self.stop_words = stop_words
        self.weighting = weighting
        self.norm = norm
        self.n_buckets = n_buckets
        self.nonzeros = nonzeros
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.lowercase = lowercase
        self.signed = signed
        self.token_pattern = token_pattern
        self.hash = hash
        self.missing = missing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn the vocabulary and the document frequencies.

        X is a list, array, series, frame or Arrow table of text columns, or a `Source`. Every row of a source with a
        positive weight counts once.
        """
        return super().fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Learn from more documents; the result equals one `fit` on all of them, however they are split."""
        return super().partial_fit(X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit(X).transform(X)`, which extracts the n-grams of documents in memory only once."""
        if isinstance(X, Source) or self.n_buckets is not None:
            return self.fit(X).transform(X)
        self._check_parameters()
        documents = self._checked_X(X, reset=True)
        counted = self._count(documents)
        learned = [numbered([chunk.terms for chunk in chunks]) for chunks in counted]
        self._accumulator = Accumulator(self._empty())
        seen = TermCounts(self._count, len(documents), tuple((terms,) for terms, _ in learned))
        self._accumulator.push(seen, len(documents))
        self._learn()
        return side_by_side(self._known(j, counted[j], learned[j][1]) for j in range(self.n_features_in_))

    def _known(self, j: int, chunks: list[CountedRows], codes: np.ndarray) -> sparse.csr_matrix:
        """The rows of text column j, whose terms have these rows in the merged table of terms."""
        vocabulary, weights = self._vocabularies[j], self._weights(j)
        column = np.full(codes.max(initial=-1) + 1, -1, np.int32)
        column[vocabulary.origin] = np.arange(len(vocabulary), dtype=np.int32)
        ends = np.cumsum([0, *(chunk.terms.size for chunk in chunks)])
        parts = zip(chunks, pairwise(ends), strict=True)
        known = ordered_map(lambda part: known_rows(part[0], np.take(column, codes[slice(*part[1])]), weights), parts)
        return stacked(known, len(vocabulary))

    def merge(self, other: Self) -> Self:
        """Merge with `other`, fitted with the same parameters on other documents."""
        if type(other) is not type(self) or other.get_params() != self.get_params():
            raise ValueError("Only a TextFeatures with the same parameters can be merged into this one.")
        return super().merge(other) if hasattr(self, "_accumulator") and hasattr(other, "_accumulator") else self

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _empty(self) -> Statistic | None:
        if self.n_buckets is None:
            return TermCounts(self._count)
        return BucketCounts(self._bucket_rows) if self._needs_idf else None

    def _row_to_try(self, n: int) -> Any:
        return ["a document"] if n == 1 else None

    def _finish(self, learned: Any) -> None:
        if learned is None:
            return
        self.n_documents_, columns = learned
        if self.n_buckets is None:
            limits = self.min_df, self.max_df, self.max_features
            self._vocabularies = [choose(terms, self.n_documents_, *limits) for terms in columns]
            columns = np.concatenate([kept.documents for kept in self._vocabularies])
        self.document_frequency_ = columns
        if self._needs_idf:
            self.idf_ = inverse_document_frequency(columns, self.n_documents_)

    def transform(self, X: Any) -> Any:
        """Return the weighted n-grams as a CSR matrix; for a `Source`, as a `Source` of such blocks."""
        self._check_parameters()
        return super().transform(X)

    def _apply(self, X: Documents) -> sparse.csr_matrix:
        rows = self._vocabulary_rows if self.n_buckets is None else self._hashed_rows
        return side_by_side(rows(column, j) for j, column in enumerate(X.columns_of_text))

    def _count(self, X: Documents) -> list[list[CountedRows]]:
        """Count the terms of each column, chunk by chunk."""
        count = Counting(self._analysis())
        return [list(ordered_map(count, chunks_of(column, _COUNTED_BYTES))) for column in X.columns_of_text]

    def _vocabulary_rows(self, column: Any, j: int) -> sparse.csr_matrix:
        count, vocabulary, weights = Counting(self._analysis()), self._vocabularies[j], self._weights(j)

        def known(text: tuple[np.ndarray, np.ndarray]) -> CsrRows:
            rows = count(text)
            return known_rows(rows, vocabulary.numbers(rows.terms), weights)

        return stacked(ordered_map(known, chunks_of(column, _COUNTED_BYTES)), len(vocabulary))

    def _hashed_rows(self, column: Any, j: int) -> sparse.csr_matrix:
        chunks = ordered_map(self._hashing(self._weights(j)), chunks_of(column, _HASHED_BYTES))
        return stacked(chunks, self._n_buckets)

    def _bucket_rows(self, X: Documents) -> sparse.csr_matrix:
        """Hashed rows without idf and norm."""
        hashing, m = self._hashing(Weights(self.weighting, None, None)), self._n_buckets
        return side_by_side(stacked(ordered_map(hashing, chunks_of(c, _HASHED_BYTES)), m) for c in X.columns_of_text)

    def _hashing(self, weights: Weights) -> Hashing:
        how = (
            seed_of(self.random_state),
            self.hash == "murmur3",
            self._n_buckets,
            int(self.nonzeros),
            bool(self.signed),
        )
        return Hashing(self._analysis(), weights, *how)

    def _weights(self, j: int) -> Weights:
        """The weights of text column j."""
        norm = ("l2" if self._needs_idf else None) if self.norm == "auto" else self.norm
        if not self._needs_idf:
            return Weights(self.weighting, None, norm)
        ends = self._ends()
        return Weights(self.weighting, self.idf_[ends[j] : ends[j + 1]], norm)

    def _ends(self) -> list[int]:
        """Start of the output columns of each text column, and the total width."""
        widths = [self._n_buckets] * self.n_features_in_ if self.n_buckets else map(len, self._vocabularies)
        return np.cumsum([0, *widths]).tolist()

    def _analysis(self) -> Analysis:
        low, high = map(int, self.ngram_range)
        stop = stop_set(self.stop_words, self.lowercase)
        return Analysis(self.analyzer, low, high, bool(self.lowercase), self.token_pattern, stop, self.stem)

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Documents:
        documents = as_documents(X, self.missing, start)
        if hasattr(X, "columns") and not hasattr(X, "column_names") and reset is not None:
            if reset or hasattr(self, "n_features_in_"):
                validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = documents.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        if hasattr(self, "n_features_in_"):
            self._of_known_width(documents)
        if reset and len(documents) == 0:
            raise ValueError("There are no documents.")
        return documents

    @property
    def vocabulary_(self) -> dict[str, int] | list[dict[str, int]]:
        """The column of each term, a dict; for several text columns a list of dicts."""
        check_is_fitted(self, "_vocabularies")
        tables = [
            {term: end + i for i, term in enumerate(kept.terms.strings())}
            for kept, end in zip(self._vocabularies, self._ends()[:-1], strict=True)
        ]
        return tables[0] if len(tables) == 1 else tables

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the terms, or `bucket0`, `bucket1`, ... when hashing; `column=term` for several text columns."""
        columns = self._input_names(input_features) if hasattr(self, "n_features_in_") else [""]
        if self.n_buckets is None:
            check_is_fitted(self)
            names = [kept.terms.strings() for kept in self._vocabularies]
        else:
            names = [[f"bucket{i}" for i in range(self._n_buckets)]] * len(columns)
        if len(columns) == 1:
            return np.array(names[0], dtype=object)
        return np.array([f"{c}={t}" for c, terms in zip(columns, names, strict=True) for t in terms], dtype=object)

    @property
    def _n_buckets(self) -> int:
        return int(self.n_buckets or 0)

    @property
    def _needs_idf(self) -> bool:
        return self.weighting in ("tfidf", "log-tfidf")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.n_buckets is None or self._needs_idf
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = self.missing == "empty"
        tags.transformer_tags.preserves_dtype = []
        return tags
