"""What several models say of held-out rows, in one pass, and a sample of these rows as read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import rows_at
from mercer.source import Columns, in_holdout
from mercer.stats import Statistic

#: The sample must not be chosen by the bits of a row's hash that choose the holdout.
_SAMPLE_SEED = 0x444941474E4F


class ScoringModel(Protocol):
    """A model whose predictions and probabilities follow from scores."""

    def scores(self, X: Any) -> np.ndarray:
        """Scores of rows of a table."""

    def predictions_of(self, scores: np.ndarray) -> np.ndarray:
        """Predictions that follow from scores."""

    def probabilities_of(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes that follow from scores."""


@dataclass(frozen=True)
class RowOutputs:
    """Targets, weights and the scores of each model for all rows, and a sample of the rows as read.

    y : targets, weight : weights or None, scores : one array per model
    sampled : mask of the rows in `table`, positions : their indices in the data
    groups : keys of groups whose rows are dependent, None if there are none
    clusters : keys of rows that a bootstrap resamples together: groups, or periods of rows that have an order in time
    """

    y: np.ndarray
    weight: np.ndarray | None
    scores: list[np.ndarray]
    table: Columns
    positions: np.ndarray
    sampled: np.ndarray
    groups: np.ndarray | None = None
    clusters: np.ndarray | None = None


@dataclass(frozen=True)
class ModelOutputs(Statistic):
    """The scores of several models, in the order of the rows, and about a fraction of the rows as read."""

    models: tuple[ScoringModel, ...]
    fraction: float = 1.0
    seed: int = 0
    n: int = 0
    y: Any = None
    weight: Any = None
    scores: list[np.ndarray] = field(default_factory=list)
    table: Any = None
    positions: Any = None
    sampled: Any = None
    groups: Any = None
    times: Any = None

    def of(self, block: Block) -> ModelOutputs:
        if len(block) == 0:
            return ModelOutputs(self.models, self.fraction, self.seed)
        every = np.ones(len(block), dtype=bool)
        chosen = every if self.fraction >= 1 else in_holdout(block, self.fraction, self.seed + _SAMPLE_SEED)
        with rows_at(block.positions):
            scores = [model.scores(block.X) for model in self.models]
        return replace(
            self,
            n=len(block),
            y=np.asarray(block.y),
            weight=None if block.weight is None else np.asarray(block.weight, dtype=np.float64),
            scores=scores,
            table=block.X[chosen],
            positions=block.positions[chosen],
            sampled=chosen,
            groups=getattr(block.raw, "keys", {}).get("group"),
            times=getattr(block.raw, "keys", {}).get("time"),
        )

    def __getstate__(self) -> dict[str, Any]:
        """The statistic as it is sent: workers need the models of the empty one, merging needs none."""
        return vars(self) if self.n == 0 else {**vars(self), "models": ()}

    def _merge(self, other: ModelOutputs) -> ModelOutputs:
        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        return replace(
            self,
            n=self.n + other.n,
            y=joined("y"),
            weight=None if self.weight is None else joined("weight"),
            scores=[np.concatenate(pair) for pair in zip(self.scores, other.scores, strict=True)],
            table=self.table.stacked(other.table),
            positions=joined("positions"),
            sampled=joined("sampled"),
            groups=None if self.groups is None else joined("groups"),
            times=None if self.times is None else joined("times"),
        )

    def finish(self) -> RowOutputs:
        if self.n == 0:
            raise ValueError("The holdout has no rows: hold out more rows, or bring more rows.")
        if self.weight is not None and not np.any(self.weight > 0):
            raise ValueError("All weights of the holdout are zero: hold out more rows, or bring more rows.")
        clusters = self.groups if self.times is None else time_blocks(self.times)
        return RowOutputs(
            self.y, self.weight, self.scores, self.table, self.positions, self.sampled, self.groups, clusters
        )


def time_blocks(times: np.ndarray) -> np.ndarray:
    """Periods of m^(1/3) consecutive of the m distinct times, as a block bootstrap resamples them (Kunsch 1989).

    >>> time_blocks(np.array([3.0, 1.0, 2.0, 1.0])).tolist()
    [2, 0, 1, 0]
    """
    known, codes = np.unique(times, return_inverse=True)
    return codes.ravel() // max(1, round(len(known) ** (1 / 3)))
