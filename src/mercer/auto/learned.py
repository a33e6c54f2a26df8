"""What one fit leaves behind: an encoder, its rows and the linear model of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows


@dataclass(frozen=True)
class Learned:
    """An encoder, the training rows it has encoded, and the linear model of them."""

    encoder: Any
    rows: EncodedRows
    predictor: Predictor

    def calibrated_like(self, other: Learned) -> Learned:
        """The model with the calibration of another one of fewer rows, where it has none of its own."""
        if self.predictor.calibration is not None and self.predictor.classes is None:
            return self
        return replace(self, predictor=replace(self.predictor, calibration=other.predictor.calibration))
