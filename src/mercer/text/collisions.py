"""Hash collisions: terms that share a bucket."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.text.vocabulary import TermTable


@dataclass(frozen=True)
class Collisions:
    """Number of terms that share their buckets with others.

    A term collides if *every* one of its s buckets also holds another term. Of T terms hashed into m buckets, the
    expected fraction is (1 - (1 - s/m)^(T - 1))^s.

    Attributes
    ----------
    n_terms : number of distinct terms
    n_buckets : number of buckets
    used : number of buckets that hold a term
    collided : number of terms that collide
    fraction, expected : collided / n_terms, and its expectation
    weight : fraction of all occurrences that belong to colliding terms
    """

    n_terms: int
    n_buckets: int
    used: int
    collided: int
    fraction: float
    expected: float
    weight: float


def collisions_of(buckets: np.ndarray, total: np.ndarray, n_buckets: int) -> Collisions:
    """Count the collisions of terms in these buckets (terms x s), where term i occurs total[i] times."""
    n, s = buckets.shape
    filled = np.bincount(buckets.ravel(), minlength=n_buckets)
    collided = (filled[buckets] > 1).all(axis=1)
    return Collisions(
        n_terms=n,
        n_buckets=n_buckets,
        used=int(np.count_nonzero(filled)),
        collided=int(collided.sum()),
        fraction=float(collided.mean()) if n else 0.0,
        expected=float((1 - (1 - s / n_buckets) ** (n - 1)) ** s) if n else 0.0,
        weight=float(total[collided].sum() / max(total.sum(), 1)),
    )


def most_frequent_in(
    columns: list[int], buckets: np.ndarray, terms: TermTable, n: int
) -> dict[int, list[tuple[str, int]]]:
    """The n most frequent terms of each column, with their numbers of occurrences."""
    found: dict[int, list[tuple[str, int]]] = {}
    for column in columns:
        inside = np.flatnonzero((buckets == column).any(axis=1))
        order = inside[np.argsort(-terms.total[inside], kind="stable")][:n]
        found[int(column)] = list(zip(terms.at(order).strings(), terms.total[order].tolist(), strict=True))
    return found
