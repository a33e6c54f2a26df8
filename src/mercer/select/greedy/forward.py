"""Forward selection for the squared loss: orthogonal least squares, orthogonal matching pursuit, matching pursuit.

With u_j the part of candidate j that is orthogonal to what is chosen and c_j = <u_j, y>, the squared error falls by
c_j^2 / ||u_j||^2 when j joins and all weights are fitted anew. Orthogonal least squares takes the largest of these;
orthogonal matching pursuit divides by ||x_j||^2 instead. When q joins the basis, all ||u_j||^2 lose <q, x_j>^2 and all
c_j lose <q, y> <q, x_j>. A target of several columns (indicators of classes) is fitted in all of them at once: the sum
over them of c_j^2 takes the place of c_j^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mercer.select.greedy.geometry import FromGram, FromRows
from mercer.source.progress import report_progress

Geometry = FromRows | FromGram

#: Scores this close are equal, relative to the largest and to the squares of the target.
_TIE, _TIE_TARGET = 1e-10, 1e-14

#: Directions of a group of candidates with less than this share of its squares carry nothing.
_FLAT = 1e-9


@dataclass
class Trail:
    """What a selection did: per step the unit chosen, the mean squared error after it, and what the rule expected.

    `chosen` lists candidates in the order in which they joined; the first `lengths[t]` of them had joined after t steps
    (the forced ones after none). `weights(t)` are theirs, a column for each target.
    """

    units: list[int] = field(default_factory=list)
    risks: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def weights(self, t: int) -> np.ndarray:
        raise NotImplementedError


@dataclass
class FittedTrail(Trail):
    """Weights fitted anew at each step: R w = theta, R the coordinates of the chosen candidates in the basis."""

    columns: list[np.ndarray | None] = field(default_factory=list)
    theta: list[np.ndarray] = field(default_factory=list)
    n_targets: int = 1

    def weights(self, t):
        """Weights of the first `lengths[t]` candidates; one that depends on those before it has none."""
        from scipy.linalg import solve_triangular

        columns = self.columns[: self.lengths[t]]
        used = [i for i, column in enumerate(columns) if column is not None]
        weights = np.zeros((len(columns), self.n_targets))
        if used:
            R = np.zeros((len(used), len(used)))
            for place, i in enumerate(used):
                R[: place + 1, place] = columns[i]
            weights[used] = solve_triangular(R, np.array(self.theta[: len(used)]), check_finite=False)
        return weights


@dataclass
class SteppedTrail(Trail):
    """One weight moved at each step, by `moves[t]`."""

    moves: list[np.ndarray] = field(default_factory=list)
    n_targets: int = 1

    def weights(self, t):
        return np.array(self.moves[: self.lengths[t]]).reshape(-1, self.n_targets)


def forward(
    geometry: Geometry, k: int, include: Sequence[int] = (), groups: list[np.ndarray] | None = None, omp: bool = False
) -> FittedTrail:
    """Up to k steps, each adding the candidate (or group of candidates) with the best score and fitting all weights.

    It ends early when every candidate left depends on those chosen.
    """
    geometry.restart()
    state = _State(geometry, omp)
    trail = FittedTrail(n_targets=len(geometry.products))
    for j in include:
        state.add(trail, j)
    trail.lengths.append(len(trail.chosen))
    rule = _Singles(state) if groups is None else _Groups(state, groups)
    for step in range(k):
        state.left = k - step if groups is None else 0
        unit, gain = rule.best()
        if unit is None:
            break
        for j in rule.members(unit):
            state.add(trail, j)
        rule.update(unit)
        _record(trail, unit, gain, state.error / geometry.weight)
        report_progress(step + 1, k)
    return trail


def pursue(geometry: Geometry, k: int) -> SteppedTrail:
    """Matching pursuit: k steps, each moving the one weight that lowers the squared error most; weights may repeat."""
    trail = SteppedTrail(lengths=[0], n_targets=len(geometry.products))
    products, error = geometry.products.copy(), geometry.target
    live = geometry.squares > geometry.least
    squares = np.where(live, geometry.squares, 1.0)
    for step in range(k):
        scores = np.where(live, np.sum(products**2, axis=0) / squares, 0.0)
        j = first_best(scores, _TIE_TARGET * geometry.target)
        if not scores[j] > 0:
            break
        move = products[:, j] / squares[j]
        products -= np.outer(move, geometry.inner(j))
        error = max(error - scores[j], 0.0)
        trail.chosen.append(j)
        trail.moves.append(move)
        _record(trail, j, float(scores[j]) / geometry.weight, error / geometry.weight)
        report_progress(step + 1, k)
    return trail


def first_best(scores: np.ndarray, slack: float = 0.0) -> int:
    """The first of the scores that equal the largest up to rounding: a tie then has one answer, however rows came."""
    top = scores.max()
    return int(np.argmax(scores >= top - _TIE * abs(top) - slack)) if top > 0 else int(np.argmax(scores))


def _record(trail, unit, gain, risk):
    trail.units.append(unit)
    trail.gains.append(gain)
    trail.risks.append(risk)
    trail.lengths.append(len(trail.chosen))


class _State:
    """Squares and products of what is left of the candidates, and the squared error so far."""

    def __init__(self, geometry, omp):
        self.geometry, self.omp = geometry, omp
        self.squares, self.products = geometry.squares.copy(), geometry.products.copy()
        self.error = geometry.target
        self.free = np.ones(len(self.squares), dtype=bool)
        self.last: list[np.ndarray] = []  # new directions since the rule last looked
        self.left = 0  # steps still to come in which single candidates join

    def scores(self, squares=None, products=None, free=None, as_came=None, least=None):
        """How far the squared error falls if a candidate joins (or, as matching pursuit has it), -1 where it cannot.

        Of all candidates, or of some whose numbers are given.
        """
        if squares is None:
            squares, products, free = self.squares, self.products, self.free
            as_came, least = self.geometry.squares, self.geometry.least
        live = free & (squares > least)
        by = as_came if self.omp else squares
        return np.divide(np.sum(products**2, axis=0), by, out=np.full(len(by), -1.0), where=live)

    def add(self, trail, j):
        """Let candidate j join; if it depends on the others it joins without a weight."""
        self.free[j] = False
        found = self.geometry.direction(j, self if self.left else None)
        trail.chosen.append(int(j))
        trail.columns.append(None if found is None else found[1])
        if found is None:
            return
        row, coordinates = found
        theta = self.products[:, j] / coordinates[-1]
        trail.theta.append(theta)
        self.products -= np.outer(theta, row)
        self.squares -= row * row
        self.error = max(self.error - float(theta @ theta), 0.0)
        self.last.append(row)


class _Singles:
    """Every candidate for itself."""

    def __init__(self, state):
        self.state = state

    def best(self):
        state = self.state
        scores = state.scores()
        j = first_best(scores, _TIE_TARGET * state.geometry.target)
        return (None, 0.0) if scores[j] < 0 else (j, float(scores[j]) / state.geometry.weight)

    def members(self, unit):
        return [unit]

    def update(self, unit):
        self.state.last.clear()


class _Groups:
    """Candidates that join together: the squared error falls by c' B^+ c, B the products of what is left of them."""

    def __init__(self, state, groups):
        self.state, self.groups = state, groups
        self.open = np.array([bool(np.all(state.free[members])) for members in groups])
        sizes = sorted({len(members) for members in groups})
        self.places = [np.flatnonzero([len(members) == size for members in groups]) for size in sizes]
        self.columns = [np.stack([groups[g] for g in places]) for places in self.places]
        self.blocks = [np.stack([state.geometry.block(m) for m in columns]) for columns in self.columns]
        self._subtract()

    def best(self):
        scores = np.full(len(self.groups), -1.0)
        for places, columns, blocks in zip(self.places, self.columns, self.blocks, strict=True):
            scores[places] = self._scores(columns, blocks)
        scores[~self.open] = -1.0
        g = first_best(scores, _TIE_TARGET * self.state.geometry.target)
        return (None, 0.0) if scores[g] < 0 else (g, float(scores[g]) / self.state.geometry.weight)

    def members(self, unit):
        return self.groups[unit]

    def update(self, unit):
        self.open[unit] = False
        self._subtract()

    def _subtract(self):
        """Take the new directions out of the products, unless the rule looks at candidates as they came."""
        for row in self.state.last:
            for columns, blocks in zip(self.columns, self.blocks, strict=True):
                if not self.state.omp:
                    blocks -= row[columns][:, :, None] * row[columns][:, None, :]
        self.state.last.clear()

    def _scores(self, columns, blocks):
        state = self.state
        live = state.squares[columns] > state.geometry.least[columns]
        scale = np.where(live, 1.0 / np.sqrt(np.where(live, state.geometry.squares[columns], 1.0)), 0.0)
        values, vectors = np.linalg.eigh(blocks * scale[:, :, None] * scale[:, None, :])
        turned = sum(np.einsum("gmk,gm->gk", vectors, each[columns] * scale) ** 2 for each in state.products)
        some = values > _FLAT
        gains = np.sum(np.where(some, turned, 0.0) / np.where(some, values, 1.0), axis=1)
        return np.where(live.any(axis=1) & some.any(axis=1), gains, -1.0)
