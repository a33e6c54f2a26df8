"""Rows of a source as boosting sees them: bins, targets, the fold, and the scores of the ensembles so far."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._runtime.pool import for_each
from mercer.learn.trees.categories import TreeColumns, rank_codes
from mercer.learn.trees.losses import TreeLoss, loss_of_target

#: Bytes of encoded rows that a process keeps between passes; other rows are encoded and scored again in each.
MAX_KEPT_BYTES = 1 << 28


class BinTree(NamedTuple):
    """A tree over columns of bins: rows up to `bin` go left; `column` is -1 in leaves, `value` that of each node."""

    column: np.ndarray
    bin: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    def leaves(self, bins: np.ndarray) -> np.ndarray:
        """The leaf of each row."""
        root = np.zeros(1, dtype=np.int64)
        return _numeric.tree_leaves(bins, self.column, self.bin, self.left, self.right, root)[:, 0]


@dataclass(frozen=True)
class BoostedModel:
    """The ensembles outside each fold so far: bases (ensembles, outputs), and rounds[r][k][o], the trees of round r."""

    base: np.ndarray
    rounds: tuple[list[list[BinTree]], ...] = ()


@dataclass
class BinnedRows:
    """Bins, the loss of the targets, the ensemble that has not seen each row, and scores (ensembles, rows, outputs)."""

    y: np.ndarray
    bins: np.ndarray
    loss: TreeLoss
    held_out_by: np.ndarray
    scored: tuple[int, np.ndarray | None] = (0, None)

    def are(self, block: Block) -> bool:
        """Whether the block has these targets and weights."""
        pairs = ((self.y, block.y), (self.loss.weight, block.weight))
        return all((a is None) == (b is None) and np.array_equal(a, b) for a, b in pairs)  # type: ignore[arg-type]

    def scores(self, model: BoostedModel) -> np.ndarray:
        """The scores of all rounds of a model; those of earlier rounds are continued, tree by tree in their order."""
        done, known = self.scored
        if known is None or done > len(model.rounds):
            done, known = 0, np.tile(model.base[:, None], (1, len(self.y), 1))
        if done == len(model.rounds):
            self.scored = done, known
            return known
        scores = known.copy()

        def advance(k: int) -> None:
            for trees in model.rounds[done:]:
                for output, tree in enumerate(trees[k]):
                    scores[k, :, output] += tree.value[tree.leaves(self.bins)]

        for_each(advance, range(len(scores)))
        self.scored = len(model.rounds), scores
        return scores

    def n_bytes(self, n_scores: int) -> int:
        """The memory of the rows with so many scores each."""
        return self.bins.nbytes + len(self.y) * (8 * n_scores + 40)


@dataclass(frozen=True)
class TreeRowEncoder:
    """Encodes blocks: one column of bins for each number, and for each ensemble one for each category.

    cuts : those of the numbers; code_cuts, ranks : for each ensemble the cuts of the ranked categories, and the ranks
    of their codes; classes : None for a continuous target; folds : the numbers of the folds with rows; token : names
    the fit among the rows that a process keeps
    """

    token: str
    columns: TreeColumns
    cuts: list[np.ndarray]
    code_cuts: list[list[np.ndarray]]
    ranks: list[dict[int, np.ndarray]]
    classes: np.ndarray | None
    n_folds: int
    seed: int
    folds: np.ndarray
    widths: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        widths = [np.array([len(each) + 1 for each in self.cuts_of(k)]) for k in range(len(self.folds))]
        object.__setattr__(self, "widths", widths)

    def cuts_of(self, k: int) -> list[np.ndarray]:
        """The cuts of the columns that ensemble k sees."""
        return [*self.cuts, *self.code_cuts[k]]

    def columns_of(self, k: int) -> np.ndarray:
        """The columns of bins that ensemble k sees."""
        n, q = len(self.cuts), len(self.code_cuts[k])
        return np.append(np.arange(n), n + k * q + np.arange(q)).astype(np.int64)

    def encoded(self, block: Block, n_scores: int) -> BinnedRows:
        """The encoded rows of a block, from an earlier pass if this process has kept them."""
        assert block.y is not None
        known = _kept.get(self.token, block.start)
        if known is not None and known.are(block):
            return known
        seen = self.columns(block.X)
        ranked = [rank_codes(rank, seen[:, column]) for ranks in self.ranks for column, rank in ranks.items()]
        values = np.column_stack([seen[:, : len(self.cuts)], *ranked])
        cuts = [*self.cuts, *(each for some in self.code_cuts for each in some)]
        ends = np.cumsum([len(each) for each in cuts], dtype=np.int64)
        bins = _numeric.column_bins(values, np.concatenate([np.zeros(0), *cuts]), ends)
        fold = fold_of(block.ids, self.n_folds, self.seed)
        loss = loss_of_target(block.y, block.weight, self.classes)
        rows = BinnedRows(np.array(block.y), bins, loss, np.searchsorted(self.folds, fold))
        _kept.put(self.token, block.start, rows, rows.n_bytes(n_scores))
        return rows

    def forget(self) -> None:
        """Release the rows that this process has kept."""
        _kept.forget(self.token)


class _KeptRows:
    """Encoded rows of the last fits of this process, by the first row of their block, up to MAX_KEPT_BYTES."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[str, dict[int, BinnedRows]] = {}
        self._bytes: dict[str, int] = {}

    def get(self, token: str, start: int) -> BinnedRows | None:
        return self._rows.get(token, {}).get(start)

    def put(self, token: str, start: int, rows: BinnedRows, n_bytes: int) -> None:
        with self._lock:
            for other in [each for each in self._rows if each != token]:
                if sum(self._bytes.values()) + n_bytes > MAX_KEPT_BYTES:
                    self._rows.pop(other), self._bytes.pop(other)
            if sum(self._bytes.values()) + n_bytes <= MAX_KEPT_BYTES:
                self._rows.setdefault(token, {})[start] = rows
                self._bytes[token] = self._bytes.get(token, 0) + n_bytes

    def forget(self, token: str) -> None:
        with self._lock:
            self._rows.pop(token, None), self._bytes.pop(token, None)


_kept = _KeptRows()
