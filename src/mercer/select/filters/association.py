"""Measures of association between a column and a target, with their tests: correlations, ratios, contingency tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

#: A centered sum of squares below this fraction of weight * mean^2 is rounding.
CONSTANT = 1e-24


class Association(NamedTuple):
    """Scores from 0 to 1 and p-values, one per column; `signed` are correlations where the sign has a meaning."""

    score: np.ndarray
    pvalue: np.ndarray
    signed: np.ndarray


def from_correlations(r: np.ndarray, n: float) -> Association:
    """Score by |r| with the t test of r = 0: t = r sqrt((n - 2) / (1 - r^2)) has n - 2 degrees of freedom."""
    r = np.clip(r, -1.0, 1.0)
    if n <= 2:
        return Association(np.abs(r), np.ones_like(r), r)
    return Association(np.abs(r), special.betainc((n - 2) / 2, 0.5, 1.0 - r**2), r)


def from_ratios(eta2: np.ndarray, groups: np.ndarray, n: float) -> Association:
    """Score by sqrt(eta^2), eta^2 the fraction of variance between groups, with the F test of equal means."""
    eta2 = np.clip(eta2, 0.0, 1.0)
    between, within = np.maximum(np.asarray(groups) - 1.0, 0.0), n - groups
    testable = (between > 0) & (within > 0)
    p = special.betainc(np.where(testable, within, 1.0) / 2, np.where(testable, between, 1.0) / 2, 1.0 - eta2)
    score = np.sqrt(eta2)
    return Association(score, np.where(testable, p, 1.0), score)


def from_table(table: np.ndarray) -> Association:
    """Score by Cramer's V of a table of counts, with Pearson's chi-squared test of independence."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, rank = table.sum(), min(table.shape) - 1
    if rank < 1:
        return _no_association()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    chi2 = float(np.sum((table - expected) ** 2 / expected))
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    score = np.array([min(np.sqrt(chi2 / (n * rank)), 1.0)])
    return Association(score, np.array([special.gammaincc(freedom / 2, chi2 / 2)]), score)


def from_group_sums(weight: np.ndarray, first: np.ndarray, second: np.ndarray) -> Association:
    """Score by the correlation ratio of a number in groups, from the weight, sum and sum of squares of each."""
    n, mean = weight.sum(), first.sum() / weight.sum()
    total = second.sum() - n * mean**2
    if not total > CONSTANT * n * mean**2:
        return _no_association()
    between = np.sum((first - weight * mean) ** 2 / weight)
    return from_ratios(np.array([between / total]), np.array([len(weight)]), n)


def likelihood_ratio(gain: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """Return the p-value of twice a gain in log-likelihood: chi-squared under the null hypothesis (Wilks)."""
    freedom = np.asarray(freedom, dtype=np.float64)
    p = special.gammaincc(np.maximum(freedom, 1.0) / 2, np.maximum(gain, 0.0))
    return np.where(freedom > 0, p, 1.0)


def _no_association() -> Association:
    return Association(np.zeros(1), np.ones(1), np.zeros(1))
