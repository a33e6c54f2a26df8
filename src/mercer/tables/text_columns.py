"""Columns of text and sequences as sparse features: weighted n-grams, and letters by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.source import Source
from mercer.tables.profile import ColumnProfile
from mercer.text import TextFeatures
from mercer.text.documents import as_documents

_MAX_TERMS = 200_000
_MAX_LENGTH = 1000  # letters of a sequence that are encoded by position


@dataclass(frozen=True)
class TextTerms:
    """log-tf-idf weights of the terms of a column, rows of length 1: see `mercer.text.TextFeatures`.

    Text of several words gives words and pairs of words; single words, such as names, give character n-grams of
    lengths 1 to 4 within words; sequences give character n-grams of lengths 1 to 5.
    """

    column: str
    kind: str
    features: TextFeatures

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        return [[f"{self.column}:{term}" for term in self.features.get_feature_names_out()]]

    def encode(self, values: Any, folds: np.ndarray | None = None, start: int = 0) -> sparse.csr_matrix:
        return self.features.transform(values.documents(self.column))

    @classmethod
    def learned(cls, source: Source, profile: ColumnProfile, role: str) -> TextTerms:
        """One pass over the documents."""
        name = profile.name
        documents = source.map(lambda block: block.with_X(as_documents(block.X.table[name])))
        min_df = 2 if profile.n >= 100 else 1  # character n-grams of a single document do not generalize
        common: dict = {"weighting": "log-tfidf", "norm": "l2", "max_features": _MAX_TERMS}
        if role == "sequence":
            how: dict = {"analyzer": "char", "ngram_range": (1, 5), "min_df": min_df}
        elif np.mean([len(value.split()) for value in profile.values]) < 2:
            how = {"analyzer": "char_wb", "ngram_range": (1, 4), "min_df": min_df}
        else:
            # Rare pairs add to the length of a row with few other terms, which separates such texts from others.
            how = {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"\w+", "min_df": 1}
        return cls(name, role, TextFeatures(**how, **common).fit(documents))


@dataclass(frozen=True)
class Positions:
    """Indicators of the letter at each position of sequences of one length, divided by sqrt(length).

    A longer sequence is truncated; a shorter one has no letters at its last positions.
    """

    column: str
    length: int
    alphabet: tuple[str, ...]
    kind = "sequence"

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def names(self) -> list[list[str]]:
        positions = range(self.length)
        return [[f"{self.column}:{position}={letter}" for position in positions for letter in self.alphabet]]

    def encode(self, values: Any, folds: np.ndarray | None = None, start: int = 0) -> sparse.csr_matrix:
        code = {letter: i for i, letter in enumerate(self.alphabet)}
        size = len(self.alphabet)
        indices: list[int] = []
        ends = [0]
        for text in values.objects(self.column):
            letters = enumerate((text or "").upper()[: self.length])
            indices += [position * size + code[letter] for position, letter in letters if letter in code]
            ends.append(len(indices))
        data = np.full(len(indices), 1.0 / np.sqrt(self.length))
        return sparse.csr_matrix((data, indices, ends), shape=(len(ends) - 1, size * self.length))

    @classmethod
    def learned(cls, profile: ColumnProfile) -> Positions | None:
        """From the values in the profile; None unless they are of one length."""
        lengths = {len(value) for value in profile.values}
        if len(lengths) != 1 or max(lengths) > _MAX_LENGTH:
            return None
        return cls(profile.name, lengths.pop(), tuple(sorted(set("".join(profile.values).upper()))))
