"""Documents to rows of weighted n-grams: with a vocabulary, or hashed."""

from __future__ import annotations

from itertools import pairwise
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._runtime.pool import ordered_map
from mercer.base import StreamingTransformer, seed_of
from mercer.source import Accumulator, Source
from mercer.text.analysis import Analysis
from mercer.text.documents import Documents, as_documents, pieces_of
from mercer.text.lookup import TermLookup
from mercer.text.parameters import check_parameters
from mercer.text.rows import (
    Counting,
    Hashing,
    Weights,
    inverse_document_frequency,
    known_rows,
    side_by_side,
    stacked,
)
from mercer.text.stop_words import stop_set
from mercer.text.vocabulary import BucketCounts, Rows, TermCounts, choose, numbered

#: Bytes of text counted at once: their tables stay in the cache.
_COUNTED, _HASHED = 1 << 19, 1 << 18


class TextFeatures(TermLookup, StreamingTransformer):
    """Documents to a CSR matrix of weighted n-grams of words or characters.

    With tf the number of times a term t occurs in a document, df(t) the number of documents it is in and n the number
    of documents seen by `fit`, an entry is

    ============= =================================================
    "count"       tf
    "binary"      1
    "log"         1 + log tf
    "tfidf"       tf (1 + log((1 + n)/(1 + df(t))))
    "log-tfidf"   (1 + log tf) (1 + log((1 + n)/(1 + df(t))))
    ============= =================================================

    and rows are then divided by their length (`normalize`). The columns are the distinct terms in the order of their
    code points; or, if `n_buckets` is set, buckets that terms are hashed into: nothing is stored, nothing needs
    fitting (but for idf weights, which are then learned per bucket), and every s = `nonzeros` hashes give a term s
    places, with signs that keep inner products right on average (see `mercer.project.SparseProjection`).

    Words are runs of at least two word characters, what ``\\w`` matches in Python: letters and numbers of any script
    and the underscore, but no combining marks, which therefore end a word (bring text to normal form NFC first). These
    are the tokens of scikit-learn's vectorizers; n-grams, vocabulary, counts and weights are equal to theirs too.

    Parameters
    ----------
    ngrams : (int, int), default=(1, 2)
        Numbers of units in an n-gram, from and to.
    analyzer : {"word", "char", "char_wb"}, default="word"
        The units: words, characters, or characters within words (each with a blank on both sides). Two or more white
        spaces count as one blank.
    stem : str or None, default=None
        Language of the Snowball stems that replace words, such as "english"; needs PyStemmer or snowballstemmer.
    stop_words : str, list of str or None, default=None
        Words to leave out before n-grams are formed: a language of `stop_languages`, or a list.
    weighting : {"tfidf", "log-tfidf", "count", "binary", "log"}, default="tfidf"
    n_buckets : int or None, default=None
        Hash into this many columns instead of keeping a vocabulary.
    nonzeros : int, default=1
        Places per term when hashing; it must divide n_buckets.
    min_df, max_df : int or float, default=1 and 1.0
        Keep terms in at least and at most this many documents, or share of the documents if a float.
    max_features : int or None, default=None
        Keep the terms that occur most often; ties go to the first in order.
    lowercase : bool, default=True
        Lower case first, as `str.lower` does.
    normalize : {"l2", "l1", None}, default="l2"
        Length that rows are brought to. Several text columns are normalized each by itself.
    signed : bool, default=True
        Random signs when hashing.
    token_pattern : str or None, default=None
        A regular expression for words. None is scikit-learn's default, which is compiled, as is ``\\w+``.
    hash : {"keyed", "murmur3"}, default="keyed"
        "murmur3" gives the very columns and signs of scikit-learn's HashingVectorizer.
    missing : {"empty", "error"}, default="empty"
        What to do with None and NaN: take them for an empty document, or refuse them.
    random_state : int, RandomState or None, default=0
        Key of the hash.

    Attributes
    ----------
    vocabulary_ : dict of terms and their columns (of several text columns: a list of dicts)
    document_frequency_ : array, the number of documents with an entry in each column
    idf_ : array, with idf weights
    n_documents_ : int

    Examples
    --------
    >>> from mercer.text import TextFeatures
    >>> documents = ["The cat sat.", "The cat sat on the cat!", None]
    >>> text = TextFeatures(weighting="count", normalize=None, stop_words="english").fit(documents)
    >>> text.get_feature_names_out().tolist()
    ['cat', 'cat sat', 'sat', 'sat cat']
    >>> text.transform(documents).toarray()
    array([[1., 1., 1., 0.],
           [2., 1., 1., 1.],
           [0., 0., 0., 0.]])
    >>> TextFeatures(analyzer="char", ngrams=(3, 5), n_buckets=2**20, weighting="log").transform(documents).shape
    (3, 1048576)

    References
    ----------
    Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008, chapter 6. Weinberger et al., "Feature
    hashing for large scale multitask learning", 2009.
    """

    def __init__(
        self,
        ngrams=(1, 2),
        analyzer="word",
        stem=None,
        stop_words=None,
        weighting="tfidf",
        n_buckets=None,
        nonzeros=1,
        min_df=1,
        max_df=1.0,
        max_features=None,
        lowercase=True,
        normalize="l2",
        signed=True,
        token_pattern=None,
        hash="keyed",
        missing="empty",
        random_state=0,
    ):
        self.ngrams = ngrams
        self.analyzer = analyzer
        self.stem = stem
        self.stop_words = stop_words
        self.weighting = weighting
        self.n_buckets = n_buckets
        self.nonzeros = nonzeros
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.lowercase = lowercase
        self.normalize = normalize
        self.signed = signed
        self.token_pattern = token_pattern
        self.hash = hash
        self.missing = missing
        self.random_state = random_state

    def fit(self, X, y=None) -> Self:  # type: ignore[override]
        """Learn the vocabulary, or what else the weights need, from documents.

        X is a list, an array, a series, a frame or Arrow table of text columns, or a `Source`. Rows of a source count
        once whatever their weight, unless it is zero.
        """
        return super().fit(X)

    def partial_fit(self, X, y=None) -> Self:  # type: ignore[override]
        """Learn from more documents. After any cut into calls the result is that of one `fit` on all."""
        return super().partial_fit(X)

    def fit_transform(self, X, y=None):
        """`fit(X).transform(X)`, cutting the documents into n-grams once if they are in memory."""
        if isinstance(X, Source) or self.n_buckets is not None:
            return self.fit(X).transform(X)
        self._check_parameters()
        documents = self._checked_X(X, reset=True)
        counted = self._count(documents)
        learned = [numbered([piece.terms for piece in pieces]) for pieces in counted]
        self._accumulator = Accumulator(self._empty())
        seen = TermCounts(self._count, len(documents), tuple((terms,) for terms, _ in learned))
        self._accumulator.push(seen, len(documents))
        self._learn()
        return side_by_side(self._known(j, counted[j], learned[j][1]) for j in range(self.n_features_in_))

    def _known(self, j: int, pieces: list[Rows], codes: np.ndarray):
        """The rows of text column j, whose terms have these numbers among all that were seen."""
        vocabulary, weights = self._vocabularies[j], self._weights(j)
        column = np.full(codes.max(initial=-1) + 1, -1, np.int32)
        column[vocabulary.origin] = np.arange(len(vocabulary), dtype=np.int32)
        ends = np.cumsum([0, *(piece.terms.size for piece in pieces)])
        parts = zip(pieces, pairwise(ends), strict=True)
        known = ordered_map(lambda part: known_rows(part[0], np.take(column, codes[slice(*part[1])]), weights), parts)
        return stacked(known, len(vocabulary))

    def merge(self, other: Self) -> Self:
        """Add what `other`, with the same parameters, has learned from other documents."""
        if type(other) is not type(self) or other.get_params() != self.get_params():
            raise ValueError("Only a TextFeatures with the same parameters can be merged into this one.")
        return super().merge(other) if hasattr(self, "_accumulator") and hasattr(other, "_accumulator") else self

    def _check_parameters(self):
        check_parameters(self)

    def _empty(self):
        if self.n_buckets is None:
            return TermCounts(self._count)
        return BucketCounts(self._bucket_rows) if self._needs_idf else None

    def _finish(self, learned):
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

    def transform(self, X):
        """Rows of weighted n-grams: a CSR matrix, or a `Source` of such blocks for a `Source`."""
        self._check_parameters()
        return super().transform(X)

    def _apply(self, X: Documents):
        rows = self._vocabulary_rows if self.n_buckets is None else self._hashed_rows
        return side_by_side(rows(column, j) for j, column in enumerate(X.columns_of_text))

    def _count(self, X: Documents) -> list[list[Rows]]:
        """The counts of each column, piece by piece."""
        count = Counting(self._analysis())
        return [list(ordered_map(count, pieces_of(column, _COUNTED))) for column in X.columns_of_text]

    def _vocabulary_rows(self, column, j):
        count, vocabulary, weights = Counting(self._analysis()), self._vocabularies[j], self._weights(j)

        def known(text):
            rows = count(text)
            return known_rows(rows, vocabulary.numbers(rows.terms), weights)

        return stacked(ordered_map(known, pieces_of(column, _COUNTED)), len(vocabulary))

    def _hashed_rows(self, column, j):
        pieces = ordered_map(self._hashing(self._weights(j)), pieces_of(column, _HASHED))
        return stacked(pieces, int(self.n_buckets))

    def _bucket_rows(self, X: Documents):
        """Hashed rows with as much of their weights as needs no fit."""
        hashing, m = self._hashing(Weights(self.weighting, None, None)), int(self.n_buckets)
        return side_by_side(stacked(ordered_map(hashing, pieces_of(c, _HASHED)), m) for c in X.columns_of_text)

    def _hashing(self, weights: Weights) -> Hashing:
        how = (
            seed_of(self.random_state),
            self.hash == "murmur3",
            int(self.n_buckets),
            int(self.nonzeros),
            bool(self.signed),
        )
        return Hashing(self._analysis(), weights, *how)

    def _weights(self, j: int) -> Weights:
        """The weights of text column j."""
        if not self._needs_idf:
            return Weights(self.weighting, None, self.normalize)
        ends = self._ends()
        return Weights(self.weighting, self.idf_[ends[j] : ends[j + 1]], self.normalize)

    def _ends(self) -> list[int]:
        """Where the output columns of each text column begin, and where the last ones end."""
        widths = [int(self.n_buckets)] * self.n_features_in_ if self.n_buckets else map(len, self._vocabularies)
        return np.cumsum([0, *widths]).tolist()

    def _analysis(self) -> Analysis:
        low, high = map(int, self.ngrams)
        stop = stop_set(self.stop_words, self.lowercase)
        return Analysis(self.analyzer, low, high, bool(self.lowercase), self.token_pattern, stop, self.stem)

    def _checked_X(self, X, reset, start=0):
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
            raise ValueError("There are no documents to learn from.")
        return documents

    @property
    def vocabulary_(self):
        """The column of each term."""
        check_is_fitted(self, "_vocabularies")
        tables = [
            {term: end + i for i, term in enumerate(kept.terms.strings())}
            for kept, end in zip(self._vocabularies, self._ends()[:-1], strict=True)
        ]
        return tables[0] if len(tables) == 1 else tables

    def get_feature_names_out(self, input_features=None):
        """The terms, or `bucket0`, `bucket1`, ... when hashing; of several text columns `column=term`."""
        columns = self._input_names(input_features) if hasattr(self, "n_features_in_") else [""]
        if self.n_buckets is None:
            check_is_fitted(self)
            names = [kept.terms.strings() for kept in self._vocabularies]
        else:
            names = [[f"bucket{i}" for i in range(int(self.n_buckets))]] * len(columns)
        if len(columns) == 1:
            return np.array(names[0], dtype=object)
        return np.array([f"{c}={t}" for c, terms in zip(columns, names, strict=True) for t in terms], dtype=object)

    @property
    def _needs_idf(self) -> bool:
        return self.weighting in ("tfidf", "log-tfidf")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.n_buckets is None or self._needs_idf
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = self.missing == "empty"
        tags.transformer_tags.preserves_dtype = []
        return tags
