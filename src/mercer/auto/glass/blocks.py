"""Features by which the points of an explainable model are fitted; they become tables when the model is done."""

from __future__ import annotations

import numpy as np

from mercer.auto.features.base import FeatureBlock
from mercer.learn.additive.booster import LevelRows
from mercer.learn.additive.tables import AdditiveTables

#: Pieces of a piecewise-linear basis of a number in a pair, and categories beyond which a pair has no smooth basis.
_N_PIECES, _MAX_CATEGORIES = 7, 12


class BoostedTermsBlock(FeatureBlock):
    """The boosted points of each term; training rows have those learned without them."""

    kind = "boosted terms"

    def __init__(self, tables: AdditiveTables):
        self.tables, self.width = tables, tables.n_terms * tables.n_outputs

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        self.tables.write(self.tables.codes(X), out)

    @property
    def n_scores(self) -> int:
        """The number of known points of a row."""
        return self.width

    def from_scores(self, scores: np.ndarray) -> np.ndarray:
        """The features of rows with known points."""
        return scores


class PairSurfacesBlock(FeatureBlock):
    """Products of the piecewise-linear bases of the two axes of each pair.

    With ridge weights, the mixed second differences of a surface are penalized: what is additive costs nothing here,
    and is left to the columns.
    """

    kind = "pair surfaces"

    def __init__(self, data: LevelRows, pairs: np.ndarray):
        self.axes, self.parts = data.axes, []
        for first, second in pairs.tolist():
            bases = [_basis(data, j) for j in (first, second)]
            if bases[0] is not None and bases[1] is not None:
                self.parts.append((first, second, *bases))
        self.width = sum(one.shape[1] * other.shape[1] for *_, one, other in self.parts)

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        start, codes = 0, {j: self.axes[j].codes(X) for part in self.parts for j in part[:2]}
        for first, second, one, other in self.parts:
            product = one[codes[first]][:, :, None] * other[codes[second]][:, None, :]
            stop = start + product.shape[1] * product.shape[2]
            out[:, start:stop] = product.reshape(len(X), -1)
            start = stop


def _basis(data: LevelRows, j: int) -> np.ndarray | None:
    """The basis of an axis at its levels: ramps over coarse levels, the last level for missing values, or indicators.

    None for a category of too many.
    """
    axis, coarse = data.axes[j], data.coarse[j]
    if axis.is_category:
        return np.eye(axis.n_levels)[:, 1:] if axis.n_known <= _MAX_CATEGORIES else None
    counts = np.bincount(data.codes[:, j], minlength=axis.n_levels)[: axis.n_known]
    level = coarse[: axis.n_known]
    total = np.bincount(level, counts)
    values = np.bincount(level, counts * axis.values) / np.maximum(total, 1)
    knots = np.unique(values[np.linspace(0, len(values) - 1, min(_N_PIECES + 1, len(values))).round().astype(int)])
    if len(knots) < 2:
        return None
    ramps = np.clip((values[level][:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)
    ramps -= counts @ ramps / max(counts.sum(), 1)
    if axis.missing < 0:
        return ramps
    out = np.zeros((axis.n_levels, ramps.shape[1] + 1))
    out[: axis.n_known, :-1], out[-1, -1] = ramps, 1.0
    return out
