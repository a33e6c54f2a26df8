"""Draw docs/images/which_map.svg from benchmarks/results/published.json: python docs/images/which_map.py."""

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]


def figures():
    """The recorded tables by title."""
    found = json.loads((ROOT / "benchmarks/results/published.json").read_text(encoding="utf-8"))["figures"]
    return {figure["title"]: figure for figure in found}


def curves(ax, figure, skip=(), **options):
    """One line per column of a table, and a horizontal one for each row that is not a number of features."""
    rows = [row for row in figure["rows"] if not isinstance(row[0], str)]
    for at, name in enumerate(figure["columns"][1:], 1):
        if name not in skip:
            style = ":" if any(word in name for word in ("formula", "best", "bound")) else "o-"
            ax.plot([row[0] for row in rows], [row[at] for row in rows], style, label=name, markersize=4)
    for row, style in zip([row for row in figure["rows"] if isinstance(row[0], str)], ("--", ":"), strict=False):
        ax.axhline(row[1], linestyle=style, color="gray", label=row[0])
    ax.set(**options)
    ax.legend(fontsize=7.5)


def main():
    found = figures()
    plt.rcParams.update({"svg.hashsalt": "mercer", "font.size": 9})
    fig, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
    both = {"xscale": "log", "yscale": "log", "xlabel": "features"}
    for ax, d in zip(axes[0], (8, 64), strict=True):
        curves(
            ax, found[f"error of the Gaussian kernel, {d} columns"], title=f"error of the kernel, {d} columns", **both
        )
    spiral = found["spiral: fraction of the trace that k landmarks leave"]
    curves(axes[1, 0], spiral, yscale="log", xlabel="landmarks", title="unexplained fraction of a kernel, spiral")
    digits = found["accuracy, digits of scikit-learn"]
    curves(axes[1, 1], digits, xscale="log", xlabel="features", title="accuracy on new digits", ylim=(0.6, 1.0))
    fig.savefig(Path(__file__).with_name("which_map.svg"), metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
