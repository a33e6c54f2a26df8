"""How targets become numbers for the search, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Target:
    """How targets become numbers of mean 0 and overall variance 1, and the way back."""

    classes: np.ndarray | None
    mean: np.ndarray
    scale: float

    @classmethod
    def of(cls, y, classify: bool, weight=None) -> Target:
        classes = np.unique(y) if classify else None
        Y = _columns(y, classes)
        mean = np.average(Y, axis=0, weights=weight)
        spread = float(np.average(np.sum((Y - mean) ** 2, axis=1), weights=weight))
        return cls(classes, mean, np.sqrt(spread) or 1.0)

    def numbers(self, y) -> np.ndarray:
        return (_columns(y, self.classes) - self.mean) / self.scale

    def labels(self, y):
        return None if self.classes is None else np.searchsorted(self.classes, y)


def _columns(y, classes) -> np.ndarray:
    if classes is None:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    hot = (np.asarray(y)[:, None] == classes).astype(np.float64)
    return hot[:, 1:] if len(classes) == 2 else hot
