"""Blocks of features side by side, on which one linear model is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from sklearn.pipeline import FeatureUnion

from mercer.auto.features.base import FeatureBlock


@dataclass
class Features:
    """Blocks side by side. `features` computes those of new rows; training rows bring their out-of-fold scores."""

    blocks: list[FeatureBlock] = field(default_factory=list)

    @property
    def width(self) -> int:
        return sum(block.width for block in self.blocks)

    @property
    def block_of_column(self) -> np.ndarray:
        """The index of the block that each feature belongs to."""
        return np.repeat(np.arange(len(self.blocks)), [block.width for block in self.blocks])

    def slices(self) -> list[slice]:
        """The features of each block."""
        ends = np.cumsum([0, *(block.width for block in self.blocks)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def has(self, kind: str) -> bool:
        return any(block.kind == kind for block in self.blocks)

    def plus(self, *blocks: FeatureBlock) -> Features:
        """These blocks and more."""
        return Features([*self.blocks, *blocks])

    def without(self, *kinds: str) -> Features:
        """The blocks of other kinds."""
        return Features([block for block in self.blocks if block.kind not in kinds])

    def features(self, X: np.ndarray, scores: np.ndarray | None = None) -> np.ndarray:
        """The features of encoded rows in float32; `scores`, where given, replace those that the blocks compute."""
        return self._features(X, {} if scores is None else self._from_scores(scores))

    def _from_scores(self, scores: np.ndarray) -> dict[int, np.ndarray]:
        """The features of the blocks whose scores are known: side by side, in the order of the blocks."""
        known, start = {}, 0
        for k, block in self._scored():
            stop = start + block.n_scores
            if stop > scores.shape[1]:  # passes over streamed rows know those of trees alone
                break
            known[k] = block.from_scores(scores[:, start:stop])
            start = stop
        return known

    def spans(self, X: np.ndarray) -> Callable[[slice], np.ndarray]:
        """span -> the features of those rows of X; trees, which are faster on many rows, are evaluated before."""
        scored = {k: block.features(X) for k, block in self._scored()}
        return lambda span: self._features(X[span], {k: part[span] for k, part in scored.items()})

    def _scored(self) -> list:
        return [(k, block) for k, block in enumerate(self.blocks) if hasattr(block, "from_scores")]

    def _features(self, X: np.ndarray, known: dict[int, np.ndarray]) -> np.ndarray:
        out = np.empty((len(X), self.width), dtype=np.float32)
        start = 0
        for k, block in enumerate(self.blocks):
            part = out[:, start : start + block.width]
            if k in known:
                part[:] = known[k]
            else:
                block.write(X, part)
            start += block.width
        return out

    def of_block(self, index: int, X: np.ndarray, scores: np.ndarray | None = None) -> np.ndarray:
        """The features of one block."""
        return Features([self.blocks[index]]).features(X, scores)

    def over(self, X: np.ndarray, scores: np.ndarray | None = None) -> Callable[[slice], np.ndarray]:
        """span -> the features of those rows of X; `scores` of all rows, where given, replace those of the trees."""
        return lambda span: self.features(X[span], None if scores is None else scores[span])

    def without_fold(self, fold: int) -> Features:
        """The features fitted without the targets of a fold: these themselves where no block is supervised."""
        blocks = [block.without_fold(fold) for block in self.blocks]
        same = all(one is other for one, other in zip(blocks, self.blocks, strict=True))
        return self if same else Features(blocks)

    def for_new_rows(self) -> Features:
        """The features without what only training rows need."""
        return Features([block.for_new_rows() for block in self.blocks])

    def leading(self, max_pairs: int) -> np.ndarray:
        """Indices of the features that a quick comparison of penalties uses."""
        starts = (columns.start for columns in self.slices())
        return np.concatenate([s + block.leading(max_pairs) for s, block in zip(starts, self.blocks, strict=True)])

    def names(self, columns: list[str]) -> list[str]:
        """Names of the features; those of the second block of a kind and later ones are numbered."""
        names: list[str] = []
        seen: dict[str, int] = {}
        for block in self.blocks:
            seen[block.kind] = seen.get(block.kind, 0) + 1
            made = block.names(columns)
            names += made if seen[block.kind] == 1 else [f"{name}_{seen[block.kind]}" for name in made]
        return names

    def to_union(self) -> FeatureUnion:
        """The public transformers of the blocks as a fitted `FeatureUnion`."""
        counted = [sum(other.kind == block.kind for other in self.blocks[:k]) for k, block in enumerate(self.blocks)]
        names = [f"{b.kind}_{n + 1}" if n else b.kind for b, n in zip(self.blocks, counted, strict=True)]
        return FeatureUnion([(name, block.transformer) for name, block in zip(names, self.blocks, strict=True)])
