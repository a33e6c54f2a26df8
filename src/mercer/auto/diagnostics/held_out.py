"""Held-out rows, and the model that is diagnosed on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer.auto.final.predictor import Predictor
from mercer.source import Columns
from mercer.tables.columns import columns_by_name


@dataclass(frozen=True)
class HeldOutRows:
    """A random sample of the held-out rows, and the model that has not seen them.

    table : the rows as read, without target and weight
    X : the encoded rows, dense or CSR
    y : targets (numbers, or the labels as in the data)
    positions : the index of each row in the data
    encoder : the encoder of the model, with `blocks_`, `roles_` and `schema_`
    predictor : the model before its refit on all rows
    baseline : the mean encoded training row
    """

    table: Columns
    X: Any
    y: np.ndarray
    positions: np.ndarray
    encoder: Any
    predictor: Predictor
    baseline: np.ndarray
    weight: np.ndarray | None = None
    seed: int = 0

    @property
    def classes(self) -> np.ndarray | None:
        return self.predictor.classes

    @cached_property
    def scores(self) -> np.ndarray:
        """The scores of the rows, one column per output; for classes over the temperature: log-odds."""
        scores = self.predictor.scores(self.X)
        return scores if self.classes is None else scores / self.predictor.temperature

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The probabilities of the classes."""
        return self.predictor.probabilities(self.X)

    @cached_property
    def groups(self) -> dict[str, np.ndarray]:
        """The encoded columns of each column of the table."""
        return columns_by_name(self.encoder.blocks_)
