"""Tables of the leaderboard: errors per set, mean ranks, normalized errors, and Elo, with bootstrap intervals."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from benchmarks.leaderboard_data import CHOSEN_ON, SETS
from benchmarks.leaderboard_models import MODELS

N_BOOTSTRAP = 1000


class Figure(NamedTuple):
    """A table of figures with its title; the first column is the name of the row."""

    title: str
    columns: list[str]
    rows: list[list]


def mean_by_set(rows: list[dict], column: str) -> dict[tuple[str, str], float]:
    """Means over the splits by (set, model)."""
    found: dict = defaultdict(list)
    for row in rows:
        if isinstance(row.get(column), float):
            found[row["set"], row["model"]].append(row[column])
    return {key: float(np.mean(values)) for key, values in found.items()}


def figures(rows: list[dict]) -> list[Figure]:
    """Scores and errors of each set, and summaries over the sets that all models have: all, of choices, and others."""
    found = [_means(rows, "score", "test scores (R2 or accuracy), means of the splits")]
    found.append(_means(rows, "error", "test errors, means of the splits"))
    mean = mean_by_set(rows, "error")
    models = found[1].columns[2:]
    common = [row[0] for row in found[1].rows if None not in row]
    halves = {
        "sets": common,
        "sets of choices": [name for name in common if name in CHOSEN_ON],
        "sets that took no part in choices": [name for name in common if name not in CHOSEN_ON],
    }
    for title, chosen in halves.items():
        if len(chosen) > 1:
            errors = np.array([[mean[name, model] for model in models] for name in chosen])
            found.append(_summary(f"{len(chosen)} {title}", errors, models, _times(rows, models, chosen)))
    failed = [[row["set"], row["model"], row["seed"], row["failed"]] for row in rows if "failed" in row]
    return [*found, *([Figure("fits that failed", ["set", "model", "split", "why"], failed)] if failed else [])]


def _means(rows: list[dict], column: str, title: str) -> Figure:
    """Means over the splits of each set; errors with their metric."""
    mean = mean_by_set(rows, column)
    models = [name for name in MODELS if any(model == name for _, model in mean)]
    metrics = {row["set"]: row["metric"] for row in rows if "metric" in row} if column == "error" else None
    sets = [name for name in SETS if any(found == name for found, _ in mean)]
    head = ["set"] if metrics is None else ["set", "metric"]
    labels = {name: [name] if metrics is None else [name, metrics[name]] for name in sets}
    values = {name: [mean.get((name, model)) for model in models] for name in sets}
    lines = [[*labels[name], *(None if x is None else float(f"{x:.4g}") for x in values[name])] for name in sets]
    return Figure(title, [*head, *models], lines)


def _summary(title: str, errors: np.ndarray, models: list[str], times: dict[str, tuple[float, float]]) -> Figure:
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(errors), (N_BOOTSTRAP, len(errors)))
    rank, normalized = ranks(errors), normalized_errors(errors)
    drawn = rank[draws].mean(axis=1)
    ratings = elo(errors)
    elo_drawn = np.array([elo(errors[each]) for each in draws[:200]])
    order = np.argsort(rank.mean(axis=0))
    rows = [
        [
            models[i],
            f"{rank[:, i].mean():.2f} ({_interval(drawn[:, i], '.2f')})",
            f"{normalized[:, i].mean():.3f}",
            f"{ratings[i]:.0f} ({_interval(elo_drawn[:, i], '.0f')})",
            *(f"{value:.1f}" for value in times[models[i]]),
        ]
        for i in order
    ]
    head = ["model", "mean rank", "normalized error", "Elo", "median wall s", "median CPU s"]
    first, second = order[:2]
    difference = _interval(drawn[:, second] - drawn[:, first], ".2f")
    lead = f"{models[first]} leads {models[second]} by a mean rank of {np.mean(rank[:, second] - rank[:, first]):.2f}"
    return Figure(f"{title}: {lead} ({difference}; intervals of 95 % by bootstrap over sets)", head, rows)


def ranks(errors: np.ndarray) -> np.ndarray:
    """Ranks of the models (columns) on each set (row); equal errors share their mean rank."""
    below = (errors[:, None, :] < errors[:, :, None]).sum(axis=2)
    equal = (errors[:, None, :] == errors[:, :, None]).sum(axis=2)
    return below + (equal + 1) / 2


def normalized_errors(errors: np.ndarray) -> np.ndarray:
    """0 for the best model of a set, 1 for the median one and all below it."""
    best, middle = errors.min(axis=1, keepdims=True), np.median(errors, axis=1, keepdims=True)
    return np.clip((errors - best) / np.where(middle > best, middle - best, 1.0), 0.0, 1.0)


def elo(errors: np.ndarray, n_iter: int = 200) -> np.ndarray:
    """Elo ratings with mean 1000: the Bradley-Terry model of all pairs, fitted by minorization (Hunter 2004).

    Each pair starts with half a win for both sides, so that ratings stay finite.
    """
    better = (errors[:, :, None] < errors[:, None, :]).sum(axis=0)
    ties = (errors[:, :, None] == errors[:, None, :]).sum(axis=0)
    wins = better + ties / 2 + 0.5
    np.fill_diagonal(wins, 0.0)
    games, strength = wins + wins.T, np.ones(len(wins))
    for _ in range(n_iter):
        strength = wins.sum(axis=1) / (games / (strength[:, None] + strength[None, :])).sum(axis=1)
        strength /= np.exp(np.mean(np.log(strength)))
    return 1000 + 400 * np.log10(strength)


def _times(rows: list[dict], models: list[str], sets: list[str]) -> dict[str, tuple[float, float]]:
    """The median over sets of the mean wall and CPU seconds of each model."""
    wall, cpu = mean_by_set(rows, "wall"), mean_by_set(rows, "cpu")
    return {
        model: tuple(float(np.median([found[name, model] for name in sets])) for found in (wall, cpu))
        for model in models
    }  # type: ignore[return-value]


def _interval(values: np.ndarray, form: str) -> str:
    low, high = np.quantile(values, (0.025, 0.975))
    return f"{low:{form}} to {high:{form}}"
