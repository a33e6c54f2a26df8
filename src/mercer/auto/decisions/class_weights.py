"""Weights of classes: factors on the weights of rows, whose effect on probabilities is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import ParameterError, Setting
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.source import Source
from mercer.stats import LabelCounts


@dataclass(frozen=True)
class ClassWeights:
    """The factor of each class, in the sorted order of the labels.

    A model of rows that are weighted by w_c has probabilities q_c ~ w_c p_c. The prior shift p_c ~ q_c / w_c takes that
    back (Elkan 2001; Saerens, Latinne, Decaestecker 2002): log w_c is subtracted from the intercepts.
    """

    labels: np.ndarray
    factors: np.ndarray

    @classmethod
    def of(cls, given: Any, source: Source) -> ClassWeights:
        """'balanced' is n / (K n_c); a dict names classes by their labels, as they are or as text."""
        counted = source.map(lambda block: replace(block, weight=None)).fold(LabelCounts()).finish()
        labels = np.asarray(counted.levels)
        counts = np.asarray(counted.counts, dtype=np.float64)
        order = np.argsort(labels)
        labels, counts = labels[order], counts[order]
        if isinstance(given, Mapping):
            return cls(labels, _named_factors(given, labels))
        return cls(labels, counts.sum() / (len(counts) * counts))

    def of_labels(self, y: Any) -> np.ndarray:
        """The factor of each label."""
        index = np.minimum(np.searchsorted(self.labels, np.asarray(y)), len(self.labels) - 1)
        return self.factors[index]

    def __call__(self, block: Block) -> Block:
        """The rows with weights multiplied by the factors of their classes."""
        if len(block) == 0:
            return block
        factors = self.of_labels(block.y)
        return block.with_weight(factors if block.weight is None else block.weight * factors)

    def unweighted(self, rows: EncodedRows) -> EncodedRows:
        """The rows with the weights that they had before."""
        return rows if rows.weight is None else replace(rows, weight=rows.weight / self.of_labels(rows.y))

    def corrected(self, predictor: Predictor) -> Predictor:
        """The model with the probabilities of the data: T log w_c subtracted from the intercepts."""
        shift = predictor.temperature * np.log(self.of_labels(predictor.classes))
        shift = shift[1:] - shift[:1] if len(shift) == 2 else shift
        return replace(predictor, intercept=np.asarray(predictor.intercept, dtype=np.float64) - shift)

    def corrected_probabilities(self, probabilities: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """p_c ~ q_c / w_c."""
        found = probabilities / self.of_labels(classes)
        return found / found.sum(axis=1, keepdims=True)


def _named_factors(given: Mapping, labels: np.ndarray) -> np.ndarray:
    known = {label: k for k, label in enumerate(labels.tolist())}
    known |= {str(label): k for k, label in enumerate(labels.tolist()) if str(label) not in known}
    factors = np.ones(len(labels))
    for label, weight in given.items():
        if label not in known:
            shown = ", ".join(repr(each) for each in labels.tolist()[:8])
            raise ParameterError(
                Setting("class_weight", key=str(label)), label, f"must name one of the classes {shown}"
            )
        factors[known[label]] = float(weight)
    return factors
