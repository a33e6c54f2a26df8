"""Forward selection for the squared loss: orthogonal least squares, orthogonal matching pursuit, matching pursuit.

With u_j the component of candidate j orthogonal to the selected ones and c_j = <u_j, y>, the squared error falls by
c_j^2 / ||u_j||^2 when j is added and all weights are refitted. Orthogonal least squares takes the largest of these;
orthogonal matching pursuit divides by ||x_j||^2 instead. When q joins the basis, ||u_j||^2 falls by <q, x_j>^2 and c_j
by <q, y> <q, x_j>. A target of several columns (indicators of classes) is fitted in all of them at once: the sum over
them of c_j^2 replaces c_j^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mercer._numeric.linalg import dense
from mercer.select.greedy.inner_products import GramInnerProducts, RowInnerProducts
from mercer.source.progress import report_progress

InnerProducts = RowInnerProducts | GramInnerProducts

#: Scores this close are equal, relative to the largest score and to the sum of squares of the target.
_TIE, _TIE_TARGET = 1e-10, 1e-14

#: Principal directions of a group of candidates with less than this fraction of its sum of squares are ignored.
_MIN_EIGENVALUE = 1e-9


@dataclass
class SelectionPath:
    """Steps of a selection: per step the unit (candidate or group), the risk after it, and its predicted gain.

    `selected` lists candidates in the order in which they were added; the first `sizes[t]` of them were in after t
    steps (the forced ones after none). `weights(t)` are theirs, one column per target.
    """

    units: list[int] = field(default_factory=list)
    risks: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    selected: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def weights(self, t: int) -> np.ndarray:
        raise NotImplementedError

    def record(self, unit: int, gain: float, risk: float) -> None:
        """Append a step, after its candidates were added."""
        self.units.append(unit)
        self.gains.append(gain)
        self.risks.append(risk)
        self.sizes.append(len(self.selected))


@dataclass
class RefitPath(SelectionPath):
    """A path whose weights are refitted at each step: R w = theta, R the selected candidates in basis coordinates."""

    columns: list[np.ndarray | None] = field(default_factory=list)
    theta: list[np.ndarray] = field(default_factory=list)
    n_targets: int = 1

    def weights(self, t: int) -> np.ndarray:
        """Return the weights of the first `sizes[t]` candidates; one that depends on earlier ones has weight 0."""
        columns = self.columns[: self.sizes[t]]
        used = [i for i, column in enumerate(columns) if column is not None]
        weights = np.zeros((len(columns), self.n_targets))
        if used:
            R = np.zeros((len(used), len(used)))
            for position, i in enumerate(used):
                R[: position + 1, position] = columns[i]
            weights[used] = dense.solve_triangular(R, np.array(self.theta[: len(used)]), check_finite=False)
        return weights


@dataclass
class PursuitPath(SelectionPath):
    """A path that changes one weight at each step, by `increments[t]`."""

    increments: list[np.ndarray] = field(default_factory=list)
    n_targets: int = 1

    def weights(self, t: int) -> np.ndarray:
        return np.array(self.increments[: self.sizes[t]]).reshape(-1, self.n_targets)


def forward_selection(
    products: InnerProducts,
    k: int,
    include: Sequence[int] = (),
    groups: list[np.ndarray] | None = None,
    omp: bool = False,
) -> RefitPath:
    """Take up to k steps, each adding the candidate (or group) with the best score and refitting all weights.

    It ends early when every remaining candidate depends on the selected ones.
    """
    products.restart()
    state = SelectionState(products, omp)
    path = RefitPath(n_targets=len(products.target_products))
    for j in include:
        state.add(path, j)
    path.sizes.append(len(path.selected))
    rule: _SingleRule | _GroupRule = _SingleRule(state) if groups is None else _GroupRule(state, groups)
    for step in range(k):
        state.steps_left = k - step if groups is None else 0
        unit, gain = rule.best()
        if unit is None:
            break
        for j in rule.members(unit):
            state.add(path, j)
        rule.update(unit)
        path.record(unit, gain, state.error / products.weight)
        report_progress(step + 1, k)
    return path


def matching_pursuit(products: InnerProducts, k: int) -> PursuitPath:
    """Take k steps, each changing the one weight that lowers the squared error most; candidates may repeat."""
    path = PursuitPath(sizes=[0], n_targets=len(products.target_products))
    correlations, error = products.target_products.copy(), products.target_squares
    live = products.squares > products.min_squares
    squares = np.where(live, products.squares, 1.0)
    for step in range(k):
        scores = np.where(live, np.sum(correlations**2, axis=0) / squares, 0.0)
        j = first_maximum(scores, _TIE_TARGET * products.target_squares)
        if not scores[j] > 0:
            break
        increment = correlations[:, j] / squares[j]
        correlations -= np.outer(increment, products.with_candidate(j))
        error = max(error - scores[j], 0.0)
        path.selected.append(j)
        path.increments.append(increment)
        path.record(j, float(scores[j]) / products.weight, error / products.weight)
        report_progress(step + 1, k)
    return path


def first_maximum(scores: np.ndarray, slack: float = 0.0) -> int:
    """Return the first index of the maximum up to rounding, so that ties do not depend on the order of rows."""
    top = scores.max()
    return int(np.argmax(scores >= top - _TIE * abs(top) - slack)) if top > 0 else int(np.argmax(scores))


class SelectionState:
    """Sums of squares and target products of the orthogonal components of all candidates, and the squared error."""

    def __init__(self, products: InnerProducts, omp: bool):
        self.inner_products, self.omp = products, omp
        self.squares, self.target_products = products.squares.copy(), products.target_products.copy()
        self.error = products.target_squares
        self.free = np.ones(len(self.squares), dtype=bool)
        self.new_directions: list[np.ndarray] = []  # since the last update of the rule
        self.steps_left = 0  # steps to come that add single candidates

    def scores(self) -> np.ndarray:
        """Return the fall of the squared error for each candidate (of matching pursuit with `omp`), -1 if none."""
        products = self.inner_products
        return self.scores_of(self.squares, self.target_products, self.free, products.squares, products.min_squares)

    def scores_of(
        self,
        squares: np.ndarray,
        target_products: np.ndarray,
        free: np.ndarray,
        full_squares: np.ndarray,
        min_squares: np.ndarray,
    ) -> np.ndarray:
        """Return the same scores for candidates given by their sums."""
        live = free & (squares > min_squares)
        by = full_squares if self.omp else squares
        return np.divide(np.sum(target_products**2, axis=0), by, out=np.full(len(by), -1.0), where=live)

    def add(self, path: RefitPath, j: int) -> None:
        """Add candidate j; if it depends on the selected ones it gets no weight."""
        self.free[j] = False
        found = self.inner_products.direction(j, self if self.steps_left else None)
        path.selected.append(int(j))
        path.columns.append(None if found is None else found[1])
        if found is None:
            return
        row, coordinates = found
        theta = self.target_products[:, j] / coordinates[-1]
        path.theta.append(theta)
        self.target_products -= np.outer(theta, row)
        self.squares -= row * row
        self.error = max(self.error - float(theta @ theta), 0.0)
        self.new_directions.append(row)


class _SingleRule:
    """Candidates are added one at a time."""

    def __init__(self, state: SelectionState):
        self.state = state

    def best(self) -> tuple[int | None, float]:
        products = self.state.inner_products
        scores = self.state.scores()
        j = first_maximum(scores, _TIE_TARGET * products.target_squares)
        return (None, 0.0) if scores[j] < 0 else (j, float(scores[j]) / products.weight)

    def members(self, unit: int) -> list[int]:
        return [unit]

    def update(self, unit: int) -> None:
        self.state.new_directions.clear()


class _GroupRule:
    """Groups are added as a whole: the squared error falls by c' B^+ c, B the Gram matrix of orthogonal components."""

    def __init__(self, state: SelectionState, groups: list[np.ndarray]):
        self.state, self.groups = state, groups
        self.open = np.array([bool(np.all(state.free[members])) for members in groups])
        sizes = sorted({len(members) for members in groups})
        self.indices = [np.flatnonzero([len(members) == size for members in groups]) for size in sizes]
        self.columns = [np.stack([groups[g] for g in indices]) for indices in self.indices]
        self.blocks = [np.stack([state.inner_products.block(m) for m in columns]) for columns in self.columns]
        self._deflate()

    def best(self) -> tuple[int | None, float]:
        products = self.state.inner_products
        scores = np.full(len(self.groups), -1.0)
        for indices, columns, blocks in zip(self.indices, self.columns, self.blocks, strict=True):
            scores[indices] = self._scores(columns, blocks)
        scores[~self.open] = -1.0
        g = first_maximum(scores, _TIE_TARGET * products.target_squares)
        return (None, 0.0) if scores[g] < 0 else (g, float(scores[g]) / products.weight)

    def members(self, unit: int) -> np.ndarray:
        return self.groups[unit]

    def update(self, unit: int) -> None:
        self.open[unit] = False
        self._deflate()

    def _deflate(self) -> None:
        """Subtract the new directions from the Gram matrices, unless the rule uses the original candidates."""
        for row in self.state.new_directions:
            for columns, blocks in zip(self.columns, self.blocks, strict=True):
                if not self.state.omp:
                    blocks -= row[columns][:, :, None] * row[columns][:, None, :]
        self.state.new_directions.clear()

    def _scores(self, columns: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        state, products = self.state, self.state.inner_products
        live = state.squares[columns] > products.min_squares[columns]
        scale = np.where(live, 1.0 / np.sqrt(np.where(live, products.squares[columns], 1.0)), 0.0)
        values, vectors = dense.eigh(blocks * scale[:, :, None] * scale[:, None, :])
        rotated = sum(np.einsum("gmk,gm->gk", vectors, each[columns] * scale) ** 2 for each in state.target_products)
        kept = values > _MIN_EIGENVALUE
        gains = np.sum(np.where(kept, rotated, 0.0) / np.where(kept, values, 1.0), axis=1)
        return np.where(live.any(axis=1) & kept.any(axis=1), gains, -1.0)
