"""The rule by which probabilities become a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class DecisionRule:
    """The class j of largest expected utility, sum over c of p_c utility[c, j].

    utility = -costs is the Bayes decision; a diagonal one compares weighted probabilities. With two classes the rule is
    a threshold on the probability of the second, which it takes at the threshold itself.

    >>> rule = DecisionRule(np.array([[0.0, -1.0], [-4.0, 0.0]]))
    >>> rule.threshold, rule.choose(np.array([[0.9, 0.1], [0.7, 0.3]])).tolist()
    (0.2, [0, 1])
    """

    utility: np.ndarray

    @classmethod
    def of_weights(cls, weights: np.ndarray) -> DecisionRule:
        """Compare p_c weights[c]."""
        return cls(np.diag(np.asarray(weights, dtype=np.float64)))

    @classmethod
    def of_threshold(cls, threshold: float) -> DecisionRule:
        """Take the second of two classes from a probability on."""
        return cls.of_weights(np.array([threshold, 1.0 - threshold]))

    def choose(self, probabilities: np.ndarray) -> np.ndarray:
        """The number of the class that each row is predicted as; sums do not depend on other rows."""
        values = probabilities[:, :1] * self.utility[0]
        for c in range(1, len(self.utility)):
            values = values + probabilities[:, c : c + 1] * self.utility[c]
        if values.shape[1] == 2:
            return (values[:, 1] >= values[:, 0]).astype(np.intp)
        return values.argmax(axis=1)

    @property
    def threshold(self) -> float | None:
        """The probability of the second of two classes from which on it is predicted."""
        if len(self.utility) != 2:
            return None
        first, second = self.utility[0, 0] - self.utility[0, 1], self.utility[1, 1] - self.utility[1, 0]
        return float(first / (first + second)) if first + second > 0 else float(first > 0)

    def plain(self, why: str, classes: np.ndarray) -> dict[str, Any]:
        """The section `decision` of a report."""
        shown = f"{self.threshold:.3g}" if self.threshold is not None else ""
        if self.threshold is not None:
            sentence = f"{str(classes[1])!r} is predicted from a probability of {shown} on ({why})."
        else:
            sentence = f"Predictions do not take the most probable class, but weigh probabilities ({why})."
        return {"why": why, "threshold": self.threshold, "utility": self.utility.tolist(), "sentence": sentence}

    def _check_loaded(self) -> None:
        shape = np.shape(self.utility)
        if len(shape) != 2 or shape[0] != shape[1] or not np.all(np.isfinite(self.utility)):
            raise ValueError("The decision rule of the model is not a square matrix of finite numbers.")


@dataclass(frozen=True)
class OutOfFold:
    """Probabilities and class numbers of rows that were held out while a model was chosen."""

    probabilities: np.ndarray
    codes: np.ndarray
    weight: np.ndarray | None = None
