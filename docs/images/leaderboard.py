"""Draw docs/images/leaderboard.svg from the recorded scores: python docs/images/leaderboard.py."""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parents[2]
NAMES = {
    "mercer": "Mercer",
    "catboost": "CatBoost",
    "mercer-fast": 'Mercer, effort="fast"',
    "xgboost": "XGBoost",
    "lightgbm": "LightGBM",
    "hist-gb": "HistGradientBoosting",
    "linear": "linear model",
}


def relative_scores():
    """Scores of every model divided by the best score of the set, for the sets that all models have."""
    found = json.loads((ROOT / "benchmarks/results/leaderboard.json").read_text(encoding="utf-8"))["figures"][0]
    scores = {row[0]: dict(zip(found["columns"][1:], row[1:], strict=True)) for row in found["rows"]}
    sets = [name for name, each in scores.items() if all(each.get(model) is not None for model in NAMES)]
    table = np.array([[max(scores[name][model], 0.0) for model in NAMES] for name in sets])
    return sets, table / table.max(axis=1, keepdims=True)


def main():
    sets, table = relative_scores()
    order = np.argsort(table.mean(axis=0))
    names = [list(NAMES.values())[i] for i in order]
    plt.rcParams.update({"svg.hashsalt": "mercer", "font.size": 10})
    fig, ax = plt.subplots(figsize=(7.6, 3.1), layout="constrained")
    for row, i in enumerate(order):
        ours = names[row].startswith("Mercer")
        color = "#1763b6" if ours else "#8a8a8a"
        ax.scatter(table[:, i], np.full(len(sets), row), s=14, color=color, alpha=0.45, linewidths=0)
        ax.plot([table[:, i].mean()] * 2, [row - 0.32, row + 0.32], color=color, linewidth=3)
        first = int(np.sum(table[:, i] == 1))
        ax.text(1.012, row, f"{table[:, i].mean():.3f}    first on {first}", va="center", fontsize=9)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlim=(0.68, 1.005), xlabel=f"score relative to the best model of the table, {len(sets)} tables (bar: mean)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    fig.savefig(Path(__file__).with_name("leaderboard.svg"), metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
