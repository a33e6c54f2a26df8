"""A linear model on the explicit features of a dictionary: what a search leaves behind, in plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax

from mercer import _numeric
from mercer._runtime.pool import ordered_map
from mercer.auto.features.blocks import Dictionary
from mercer.auto.search.evaluation import Candidate

_ROWS = 1024
#: Features that stay in the caches until their products are taken, and the least number of rows for which it pays.
_ENTRIES = 1 << 18
_FEW = 64


@dataclass
class Predictor:
    """scores = features(X) @ coef + intercept. For classes they are log-odds over a temperature."""

    dictionary: Dictionary
    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    penalties: np.ndarray
    alpha: float = 1.0
    temperature: float = 1.0
    candidates: list[Candidate] = field(default_factory=list)
    found: Any = None
    _transient = ("found",)  # what learning again needs holds scores of the training rows: no part of a file

    def scores(self, X) -> np.ndarray:
        """One column per output for encoded rows. Products in float64, and a row's score is its own to the last bit."""
        if len(X) > _ROWS:
            spans = [X[i : i + _ROWS] for i in range(0, len(X), _ROWS)]
            return np.concatenate(list(ordered_map(self.scores, spans)))
        features = self.dictionary.spans(X)
        out = np.empty((len(X), self.coef.shape[1]))
        step = max(_FEW, _ENTRIES // len(self.coef))
        for start in range(0, len(X), step):
            span = slice(start, start + step)
            _numeric.rowwise_matmul(features(span), self.coef, out[span])
        return out + self.intercept

    def predict(self, X) -> np.ndarray:
        scores = self.scores(X)
        if self.classes is None:
            return scores[:, 0] if scores.shape[1] == 1 else scores
        if len(self.classes) == 2:
            return self.classes[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes[scores.argmax(axis=1)]

    def probabilities(self, X) -> np.ndarray:
        scores = self.scores(X) / self.temperature
        if len(self.classes) == 2:  # type: ignore[arg-type]
            p = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
            return np.hstack([1 - p, p])
        return softmax(scores, axis=1)
