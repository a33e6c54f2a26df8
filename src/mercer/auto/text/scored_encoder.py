"""A table encoder whose columns of text become scores: what a linear model on the terms of the column says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.auto.search.evaluation import Candidate
from mercer.auto.text.sparse_linear import WideLinear, learn_wide
from mercer.source import Source
from mercer.tables import TableEncoder
from mercer.tables.columns import ColumnBlock

#: Kinds of encoded columns that are sparse, and from how many columns on the table is wide.
SPARSE = ("text", "sequence")
WIDE = 2000


def is_wide(encoder: TableEncoder) -> bool:
    """True if texts and sequences make more columns than a dense search should see."""
    return sum(block.stop - block.start for block in encoder.blocks_ if block.kind in SPARSE) > WIDE


def all_sparse(encoder: TableEncoder) -> bool:
    """True if there is nothing but texts and sequences."""
    return all(block.kind in SPARSE for block in encoder.blocks_)


@dataclass
class ColumnScore:
    """The model of one column of text, the encoded columns it reads, and the center and scale of its scores."""

    column: str
    places: np.ndarray
    model: WideLinear
    center: np.ndarray
    scale: np.ndarray

    def scaled(self, scores) -> np.ndarray:
        return (scores - self.center) / self.scale

    def __call__(self, terms) -> np.ndarray:
        """The scores of rows of the terms of this column alone."""
        return self.scaled(self.model.scores(terms))


@dataclass
class ScoredEncoder:
    """The dense columns of a `TableEncoder`, then for each wide column one score per output.

    Training rows get scores of models that have not seen their fold; new rows those of a model of all rows.
    """

    table: TableEncoder
    kept: np.ndarray
    columns: list[ColumnScore]

    @classmethod
    def learned(
        cls, table: TableEncoder, X, y, ids, classes, seed, weight=None, clock=None, like: Any = None
    ) -> tuple[ScoredEncoder, np.ndarray]:
        """The encoder, and the training rows as dense columns with out-of-fold scores; penalties `like` another's."""
        before = {score.column: score.model for score in like.columns} if isinstance(like, cls) else {}
        wide: dict[str, list[int]] = {}
        for block in table.blocks_:
            if block.kind in SPARSE:
                wide.setdefault(block.column, []).extend(range(block.start, block.stop))
        inside = np.zeros(X.shape[1], dtype=bool)
        columns, parts = [], []
        for number, (name, places) in enumerate(wide.items()):
            inside[places] = True
            turn = None if clock is None else clock.rest(1 / (len(wide) - number))  # time is shared among the columns
            alpha = before[name].alpha if name in before else None
            model, scores = learn_wide(X[:, places], y, ids, classes, seed, alpha, weight, turn)
            model.candidates = before[name].candidates if name in before else model.candidates
            center = np.average(scores, axis=0, weights=weight)
            scale = np.maximum(np.sqrt(np.average((scores - center) ** 2, axis=0, weights=weight)), 1e-9)
            columns.append(ColumnScore(name, np.array(places), model, center, scale))
            parts.append(columns[-1].scaled(scores))
        made = cls(table, np.flatnonzero(~inside), columns)
        return made, np.hstack([X[:, made.kept].toarray(), *parts])

    def transform(self, X):
        """Encode rows: an array for data in memory, a `Source` for a `Source`."""
        if not isinstance(X, Source):
            values = self.parse_rows(X)
            return self._narrow(self.table.transform(X)) if values is None else self.encode_parsed(values)
        mapped = self.table.transform(X).map(lambda block: block.with_X(self._narrow(block.X)))
        mapped.names = [str(name) for name in self.get_feature_names_out()]
        mapped.derived = True
        return mapped

    def _narrow(self, X) -> np.ndarray:
        X = sparse.csr_matrix(X)
        return np.hstack([X[:, self.kept].toarray(), *(score(X[:, score.places]) for score in self.columns)])

    def parse_rows(self, X):
        return self.table.parse_rows(X)

    def check_table(self, X):
        return self.table.check_table(X)

    def encode_parsed(self, values, start=0) -> np.ndarray:
        """A few rows: what is dense, then the score of each column of terms, with no wide matrix of both in between."""
        dense: list = []
        terms: dict[str, list] = {score.column: [] for score in self.columns}
        for encoders, part in self.table.encode_parts(values, start):
            (terms[encoders[0].column] if encoders[0].kind in SPARSE else dense).append(part)
        scores = [score(_side_by_side(terms[score.column])) for score in self.columns]
        return np.hstack([*dense, *scores])

    @property
    def blocks_(self) -> list[ColumnBlock]:
        """Which columns were made from which column of the table."""
        found, start = [], 0
        for block in self.table.blocks_:
            if block.kind not in SPARSE:
                stop = start + block.stop - block.start
                found.append(ColumnBlock(block.column, block.role, block.kind, start, stop))
                start = stop
        for score in self.columns:
            stop = start + len(score.scale)
            found.append(ColumnBlock(score.column, self.roles_[score.column].role, "text", start, stop))
            start = stop
        return found

    def get_feature_names_out(self) -> np.ndarray:
        """Names of the dense columns, then `text score 0` and so on of each wide one."""
        names = list(self.table.get_feature_names_out()[self.kept])
        names += [f"{score.column}:score {k}" for score in self.columns for k in range(len(score.scale))]
        return np.array(names, dtype=object)

    @property
    def roles_(self) -> dict[str, Any]:
        return self.table.roles_

    @property
    def schema_(self) -> dict[str, str]:
        return self.table.schema_

    @property
    def notes_(self) -> list[str]:
        return [
            *self.table.notes_,
            *(f"{s.column!r}: its {len(s.places)} terms enter as the score of a linear model." for s in self.columns),
        ]

    @property
    def candidates(self) -> list[Candidate]:
        """The penalties tried for each wide column."""
        return [candidate for score in self.columns for candidate in score.model.candidates]

    @property
    def column_encoders(self):
        return self.table.column_encoders


def _side_by_side(parts: list):
    return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
