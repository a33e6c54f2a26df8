"""How strongly a column and a target go together, and how surely: correlations, ratios, tables, and their tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

#: A sum of squares below this share of its offset's is rounding.
CONSTANT = 1e-24


class Association(NamedTuple):
    """Scores from 0 to 1 and p-values of some columns; `signed` are correlations where a sign has a meaning."""

    score: np.ndarray
    pvalue: np.ndarray
    signed: np.ndarray


def from_correlations(r, n) -> Association:
    """|r| with the t test of r = 0: t = r sqrt((n - 2) / (1 - r^2)) has n - 2 degrees of freedom."""
    r = np.clip(r, -1.0, 1.0)
    if n <= 2:
        return Association(np.abs(r), np.ones_like(r), r)
    return Association(np.abs(r), special.betainc((n - 2) / 2, 0.5, 1.0 - r**2), r)


def from_ratios(eta2, groups, n) -> Association:
    """sqrt(eta^2), eta^2 the share of variance that groups explain, with the F test of equal means."""
    eta2 = np.clip(eta2, 0.0, 1.0)
    above, below = np.maximum(np.asarray(groups) - 1.0, 0.0), n - groups
    testable = (above > 0) & (below > 0)
    p = special.betainc(np.where(testable, below, 1.0) / 2, np.where(testable, above, 1.0) / 2, 1.0 - eta2)
    score = np.sqrt(eta2)
    return Association(score, np.where(testable, p, 1.0), score)


def from_table(table) -> Association:
    """Cramer's V of a table of counts, with Pearson's chi-squared test of independence."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, least = table.sum(), min(table.shape) - 1
    if least < 1:
        return _nothing()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    chi2 = float(np.sum((table - expected) ** 2 / expected))
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    score = np.array([min(np.sqrt(chi2 / (n * least)), 1.0)])
    return Association(score, np.array([special.gammaincc(freedom / 2, chi2 / 2)]), score)


def from_group_sums(weight, first, second) -> Association:
    """Of a numeric variable in groups, from the count, sum and sum of squares of each: the correlation ratio."""
    n, mean = weight.sum(), first.sum() / weight.sum()
    total = second.sum() - n * mean**2
    if not total > CONSTANT * n * mean**2:
        return _nothing()
    between = np.sum((first - weight * mean) ** 2 / weight)
    return from_ratios(np.array([between / total]), np.array([len(weight)]), n)


def likelihood_ratio(gain, freedom) -> np.ndarray:
    """p-value of twice a gain in log-likelihood: chi-squared under the null hypothesis (Wilks)."""
    freedom = np.asarray(freedom, dtype=np.float64)
    p = special.gammaincc(np.maximum(freedom, 1.0) / 2, np.maximum(gain, 0.0))
    return np.where(freedom > 0, p, 1.0)


def _nothing() -> Association:
    return Association(np.zeros(1), np.ones(1), np.zeros(1))
