"""What hashing mixes up: terms that share a bucket."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.text.vocabulary import Terms


@dataclass(frozen=True)
class Collisions:
    """How many terms share their buckets with others.

    A term collides if *every* one of its s places is also a place of another term. Of T terms in m buckets
    (1 - (1 - s/m)^(T - 1))^s are expected to.

    Attributes
    ----------
    n_terms : distinct terms
    n_buckets : buckets there are
    used : buckets with a term
    collided : terms that collide
    share, expected : collided/n_terms, and what chance predicts
    weight : share of all occurrences that belong to terms that collide
    """

    n_terms: int
    n_buckets: int
    used: int
    collided: int
    share: float
    expected: float
    weight: float


def collisions_of(places: np.ndarray, total: np.ndarray, n_buckets: int) -> Collisions:
    """The figures of terms with these places (terms x s) that occur so often."""
    n, s = places.shape
    filled = np.bincount(places.ravel(), minlength=n_buckets)
    collided = (filled[places] > 1).all(axis=1)
    return Collisions(
        n_terms=n,
        n_buckets=n_buckets,
        used=int(np.count_nonzero(filled)),
        collided=int(collided.sum()),
        share=float(collided.mean()) if n else 0.0,
        expected=float((1 - (1 - s / n_buckets) ** (n - 1)) ** s) if n else 0.0,
        weight=float(total[collided].sum() / max(total.sum(), 1)),
    )


def heaviest_in(columns: list[int], places: np.ndarray, terms: Terms, n: int) -> dict[int, list[tuple[str, int]]]:
    """For each column the terms in it that occur most often, with how often."""
    found: dict[int, list[tuple[str, int]]] = {}
    for column in columns:
        inside = np.flatnonzero((places == column).any(axis=1))
        order = inside[np.argsort(-terms.total[inside], kind="stable")][:n]
        found[int(column)] = list(zip(terms.at(order).strings(), terms.total[order].tolist(), strict=True))
    return found
