"""Purification: the additive part of a pair moves to its two columns, so that the terms of a model are unique.

A pair is pure if its weighted means along either axis are zero (Lengerich, Tan, Chang, Hooker and Caruana, "Purifying
interaction effects with the functional ANOVA", 2020). The additive part is the weighted least-squares fit of row and
column effects, whose normal equations are solved at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._numeric.linalg import dense
from mercer.learn.additive.tables import AdditiveTables


@dataclass(frozen=True)
class PureTables:
    """Tables whose terms have mean zero and whose pairs have zero means along either axis, and the constant."""

    tables: AdditiveTables
    intercept: np.ndarray


def purified(tables: AdditiveTables, codes: np.ndarray, weight: np.ndarray | None = None) -> PureTables:
    """The same function with pure pairs and centered terms, by the distribution of rows of these levels."""
    mass = np.ones(len(codes)) if weight is None else weight
    mains, pairs = [main.copy() for main in tables.mains], []
    intercept = np.zeros(tables.n_outputs)
    for pair in tables.pairs:
        levels = pair.first_level[codes[:, pair.first]], pair.second_level[codes[:, pair.second]]
        shape = pair.values.shape[:2]
        counts = np.bincount(np.ravel_multi_index(levels, shape), mass, minlength=shape[0] * shape[1]).reshape(shape)
        rows, columns = additive_part(pair.values, counts)
        pairs.append(pair.values - rows[:, None] - columns[None])
        mains[pair.first] += rows[pair.first_level]
        mains[pair.second] += columns[pair.second_level]
    for j, main in enumerate(mains):
        counts = np.bincount(codes[:, j], mass, minlength=len(main))
        center = counts @ main / counts.sum()
        mains[j], intercept = main - center, intercept + center
    return PureTables(tables.with_values(mains, pairs), intercept)


def additive_part(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row and column effects of the weighted least-squares fit of a table (rows, columns, outputs).

    Levels without weight get the effect zero.
    """
    n_rows = len(counts)
    total, rows, columns = counts.sum() or 1.0, counts.sum(axis=1), counts.sum(axis=0)
    normal = np.block([[np.diag(rows), counts], [counts.T, np.diag(columns)]]) / total
    inverse = dense.pinv(normal, rcond=1e-12, hermitian=True)
    effects = np.zeros((len(normal), values.shape[2]))
    for _ in range(2):  # the second time for the rounding of the first
        rest = values - effects[:n_rows, None] - effects[None, n_rows:]
        sums = [np.einsum("ab,abo->ao", counts, rest), np.einsum("ab,abo->bo", counts, rest)]
        effects = effects + inverse @ (np.concatenate(sums) / total)
    return effects[:n_rows], effects[n_rows:]
