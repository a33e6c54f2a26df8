"""Similarities to landmarks in a metric, of which a row alone has the bits that it has among others."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _numeric

#: Rows whose similarities are computed at a time, and columns of the whitening that skip the zeros below them.
_ROWS, _PANEL = 128, 256
#: Coordinates are cut where their squares would leave the range of float64.
_FAR = 1e140


class SimilarityMap:
    """k(||(x - s_i) A||) for landmarks s_i, and maybe their product with an upper triangular matrix.

    Squared distances are ||y||^2 + ||t||^2 - 2 <y, t> in float64, for y and t the images of x and s_i less the mean of
    all t; where only rounding is left of the terms, they are zero.
    """

    def __init__(self, metric: Any, landmarks: np.ndarray, whitening: np.ndarray | None):
        self.kernel: Any = metric.kernel
        self.root = np.asarray(metric.matrix, dtype=np.float64)
        self._packed_root = _numeric.pack_columns(np.ascontiguousarray(self.root)) if self.root.ndim == 2 else None
        self.center = np.zeros(self.root.shape[-1])
        images = self._images(np.ascontiguousarray(landmarks, dtype=np.float64))
        self.center = images.mean(axis=0)
        images -= self.center
        self.images, self.squares = images, _squares(images)
        self._packed = _numeric.pack_columns(np.ascontiguousarray(-2.0 * images.T))
        self.rounding = 16 * (len(self.center) + 4) * float(np.finfo(np.float64).eps)
        self._panels = () if whitening is None else tuple(_panels(whitening))

    def features(self, X: np.ndarray) -> np.ndarray:
        """The similarities of encoded rows in float64."""
        parts = [self._of(X[start : start + _ROWS]) for start in range(0, len(X), _ROWS)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.images)))

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the products with the matrix, a few rows at a time."""
        for start in range(0, len(X), _ROWS):
            rows = slice(start, start + _ROWS)
            similarities = self._of(X[rows])
            for columns, packed in self._panels:
                panel = np.empty((len(similarities), columns.stop - columns.start))
                _numeric.row_products(similarities[:, : columns.stop], packed, panel.shape[1], panel)
                out[rows, columns] = panel

    def _of(self, X: np.ndarray) -> np.ndarray:
        images = self._images(np.ascontiguousarray(X, dtype=np.float64))
        squares = _squares(images)[:, None]
        found = np.empty((len(X), len(self.images)))
        _numeric.row_products(images, self._packed, found.shape[1], found)
        sums = squares + self.squares
        found += sums
        sums *= self.rounding
        found[found < sums] = 0.0
        return self.kernel.of_squares(found)

    def _images(self, X: np.ndarray) -> np.ndarray:
        """The rows x A less the center."""
        if self._packed_root is None:
            images = X * self.root
        else:
            images = np.empty((len(X), self.root.shape[1]))
            _numeric.row_products(X, self._packed_root, images.shape[1], images)
        images -= self.center
        return np.clip(images, -_FAR, _FAR, out=images)


def _squares(X: np.ndarray) -> np.ndarray:
    """||x||^2 of each row, added column by column: the same bits for one row as for many."""
    found = np.zeros(len(X))
    for column in X.T:
        found += column * column
    return found


def _panels(upper: np.ndarray) -> list[tuple[slice, np.ndarray]]:
    """Panels of columns of an upper triangular matrix, packed down to their last row that is not zero."""
    m = len(upper)
    panels = [slice(start, min(start + _PANEL, m)) for start in range(0, m, _PANEL)]
    return [
        (columns, _numeric.pack_columns(np.ascontiguousarray(upper[: columns.stop, columns]))) for columns in panels
    ]
