"""Tables of an additive model: for each axis the points of its levels, for each pair those of its cells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mercer._runtime.loaded import require, require_finite, require_indices
from mercer.learn.additive.axes import Axis, codes_of


@dataclass(frozen=True)
class PairTable:
    """values[a, b, o] for the coarse levels a and b of two axes, and the coarse level of each level of both."""

    first: int
    second: int
    first_level: np.ndarray
    second_level: np.ndarray
    values: np.ndarray

    def at(self, codes: np.ndarray) -> np.ndarray:
        """The points of rows, by their levels along all axes: (rows, outputs)."""
        return self.values[self.first_level[codes[:, self.first]], self.second_level[codes[:, self.second]]]


@dataclass(frozen=True)
class AdditiveTables:
    """sum over the axes j of mains[j][level_j] + sum over the pairs of values[level_a, level_b], for each output."""

    axes: list[Axis]
    mains: list[np.ndarray]
    pairs: list[PairTable] = field(default_factory=list)

    def _check_loaded(self) -> None:
        require(len(self.mains) == len(self.axes) > 0, "there must be a table for each axis")
        sizes = [axis.n_levels for axis in self.axes]
        require(all(len(main) == n for main, n in zip(self.mains, sizes, strict=True)), "a table has other levels")
        for table in [*self.mains, *(pair.values for pair in self.pairs)]:
            require(table.dtype == np.float64 and table.shape[-1] == self.n_outputs, "a table has another shape")
            require_finite("the points of a term", table)
        for pair in self.pairs:
            require_indices("the axes of a pair", np.array([pair.first, pair.second]), len(self.axes))
            for axis, level, size in zip(
                (pair.first, pair.second), (pair.first_level, pair.second_level), pair.values.shape, strict=False
            ):
                require(len(level) == sizes[axis], "a pair has other levels")
                require_indices("the levels of a pair", level, size)

    @property
    def n_outputs(self) -> int:
        return int(self.mains[0].shape[1])

    @property
    def n_terms(self) -> int:
        return len(self.axes) + len(self.pairs)

    def codes(self, X: np.ndarray) -> np.ndarray:
        """The levels of rows along each axis."""
        return codes_of(self.axes, X)

    def write(self, codes: np.ndarray, out: np.ndarray) -> None:
        """Write the points of rows of given levels: terms side by side, outputs within terms."""
        c = self.n_outputs
        for j, main in enumerate(self.mains):
            out[:, j * c : (j + 1) * c] = main[codes[:, j]]
        for p, pair in enumerate(self.pairs, len(self.mains)):
            out[:, p * c : (p + 1) * c] = pair.at(codes)

    def points(self, X: np.ndarray) -> np.ndarray:
        """The points of encoded rows: (rows, terms * outputs)."""
        out = np.empty((len(X), self.n_terms * self.n_outputs))
        self.write(self.codes(X), out)
        return out

    def with_values(self, mains: list[np.ndarray], pairs: list[np.ndarray]) -> AdditiveTables:
        """The same axes and pairs with other points."""
        made = [replace(pair, values=values) for pair, values in zip(self.pairs, pairs, strict=True)]
        return replace(self, mains=mains, pairs=made)

    def of_outputs(self, outputs: slice) -> AdditiveTables:
        """The tables of some of the outputs."""
        return self.with_values(
            [main[..., outputs] for main in self.mains], [pair.values[..., outputs] for pair in self.pairs]
        )

    def rounded(self) -> AdditiveTables:
        """The same tables with points that float32 has exactly."""

        def rounded(values: np.ndarray) -> np.ndarray:
            return values.astype(np.float32).astype(np.float64)

        return self.with_values([rounded(main) for main in self.mains], [rounded(each.values) for each in self.pairs])


def mean_tables(tables: list[AdditiveTables]) -> AdditiveTables:
    """The mean of tables of the same axes and pairs."""
    mains = [np.mean(parts, axis=0) for parts in zip(*(each.mains for each in tables), strict=True)]
    pairs = [np.mean([pair.values for pair in parts], axis=0) for parts in zip(*(t.pairs for t in tables), strict=True)]
    return tables[0].with_values(mains, pairs)
