"""What a model keeps of the distribution of its training rows, so that other rows can be compared with it.

No row is kept: the counts of the cells of each column, and mean and covariance of random features of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.auto.budget.clock import Clock
from mercer.auto.shift.cells import ColumnCells, in_first_half
from mercer.auto.shift.columns import RowEncoder
from mercer.auto.shift.two_sample import FeatureMoments
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian
from mercer.source import Columns, Source
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.holdout import split_by_position
from mercer.stats.base import Statistic
from mercer.tables.schema import conformed

#: Frequencies of each Gaussian kernel, products, rows whose distances give the bandwidth, and rows of a reference.
_N_FREQUENCIES, _N_PRODUCTS, _MEDIAN_ROWS, MAX_ROWS = 48, 64, 500, 20_000
#: Values of a reference, which bound its rows where there are many columns, and the fewest rows.
_MAX_VALUES, _MIN_ROWS = 20_000_000, 500
#: Encoded numbers at a time, beyond any block of 2,000 encoded columns.
_MAX_ENTRIES = 1 << 24
#: Values that a second is enough for, and the fraction of a time budget that a reference may always take.
_VALUES_PER_SECOND, _BUDGET = 500_000, 0.05
N_FEATURES = 4 * _N_FREQUENCIES + _N_PRODUCTS
#: The kernel of each feature: rows, single columns, products; cosines are followed by sines.
KERNELS = np.repeat([0, 1, 0, 1, 2], [*[_N_FREQUENCIES] * 4, _N_PRODUCTS])
#: The bandwidth for single columns, which are about interquartile ranges from their median.
_COLUMN_BANDWIDTH = 0.3
#: Rows of new data whose features enter the test: all are counted in the cells of columns.
_MAX_MOMENT_ROWS = 50_000
_SAMPLE_SEED = 0x5348494654
_RESOLUTION = 1 << 32
#: Columns of these roles differ between any two tables.
_UNCOMPARED = ("id",)


@dataclass(frozen=True)
class RowFeatures:
    """Features of three kernels on the encoded columns of rows.

    - Gaussian kernel of median bandwidth on all columns: cos and sin of <omega, x>.
    - The sum over columns of Gaussian kernels of one column: the same, omega along one column each.
    - Products <u, x> <v, x> of random signs u and v, whose means determine the means of all x_i x_j.
    """

    schema: dict[str, str]
    encoder: RowEncoder
    random_features: RandomFeatures
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, table: Columns, roles: dict[str, str], seed: int = 0) -> RowFeatures:
        """Learn centers, scales and the bandwidth from some rows."""
        encoder = RowEncoder.of(table, roles)
        X = encoder.encode(table[:_MEDIAN_ROWS])
        kernel = Gaussian(_median_distance(X))
        joint = RandomFeatures(kernel, n_components=2 * _N_FREQUENCIES, random_state=seed).fit(X).frequencies_
        random = np.random.default_rng(seed)
        single, columns = np.zeros_like(joint), random.permutation(_varying(X))
        frequencies = np.arange(_N_FREQUENCIES)
        single[frequencies, columns[frequencies % len(columns)]] = random.normal(0, 1 / _COLUMN_BANDWIDTH, len(joint))
        signs = random.choice([-1.0, 1.0], (2, X.shape[1], _N_PRODUCTS)) / np.sqrt(X.shape[1])
        schema = {name: table.schema[name] for name in roles}
        return cls(schema, encoder, RandomFeatures.from_frequencies(np.vstack([joint, single])), *signs)

    def table(self, block: Block) -> Columns:
        """The columns that are compared, in the types of the reference."""
        return conformed(Columns.of(block.X), self.schema, block.start)

    def features(self, table: Columns) -> np.ndarray:
        """The features of rows, some rows at a time where they are wide: words of a text are many columns."""
        step = max(_MAX_ENTRIES // len(self.left), 1)
        return np.concatenate([self._some(table[i : i + step]) for i in range(0, len(table), step)])

    def _some(self, table: Columns) -> np.ndarray:
        X = self.encoder.encode(table)
        trigonometric = np.asarray(self.random_features.transform(X), dtype=np.float64)
        return np.concatenate([trigonometric, (X @ self.left) * (X @ self.right)], axis=1)


def _varying(X: np.ndarray) -> np.ndarray:
    """The indices of the columns of more than one value; all of them if there are none."""
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    return varying if len(varying) else np.arange(X.shape[1])


def _median_distance(X: np.ndarray) -> float:
    """The median distance of distinct rows; 1 where all are equal."""
    squares = np.einsum("ij,ij->i", X, X)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0.0))
    distances = distances[np.triu_indices(len(X), 1)]
    distances = distances[distances > 1e-6]
    return float(np.median(distances)) if len(distances) else 1.0


@dataclass(frozen=True)
class ShiftCounts(Statistic):
    """Counts of the cells of columns, and sums of random features (of a fraction of the rows) and their products."""

    features: Any
    cells: tuple[ColumnCells, ...]
    fraction: float = 1.0
    #: Whether categories are counted in one half of the rows, those that did not choose them.
    half: bool = False
    n: int = 0
    counts: tuple[np.ndarray, ...] = ()
    n_features: int = 0
    total: Any = None
    products: Any = None

    def of(self, block: Block) -> ShiftCounts:
        if len(block) == 0:
            return replace(self, n=0)
        return self.of_rows(self.features.table(block), block.positions)

    def of_rows(self, table: Columns, positions: np.ndarray) -> ShiftCounts:
        """The counts and sums of the rows of a table, whose indices in the data set are `positions`."""
        positions = np.asarray(positions, dtype=np.uint64)
        others = table[~in_first_half(positions)] if self.half else table
        counts = tuple(each.count(others if each.categories else table) for each in self.cells)
        keys = _numeric.buckets(_numeric.splitmix64(positions, _SAMPLE_SEED), _RESOLUTION)
        chosen = keys < self.fraction * _RESOLUTION
        Z = self.features.features(table if chosen.all() else table[chosen]) if chosen.any() else _NONE
        return replace(self, n=len(table), counts=counts, n_features=len(Z), total=Z.sum(axis=0), products=Z.T @ Z)

    def _merge(self, other: ShiftCounts) -> ShiftCounts:
        return replace(
            self,
            n=self.n + other.n,
            counts=tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            n_features=self.n_features + other.n_features,
            total=self.total + other.total,
            products=self.products + other.products,
        )

    def finish(self) -> tuple[int, tuple[np.ndarray, ...], FeatureMoments]:
        moments = FeatureMoments.of_sums(max(self.n_features, 1), self.total, self.products)
        return self.n, self.counts, moments


_NONE = np.zeros((0, N_FEATURES))


@dataclass(frozen=True)
class DataReference:
    """The distribution of rows: of each column by the counts of its cells, of whole rows by moments of features."""

    n: int
    features: RowFeatures
    cells: tuple[ColumnCells, ...]
    counts: tuple[np.ndarray, ...]
    n_moments: int
    mean: np.ndarray
    #: The upper triangle of the covariance.
    triangle: np.ndarray

    @property
    def moments(self) -> FeatureMoments:
        covariance = np.zeros((len(self.mean),) * 2)
        upper = np.triu_indices(len(self.mean))
        covariance[upper] = self.triangle
        return FeatureMoments(self.n_moments, self.mean, covariance + np.triu(covariance, 1).T)


def reference_of(source: Source, roles: dict[str, str], seed: int = 0, most: int = MAX_ROWS) -> DataReference | None:
    """The reference of the rows of a source with columns of these roles; None if no column can be compared.

    Of more than `most` rows, or fewer beyond 1,000 columns, a random sample by position is taken.
    """
    compared = {name: role for name, role in roles.items() if role not in _UNCOMPARED}
    if not compared:
        return None
    most = min(most, _rows_of(len(compared)))
    if source.n_rows is not None and source.n_rows > most:
        source = split_by_position(source, most / source.n_rows, _SAMPLE_SEED)[1]
    blocks = [block for block in source.blocks() if len(block)]
    positions = np.concatenate([block.positions for block in blocks])
    first, *others = (Columns.of(block.X).select(compared) for block in blocks)
    table = first.stacked(*others) if others else first
    shuffled = table[np.argsort(_numeric.splitmix64(positions.astype(np.uint64), 2), kind="stable")]
    features, half = RowFeatures.of(shuffled, compared, seed), table[in_first_half(positions)]
    cells = tuple(
        ColumnCells.of(half if role in ("category", "high-cardinality") else table, name, role)
        for name, role in compared.items()
    )
    empty = ShiftCounts(features, cells, half=True)
    # A sample of many rows has few of each block: sums of rows together, in parts that do not depend on the blocks.
    parts = (slice(start, start + BLOCK_ROWS) for start in range(0, len(table), BLOCK_ROWS))
    n, counts, moments = reduce(
        lambda total, part: total.merge(empty.of_rows(table[part], positions[part])), parts, empty
    ).finish()
    triangle = moments.covariance[np.triu_indices(len(moments.mean))].astype(np.float32)
    return DataReference(n, features, cells, counts, int(moments.n), moments.mean, triangle)


def _rows_of(n_columns: int) -> int:
    """Rows of a reference with so many columns.

    >>> _rows_of(20), _rows_of(10_000), _rows_of(100_000)
    (20000, 2000, 500)
    """
    return int(np.clip(_MAX_VALUES // n_columns, _MIN_ROWS, MAX_ROWS))


def counts_of(source: Source, reference: DataReference) -> tuple[int, tuple[np.ndarray, ...], FeatureMoments]:
    """Rows, counts of cells and moments of other rows, in one pass."""
    n = source.n_rows or 0
    fraction = min(1.0, _MAX_MOMENT_ROWS / max(n, 1))
    return source.fold(ShiftCounts(reference.features, reference.cells, fraction)).finish()


def training_reference(encoder: Any, source: Source, seed: int, clock: Clock) -> DataReference | None:
    """The reference of the training rows of a model, of fewer rows where the time budget is nearly spent.

    None where reading a large table again would exceed the budget.
    """
    roles = {name: role.role for name, role in encoder.roles_.items()}
    most = _rows_of(max(len(roles), 1))
    if clock.budget is not None:
        if (source.n_rows is None or source.n_rows > most) and clock.left() <= 0:
            return None
        seconds = max(clock.left(), _BUDGET * clock.budget) / clock.contention()
        most = int(np.clip(seconds * _VALUES_PER_SECOND / max(len(roles), 1), _MIN_ROWS, most))
    return reference_of(source, roles, seed, most)
