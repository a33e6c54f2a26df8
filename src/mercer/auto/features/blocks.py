"""The dictionary of a model: blocks of explicit features, side by side, on which one linear model is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from mercer import _numeric
from mercer._runtime.derived import DerivedCache
from mercer.auto.boosting.forest import Forest, Together
from mercer.expand.random.fourier import Waves as WaveMap
from mercer.learn import PiecewiseLinear
from mercer.linear.losses import LogLoss

#: Probabilities vary by about a quarter, scores by one.
STRETCH = 4.0


class Block:
    """Explicit features of encoded rows: `width` columns, which `write` computes."""

    kind: str
    width: int

    def names(self, columns) -> list[str]:
        """Names of the features, from those of the encoded columns."""
        raise NotImplementedError

    def features(self, X) -> np.ndarray:
        out = np.empty((len(X), self.width), dtype=np.float32)
        self.write(X, out)
        return out

    def write(self, X, out) -> None:
        """Write the features into an array of float32, which may be some columns of a wider one."""
        raise NotImplementedError

    def without(self, fold: int) -> Block:
        """The block as it would be had it not seen the targets of a fold: most look at none."""
        return self

    def settled(self) -> Block:
        """The block for new rows alone."""
        return self


class Plain(Block):
    """The encoded columns as they are."""

    kind = "linear"

    def __init__(self, n_columns: int):
        self.width = n_columns

    def write(self, X, out):
        out[:] = X

    def names(self, columns):
        return list(columns)


class Pieces(Block):
    """Piecewise-linear bins of those encoded columns that have more than two values."""

    kind = "pieces"

    def __init__(self, columns: np.ndarray, bins: PiecewiseLinear):
        self.columns, self.bins = columns, bins
        pieces = [(j, low, high - low) for j, e in zip(columns, bins.bins_, strict=True) for low, high in pairwise(e)]
        self.width = len(pieces)
        self._column = np.array([j for j, _, _ in pieces], dtype=np.int64)
        self._low, self._length = (np.array([piece[k] for piece in pieces], dtype=np.float64) for k in (1, 2))

    @classmethod
    def learned(cls, X, n_bins: int, weight=None) -> Pieces | None:
        columns = np.array([j for j in range(X.shape[1]) if _several(X[:, j])], dtype=np.int64)
        if len(columns) == 0:
            return None
        made = cls(columns, PiecewiseLinear(n_bins=n_bins).fit(np.ascontiguousarray(X[:, columns]), None, weight))
        return made if made.width else None

    def write(self, X, out):
        _numeric.write_piecewise_linear(X, self._column, self._low, self._length, out)

    def names(self, columns):
        return list(self.bins.get_feature_names_out([str(columns[j]) for j in self.columns]))


def _several(x) -> bool:
    """True if a column has more than two values."""
    first = x[0]
    other = x[np.argmax(x != first)]
    return bool(np.any((x != first) & (x != other)))


class Waves(Block):
    """Cosines and sines sqrt(1/m) of given frequencies (m, columns): random features of a kernel, maybe in a metric."""

    kind = "waves"

    def __init__(self, frequencies: np.ndarray, note: str = ""):
        self.frequencies, self.note = frequencies, note
        self.width = 2 * len(frequencies)
        self._map = WaveMap(frequencies, np.zeros(0), float(np.sqrt(1.0 / len(frequencies))), "given")

    def write(self, X, out):
        X = np.ascontiguousarray(X, dtype=np.float32)
        self._map.ready(X.dtype, False)
        for start in range(0, len(X), self._map.rows):
            rows = slice(start, start + self._map.rows)
            self._map.apply(X[rows], out[rows])

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


def moved_columns(columns: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Where columns are now that column j is what was column places[j]; -1 for one that is gone."""
    where = np.full(1 + max(int(columns.max(initial=0)), int(places.max(initial=0))), -1)
    where[places[places >= 0]] = np.flatnonzero(places >= 0)
    return np.where(columns < 0, -1, where[columns])


class Products(Block):
    """Products (x_i - c_i)(x_j - c_j) / s of pairs of encoded columns, squares where i = j.

    Columns are measured from their means c, so that a product says nothing that its factors say, and s makes the
    variance of each product one on the rows that it was chosen from.
    """

    kind = "products"

    def __init__(self, pairs: np.ndarray, centers: np.ndarray, factor: np.ndarray):
        self.pairs, self.centers, self.factor = pairs, centers, factor
        self.width = len(pairs)

    @classmethod
    def learned(cls, X, pairs, weight=None) -> Products:
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        made = cls(pairs, np.average(X, axis=0, weights=weight)[pairs], np.ones(len(pairs)))
        products = made.features(X).astype(np.float64)
        away = products - np.average(products, axis=0, weights=weight)
        spread = np.sqrt(np.average(away**2, axis=0, weights=weight))
        made.factor = 1.0 / np.where(spread > 0, spread, 1.0)
        return made

    def write(self, X, out):
        first, second = (X[:, self.pairs[:, k]] - self.centers[:, k] for k in (0, 1))
        out[:] = first * second * self.factor

    def names(self, columns):
        return [f"{columns[i]}^2" if i == j else f"{columns[i]} * {columns[j]}" for i, j in self.pairs.tolist()]

    def along(self, places: np.ndarray) -> Products:
        """The same products where column j is what was column places[j]; one of a column that is gone is zero."""
        moved = moved_columns(self.pairs, places)
        gone = np.any(moved < 0, axis=1)
        return Products(np.where(gone[:, None], 0, moved), self.centers, np.where(gone, 0.0, self.factor))


@dataclass(frozen=True)
class TreeColumns:
    """What trees see: encoded columns, but each category as one column of codes (0: none of its levels)."""

    kept: np.ndarray
    categories: list[slice]

    @classmethod
    def of(cls, n_columns: int, categories: list[slice]) -> TreeColumns:
        inside = np.zeros(n_columns, dtype=bool)
        for columns in categories:
            inside[columns] = True
        return cls(np.flatnonzero(~inside), list(categories))

    @property
    def codes(self) -> np.ndarray:
        return len(self.kept) + np.arange(len(self.categories))

    def __call__(self, X) -> np.ndarray:
        seen = np.empty((len(X), len(self.kept) + len(self.categories)))
        seen[:, : len(self.kept)] = X[:, self.kept]
        rows = np.arange(len(X))
        for place, c in zip(self.codes, self.categories, strict=True):
            largest = X[:, c].argmax(axis=1)  # indicators are not negative: if this one is zero, all are
            seen[:, place] = np.where(X[rows, c.start + largest] != 0, 1 + largest, 0)
        return seen

    def spread(self, gains: np.ndarray, n_columns: int) -> np.ndarray:
        """Gains of what trees see as gains of encoded columns; levels share that of their category."""
        found = np.zeros(n_columns)
        found[self.kept] = gains[: len(self.kept)]
        for columns, gain in zip(self.categories, gains[len(self.kept) :], strict=True):
            found[columns] = gain / (columns.stop - columns.start)
        return found


class Score(Block):
    """The score of a boosted ensemble, one column per output: for rows it was learned from, the out-of-fold one.

    Scores of classes are log-odds, made for the logistic loss; beside them stand the probabilities they mean, made for
    the squared loss that the search works with. Without these, other blocks would be credited for bending the score.
    """

    kind = "score"

    def __init__(self, forests: list[Forest], scale: np.ndarray, columns: TreeColumns, classes: bool):
        self.forests, self.scale, self.columns, self.classes = forests, scale, columns, classes
        self.width = len(scale) * (2 if classes else 1)

    def write(self, X, out):
        out[:] = self.scaled(self.scores(X))

    def scores(self, X) -> np.ndarray:
        """The mean of what the ensembles say of new rows."""
        together = _together(self)
        if together.forests is not self.forests:
            together = _together.refresh(self)
        total, *others = np.moveaxis(together(self.columns(X)), 1, 0)
        for each in others:
            total += each
        return total / len(self.forests)

    def scaled(self, scores):
        parts = [scores / self.scale]
        if self.classes:
            parts.append(STRETCH * LogLoss().probabilities(scores))
        return np.hstack(parts).astype(np.float32)

    def names(self, columns):
        c = len(self.scale)
        return [f"tree {what} {k}" for what in ("score", "probability") for k in range(c)][: self.width]


_together = DerivedCache(lambda score: Together(score.forests))


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
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def features(self, X, scores=None) -> np.ndarray:
        """The features of encoded rows in float32; `scores`, where given, stands in for the trees'."""
        return self._features(X, {} if scores is None else {k: block.scaled(scores) for k, block in self._trees()})

    def spans(self, X) -> Callable[[slice], np.ndarray]:
        """span -> the features of those of the rows X; trees, which take many rows in less time, are asked before."""
        trees = {k: block.features(X) for k, block in self._trees()}
        return lambda span: self._features(X[span], {k: part[span] for k, part in trees.items()})

    def _trees(self):
        return [(k, block) for k, block in enumerate(self.blocks) if block.kind == "score"]

    def _features(self, X, known: dict[int, np.ndarray]) -> np.ndarray:
        out = np.empty((len(X), self.width), dtype=np.float32)
        start = 0
        for k, block in enumerate(self.blocks):
            part = out[:, start : start + block.width]
            if k in known:
                part[:] = known[k]
            else:
                block.write(X, part)
            start += block.width
        return out

    def of_block(self, place: int, X, scores=None) -> np.ndarray:
        """The features of one block."""
        block = self.blocks[place]
        return block.scaled(scores) if scores is not None and block.kind == "score" else block.features(X)

    def over(self, X, scores=None) -> Callable[[slice], np.ndarray]:
        """span -> the features of those of the rows X; `scores` of all, where given, stand in for the trees'."""
        return lambda span: self.features(X[span], None if scores is None else scores[span])

    def without(self, fold: int) -> Dictionary:
        """The dictionary as it would be had it not seen the targets of a fold: itself, where no block looks at any."""
        blocks = [block.without(fold) for block in self.blocks]
        same = all(one is other for one, other in zip(blocks, self.blocks, strict=True))
        return self if same else Dictionary(blocks)

    def settled(self) -> Dictionary:
        """The dictionary for new rows alone."""
        return Dictionary([block.settled() for block in self.blocks])

    def names(self, columns) -> list[str]:
        draws = sum(block.kind == "waves" for block in self.blocks)
        names, draw = [], 0
        for block in self.blocks:
            made = block.names(columns)
            if block.kind == "waves" and draws > 1:
                draw += 1
                made = [f"{name}, draw {draw}" for name in made]
            names.extend(made)
        return names
