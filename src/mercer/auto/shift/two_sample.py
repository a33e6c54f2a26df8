"""The kernel two-sample test (Gretton et al. 2012) in explicit features z of kernels.

    MMD^2 = |mean of z over X - mean of z over Y|^2

Several kernels see several kinds of change. The statistic is the largest of their MMD^2, each divided by its
expectation if both samples are of one distribution (aggregation as by Schrab et al. 2023). Its p-value is the fraction
of divisions of the rows of both samples into two of the same sizes, m and n, for which it is at least as large. Means
are linear in the rows, so B divisions cost one product of the features with an (m + n) x B matrix of zeros and ones.
Over all divisions the difference of means has expectation zero and covariance

    S (m + n) / (m n),     S = covariance of z over the rows of both samples,

and approaches a normal distribution: draws from it replace the divisions where rows are many, or where only the first
two moments of a sample are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense

N_PERMUTATIONS = 999
_N_DRAWS = 9_999
_BATCH = 111


@dataclass(frozen=True)
class FeatureMoments:
    """Number, mean and covariance of the random features of a sample."""

    n: float
    mean: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of_sums(cls, n: float, total: np.ndarray, products: np.ndarray) -> FeatureMoments:
        """The moments of n rows from the sums of features and of their products."""
        mean = total / n
        return cls(n, mean, products / n - np.outer(mean, mean))

    def mmd(self, other: FeatureMoments) -> float:
        """The squared distance of the means."""
        return float(np.sum((self.mean - other.mean) ** 2))


def permutation_p_value(X: np.ndarray, Y: np.ndarray, kernels: np.ndarray, seed: int = 0) -> float:
    """The p-value of two sets of features, by random divisions of all rows; `kernels` is the kernel of each feature."""
    m, n = len(X), len(Y)
    Z = np.concatenate([X, Y])
    Z = Z - Z.mean(axis=0)
    variance = np.einsum("ij,ij->j", Z, Z) / (m + n)
    Z = Z.astype(np.float32)
    inside = np.zeros((_BATCH, m + n), dtype=np.float32)
    inside[:, :m] = 1.0
    random = np.random.default_rng(seed)
    observed = _largest_ratio(inside[:1] @ Z, variance, kernels)[0]
    found = 0
    for _ in range(N_PERMUTATIONS // _BATCH):
        ratios = _largest_ratio(random.permuted(inside, axis=1) @ Z, variance, kernels)
        found += int(np.count_nonzero(ratios >= observed * (1 - 1e-6)))
    return (1 + found) / (1 + N_PERMUTATIONS)


def limit_p_value(one: FeatureMoments, other: FeatureMoments, kernels: np.ndarray, seed: int = 0) -> float:
    """The p-value by the normal limit of the differences of means over all divisions; `kernels` as above."""
    S = _pooled(one, other)
    eigenvalues, vectors = dense.eigh(S)
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))).astype(np.float32)
    draws = np.random.default_rng(seed).standard_normal((_N_DRAWS, len(S)), dtype=np.float32) @ root.T
    variance = np.diag(S)
    difference = (one.mean - other.mean) * np.sqrt(one.n * other.n / (one.n + other.n))
    observed = _largest_ratio(difference[None], variance, kernels)[0]
    found = np.count_nonzero(_largest_ratio(draws, variance, kernels) >= observed)
    return float((1 + found) / (1 + _N_DRAWS))


def _pooled(one: FeatureMoments, other: FeatureMoments) -> np.ndarray:
    """The covariance of the features over the rows of both samples."""
    m, n = one.n, other.n
    difference = one.mean - other.mean
    between = m * n / (m + n) * np.outer(difference, difference)
    return (m * one.covariance + n * other.covariance + between) / max(m + n - 1, 1.0)


def _largest_ratio(differences: np.ndarray, variance: np.ndarray, kernels: np.ndarray) -> np.ndarray:
    """The largest MMD^2 of the kernels, each over its expectation (up to one factor), of each row of differences."""
    squares = differences.astype(np.float64) ** 2
    ratios = []
    for kernel in np.unique(kernels):
        expected = float(variance[kernels == kernel].sum())
        ratios.append(squares[:, kernels == kernel].sum(axis=1) / (expected or 1.0))
    return np.max(ratios, axis=0)


def witness_direction(one: FeatureMoments, other: FeatureMoments, kernels: np.ndarray) -> np.ndarray:
    """The difference of the means, in the unit of each kernel: rows of large products with it are more like `other`."""
    variance = np.diag(_pooled(one, other))
    expected = np.array([variance[kernels == kernel].sum() for kernel in kernels])
    return (other.mean - one.mean) / np.where(expected > 0, expected, 1.0)
