"""Greedy selection for classification risks, by three rules of increasing cost.

- gradient: the candidate with the largest g_j^2 / H_jj, the decrease that one Newton step along it predicts;
- line: the candidate whose best step lowers the risk most, all other weights fixed;
- refit: the candidate with which all weights, refitted, reach the lowest risk.

After that all weights are refitted (`refit`), or only the selected one changes, and then it may be selected again. With
an intercept, candidates are centered. More than two classes are separated one against the rest, with their own weights
on the same candidates, and a candidate's score is the sum over the classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.pool import ordered_map
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.forward import SelectionPath, first_maximum
from mercer.select.greedy.line_search import best_hinge_steps, best_steps
from mercer.select.greedy.refits import RefitResult, fit_weights
from mercer.select.greedy.risks import HingeRisk, Risk
from mercer.source.progress import report_progress

#: A selection ends when the predicted gain is below this.
_MIN_GAIN = 1e-13


@dataclass
class BinaryProblem:
    """Candidates, labels -1 and +1, row weights, the risk, and the parameters of the selection."""

    candidates: ColumnCandidates
    y: np.ndarray
    w: np.ndarray
    risk: Risk
    rule: str
    refit: bool
    intercept: bool
    alpha: float
    include: tuple[int, ...] = ()
    groups: list[np.ndarray] | None = None

    def rows(self, selection: np.ndarray) -> BinaryProblem:
        """Return the same problem on some of the rows."""
        parts = {"candidates": self.candidates.rows(selection), "y": self.y[selection], "w": self.w[selection]}
        return BinaryProblem(**{**vars(self), **parts})

    def members(self, unit: int) -> list[int] | np.ndarray:
        """Return the candidates of a unit: the candidate itself, or those of a group."""
        return [unit] if self.groups is None else self.groups[unit]


@dataclass
class StagewisePath(SelectionPath):
    """Weights of the selected candidates, and the intercepts, after each step: one column per problem."""

    models: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def weights(self, t: int) -> np.ndarray:
        return self.models[t][0]

    def intercept(self, t: int) -> np.ndarray:
        return self.models[t][1]


def stagewise_selection(problems: list[BinaryProblem], k: int) -> StagewisePath:
    """Take up to k steps, fewer if no candidate lowers the risk any more. The problems differ in y alone."""
    models = [_StagewiseModel(problem) for problem in problems]
    for model in models:
        model.add(model.problem.include)
    selected = models[0].selected
    path = StagewisePath(selected=selected, sizes=[len(selected)], models=[_all_weights(models)])
    rule = {"gradient": _gradient_scores, "line": _line_scores, "refit": _refit_scores}[problems[0].rule]
    for step in range(k):
        unit, gain = _best_unit([rule(model.problem, model) for model in models])
        if unit is None or not gain > _MIN_GAIN:
            break
        for model in models:
            if model.problem.refit:
                model.add(model.problem.members(unit))
            else:
                model.step_along(unit)
        path.record(int(unit), float(gain), float(sum(model.value for model in models)))
        path.models.append(_all_weights(models))
        report_progress(step + 1, k)
    return path


def _all_weights(models: list[_StagewiseModel]) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights and intercepts of all problems, side by side."""
    weights, intercepts = zip(*(model.weights() for model in models), strict=True)
    return np.stack(weights, axis=1), np.array(intercepts)


class _StagewiseModel:
    """The current weights, of standardized columns (x_j - m_j) / s_j."""

    def __init__(self, problem: BinaryProblem):
        self.problem = problem
        moments = problem.candidates.moments(problem.w, problem.intercept)
        std = np.sqrt(moments.squares / problem.w.sum())
        self.mean, self.usable = moments.mean, moments.squares > np.maximum(moments.min_squares, 1e-300)
        self.std = np.where(self.usable, std, 1.0)
        self.selected: list[int] = []
        self.Z = np.empty((len(problem.y), 0))
        self.v, self.b = np.empty(0), 0.0
        self.free = self.usable.copy()

    def column(self, j: int) -> np.ndarray:
        return (self.problem.candidates.column(j) - self.mean[j]) / self.std[j]

    def standardized(self, columns: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return (columns - self.mean[indices]) / self.std[indices]

    def open_units(self) -> np.ndarray:
        """Return the mask of candidates or groups that can be selected."""
        if not self.problem.refit:
            return self.usable
        if self.problem.groups is None:
            return self.free
        return np.array([bool(np.any(self.free[members])) for members in self.problem.groups])

    def add(self, members: Iterable[int]) -> None:
        """Add candidates and refit all weights."""
        new = [j for j in members if self.usable[j] and j not in self.selected]
        self.Z = np.column_stack([self.Z, *(self.column(j) for j in new)])
        self.selected.extend(int(j) for j in new)
        self.free[list(members)] = False
        self._set(self.fitted(self.Z))

    def fitted(self, Z: np.ndarray) -> RefitResult:
        problem = self.problem
        start = np.concatenate([self.v, np.zeros(Z.shape[1] - len(self.v)), [self.b] if problem.intercept else []])
        return fit_weights(problem.risk, Z, problem.y, problem.w, problem.alpha, problem.intercept, start)

    def _set(self, fit: RefitResult) -> None:
        problem = self.problem
        self.v, self.b, self.value = fit.v, fit.b, fit.objective
        self.f = self.Z @ self.v + self.b
        gradient = fit.gradient
        self.gradient = problem.risk.gradient(problem.y, self.f, problem.w) if gradient is None else gradient

    def step_along(self, j: int) -> None:
        """Take the best step along candidate j, then the best intercept."""
        problem, z = self.problem, self.column(j)
        if j not in self.selected:
            self.selected.append(int(j))
            self.Z, self.v = np.column_stack([self.Z, z]), np.append(self.v, 0.0)
        if isinstance(problem.risk, HingeRisk):
            [eta], [shift], [self.value] = best_hinge_steps(z[:, None], problem.y, self.f, problem.w)
        else:
            [eta], [self.value] = best_steps(problem.risk, z[:, None], problem.y, self.f, problem.w)
            shift = 0.0
            if problem.intercept:
                ones, f = np.ones((len(z), 1)), self.f + eta * z
                [shift], [self.value] = best_steps(problem.risk, ones, problem.y, f, problem.w)
        self.v[self.selected.index(j)] += eta
        self.b += shift
        self.f = self.f + eta * z + shift
        self.gradient = problem.risk.gradient(problem.y, self.f, problem.w)

    def weights(self) -> tuple[np.ndarray, float]:
        """Return the weights of the selected candidates before standardization, and the intercept."""
        weights = self.v / self.std[self.selected]
        return weights, float(self.b - self.mean[self.selected] @ weights)


def _gradient_scores(problem: BinaryProblem, model: _StagewiseModel) -> np.ndarray:
    """Return g_j^2 / (2 H_jj), the gradient and curvature along x_j centered with the Hessian weights."""
    h = problem.risk.hessian_weights(problem.y, model.f, problem.w)
    v = model.gradient
    if problem.groups is not None:
        return _group_gradient_scores(problem.groups, model, v, h)
    moments = problem.candidates.moments(h, problem.intercept)
    g = problem.candidates.products(v) - moments.mean * v.sum()
    live = model.open_units() & (moments.squares > np.maximum(moments.min_squares, 1e-300))
    return np.divide(g**2, 2.0 * moments.squares, out=np.full(len(g), -1.0), where=live)


def _group_gradient_scores(
    groups: list[np.ndarray], model: _StagewiseModel, v: np.ndarray, h: np.ndarray
) -> np.ndarray:
    scores = np.full(len(groups), -1.0)
    for unit in np.flatnonzero(model.open_units()):
        Z = np.stack([model.column(j) for j in groups[unit] if model.usable[j]], axis=1)
        Z = Z - (h @ Z) / h.sum() if model.problem.intercept else Z
        values, vectors = dense.eigh(Z.T @ (h[:, None] * Z))
        kept = values > 1e-9 * h.sum()
        scores[unit] = 0.5 * np.sum((vectors[:, kept].T @ (Z.T @ v)) ** 2 / values[kept])
    return scores


def _line_scores(problem: BinaryProblem, model: _StagewiseModel) -> np.ndarray:
    live = model.open_units()
    before = problem.risk.value(problem.y, model.f, problem.w)
    scores = np.full(problem.candidates.size, -1.0)
    search = best_hinge_steps if isinstance(problem.risk, HingeRisk) else partial(best_steps, problem.risk)

    def score(chunk: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        indices, columns = chunk
        kept = live[indices]
        indices = indices[kept]
        Z = model.standardized(columns[:, kept], indices)
        return indices, before - search(Z, problem.y, model.f, problem.w)[-1]

    for indices, gains in ordered_map(score, problem.candidates.chunks()):
        scores[indices] = gains
    return scores


def _refit_scores(problem: BinaryProblem, model: _StagewiseModel) -> np.ndarray:
    live = model.open_units()
    scores = np.full(len(live), -1.0)

    def score(unit: int) -> float:
        new = [model.column(j) for j in problem.members(unit) if model.free[j]]
        return model.value - model.fitted(np.column_stack([model.Z, *new])).objective

    def score_chunk(chunk: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, list[float]]:
        indices, columns = chunk
        kept = live[indices]
        indices = indices[kept]
        Z = model.standardized(columns[:, kept], indices)
        return indices, [model.value - model.fitted(np.column_stack([model.Z, z])).objective for z in Z.T]

    if type(problem.candidates) is ColumnCandidates:
        units = np.flatnonzero(live)
        scores[units] = list(ordered_map(score, units))
        return scores
    for indices, gains in ordered_map(score_chunk, problem.candidates.chunks()):  # each candidate is computed once
        scores[indices] = gains
    return scores


def _best_unit(scores: list[np.ndarray]) -> tuple[int | None, float]:
    """Return the unit with the largest sum of scores, and the sum; a score of -1 excludes a unit."""
    total = sum(np.maximum(each, 0.0) for each in scores)
    if len(total) == 0 or all(each.max() < 0 for each in scores):
        return None, 0.0
    j = first_maximum(total)
    return j, float(total[j])
