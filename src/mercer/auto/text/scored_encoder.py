"""A table encoder whose text columns become scores: those of a linear model on the terms of the column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.auto.budget.clock import Clock
from mercer.auto.constants import MAX_DENSE_TERMS
from mercer.auto.search.state import Candidate
from mercer.auto.text.sparse_linear import SparseLinear, fit_sparse
from mercer.source import Source
from mercer.stats.folds import RowFolds
from mercer.tables import TableEncoder
from mercer.tables.columns import ColumnBlock, columns_by_name

#: Kinds of encoded columns that are sparse.
SPARSE = ("text", "sequence")


def has_sparse_text(encoder: TableEncoder) -> bool:
    """True if texts and sequences make more columns than a dense search may have."""
    return sum(block.stop - block.start for block in encoder.blocks_ if block.kind in SPARSE) > MAX_DENSE_TERMS


def all_sparse(encoder: TableEncoder) -> bool:
    """True if all columns are texts or sequences."""
    return all(block.kind in SPARSE for block in encoder.blocks_)


@dataclass
class ColumnScore:
    """The model of one text column, the positions of its terms, and the center and scale of its scores."""

    column: str
    positions: np.ndarray
    model: SparseLinear
    center: np.ndarray
    scale: np.ndarray
    _former = {"places": "positions"}

    def scaled(self, scores: np.ndarray) -> np.ndarray:
        """Standardized scores."""
        return (scores - self.center) / self.scale

    def __call__(self, terms: sparse.csr_matrix) -> np.ndarray:
        """The scores of the terms of this column."""
        return self.scaled(self.model.scores(terms))


@dataclass
class ScoredEncoder:
    """The dense columns of a `TableEncoder`, then for each sparse column one score per output.

    Training rows get out-of-fold scores, new rows those of a model of all rows.
    """

    table: TableEncoder
    kept: np.ndarray
    columns: list[ColumnScore]

    @classmethod
    def fitted(
        cls,
        table: TableEncoder,
        X: sparse.csr_matrix,
        y: np.ndarray,
        ids: np.ndarray | RowFolds,
        classes: np.ndarray | None,
        seed: int,
        weight: np.ndarray | None = None,
        clock: Clock | None = None,
        like: Any = None,
    ) -> tuple[ScoredEncoder, np.ndarray]:
        """The encoder, and the training rows as dense columns with out-of-fold scores; penalties as in `like`."""
        before = {score.column: score.model for score in like.columns} if isinstance(like, cls) else {}
        found = columns_by_name(block for block in table.blocks_ if block.kind in SPARSE)
        inside = np.zeros(X.shape[1], dtype=bool)
        columns, parts = [], []
        for number, (name, positions) in enumerate(found.items()):
            inside[positions] = True
            turn = None if clock is None else clock.rest(1 / (len(found) - number))  # columns share the time
            alpha = before[name].alpha if name in before else None
            model, scores = fit_sparse(X[:, positions], y, ids, classes, seed, alpha, weight, turn)
            model.candidates = before[name].candidates if name in before else model.candidates
            center = np.average(scores, axis=0, weights=weight)
            scale = np.maximum(np.sqrt(np.average((scores - center) ** 2, axis=0, weights=weight)), 1e-9)
            columns.append(ColumnScore(name, positions, model, center, scale))
            parts.append(columns[-1].scaled(scores))
        made = cls(table, np.flatnonzero(~inside), columns)
        return made, np.hstack([X[:, made.kept].toarray(), *parts])

    def transform(self, X: Any) -> Any:
        """Encode rows: an array for data in memory, a `Source` for a `Source`."""
        if not isinstance(X, Source):
            values = self.parse_rows(X)
            return self._scored(self.table.transform(X)) if values is None else self.encode_parsed(values)
        mapped = self.table.transform(X).map(lambda block: block.with_X(self._scored(block.X)))
        mapped.names = [str(name) for name in self.get_feature_names_out()]
        mapped.derived = True
        return mapped

    def _scored(self, X: sparse.csr_matrix) -> np.ndarray:
        X = sparse.csr_matrix(X)
        return np.hstack([X[:, self.kept].toarray(), *(score(X[:, score.positions]) for score in self.columns)])

    def parse_rows(self, X: Any) -> Any:
        """As `TableEncoder.parse_rows`."""
        return self.table.parse_rows(X)

    def check_table(self, X: Any) -> Any:
        """As `TableEncoder.check_table`."""
        return self.table.check_table(X)

    def encode_parsed(self, values: Any, start: int = 0) -> np.ndarray:
        """Encode a few rows: dense columns, then the score of each sparse column, without a matrix of both."""
        dense: list = []
        terms: dict[str, list] = {score.column: [] for score in self.columns}
        for encoders, part in self.table.encode_parts(values, start):
            (terms[encoders[0].column] if encoders[0].kind in SPARSE else dense).append(part)
        scores = [score(_side_by_side(terms[score.column])) for score in self.columns]
        return np.hstack([*dense, *scores])

    @property
    def blocks_(self) -> list[ColumnBlock]:
        """The encoded columns of each column of the table."""
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
        """Names of the dense columns, then `text_score_0` and so on of each sparse one."""
        names = list(self.table.get_feature_names_out()[self.kept])
        names += [f"{score.column}_score_{k}" for score in self.columns for k in range(len(score.scale))]
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
            *(
                f"{s.column!r}: its {len(s.positions)} terms are used through the score of a linear model."
                for s in self.columns
            ),
        ]

    @property
    def candidates(self) -> list[Candidate]:
        """The penalties tried for each sparse column."""
        return [candidate for score in self.columns for candidate in score.model.candidates]

    @property
    def column_encoders(self) -> list[Any]:
        return self.table.column_encoders


def _side_by_side(parts: list) -> sparse.csr_matrix:
    return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
