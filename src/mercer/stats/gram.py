"""Gram matrices per fold: second-order statistics of features and targets.

From them follow, with no further pass over the data, ridge regression for every penalty and every subset of columns,
exact K-fold cross-validation, generalized cross-validation, forward selection, the Lasso and principal components.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer import _numeric
from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer._numeric.linalg import dense
from mercer._numeric.linalg.gram import add_products, gathered, less_outer_products, mirror, sums_with_outer_products
from mercer._runtime.pool import ordered_map
from mercer.stats.base import Statistic
from mercer.stats.folds import FoldPlan

_PROBES = 4


@dataclass(frozen=True)
class Normal:
    """Weighted sums over some rows of z and targets y, both measured from fixed origins.

    weight = sum of w, z = sum of w z, y = sum of w y, G = sum of w z z', B = sum of w z y', Y = sum of w y y'.
    """

    weight: float
    z: np.ndarray
    y: np.ndarray
    G: np.ndarray
    B: np.ndarray
    Y: np.ndarray

    def __sub__(self, other: Normal) -> Normal:
        pairs = zip(_fields(self), _fields(other), strict=True)
        return Normal(*(mine - theirs for mine, theirs in pairs))

    def __add__(self, other: Normal) -> Normal:
        pairs = zip(_fields(self), _fields(other), strict=True)
        return Normal(*(mine + theirs for mine, theirs in pairs))

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of z and y."""
        return self.z / self.weight, self.y / self.weight

    def about(self, z_mean: np.ndarray, y_mean: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return G, B, Y of the same rows measured from other origins: sum of (z - m)(z - m)' and so on."""
        # - z m' - m z' + w m m' = - h m' - m h' with h = z - w m / 2
        G = less_outer_products(self.G, self.z - 0.5 * self.weight * z_mean, z_mean)
        B = self.B - np.outer(self.z, y_mean) - np.outer(z_mean, self.y) + self.weight * np.outer(z_mean, y_mean)
        Y = self.Y - np.outer(self.y, y_mean) - np.outer(y_mean, self.y) + self.weight * np.outer(y_mean, y_mean)
        return G, B, Y


def _fields(normal: Normal) -> tuple:
    return normal.weight, normal.z, normal.y, normal.G, normal.B, normal.Y


@dataclass(frozen=True)
class GramPerFold:
    """The result of `Gram`: one `Normal` per non-empty fold and their total, measured from `z_origin`, `y_origin`.

    `error` estimates the Frobenius norm of the rounding error of the total G, measured against float64 products
    with random probes. `triangle` is the triangular factor of the rows, where it was asked for.
    """

    n: int
    folds: list[Normal]
    total: Normal
    z_origin: np.ndarray
    y_origin: np.ndarray
    error: float
    labels: np.ndarray | None = None
    triangle: Any = None
    #: Where folds are not all evaluated with the rows of all others: what `PlannedFolds` says.
    planned: PlannedFolds | None = None

    def outside(self, k: int) -> Normal:
        """The sums of the rows that the model of the k-th fold learns from."""
        return self.total - self.folds[k] if self.planned is None else self.planned.outside(k)

    @property
    def tested(self) -> list[int]:
        """The numbers of the folds whose losses count."""
        return list(range(len(self.folds))) if self.planned is None else self.planned.tested


@dataclass(frozen=True)
class PlannedFolds:
    """The sums of each part of the rows, and the plan of the folds that are made of them (see `FoldPlan`)."""

    plan: FoldPlan
    parts: list[Normal]

    @property
    def known(self) -> list[int]:
        """The folds that have rows."""
        return [k for k in range(self.plan.n_folds) if sum(self.parts[j].weight for j in self.plan.parts_of(k)) > 0]

    @property
    def folds(self) -> list[Normal]:
        """The sums of the rows of each fold that has any."""
        return [self._sum(self.plan.parts_of(k)) for k in self.known]

    @property
    def tested(self) -> list[int]:
        """The numbers, among the folds that have rows, of those that are tested and have rows to learn from."""
        return [k for k, fold in enumerate(self.known) if self.plan.tested[fold] and self._learned(fold)]

    def outside(self, k: int) -> Normal:
        """The sums of the rows that the model of the k-th fold learns from; of all rows where there are none."""
        return self._sum(self._learned(self.known[k]) or range(self.plan.n_parts))

    def _learned(self, fold: int) -> list[int]:
        """The parts with rows that the model of a fold learns from."""
        return [part for part in self.plan.trains[fold] if self.parts[part].weight > 0]

    def _sum(self, parts: Any) -> Normal:
        first, *others = (self.parts[j] for j in parts)
        return sum(others, start=first)


@dataclass(frozen=True)
class Gram(Statistic):
    """Gram matrices of the features per fold, with the targets: float32 blocks summed into float64.

    A row's fold is a bucket of its hash, so it depends only on the row, and equal rows share a fold.
    Rows are measured from an origin (the means of the first block), so offsets do not reduce accuracy.
    With a `plan`, `n_folds` is the number of its parts.

    Use it for ridge regression, principal components and all else that follows from second moments: no further pass is
    needed for any penalty, subset of columns or fold. The state has 8 D^2 bytes per fold, so for tens of thousands of
    columns, and for other losses, use `LossesAt` instead.

    >>> from mercer.source import MemorySource
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0], [3.0, 2.0]])
    >>> found = MemorySource(X, X @ [1.0, 2.0]).fold(Gram()).finish()
    >>> z_mean, y_mean = found.total.means()
    >>> G, B, Y = found.total.about(z_mean, y_mean)  # scatter matrices of columns and target
    >>> np.linalg.solve(G, B)[:, 0].round(6).tolist()
    [1.0, 2.0]
    """

    n_folds: int = 5
    seed: int = 0
    n: int = 0
    z_origin: Any = None
    y_origin: Any = None
    G: Any = None
    C: Any = None
    T: Any = None
    probe: Any = None
    labels: Any = None
    plan: FoldPlan | None = None

    parallel_inside = True

    def of(self, block: Block) -> Self:
        labels = None if self.n else self.labels
        return replace(self, n=0, z_origin=None, y_origin=None, labels=labels).absorb(block)

    def absorb(self, block: Block) -> Self:
        if len(block) == 0:
            return self
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused by those who use them
            state = self._ready_for(block)
            state._add(block)
        return replace(state, n=self.n + len(block))

    def fresh(self) -> Self:
        if self.n == 0:
            return self
        return replace(self, G=self.G.copy(), C=self.C.copy(), T=self.T.copy(), probe=self.probe.copy())

    def _ready_for(self, block: Block) -> Self:
        """Return this state with arrays for the block's columns and targets."""
        if self.n:
            return self
        D, K = block.X.shape[1], self.n_folds
        targets = self.targets_of(block)
        c = 1 + targets.shape[1]
        return replace(
            self,
            z_origin=_origin(block.X, block.weight),
            y_origin=self._target_origin(targets, block.weight),
            G=np.zeros((K, D, D)),
            C=np.zeros((K, D, c)),
            T=np.zeros((K, c, c)),
            probe=np.zeros((D, _PROBES)),
        )

    def _add(self, block: Block) -> None:
        order, bounds = self._by_fold(block)
        R = np.hstack([np.ones((len(block), 1)), self.targets_of(block)[order] - self.y_origin])
        root = None
        if block.weight is not None:
            root = np.sqrt(np.asarray(block.weight, dtype=np.float64)[order])
            R *= root[:, None]
        Z = _measured(block.X, order, self.z_origin, root)
        probes = np.zeros((self.n_folds, *self.probe.shape))
        add_products(self.G, self.C, probes, Z, R, _signs(Z.shape[1]), bounds)
        self.probe[...] += probes.sum(axis=0)
        for k in range(self.n_folds):
            part = R[bounds[k] : bounds[k + 1]]
            self.T[k] += part.T @ part

    def _by_fold(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the order of the rows by fold, and where each fold begins; a single fold needs no hashes."""
        if self.n_folds == 1:
            return np.arange(len(block)), np.array([0, len(block)])
        fold = fold_of(block.ids, self.n_folds, self.seed)
        fold = fold.astype(np.uint8 if self.n_folds <= 256 else np.int64)  # NumPy sorts bytes faster
        bounds = np.cumsum([0, *np.bincount(fold, minlength=self.n_folds)])
        return np.argsort(fold, kind="stable"), bounds

    def targets_of(self, block: Block) -> np.ndarray:
        """The targets of a block as columns."""
        if block.y is None:
            return np.zeros((len(block), 0))
        return np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)

    def _target_origin(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return _origin(targets, weight)

    def _merge(self, other: Self) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):
            return self._sum(other)

    def _sum(self, other: Self) -> Self:
        """Return the sums of both, rows of `other` measured from the origin of this one: z + a for z, y + b for y."""
        a, b = other.z_origin - self.z_origin, other.y_origin - self.y_origin
        shift = np.concatenate([[0.0], b])
        weights, z = other.T[:, 0, :], other.C[:, :, 0]
        # z a' + a z' + w a a' = h a' + a h' with h = z + w a / 2
        h = z + 0.5 * weights[:, :1] * a
        signs = _signs(len(a))
        shifted = np.outer(h.sum(axis=0), a @ signs) + np.outer(a, h.sum(axis=0) @ signs)
        C, T = self.C + other.C, self.T + other.T
        for k in range(self.n_folds):
            C[k] += np.outer(a, weights[k]) + np.outer(z[k] + weights[k, 0] * a, shift)
            T[k] += np.outer(weights[k], shift) + np.outer(shift, weights[k]) + weights[k, 0] * np.outer(shift, shift)
        return replace(
            self,
            n=self.n + other.n,
            G=sums_with_outer_products(self.G, other.G, h, a),
            C=C,
            T=T,
            probe=self.probe + other.probe + shifted,
        )

    def finish(self) -> GramPerFold:
        if self.n == 0:
            raise ValueError("No rows: the Gram matrix of an empty data set is undefined.")
        G = list(ordered_map(mirror, self.G))
        parts = [_normal(G[k], self.C[k], self.T[k]) for k in range(self.n_folds)]
        planned = None if self.plan is None or self.plan.is_partition else PlannedFolds(self.plan, parts)
        folds = [part for part in parts if part.weight > 0] if planned is None else planned.folds
        with np.errstate(over="ignore", invalid="ignore"):
            # A single matrix, which may be large, is its own total.
            whole = G[0] if self.n_folds == 1 else sum(G)
            total = _normal(whole, self.C.sum(axis=0), self.T.sum(axis=0))
            error = frobenius_norm(total.G @ _signs(len(total.z)) - self.probe) / np.sqrt(_PROBES)
        origins = self.z_origin, self.y_origin
        return GramPerFold(self.n, folds, total, *origins, float(error), self.labels, planned=planned)


@dataclass(frozen=True)
class LabelGram(Gram):
    """`Gram` whose targets are the 0/1 indicators of the labels seen so far (or given), in sorted order.

    Use it instead of `Gram` where targets are labels.

    >>> from mercer.source import MemorySource
    >>> rows = MemorySource(np.eye(4), np.array(["b", "a", "b", "b"]))
    >>> rows.fold(LabelGram()).finish().labels.tolist()
    ['a', 'b']
    """

    def _ready_for(self, block: Block) -> Self:
        known = np.unique(np.asarray(block.y))
        if self.labels is not None:
            known = np.union1d(self.labels, known)
        return super(LabelGram, self._with_labels(known))._ready_for(block)

    def _with_labels(self, labels: np.ndarray) -> Self:
        if self.n == 0:
            return replace(self, labels=labels)
        if np.array_equal(labels, self.labels):
            return self
        index = np.concatenate([[0], 1 + np.searchsorted(labels, self.labels)])
        C = np.zeros((*self.C.shape[:2], 1 + len(labels)))
        T = np.zeros((self.n_folds, 1 + len(labels), 1 + len(labels)))
        C[..., index] = self.C
        T[:, index[:, None], index] = self.T
        return replace(self, labels=labels, C=C, T=T, y_origin=np.zeros(len(labels)))

    def targets_of(self, block: Block) -> np.ndarray:
        """Indicators of the classes."""
        return (np.asarray(block.y)[:, None] == self.labels).astype(np.float64)

    def _target_origin(self, targets: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return np.zeros(targets.shape[1])

    def _merge(self, other: Self) -> Self:
        labels = np.union1d(self.labels, other.labels)
        return super(LabelGram, self._with_labels(labels))._merge(other._with_labels(labels))


def _normal(G: np.ndarray, C: np.ndarray, T: np.ndarray) -> Normal:
    return Normal(T[0, 0], C[:, 0], T[0, 1:], G, C[:, 1:], T[1:, 1:])


def _origin(Z: Any, weight: np.ndarray | None) -> np.ndarray:
    """Return the (weighted) column means, rounded to the precision of Z; zero for sparse rows, which stay sparse."""
    if hasattr(Z, "tocsr") or Z.shape[1] == 0:
        return np.zeros(Z.shape[1])
    if weight is None or not np.any(weight > 0):
        mean = Z.mean(axis=0, dtype=np.float64)
    else:
        mean = np.average(Z.astype(np.float64, copy=False), axis=0, weights=weight)
    return mean.astype(Z.dtype).astype(np.float64)


def _measured(Z: Any, order: np.ndarray, origin: np.ndarray, root: np.ndarray | None) -> Any:
    if not hasattr(Z, "tocsr"):
        return gathered(Z, order, origin, root)
    Z = Z.tocsr()[order]
    return Z if root is None else Z.multiply(root[:, None]).tocsr()


def _signs(D: int) -> np.ndarray:
    """Return the random signs of the probes, the same on every machine."""
    keys = np.arange(D * _PROBES, dtype=np.uint64)
    return _numeric.signs(_numeric.splitmix64(keys, 1)).reshape(D, _PROBES).astype(np.float64)


def frobenius_norm(values: np.ndarray) -> float:
    """The Frobenius norm, by way of a power of two: the squares of a finite value need not be finite."""
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return float(np.ldexp(dense.norm(np.ldexp(values, -exponent)), exponent))
