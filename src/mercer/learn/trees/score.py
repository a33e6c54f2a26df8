"""The mean score of tree ensembles as features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer._runtime.derived import DerivedCache
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import PackedEnsembles, TreeEnsemble
from mercer.linear.losses import LogLoss

#: The factor of probabilities: their standard deviation is about a quarter, that of standardized scores is one.
PROBABILITY_SCALE = 4.0
#: The smallest standard deviation that scores are divided by.
MIN_SCALE = 1e-6


@dataclass
class EnsembleScore:
    """The mean score of several ensembles, one column per output, and the features that are made of it.

    Scores are divided by `scale`, where given. Scores of classes are log-odds, made for the logistic loss;
    `probabilities` adds the probabilities they stand for, made for the squared loss.
    """

    ensembles: list[TreeEnsemble]
    columns: TreeColumns
    scale: np.ndarray | None = None
    probabilities: bool = False

    @property
    def n_outputs(self) -> int:
        return len(self.ensembles[0].base)

    @property
    def width(self) -> int:
        """The number of features."""
        return self.n_outputs * (2 if self.probabilities else 1)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """The mean of the ensembles for new rows."""
        packed = _packed(self)
        if packed.ensembles is not self.ensembles:
            packed = _packed.refresh(self)
        total, *others = np.moveaxis(packed(self.columns(X)), 1, 0)
        for each in others:
            total += each
        return total / len(self.ensembles)

    def from_scores(self, scores: np.ndarray, dtype: DTypeLike = np.float32) -> np.ndarray:
        """The features of rows with known scores."""
        parts = [scores if self.scale is None else scores / self.scale]
        if self.probabilities:
            parts.append(PROBABILITY_SCALE * LogLoss().probabilities(scores))
        return np.hstack(parts).astype(dtype)

    def features(self, X: np.ndarray, dtype: DTypeLike = np.float32) -> np.ndarray:
        """The features of new rows."""
        return self.from_scores(self.scores(X), dtype)


_packed = DerivedCache(lambda score: PackedEnsembles(score.ensembles))


def score_scale(scores: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """The standard deviation of each column of scores."""
    mean = np.average(scores, axis=0, weights=weight)
    return np.maximum(np.sqrt(np.average((scores - mean) ** 2, axis=0, weights=weight)), MIN_SCALE)
