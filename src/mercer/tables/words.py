"""Columns of text and sequences as sparse features: weighted n-grams of words or letters, and letters by position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer.source import Source
from mercer.tables.facts import ColumnFacts
from mercer.text import TextFeatures
from mercer.text.documents import as_documents

_MOST_TERMS = 200_000
_LONGEST = 1000  # letters of a sequence that are taken by position


@dataclass(frozen=True)
class Terms:
    """log-tf-idf weights of the terms of a column, rows of length 1: see `mercer.text.TextFeatures`.

    Text of several words gives words and pairs of words; single words, such as names, give 1 to 4 letters within
    words; sequences give 1 to 5 letters in a row.
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

    def encode(self, values, folds=None, start=0) -> sparse.csr_matrix:
        return self.features.transform(values.documents(self.column))

    @classmethod
    def learned(cls, source: Source, facts: ColumnFacts, role: str) -> Terms:
        """One pass over the documents."""
        name = facts.name
        documents = source.map(lambda block: block.with_X(as_documents(block.X.table[name])))
        shared = 2 if facts.n >= 100 else 1  # letters of one document are of no use to another
        common: dict = {"weighting": "log-tfidf", "norm": "l2", "max_features": _MOST_TERMS}
        if role == "sequence":
            how: dict = {"analyzer": "char", "ngram_range": (1, 5), "min_df": shared}
        elif np.mean([len(level.split()) for level in facts.levels]) < 2:
            how = {"analyzer": "char_wb", "ngram_range": (1, 4), "min_df": shared}
        else:
            # Rare pairs take length from a row that says little else: texts with them are told apart better.
            how = {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"\w+", "min_df": 1}
        return cls(name, role, TextFeatures(**how, **common).fit(documents))


@dataclass(frozen=True)
class Positions:
    """Which letter stands at which place, for sequences of one length: an indicator each, divided by sqrt(length).

    A longer sequence is cut, a shorter one has nothing at its end.
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
        return [[f"{self.column}:{place}={letter}" for place in range(self.length) for letter in self.alphabet]]

    def encode(self, values, folds=None, start=0) -> sparse.csr_matrix:
        code = {letter: i for i, letter in enumerate(self.alphabet)}
        size = len(self.alphabet)
        indices: list[int] = []
        ends = [0]
        for text in values.objects(self.column):
            letters = enumerate((text or "").upper()[: self.length])
            indices += [place * size + code[letter] for place, letter in letters if letter in code]
            ends.append(len(indices))
        values = np.full(len(indices), 1.0 / np.sqrt(self.length))
        return sparse.csr_matrix((values, indices, ends), shape=(len(ends) - 1, size * self.length))

    @classmethod
    def learned(cls, facts: ColumnFacts) -> Positions | None:
        """From the values kept of the column; None unless they are of one length."""
        lengths = {len(level) for level in facts.levels}
        if len(lengths) != 1 or max(lengths) > _LONGEST:
            return None
        return cls(facts.name, lengths.pop(), tuple(sorted(set("".join(facts.levels).upper()))))
