"""Weighted quantiles, of all rows and of the rows of each group."""

from __future__ import annotations

import numpy as np

#: Ranks round by a few units of the last place.
_ROUNDING = 1e-12


def weighted_quantile(values: np.ndarray, level: float, weight: np.ndarray | None = None) -> float:
    """The smallest value whose rank, the weight of the values up to it over that of all, is at least `level`."""
    return float(quantile_per_group(np.asarray(values), np.zeros(len(values), np.intp), 1, level, weight)[0])


def quantile_per_group(
    values: np.ndarray, group: np.ndarray, n_groups: int, level: float, weight: np.ndarray | None = None
) -> np.ndarray:
    """The quantile of the values of each group 0..n_groups-1; zero for a group without rows."""
    order = np.argsort(values, kind="stable")
    order = order[np.argsort(group[order].astype(np.uint16 if n_groups <= 65536 else np.int64), kind="stable")]
    counts = np.bincount(group, minlength=n_groups)
    ends = np.cumsum(counts)
    ranks = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    total = np.concatenate([[0.0], ranks])
    below, above = total[ends - counts], total[ends]
    wanted = below + level * (above - below) * (1 - _ROUNDING)
    index = np.clip(np.searchsorted(ranks, wanted), ends - counts, np.maximum(ends - 1, 0))
    return np.where(counts > 0, values[order][index] if len(values) else 0.0, 0.0)
