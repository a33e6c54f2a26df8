"""Columns of text and sequences as sparse features: hashed words, or hashed letters in a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from mercer.project import FeatureHashing
from mercer.source import Columns

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Hashed:
    """Words and pairs of words (text), or k letters in a row (sequences), hashed; rows have length 1."""

    column: str
    kind: str
    n_buckets: int = 2**14
    k: int = 4

    @property
    def names(self) -> list[str]:
        return [f"{self.column}:{bucket}" for bucket in range(self.n_buckets)]

    def encode(self, table: Columns, folds=None, start=0) -> sparse.csr_matrix:
        texts = [text or "" for text in table.table[self.column].to_pylist()]
        tokens = [self._tokens(text) for text in texts]
        hashed = FeatureHashing(self.n_buckets).transform(tokens)
        lengths = np.sqrt(np.asarray(hashed.multiply(hashed).sum(axis=1)).ravel())
        return sparse.csr_matrix(sparse.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ hashed)

    def _tokens(self, text: str) -> list[str]:
        if self.kind == "sequence":
            return [text[i : i + self.k].upper() for i in range(len(text) - self.k + 1)]
        words = _WORD.findall(text.lower())
        return words + [f"{a} {b}" for a, b in pairwise(words)]
