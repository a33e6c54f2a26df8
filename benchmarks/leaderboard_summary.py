"""Tables of the leaderboard: errors per set, mean ranks, normalized errors, and Elo, with bootstrap intervals."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from benchmarks.leaderboard_data import CHOSEN_ON, SETS
from benchmarks.leaderboard_models import MODELS

N_BOOTSTRAP = 1000


def mean_by_set(rows: list[dict], column: str) -> dict[tuple[str, str], float]:
    """Means over the splits by (set, model)."""
    found: dict = defaultdict(list)
    for row in rows:
        if isinstance(row.get(column), float):
            found[row["set"], row["model"]].append(row[column])
    return {key: float(np.mean(values)) for key, values in found.items()}


def render(rows: list[dict]) -> str:
    """Errors, and summaries over the sets that all models have: all sets, those of choices, and the others."""
    mean = mean_by_set(rows, "error")
    models = [name for name in MODELS if any(model == name for _, model in mean)]
    sets = [name for name in SETS if any(found == name for found, _ in mean)]
    metrics = {row["set"]: row["metric"] for row in rows if "metric" in row}
    lines = _table(
        ["set", "metric", *models],
        [[name, metrics.get(name, ""), *_marked([mean.get((name, model)) for model in models])] for name in sets],
    )
    common = [name for name in sets if all((name, model) in mean for model in models)]
    halves = {
        "all": common,
        "of choices": [name for name in common if name in CHOSEN_ON],
        "reported": [name for name in common if name not in CHOSEN_ON],
    }
    for title, chosen in halves.items():
        if len(chosen) > 1:
            errors = np.array([[mean[name, model] for model in models] for name in chosen])
            lines += ["", f"{len(chosen)} sets ({title}); intervals of 95 % by bootstrap over sets", ""]
            lines += _summary(errors, models, _times(rows, models, chosen))
    failed = [f"{row['model']} on {row['set']}: {row['failed']}" for row in rows if "failed" in row]
    return "\n".join([*lines, *(["", "Failed:", *failed] if failed else [])])


def _summary(errors: np.ndarray, models: list[str], times: dict[str, tuple[float, float]]) -> list[str]:
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
    difference = drawn[:, second] - drawn[:, first]
    lead = f"{models[first]} leads {models[second]} by a mean rank of {np.mean(rank[:, second] - rank[:, first]):.2f}"
    return [*_table(head, rows), "", f"{lead} ({_interval(difference, '.2f')})"]


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


def _marked(cells: list[float | None]) -> list[str]:
    best = min(cell for cell in cells if cell is not None)
    return ["" if cell is None else f"**{cell:.4g}**" if cell == best else f"{cell:.4g}" for cell in cells]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
