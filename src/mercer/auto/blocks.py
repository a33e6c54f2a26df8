"""The dictionary of a model: blocks of explicit features, side by side, on which one linear model is fitted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.expand.fourier import Waves as WaveMap
from mercer.learn import PiecewiseLinear
from mercer.learn.boosting import Forest


class Plain:
    """The encoded columns as they are."""

    kind = "linear"

    def __init__(self, n_columns: int):
        self.width = n_columns

    def features(self, X):
        return X.astype(np.float32)

    def names(self, columns):
        return list(columns)


class Pieces:
    """Piecewise-linear bins of those encoded columns that have more than two values."""

    kind = "pieces"

    def __init__(self, columns: np.ndarray, bins: PiecewiseLinear):
        self.columns, self.bins = columns, bins
        self.width = sum(max(len(edges) - 1, 0) for edges in bins.bins_)

    @classmethod
    def learned(cls, X, n_bins: int) -> Pieces | None:
        columns = np.array([j for j in range(X.shape[1]) if _several(X[:, j])], dtype=np.int64)
        if len(columns) == 0:
            return None
        made = cls(columns, PiecewiseLinear(n_bins=n_bins).fit(np.ascontiguousarray(X[:, columns])))
        return made if made.width else None

    def features(self, X):
        return self.bins._apply(np.ascontiguousarray(X[:, self.columns], dtype=np.float32))

    def names(self, columns):
        return list(self.bins.get_feature_names_out([str(columns[j]) for j in self.columns]))


def _several(x) -> bool:
    """True if a column has more than two values."""
    first = x[0]
    other = x[np.argmax(x != first)]
    return bool(np.any((x != first) & (x != other)))


class Waves:
    """Cosines and sines sqrt(1/m) of given frequencies (m, columns): random features of a kernel, maybe in a metric."""

    kind = "waves"

    def __init__(self, frequencies: np.ndarray, note: str = ""):
        self.frequencies, self.note = frequencies, note
        self.width = 2 * len(frequencies)
        self._map = WaveMap(frequencies, np.zeros(0), float(np.sqrt(1.0 / len(frequencies))), "given")

    def features(self, X):
        X = np.ascontiguousarray(X, dtype=np.float32)
        out = np.empty((len(X), self.width), dtype=np.float32)
        self._map.ready(X.dtype, False)
        for start in range(0, len(X), self._map.rows):
            rows = slice(start, start + self._map.rows)
            self._map.apply(X[rows], out[rows])
        return out

    def names(self, columns):
        m = len(self.frequencies)
        return [f"{what}(wave {i})" for what in ("cos", "sin") for i in range(m)]

    def first(self, width: int) -> Waves:
        """The beginning of this map, with columns scaled to a kernel of the same size."""
        return Waves(self.frequencies[: width // 2], self.note)

    def along(self, places: np.ndarray) -> Waves:
        """The same waves where column j is what was column places[j], constant along new columns (-1)."""
        moved = np.where(places < 0, 0.0, self.frequencies[:, places])
        return Waves(np.ascontiguousarray(moved), self.note)


class Score:
    """The score of a boosted ensemble, one column per output: for rows it was learned from, the out-of-fold one."""

    kind = "score"

    def __init__(self, forests: list[Forest], scale: np.ndarray):
        self.forests, self.scale = forests, scale
        self.width = len(scale)

    def features(self, X):
        total = sum(forest.scores(X) for forest in self.forests) / len(self.forests)
        return self.scaled(total)

    def scaled(self, scores):
        return (scores / self.scale).astype(np.float32)

    def names(self, columns):
        return [f"tree score {k}" for k in range(self.width)]


@dataclass
class Dictionary:
    """Blocks side by side. `features` computes those of new rows; training rows bring their out-of-fold scores."""

    blocks: list = field(default_factory=list)

    @property
    def width(self) -> int:
        return sum(block.width for block in self.blocks)

    @property
    def block_of_column(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.blocks)), [block.width for block in self.blocks])

    def slices(self) -> list[slice]:
        ends = np.cumsum([0, *(block.width for block in self.blocks)])
        return [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]

    def features(self, X, scores=None) -> np.ndarray:
        """The features of encoded rows in float32; `scores`, where given, stands in for the trees'."""
        out = np.empty((len(X), self.width), dtype=np.float32)
        for block, columns in zip(self.blocks, self.slices(), strict=True):
            known = scores is not None and block.kind == "score"
            out[:, columns] = block.scaled(scores) if known else block.features(X)
        return out

    def names(self, columns) -> list[str]:
        return [name for block in self.blocks for name in block.names(columns)]
