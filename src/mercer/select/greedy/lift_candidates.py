"""The columns of any lift as candidates: rows are lifted in chunks whenever sums over them are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._runtime.pool import ordered_map
from mercer.select.base import dense
from mercer.select.greedy.candidates import CHUNK_ENTRIES, CandidateMoments, ColumnCandidates, moments_from_squares

#: Lifted rows of at most this many entries are written out: lifting them again would cost more than it saves.
MAX_STORED_ENTRIES = 2**23
#: A feature changes if it does by more than this many units of rounding of its largest value.
_MIN_CHANGE = 64
_GOLDEN = 0.6180339887498949


class LiftCandidates(ColumnCandidates):
    """The columns of lift(X), of which only a chunk of rows is ever in memory."""

    def __init__(self, X: Any, lift: Any, width: int, dtype: np.dtype):
        super().__init__(X)
        self.lift, self.width, self.dtype = lift, width, dtype

    @property
    def size(self) -> int:
        return self.width

    @property
    def rounding(self) -> float:
        return float(np.finfo(self.dtype).eps)

    def rows(self, selection: np.ndarray) -> LiftCandidates:
        return LiftCandidates(self.X[selection], self.lift, self.width, self.dtype)

    def column(self, j: int) -> np.ndarray:
        return np.concatenate([dense(Z[:, [j]])[:, 0] for Z in self._lifted_chunks()])

    def products(self, v: np.ndarray) -> np.ndarray:
        parts = ordered_map(lambda rows: np.asarray(self._lift(rows).T @ v[rows].astype(self.dtype)), self._spans())
        return _total(parts, self.width)

    def squares(self, h: np.ndarray) -> np.ndarray:
        def part(rows: slice) -> np.ndarray:
            Z = self._lift(rows)
            return np.asarray((Z.multiply(Z) if hasattr(Z, "tocsr") else Z * Z).T @ h[rows])

        return _total(ordered_map(part, self._spans()), self.width)

    def moments(self, h: np.ndarray, centered: bool) -> CandidateMoments:
        if not centered:
            return super().moments(h, centered)
        total = h.sum()
        mean = self.products(h) / total
        if hasattr(self._lift(slice(0, 1)), "tocsr"):
            return moments_from_squares(mean, self.squares(h), total)

        def part(rows: slice) -> np.ndarray:
            deviation = self._lift(rows) - mean
            deviation *= deviation
            return h[rows] @ deviation

        squares = _total(ordered_map(part, self._spans()), self.width)
        return CandidateMoments(mean, squares, total * (8 * self.rounding * mean) ** 2)

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        step = max(1, CHUNK_ENTRIES // max(1, self.n))
        for start in range(0, self.width, step):
            indices = np.arange(start, min(start + step, self.width))
            yield indices, np.concatenate([dense(Z[:, start : start + step]) for Z in self._lifted_chunks()])

    def _spans(self) -> list[slice]:
        step = max(1, CHUNK_ENTRIES // max(1, self.width))
        return [slice(i, min(i + step, self.n)) for i in range(0, self.n, step)]

    def _lift(self, rows: slice) -> Any:
        return lifted(self.lift, self.X[rows])

    def _lifted_chunks(self) -> Iterator[Any]:
        return ordered_map(self._lift, self._spans())


class LiftFamily:
    """Columns of a fitted lift as features: how selected ones are described, named and computed on other rows."""

    fields: tuple[int, ...] = ()

    def __init__(self, lift: Any):
        self.lift = lift

    @classmethod
    def fitted(cls, lift: Any, X: Any, y: Any) -> LiftFamily:
        """Return the family of a clone of `lift`, fitted on these rows."""
        return cls(clone(lift).fit(X, y))

    def over(self, X: Any) -> ColumnCandidates:
        probe = lifted(self.lift, X[:1])
        if X.shape[0] * probe.shape[1] <= MAX_STORED_ENTRIES:
            return ColumnCandidates(lifted(self.lift, X))
        return LiftCandidates(X, self.lift, probe.shape[1], probe.dtype)

    def candidate_names(self, names: list[str]) -> list[str]:
        return [str(name) for name in self.lift.get_feature_names_out(names)]

    def describe(self, candidates: ColumnCandidates, j: int) -> int:
        return int(j)

    def source_columns(self, X: Any, candidates: ColumnCandidates, j: int) -> list[int]:
        """Return the columns of X that feature j depends on, found by perturbation.

        In the rows where the feature is largest and smallest, entries are moved toward the farther end of the range of
        their column: those of many columns together first, then one by one where that changed the feature.
        """
        z, found = candidates.column(j), set()
        low, high = (dense(end).ravel() for end in (X.min(axis=0), X.max(axis=0)))
        sets = np.array_split(np.arange(len(low)), int(np.ceil(np.sqrt(len(low)))))
        for row in (int(np.argmax(z)), int(np.argmin(z))):
            at = dense(X[[row]])[0]
            far = np.where(high - at > at - low, high, low)
            together = [members for members, changed in self._changes(at, far, sets, j, X.dtype) if changed]
            single = [np.array([i]) for members in together for i in members]
            found |= {int(i) for [i], changed in self._changes(at, far, single, j, X.dtype) if changed}
        return sorted(found)

    def _changes(
        self, at: np.ndarray, far: np.ndarray, sets: list[np.ndarray], j: int, dtype: np.dtype
    ) -> Iterable[tuple[np.ndarray, bool]]:
        """Return each set of columns, and whether feature j changes if their entries move all or part of the way.

        The fractions differ between columns, so that two changes do not cancel, as in a product of two signs.
        """
        fractions = 0.6 + 0.4 * np.modf(_GOLDEN * np.arange(len(at)))[0]
        perturbed = np.tile(at, (1 + 2 * len(sets), 1))
        for i, members in enumerate(sets):
            perturbed[1 + 2 * i, members] = far[members]
            perturbed[2 + 2 * i, members] += (fractions * (far - at))[members]
        values = dense(lifted(self.lift, perturbed.astype(dtype))[:, [j]])[:, 0]
        min_change = _MIN_CHANGE * np.finfo(dtype).eps * np.abs(values).max()
        changed = np.abs(values[1:] - values[0]).reshape(-1, 2).max(axis=1) > min_change
        return zip(sets, changed, strict=True)

    def sorted(self, selected: set) -> np.ndarray:
        return np.array(sorted(selected), dtype=np.int64)

    def compute(self, X: Any, terms: np.ndarray) -> Any:
        return lifted(self.lift, X)[:, terms]

    def names(self, names: list[str], terms: np.ndarray) -> np.ndarray:
        return np.asarray(self.candidate_names(names), dtype=object)[terms]


def lifted(lift: Any, X: Any) -> Any:
    """Transform rows by a lift into an array or CSR matrix of floats."""
    Z = lift.transform(X)
    Z = Z.tocsr() if hasattr(Z, "tocsr") else np.asarray(Z)
    return Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64)


def _total(parts: Iterable[np.ndarray], width: int) -> np.ndarray:
    total = np.zeros(width)
    for part in parts:
        total += part
    return total
