"""Purified tables: the same function, and pairs without any additive part."""

import numpy as np
import pytest

from mercer.learn.additive.axes import Axis, codes_of
from mercer.learn.additive.purify import additive_part, purified
from mercer.learn.additive.tables import AdditiveTables, PairTable

N = 400


def correlated_tables(n_outputs):
    """Random points of three dependent columns, one with missing values, and of two pairs."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 4)) @ rng.normal(size=(4, 4))
    X[:, 3] = rng.random(N) < 0.2
    axes = [Axis.of_number(X, 0, -1, 12), Axis.of_number(X, 1, 3, 9), Axis.of_number(X, 2, -1, 5)]
    sizes = [axis.n_levels for axis in axes]
    coarse = np.arange(sizes[0]) // 2
    full = [np.arange(size) for size in sizes]
    pairs = [
        PairTable(0, 1, coarse, full[1], rng.normal(size=(coarse.max() + 1, sizes[1], n_outputs))),
        PairTable(1, 2, full[1], full[2], rng.normal(size=(sizes[1], sizes[2], n_outputs))),
    ]
    tables = AdditiveTables(axes, [rng.normal(size=(size, n_outputs)) for size in sizes], pairs)
    return tables, X, rng.uniform(0.5, 2.0, N)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_purified_terms_are_the_same_function_and_have_zero_weighted_marginals(n_outputs, weighted):
    tables, X, weight = correlated_tables(n_outputs)
    weight = weight if weighted else None
    codes = codes_of(tables.axes, X)
    pure = purified(tables, codes, weight)

    def total(of):
        return of.points(X).reshape(N, -1, n_outputs).sum(axis=1)

    np.testing.assert_allclose(total(pure.tables) + pure.intercept, total(tables), rtol=0, atol=1e-12)
    mass = np.ones(N) if weight is None else weight
    for j, main in enumerate(pure.tables.mains):
        np.testing.assert_allclose(mass @ main[codes[:, j]], 0, atol=1e-10)
    for pair in pure.tables.pairs:
        points = mass[:, None] * pair.at(codes)
        for axis, level in ((pair.first, pair.first_level), (pair.second, pair.second_level)):
            for output in points.T:
                np.testing.assert_allclose(np.bincount(level[codes[:, axis]], output), 0, atol=1e-10)


def test_the_additive_part_of_an_additive_table_is_all_of_it():
    rng = np.random.default_rng(0)
    rows, columns, counts = rng.normal(size=(6, 2)), rng.normal(size=(4, 2)), rng.integers(1, 9, size=(6, 4))
    found = additive_part(rows[:, None] + columns[None], counts.astype(float))
    np.testing.assert_allclose(found[0][:, None] + found[1][None], rows[:, None] + columns[None], atol=1e-12)


def test_levels_without_rows_get_no_effect():
    counts = np.ones((3, 3))
    counts[2] = 0
    rows, _ = additive_part(np.random.default_rng(0).normal(size=(3, 3, 1)), counts)
    assert abs(rows[2, 0]) < 1e-12
