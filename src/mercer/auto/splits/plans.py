"""Plans of folds: of groups, of an order in time, and of a splitter of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._numeric.hashing.rows import fold_of
from mercer._runtime.errors import MercerError, ParameterError, Setting
from mercer.auto.rows.training import N_FOLDS
from mercer.stats.folds import FoldPlan

#: Groups up to which their sizes decide on folds and holdout, not their hashes.
FEW_GROUPS = 50
#: Parts of the rows that the training sets of a splitter may make.
_MAX_PARTS = 64


@dataclass(frozen=True)
class GroupParts:
    """The part of each group: by its hash, or of few groups by their sizes, so that parts are about equal."""

    n_parts: int
    seed: int
    few: np.ndarray | None = None
    part: np.ndarray | None = None

    @classmethod
    def of(cls, groups: np.ndarray, counts: np.ndarray, n_parts: int, seed: int) -> GroupParts:
        """From the distinct keys of groups, sorted, and their numbers of rows."""
        if len(groups) > FEW_GROUPS:
            return cls(n_parts, seed)
        n_parts = min(n_parts, len(groups))
        part, sizes = np.zeros(len(groups), dtype=np.intp), np.zeros(n_parts)
        for index in np.lexsort((_numeric.splitmix64(groups, seed), -counts)):  # the largest first
            part[index] = np.argmin(sizes)
            sizes[part[index]] += counts[index]
        return cls(n_parts, seed, groups, part)

    def __call__(self, groups: np.ndarray) -> np.ndarray:
        if self.few is None or self.part is None:
            return fold_of(groups, self.n_parts, self.seed)
        return self.part[np.minimum(np.searchsorted(self.few, groups), len(self.few) - 1)]


def held_out_groups(groups: np.ndarray, counts: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Some of few groups with about a fraction of the rows: at least one, and not all."""
    chosen: list[int] = []
    target, total = fraction * counts.sum(), 0.0
    for index in np.argsort(_numeric.splitmix64(groups, seed + 1), kind="stable"):
        if total + counts[index] <= 1.5 * target and len(chosen) < len(groups) - 1:
            chosen.append(index)
            total += counts[index]
        if total >= 0.75 * target:
            break
    return groups[np.sort(chosen)] if chosen else groups[[int(np.argmin(counts))]]


@dataclass(frozen=True)
class TimeParts:
    """The part of each row by its time, and the plan of the folds.

    Sorted rows are cut into K + 1 blocks; the model of block k learns from blocks before it, less a gap. The first
    block is never tested: its halves, by the hashes of the rows, give each other out-of-fold features.
    """

    points: np.ndarray
    first: np.ndarray
    part: np.ndarray
    plan: FoldPlan

    @classmethod
    def of(cls, times: np.ndarray, gap: tuple[int, float], n_folds: int = N_FOLDS) -> TimeParts:
        """From the times of all rows, in any order."""
        ordered = np.sort(times)
        starts = np.unique([cut_at(ordered, k / (n_folds + 1)) for k in range(1, n_folds + 1)])
        starts = starts[starts > ordered[0]]
        ends = np.array([train_end(ordered, start, gap) for start in starts])
        points = np.unique(np.concatenate([starts, ends]))
        lower = np.concatenate([[-np.inf], points])
        upper = np.concatenate([points, [np.inf]])
        block = np.searchsorted(starts, lower, side="right")
        first = block == 0
        # Parts of the first block are those of its halves: of an even and an odd number.
        part = np.where(first, 2 * np.cumsum(first) - 2, 2 * first.sum() + np.cumsum(~first) - 1)
        n_first = 2 * int(first.sum())
        fold_of_part = [*(k % 2 for k in range(n_first)), *(1 + block[~first])]
        halves = (tuple(range(1, n_first, 2)), tuple(range(0, n_first, 2)))
        trains = [_with_halves(part, first, upper <= end) for end in ends]
        plan = FoldPlan(
            tuple(int(fold) for fold in fold_of_part), (*halves, *trains), (False, False, *(True for _ in starts))
        )
        return cls(points, first, part, plan)

    def __call__(self, times: np.ndarray, hashes: np.ndarray) -> np.ndarray:
        index = np.searchsorted(self.points, times, side="right")
        half = _numeric.splitmix64(hashes, 3) >> np.uint64(63)
        return self.part[index] + np.where(self.first[index], half.astype(np.intp), 0)


def _with_halves(part: np.ndarray, first: np.ndarray, chosen: np.ndarray) -> tuple[int, ...]:
    found = [int(each) for each in part[chosen]] + [int(each) + 1 for each in part[chosen & first]]
    return tuple(sorted(found))


def cut_at(ordered: np.ndarray, fraction: float) -> float:
    """The time from which on rows follow about a fraction of all rows; rows of equal times stay together."""
    wanted = fraction * len(ordered)
    time = ordered[min(round(wanted), len(ordered) - 1)]
    first, after = np.searchsorted(ordered, time, side="left"), np.searchsorted(ordered, time, side="right")
    nearer = first if wanted - first <= after - wanted or after == len(ordered) else after
    if nearer == 0:
        nearer = after
    return float(ordered[min(nearer, len(ordered) - 1)])


def train_end(ordered: np.ndarray, start: float, gap: tuple[int, float]) -> float:
    """The time before which rows are learned from, for test rows from `start` on: less a gap of rows, or in time."""
    n_rows, duration = gap
    if duration:
        return float(np.nextafter(start - duration, np.inf))
    index = int(np.searchsorted(ordered, start, side="left")) - n_rows
    return float(ordered[index]) if n_rows and index > 0 else float(start) if not n_rows else -np.inf


def splitter_parts(
    cv: Any, y: np.ndarray, groups: np.ndarray | None, hashes: np.ndarray
) -> tuple[np.ndarray, FoldPlan]:
    """The part of each row, and the plan, of a splitter of scikit-learn or of a list of (train, test) indices."""
    n = len(y)
    splits = cv.split(np.zeros((n, 1)), y, groups) if hasattr(cv, "split") else cv
    tested, trained = _memberships(splits, n)
    signature = np.column_stack([tested, trained.T])
    if np.any(tested < 0):  # halves of rows that are never tested give each other out-of-fold features
        half = (_numeric.splitmix64(hashes, 3) >> np.uint64(63)).astype(np.int64)
        signature = np.column_stack([np.where(tested < 0, -2 + half, tested), trained.T])
    kinds, part = np.unique(signature, axis=0, return_inverse=True)
    if len(kinds) > _MAX_PARTS:
        problem = f"must divide rows into at most {_MAX_PARTS} parts"
        remedy = "Use fewer folds, or training sets that are unions of folds."
        raise ParameterError("cv", f"a splitter that makes {len(kinds):,}", problem, remedy=remedy)
    folds = sorted({int(label) for label in kinds[:, 0]})
    halves = {-2: -1, -1: -2}
    trains = tuple(
        tuple(np.flatnonzero(kinds[:, 0] == halves[fold] if fold < 0 else kinds[:, 1 + fold] == 1).tolist())
        for fold in folds
    )
    fold_of_part = tuple(folds.index(int(label)) for label in kinds[:, 0])
    return part.ravel(), FoldPlan(fold_of_part, trains, tuple(fold >= 0 for fold in folds))


def _memberships(splits: Iterable[Any], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The test set of each row (-1: none), and whether each training set contains it."""
    tested, trained = np.full(n, -1), []
    for k, split in enumerate(splits):
        try:
            train, test = (np.arange(n)[np.asarray(each)] for each in split)
        except (TypeError, ValueError, IndexError) as error:
            problem = f"must give pairs of indices of the {n:,} rows, for training and for tests"
            raise ParameterError("cv", f"what its split {k} is", problem) from error
        if np.any(tested[test] >= 0):
            row = int(test[tested[test] >= 0][0])
            raise MercerError(
                Setting("cv"), f": the test sets overlap (row {row} is in more than one), so it has no single "
                "out-of-fold prediction.", remedy="Use a splitter with disjoint test sets, such as KFold.",
            )  # fmt: skip
        tested[test] = k
        trained.append(np.zeros(n, dtype=np.int64))
        trained[-1][train] = 1
        if np.any(trained[-1][test]):
            raise MercerError(Setting("cv"), f": split {k} learns from rows that it is tested on.")
    if len(trained) < 2:
        raise MercerError(Setting("cv"), f": {len(trained)} split.", remedy="At least two folds are needed.")
    return tested, np.array(trained)
