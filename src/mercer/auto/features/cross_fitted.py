"""A supervised block beside what it would be without each fold."""

from __future__ import annotations

import numpy as np

from mercer.auto.features.base import FeatureBlock


class CrossFitted(FeatureBlock):
    """A block for new rows, and for each fold the one that is fitted without it, by which the folds are evaluated."""

    def __init__(self, whole: FeatureBlock, per_fold: list[FeatureBlock]):
        self.whole, self.per_fold = whole, per_fold
        self.kind, self.width, self.note = whole.kind, whole.width, whole.note

    @property
    def transformer(self) -> object:
        return self.whole.transformer

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        self.whole.write(X, out)

    def names(self, columns: list[str]) -> list[str]:
        return self.whole.names(columns)

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        return self.whole.weight_signs(signs)

    def leading(self, max_pairs: int) -> np.ndarray:
        return self.whole.leading(max_pairs)

    def without_fold(self, fold: int) -> FeatureBlock:
        return self.per_fold[fold]

    def for_new_rows(self) -> FeatureBlock:
        return self.whole
