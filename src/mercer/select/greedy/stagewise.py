"""Greedy selection for any risk of classes, by three rules of increasing price.

- gradient: the candidate with the largest g_j^2 / H_jj, what one Newton step along it promises;
- line: the candidate whose best step lowers the risk most, all other weights held;
- refit: the candidate with which all weights, fitted anew, reach the lowest risk.

Afterwards all weights are fitted anew (`refit`), or only the chosen one moves, and then it may be chosen again. With an
intercept, a candidate enters measured from its mean. Of more than two classes each is told from all others, with
weights of its own on the same candidates, and a candidate is judged by the sum over the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mercer._runtime.pool import ordered_map
from mercer.select.greedy.candidates import Columns
from mercer.select.greedy.forward import Trail, first_best
from mercer.select.greedy.lines import best_hinge_steps, best_steps
from mercer.select.greedy.refits import fit_weights
from mercer.select.greedy.risks import HingeRisk
from mercer.source.progress import report_progress

#: A rule that promises less than this has nothing to add.
_NOTHING = 1e-13


@dataclass
class Task:
    """Rows, labels -1 and +1, weights, and what is asked."""

    candidates: Columns
    y: np.ndarray
    w: np.ndarray
    risk: Any
    rule: str
    refit: bool
    intercept: bool
    alpha: float
    include: tuple[int, ...] = ()
    groups: list[np.ndarray] | None = None

    def rows(self, selection) -> Task:
        """The same task on some of the rows."""
        parts = {"candidates": self.candidates.rows(selection), "y": self.y[selection], "w": self.w[selection]}
        return Task(**{**vars(self), **parts})


@dataclass
class LossTrail(Trail):
    """Weights of the chosen candidates, and the intercepts, after each step: a column for each task."""

    models: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def weights(self, t):
        return self.models[t][0]

    def intercept(self, t):
        return self.models[t][1]


def climb(tasks: list[Task], k: int) -> LossTrail:
    """Up to k steps; fewer if no candidate lowers the risk any more. The tasks differ in y alone."""
    models = [_Model(task) for task in tasks]
    for model in models:
        model.join(model.task.include)
    chosen = models[0].chosen
    trail = LossTrail(chosen=chosen, lengths=[len(chosen)], models=[_weights(models)])
    rule = {"gradient": _by_gradient, "line": _by_line, "refit": _by_refit}[tasks[0].rule]
    for step in range(k):
        unit, gain = _largest([rule(model.task, model) for model in models])
        if unit is None or not gain > _NOTHING:
            break
        for model in models:
            if model.task.refit:
                model.join(_members(model.task, unit))
            else:
                model.move(unit)
        trail.units.append(int(unit))
        trail.gains.append(float(gain))
        trail.risks.append(float(sum(model.value for model in models)))
        trail.lengths.append(len(chosen))
        trail.models.append(_weights(models))
        report_progress(step + 1, k)
    return trail


def _weights(models):
    """Weights and intercepts of all tasks, side by side."""
    weights, intercepts = zip(*(model.weights() for model in models), strict=True)
    return np.stack(weights, axis=1), np.array(intercepts)


class _Model:
    """The current weights: of columns (x_j - m_j) / s_j, so that they are all of one size."""

    def __init__(self, task):
        self.task = task
        spread = task.candidates.spread(task.w, task.intercept)
        size = np.sqrt(spread.squares / task.w.sum())
        self.mean, self.usable = spread.mean, spread.squares > np.maximum(spread.least, 1e-300)
        self.size = np.where(self.usable, size, 1.0)
        self.chosen: list[int] = []
        self.Z = np.empty((len(task.y), 0))
        self.v, self.b = np.empty(0), 0.0
        self.free = self.usable.copy()

    def column(self, j):
        return (self.task.candidates.column(j) - self.mean[j]) / self.size[j]

    def join(self, members):
        """Add candidates and fit all weights anew."""
        new = [j for j in members if self.usable[j] and j not in self.chosen]
        self.Z = np.column_stack([self.Z, *(self.column(j) for j in new)])
        self.chosen.extend(int(j) for j in new)
        self.free[list(members)] = False
        self._set(self.fitted(self.Z))

    def fitted(self, Z):
        task = self.task
        start = np.concatenate([self.v, np.zeros(Z.shape[1] - len(self.v)), [self.b] if task.intercept else []])
        return fit_weights(task.risk, Z, task.y, task.w, task.alpha, task.intercept, start)

    def _set(self, fit):
        self.v, self.b, self.value = fit.v, fit.b, fit.objective
        self.f = self.Z @ self.v + self.b
        self.slope = fit.slope if fit.slope is not None else self.task.risk.slope(self.task.y, self.f, self.task.w)

    def move(self, j):
        """Take the best step along candidate j, then the best intercept."""
        task, z = self.task, self.column(j)
        if j not in self.chosen:
            self.chosen.append(int(j))
            self.Z, self.v = np.column_stack([self.Z, z]), np.append(self.v, 0.0)
        if isinstance(task.risk, HingeRisk):
            [eta], [shift], [self.value] = best_hinge_steps(z[:, None], task.y, self.f, task.w)
        else:
            [eta], [self.value] = best_steps(task.risk, z[:, None], task.y, self.f, task.w)
            shift = 0.0
            if task.intercept:
                ones, moved = np.ones((len(z), 1)), self.f + eta * z
                [shift], [self.value] = best_steps(task.risk, ones, task.y, moved, task.w)
        self.v[self.chosen.index(j)] += eta
        self.b += shift
        self.f = self.f + eta * z + shift
        self.slope = task.risk.slope(task.y, self.f, task.w)

    def weights(self):
        """Weights of the chosen candidates as they came, and the intercept that goes with them."""
        weights = self.v / self.size[self.chosen]
        return weights, float(self.b - self.mean[self.chosen] @ weights)


def _members(task, unit):
    return [unit] if task.groups is None else task.groups[unit]


def _open_units(task, model):
    if not task.refit:
        return model.usable
    if task.groups is None:
        return model.free
    return np.array([bool(np.any(model.free[members])) for members in task.groups])


def _by_gradient(task, model):
    """g_j^2 / (2 H_jj), the slope and curvature along x_j measured from its mean under the curvature."""
    h = task.risk.bend(task.y, model.f, task.w)
    v = model.slope
    if task.groups is not None:
        return _by_group_gradient(task, model, v, h)
    spread = task.candidates.spread(h, task.intercept)
    g = task.candidates.products(v) - spread.mean * v.sum()
    live = _open_units(task, model) & (spread.squares > np.maximum(spread.least, 1e-300))
    return np.divide(g**2, 2.0 * spread.squares, out=np.full(len(g), -1.0), where=live)


def _by_group_gradient(task, model, v, h):
    scores = np.full(len(task.groups), -1.0)
    for unit in np.flatnonzero(_open_units(task, model)):
        Z = np.stack([model.column(j) for j in task.groups[unit] if model.usable[j]], axis=1)
        Z = Z - (h @ Z) / h.sum() if task.intercept else Z
        values, vectors = np.linalg.eigh(Z.T @ (h[:, None] * Z))
        some = values > 1e-9 * h.sum()
        scores[unit] = 0.5 * np.sum((vectors[:, some].T @ (Z.T @ v)) ** 2 / values[some])
    return scores


def _by_line(task, model):
    live = _open_units(task, model)
    before = task.risk.value(task.y, model.f, task.w)
    scores = np.full(task.candidates.size, -1.0)

    def score(piece):
        numbers, columns = piece
        kept = live[numbers]
        numbers = numbers[kept]
        Z = (columns[:, kept] - model.mean[numbers]) / model.size[numbers]
        search = best_hinge_steps if isinstance(task.risk, HingeRisk) else partial(best_steps, task.risk)
        return numbers, before - search(Z, task.y, model.f, task.w)[-1]

    for numbers, gains in ordered_map(score, task.candidates.pieces()):
        scores[numbers] = gains
    return scores


def _by_refit(task, model):
    live = _open_units(task, model)
    scores = np.full(len(live), -1.0)

    def score(unit):
        new = [model.column(j) for j in _members(task, unit) if model.free[j]]
        return model.value - model.fitted(np.column_stack([model.Z, *new])).objective

    def score_piece(piece):
        numbers, columns = piece
        kept = live[numbers]
        numbers = numbers[kept]
        Z = (columns[:, kept] - model.mean[numbers]) / model.size[numbers]
        return numbers, [model.value - model.fitted(np.column_stack([model.Z, z])).objective for z in Z.T]

    if type(task.candidates) is Columns:
        units = np.flatnonzero(live)
        scores[units] = list(ordered_map(score, units))
        return scores
    for numbers, gains in ordered_map(score_piece, task.candidates.pieces()):  # made once each, not one by one
        scores[numbers] = gains
    return scores


def _largest(scores):
    """The unit with the largest sum of scores, and the sum; a score of -1 says that a unit has nothing to add."""
    total = sum(np.maximum(each, 0.0) for each in scores)
    if len(total) == 0 or all(each.max() < 0 for each in scores):
        return None, 0.0
    j = first_best(total)
    return j, float(total[j])
