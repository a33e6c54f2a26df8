"""The columns of any lift as candidates: rows are lifted a few at a time, whenever sums over them are asked for."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from mercer._runtime.pool import ordered_map
from mercer.select.greedy.candidates import PIECE, Columns, Spread, spread_from_squares

#: Lifted rows of no more entries than this are written out: lifting them again would cost more than it saves.
WRITTEN_OUT = 2**23
#: A feature has changed if it did by more than this share of its largest value.
_SAME = 64
_GOLDEN = 0.6180339887498949


class LiftedColumns(Columns):
    """The columns of lift(X), of which only some rows are ever in memory."""

    def __init__(self, X, lift, width: int, dtype):
        super().__init__(X)
        self.lift, self.width, self.dtype = lift, width, dtype

    @property
    def size(self) -> int:
        return self.width

    @property
    def rounding(self) -> float:
        return float(np.finfo(self.dtype).eps)

    def rows(self, selection) -> LiftedColumns:
        return LiftedColumns(self.X[selection], self.lift, self.width, self.dtype)

    def column(self, j):
        return np.concatenate([_dense(Z[:, [j]])[:, 0] for _, Z in self._lifted()])

    def products(self, v):
        parts = ordered_map(lambda rows: np.asarray(self._rows(rows).T @ v[rows].astype(self.dtype)), self._spans())
        return _total(parts, self.width)

    def squares(self, h):
        def part(rows):
            Z = self._rows(rows)
            return np.asarray((Z.multiply(Z) if hasattr(Z, "tocsr") else Z * Z).T @ h[rows])

        return _total(ordered_map(part, self._spans()), self.width)

    def spread(self, h, centered):
        if not centered:
            return super().spread(h, centered)
        total = h.sum()
        mean = self.products(h) / total
        if hasattr(self._rows(slice(0, 1)), "tocsr"):
            return spread_from_squares(mean, self.squares(h), total)

        def part(rows):
            away = self._rows(rows) - mean
            away *= away
            return h[rows] @ away

        squares = _total(ordered_map(part, self._spans()), self.width)
        return Spread(mean, squares, total * (8 * self.rounding * mean) ** 2)

    def pieces(self):
        step = max(1, PIECE // max(1, self.n))
        for start in range(0, self.width, step):
            numbers = np.arange(start, min(start + step, self.width))
            yield numbers, np.concatenate([_dense(Z[:, start : start + step]) for _, Z in self._lifted()])

    def _spans(self):
        step = max(1, PIECE // max(1, self.width))
        return [slice(i, min(i + step, self.n)) for i in range(0, self.n, step)]

    def _rows(self, rows):
        return lifted(self.lift, self.X[rows])

    def _lifted(self):
        return ordered_map(lambda rows: (rows, self._rows(rows)), self._spans())


class Lifted:
    """The family of the columns of a lift: a transformer of rows, fitted on those selected from."""

    fields: tuple[int, ...] = ()

    def __init__(self, lift):
        self.lift = lift

    @classmethod
    def fitted(cls, lift, X, y) -> Lifted:
        """The family of a clone of `lift`, fitted on these rows."""
        return cls(clone(lift).fit(X, y))

    def over(self, X) -> Columns:
        some = lifted(self.lift, X[:1])
        if X.shape[0] * some.shape[1] <= WRITTEN_OUT:
            return Columns(lifted(self.lift, X))
        return LiftedColumns(X, self.lift, some.shape[1], some.dtype)

    def names_of_all(self, names):
        return [str(name) for name in self.lift.get_feature_names_out(names)]

    def describe(self, candidates, j):
        return int(j)

    def made_of(self, X, candidates, j) -> list[int]:
        """The columns of X that feature j changes with.

        In the rows where it is largest and least, entries are moved toward the end of their column that is farther
        away: those of many columns together first, and one by one where that made a difference.
        """
        z, found = candidates.column(j), set()
        low, high = (_dense(end).ravel() for end in (X.min(axis=0), X.max(axis=0)))
        sets = np.array_split(np.arange(len(low)), int(np.ceil(np.sqrt(len(low)))))
        for row in (int(np.argmax(z)), int(np.argmin(z))):
            at = _dense(X[[row]])[0]
            far = np.where(high - at > at - low, high, low)
            together = [members for members, changed in self._changes(at, far, sets, j, X.dtype) if changed]
            alone = [np.array([i]) for members in together for i in members]
            found |= {int(i) for [i], changed in self._changes(at, far, alone, j, X.dtype) if changed}
        return sorted(found)

    def _changes(self, at, far, sets, j, dtype):
        """Each set of columns, and whether feature j changes if their entries move: all of the way, or shares of it.

        Shares differ between columns, so that two changes do not cancel, as those of a product of two signs would.
        """
        shares = 0.6 + 0.4 * np.modf(_GOLDEN * np.arange(len(at)))[0]
        moved = np.tile(at, (1 + 2 * len(sets), 1))
        for place, members in enumerate(sets):
            moved[1 + 2 * place, members] = far[members]
            moved[2 + 2 * place, members] += (shares * (far - at))[members]
        values = _dense(lifted(self.lift, moved.astype(dtype))[:, [j]])[:, 0]
        least = _SAME * np.finfo(dtype).eps * np.abs(values).max()
        changed = np.abs(values[1:] - values[0]).reshape(-1, 2).max(axis=1) > least
        return zip(sets, changed, strict=True)

    def sorted(self, chosen):
        return np.array(sorted(chosen), dtype=np.int64)

    def make(self, X, numbers):
        return lifted(self.lift, X)[:, numbers]

    def names(self, names, numbers):
        return np.asarray(self.names_of_all(names), dtype=object)[numbers]


def lifted(lift, X):
    """Rows through a lift: an array or CSR matrix of floats."""
    Z = lift.transform(X)
    Z = Z.tocsr() if hasattr(Z, "tocsr") else np.asarray(Z)
    return Z if Z.dtype in (np.float32, np.float64) else Z.astype(np.float64)


def _dense(Z):
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)


def _total(parts, width):
    total = np.zeros(width)
    for part in parts:
        total += part
    return total
