"""Estimates of kernel values by random features, and how far they may be off."""

from __future__ import annotations

import os

import numpy as np

from mercer.expand.random.compose import MapPlan, bind_columns, prepare
from mercer.expand.random.seed import Seed

LONG = os.environ.get("MERCER_TEST_LENGTH") == "long"
#: Standard errors allowed: exceeded by one of 1e4 normal variables with probability 1e-3.
Z = 5.3


def pairs(d, norm=None, seed=1):
    """Five pairs of rows at growing distances, of numbers that float32 holds; of norm `norm`, if one is given."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, d))
    z = x + rng.normal(size=(5, d)) * np.array([0.1, 0.3, 0.6, 1.0, 1.5])[:, None]
    if norm is not None:
        x, z = (norm * rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, z))
    return x.astype(np.float32).astype(float), z.astype(np.float32).astype(float)


def exact(kernel, x, z):
    """k(x, z) for each pair."""
    return np.array([kernel(a[None], b[None])[0, 0] for a, b in zip(x, z, strict=True)])


def exact_twice(kernel, x, z):
    """k at twice the difference of each pair, for shift-invariant kernels."""
    return exact(kernel, x, 2 * z - x)


def draw(kernel, d, n, seed=0, sampling="orthogonal", pairing="cos-sin"):
    """The feature map alone, without the estimator around it."""
    return prepare(bind_columns(kernel, d), MapPlan(d, n, sampling, pairing, Seed(seed)))


def apply(feature_map, X):
    feature_map.check(X)
    feature_map.ready(X.dtype, hasattr(X, "tocsr"))
    out = np.full((X.shape[0], feature_map.n_components), np.nan, dtype=X.dtype)
    feature_map.apply(X, out)
    return out


def contributions(features):
    """n_components times the products of the columns of the first and the second half of the rows, shape (pairs, n)."""
    half = len(features) // 2
    return features[:half] * features[half:] * features.shape[1]


def per_frequency(features):
    """What every frequency of cos-sin features contributes to the estimates: their mean is the estimate."""
    values = contributions(features)
    m = values.shape[1] // 2
    return (values[:, :m] + values[:, m:]) / 2


def over_seeds(kernel, x, z, n, seeds, **options):
    """One estimate per seed and pair, shape (seeds, pairs)."""
    X = np.vstack([x, z])
    rows = (apply(draw(kernel, x.shape[1], n, seed, **options), X) for seed in range(seeds))
    return np.array([np.sum(features[: len(x)] * features[len(x) :], axis=1) for features in rows])


def assert_mean_is(values, expected, floor=1e-6):
    """The mean over the first axis is within Z standard errors of what is expected."""
    error = values.std(axis=0) / np.sqrt(len(values))
    assert np.all(np.abs(values.mean(axis=0) - expected) <= Z * error + floor * (1 + np.abs(expected)))
