"""The axes of an encoded table: a coordinate with levels for each column that an explainable model reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.learn.additive.axes import Axis, codes_of, placed

#: Kinds of encoded columns that are numbers, one axis each.
_NUMBERS = ("number", "frequency", "target")


@dataclass(frozen=True)
class TableAxes:
    """Axes of encoded rows, the column of the table of each, and its name, which refits know it by."""

    axes: list[Axis]
    columns: list[str]
    names: list[str]
    n_encoded: int

    @classmethod
    def of(cls, encoder: Any, X: np.ndarray, weight: np.ndarray | None, n_bins: int) -> TableAxes:
        """The axes of an encoder's output; of a date only linear time is read."""
        blocks, names = encoder.blocks_, [str(name) for name in encoder.get_feature_names_out()]
        flags = {block.column: block.start for block in blocks if block.kind == "missing"}
        axes, columns, known = [], [], []
        for block in blocks:
            made: list[Axis] = []
            if block.kind in _NUMBERS:
                for column in range(block.start, block.stop):
                    missing = flags.pop(block.column, -1)
                    made.append(Axis.of_number(X, column, missing, n_bins, weight))
                    known.append(names[column])
            elif block.kind == "date":
                made.append(Axis.of_number(X, block.start, flags.pop(block.column, -1), n_bins, weight))
                known.append(names[block.start])
            elif block.kind == "onehot":
                indicators = np.arange(block.start, block.stop)
                made.append(Axis.of_category(indicators, flags.pop(block.column, -1)))
                known.append(block.column)
            axes += made
            columns += [block.column] * len(made)
        for column, flag in flags.items():  # a column of which only its absence is known
            axes.append(Axis.of_category(np.array([flag])))
            columns.append(column)
            known.append(f"{column}=missing")
        return cls(axes, columns, known, X.shape[1])

    def codes(self, X: np.ndarray) -> np.ndarray:
        """The levels of encoded rows."""
        return codes_of(self.axes, X)

    def rows(self, codes: np.ndarray) -> np.ndarray:
        """Encoded rows of given levels: what a model of these levels sees of a row."""
        return placed(self.axes, codes, self.n_encoded)
