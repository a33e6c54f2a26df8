"""Repair of rows by projection on a subspace: noise shrunk, missing entries filled, gross errors replaced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense

#: Entries of weighted directions formed at a time.
_ENTRIES = 2**20
_ROBUST_STEPS = 40
_REFITS = 10
#: Minimum penalty: coordinates that too few entries determine become small instead of undefined.
_MIN_PENALTY = 1e-9


@dataclass(frozen=True)
class Changes:
    """The changes made by `PCA.repair`.

    missing, gross : masks of the entries that were filled, and of those taken for gross errors and replaced
    outlier_rows : mask of the rows far from the subspace in most entries: there, only missing entries are filled
    corrections : the difference added to each entry (NaN where it was missing)
    noise : the standard deviation of the small noise of an entry
    rank : the number of components above the noise level
    """

    missing: np.ndarray
    gross: np.ndarray
    outlier_rows: np.ndarray
    corrections: np.ndarray
    noise: float
    rank: int

    def __str__(self) -> str:
        return (
            f"{int(self.missing.sum())} missing entries filled and {int(self.gross.sum())} gross errors replaced in "
            f"{int(np.any(self.missing | self.gross, axis=1).sum())} of {len(self.outlier_rows)} rows by {self.rank} "
            f"components; noise {self.noise:.3g}; {int(self.outlier_rows.sum())} outlier rows"
        )


class Subspace:
    """Rows close to mean + span of components, with noise of a known size.

    A row's coordinates z minimize the sum over its sound entries of (x - mean - C'z)^2 plus sum of rho_i z_i^2, with
    rho = (1 - f) / f, f the shrinkage of each component: on a complete row that is z_i = f_i <c_i, x - mean>.
    """

    def __init__(self, mean: np.ndarray, components: np.ndarray, shrinkage: np.ndarray, noise: float, min_noise: float):
        used = shrinkage > 0
        self.mean, self.C = mean, components[used]
        self.f = shrinkage[used]
        self.rho = np.maximum((1.0 - self.f) / self.f, _MIN_PENALTY)
        self.noise = noise
        self.scale = max(noise, min_noise)

    def repair(self, X: np.ndarray, gross: float, shrink: bool) -> tuple[np.ndarray, Changes]:
        """The repaired rows, in float64, and the `Changes`."""
        present = ~np.isnan(X)
        Z = np.where(present, X - self.mean, 0.0)
        fit = self._fit(Z, present)
        bad = np.zeros(X.shape, dtype=bool)
        outliers = np.zeros(len(X), dtype=bool)
        far = np.flatnonzero(np.any(self._far(Z - fit, present, gross), axis=1))
        if len(far):
            bad[far], outliers[far], robust = self._robust(Z[far], present[far], gross)
            sound = far[~outliers[far]]
            fit[sound] = robust[~outliers[far]]
        replaced = ~present | bad
        if shrink:
            replaced[~outliers] = True
        repaired = np.where(replaced, self.mean + fit, X)
        return repaired, Changes(~present, bad, outliers, repaired - X, self.noise, len(self.C))

    def _far(self, residual: np.ndarray, present: np.ndarray, gross: float) -> np.ndarray:
        return present & (np.abs(residual) > gross * self.scale)

    def _robust(self, Z: np.ndarray, present: np.ndarray, gross: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gross errors, outlier rows, and the fit to the sound entries.

        Weights that fall with the residual (Huber 1964) bring the fit near the majority of the entries; then entries
        beyond the threshold are left out until nothing changes.
        """
        fit = self._fit(Z, present)
        for _ in range(_ROBUST_STEPS):
            weight = np.minimum(1.0, self.scale / np.maximum(np.abs(Z - fit), 1e-300))
            fit = self._fit(Z, np.where(present, weight, 0.0))
        bad = self._far(Z - fit, present, gross)
        for _ in range(_REFITS):
            fit = self._fit(Z, present & ~bad)
            again = self._far(Z - fit, present, gross)
            if np.array_equal(again, bad):
                break
            bad = again
        sound = np.sum(present & ~bad, axis=1)
        outliers = (sound <= len(self.C)) | (2 * sound < present.sum(axis=1))
        bad[outliers] = False
        return bad, outliers, fit

    def _fit(self, Z: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """C'z of every row for weights of its entries in [0, 1]."""
        fit = np.zeros_like(Z)
        if len(self.C) == 0:
            return fit
        plain = np.all(weight == 1, axis=1)
        fit[plain] = ((Z[plain] @ self.C.T) * self.f) @ self.C
        others = np.flatnonzero(~plain)
        step = max(1, _ENTRIES // self.C.size)
        for start in range(0, len(others), step):
            rows = others[start : start + step]
            weighted = weight[rows, None, :] * self.C
            normal = weighted @ self.C.T
            normal[:, np.arange(len(self.C)), np.arange(len(self.C))] += self.rho
            right = weighted @ Z[rows, :, None]
            fit[rows] = dense.solve(normal, right)[..., 0] @ self.C
        return fit
