"""Targets as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Classes from which on the mean and the variance of their indicators are computed from counts.
_MANY_CLASSES = 100


@dataclass
class NumericTarget:
    """Targets as numbers of mean 0 and overall variance 1: (numbers - mean) / scale, or indicators of the classes."""

    classes: np.ndarray | None
    mean: np.ndarray
    scale: float
    #: The response of another loss than the squared error. With a logarithmic link, targets y are learned as
    #: log(y / unit + offset).
    response: Any = None
    unit: float = 1.0
    offset: float = 0.0

    @property
    def log_link(self) -> bool:
        return self.response is not None and self.response.log_link

    @classmethod
    def of(cls, y: np.ndarray, classify: bool, weight: np.ndarray | None = None) -> NumericTarget:
        """Learn classes, mean and scale."""
        classes = np.unique(y) if classify else None
        if classes is not None and len(classes) > _MANY_CLASSES:
            codes = np.searchsorted(classes, y)
            counts = np.bincount(codes, weight, len(classes)) if weight is not None else np.bincount(codes)
            mean = counts / counts.sum()
            return cls(classes, mean, np.sqrt(np.sum(mean * (1.0 - mean))) or 1.0)  # of indicators
        Y = _columns(y, classes)
        mean = np.average(Y, axis=0, weights=weight)
        variance = float(np.average(np.sum((Y - mean) ** 2, axis=1), weights=weight))
        return cls(classes, mean, np.sqrt(variance) or 1.0)

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """One column per output."""
        if self.log_link:
            y = np.log(np.asarray(y, dtype=np.float64) / self.unit + self.offset)
        numbers = _columns(y, self.classes)
        if self.classes is None:
            return (numbers - self.mean) / self.scale
        numbers -= self.mean
        numbers /= self.scale
        return numbers

    def response_of(self, numbers: np.ndarray) -> np.ndarray:
        """The target of a loss from its numbers: of mean one with a logarithmic link, else the numbers themselves."""
        if not self.log_link:
            return numbers[:, 0]
        return np.maximum(np.exp(numbers[:, 0] * self.scale + self.mean) - self.offset, 0.0)

    def labels(self, y: np.ndarray) -> np.ndarray | None:
        """Class numbers; None for regression."""
        return None if self.classes is None else np.searchsorted(self.classes, y)


def _columns(y: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    if classes is None:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    if len(classes) > _MANY_CLASSES:  # without a comparison with each class
        indicators = np.zeros((len(y), len(classes)))
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        known = classes[codes] == np.asarray(y)
        indicators[np.flatnonzero(known), codes[known]] = 1.0
        return indicators
    indicators = (np.asarray(y)[:, None] == classes).astype(np.float64)
    return indicators[:, 1:] if len(classes) == 2 else indicators
