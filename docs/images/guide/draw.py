"""Draw the pictures of guide pages that have no example of the gallery: python docs/images/guide/draw.py [name ...]."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import mercer

HERE = Path(__file__).parent
RESULTS = HERE.parents[2] / "benchmarks" / "results"
BLUE, GRAY, RED = "#1763b6", "#777777", "#b63a17"


def panels(n=1, width=8.0, height=2.9):
    return plt.subplots(1, n, figsize=(width, height), layout="constrained")


def friedman(n, seed, columns=6):
    """Rows of which the target depends on smoothly, and on a product."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, columns))
    smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, smooth + rng.normal(size=n)


def box(ax, x, y, text, color=BLUE, ha="center"):
    style = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": color}
    ax.text(x, y, text, ha=ha, va="center", fontsize=9, bbox=style, zorder=3)


def arrow(ax, start, end, text=""):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GRAY, "shrinkA": 0, "shrinkB": 0})
    if text:
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        style = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        ax.text(*middle, text, ha="center", va="center", fontsize=8.5, family="monospace", color=BLUE, bbox=style)


def flow():
    """The way of the data, with what the guide has at each step."""
    steps = {
        "table": "files, data frames,\ntext, sequences",
        "numbers": "roles, encodings,\nscales",
        "features": "kernels, random features,\nlandmarks, trees",
        "selection": "filters, greedy,\nthe Lasso",
        "linear model": "ridge, logistic,\nhinge",
        "decision": "report, intervals,\ncosts",
    }
    fig, ax = panels(width=8.6, height=1.2)
    for at, (name, parts) in enumerate(steps.items()):
        box(ax, 2 * at, 1, name)
        ax.text(2 * at, 0.6, parts, ha="center", va="top", fontsize=8, color="#444444")
        if at:
            arrow(ax, (2 * at - 1.25, 1), (2 * at - 0.75, 1))
    ax.set(xlim=(-1, 11), ylim=(-0.1, 1.4))
    ax.axis("off")
    return fig


def commands():
    """From a file to a model, and what a model gives for other rows."""
    fig, ax = panels(height=3.0)
    places = {"houses.csv": (0, 1), "houses.mercer\n(model)": (3.6, 1), "new.csv": (3.6, 3)}
    for name, place in places.items():
        box(ax, *place, name, GRAY if name.endswith("csv") else BLUE)
    found = ("predict", "explain", "compare", "report")
    texts = ("a prediction per row", "what each column\ncontributed", "has the data changed?", "scores on these rows")
    for at, (name, text) in enumerate(zip(found, texts, strict=True)):
        box(ax, 7.4, 3.2 - 1.3 * at, text, GRAY, "left")
        arrow(ax, (4.3, 1), (7.15, 3.2 - 1.3 * at), name)
    box(ax, 0, 3, "roles, types, leaks", GRAY)
    box(ax, 0, -0.6, "houses.report.html", GRAY)
    arrow(ax, (0.6, 1), (2.85, 1), "fit")
    arrow(ax, (0, 1.3), (0, 2.7), "inspect")
    arrow(ax, (0, 0.7), (0, -0.3), "fit")
    arrow(ax, (3.6, 2.7), (3.6, 1.45), "with")
    ax.set(xlim=(-1.6, 9.8), ylim=(-1.1, 3.8))
    ax.axis("off")
    return fig


def fit():
    """Predictions of new rows by a linear model of the columns and by the model that the search found."""
    fig, axes = panels(2)
    (X, y), (new, truth) = friedman(1000, 0), friedman(1000, 1)
    models = {
        "linear model of the columns": LinearRegression().fit(X, y),
        "mercer.fit": mercer.fit(X, y, effort="fast", report=False),
    }
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        predicted = np.asarray(model.predict(new))
        r2 = 1 - np.mean((truth - predicted) ** 2) / np.var(truth)
        ax.scatter(predicted, truth, s=5, color=BLUE, alpha=0.5, linewidths=0)
        ax.axline((15, 15), slope=1, color=GRAY, linewidth=0.8)
        ax.set(title=f"{name}: R2 {r2:.3f}", xlabel="prediction of new rows", ylabel="target")
    return fig


def tables():
    """What the encoder does with a number, and with a category of few rows."""
    fig, (first, second) = panels(2)
    z = np.linspace(-12, 12, 300)
    first.plot(z, z, color=GRAY, linestyle=":", label="scaled")
    first.plot(z, z / np.sqrt(1 + (z / 3) ** 2), color=BLUE, label="encoded")
    first.set(ylim=(-6, 6), title="numbers: far values are pulled in", xlabel="(x - median) / IQR")
    n = np.arange(1, 60)
    for a, style in ((1, ":"), (5, "-"), (20, "--")):
        second.plot(n, n / (n + a), style, color=BLUE, label=f"a = {a}")
    second.set(title="categories: weight of their own mean", xlabel="rows of the category", ylabel="n / (n + a)")
    for ax in (first, second):
        ax.legend()
    return fig


def ridge():
    """Weights and the cross-validated loss along the path of penalties."""
    fig, (first, second) = panels(2)
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    path = mercer.RidgeRegressor().fit(X, y)
    weights = [mercer.RidgeRegressor(alpha).fit(X, y).coef_ for alpha in path.alphas_]
    first.plot(path.alphas_, weights, linewidth=1)
    first.set(title="the weights of ten columns", ylabel="weight")
    second.plot(path.alphas_, np.sqrt(path.losses_), color=BLUE)
    second.set(title="cross-validated error", ylabel="root mean square")
    for ax in (first, second):
        ax.axvline(path.alpha_, color=GRAY, linestyle=":")
        ax.set(xscale="log", xlabel="penalty (dotted: chosen)")
    return fig


def linear():
    """The losses of a linear model of classes, by the margin of a row."""
    fig, (first, second) = panels(2)
    m = np.linspace(-2.5, 3, 300)
    losses = {
        "0/1": (m <= 0).astype(float),
        "squared (RidgeClassifier)": (1 - m) ** 2,
        "logistic (LogisticClassifier)": np.log1p(np.exp(-m)) / np.log(2),
        "hinge (HingeClassifier)": np.maximum(0, 1 - m),
        "perceptron": np.maximum(0, -m),
    }
    for (name, loss), style in zip(losses.items(), ("k-", "C0--", "C1-", "C2-", "C3:"), strict=True):
        first.plot(m, loss, style, label=name)
    first.set(ylim=(0, 4), xlabel="margin y (<w, x> + b)", title="what a row costs")
    first.legend(fontsize=7)
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)) - 1.2, rng.normal(size=(60, 2)) + 1.2, [[9, 2], [10, 3], [9, 4]]])
    y = np.repeat([0, 1, 1], [60, 60, 3])
    second.scatter(*X.T, c=np.where(y == 1, RED, BLUE), s=9)
    kinds = (mercer.RidgeClassifier(1e-3), mercer.LogisticClassifier(1e-2), mercer.HingeClassifier(1e-2))
    for model, style in zip(kinds, ("C0--", "C1-", "C2-"), strict=True):
        w, b = (np.ravel(each) for each in (model.fit(X, y).coef_, model.intercept_))
        x = np.array([-4.0, 10.5])
        second.plot(x, -(w[0] * x + b[0]) / w[1], style, label=type(model).__name__)
    second.set(ylim=(-5, 5), title="far rows on the right side: only ridge minds")
    second.legend(fontsize=7)
    return fig


def losses():
    """Three quantiles of a target whose spread grows."""
    fig, ax = panels()
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 1500))
    y = np.sin(x) + (0.1 + 0.25 * x) * rng.normal(size=len(x))
    levels = [0.1, 0.5, 0.9]
    model = mercer.fit({"x": x, "y": y}, "y", loss="quantile", quantiles=levels, report=False, effort="fast")
    found = model.predict_quantiles({"x": x})
    ax.scatter(x, y, s=5, color=GRAY, alpha=0.5, linewidths=0)
    for level, line, style in zip(levels, found.T, ("--", "-", "--"), strict=True):
        inside = np.mean(y <= line)
        ax.plot(x, line, style, color=BLUE, label=f"quantile {level}: {inside:.0%} of the rows below")
    ax.set(xlabel="x", ylabel="y", title="quantiles of rows whose spread grows")
    ax.legend(fontsize=8)
    return fig


def glass_box():
    """The curve of one column with its band, and the true effect."""
    fig, axes = panels(2)
    X, y = friedman(1500, 0)
    model = mercer.fit(
        {**{f"x{j}": X[:, j] for j in range(6)}, "y": y}, "y", explainable=True, effort="fast", report=False
    )
    card = model.scorecard()
    effects = {"x2": lambda v: 20 * (v - 0.5) ** 2, "x3": lambda v: 10 * v}
    for ax, (name, effect) in zip(axes, effects.items(), strict=True):
        rows = card[
            (card.feature == name) & np.isfinite(card.lower.astype(float)) & np.isfinite(card.upper.astype(float))
        ]
        middle = (rows.lower.astype(float) + rows.upper.astype(float)) / 2
        ax.fill_between(
            middle, rows.points - 2 * rows.error, rows.points + 2 * rows.error, color=BLUE, alpha=0.25, linewidth=0
        )
        ax.plot(middle, rows.points, color=BLUE, label="points of the bins, two standard errors")
        truth = effect(X[:, int(name[1])])
        ax.plot(middle, effect(middle) - truth.mean(), color=GRAY, linestyle=":", label="true effect")
        ax.set(xlabel=name, title=f"term of {name}")
    axes[0].legend(fontsize=7.5)
    return fig


def updates():
    """The error of the next rows when the target changes slowly."""
    fig, ax = panels()
    rng = np.random.default_rng(0)
    weeks, size = 25, 120

    def rows(week):
        X = rng.normal(size=(size, 2))
        angle = 0.06 * week
        y = 3 * (np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1]) + 0.5 * rng.normal(size=size)
        return {"a": X[:, 0], "b": X[:, 1], "y": y}

    arrived = [rows(week) for week in range(weeks)]
    first = {name: np.concatenate([each[name] for each in arrived[:5]]) for name in arrived[0]}
    kinds = {
        "never updated": (False, False),
        "update": (True, False),
        "update, and forget after five weeks": (True, True),
    }
    for (name, (learns, forgets)), style in zip(kinds.items(), (":", "--", "-"), strict=True):
        model, errors = mercer.fit(first, "y", effort="fast", holdout=0, report=False), []
        for week in range(5, weeks):
            new = arrived[week]
            errors.append(np.sqrt(np.mean((new["y"] - model.predict({"a": new["a"], "b": new["b"]})) ** 2)))
            if learns:
                model.update(new)
            if forgets:
                model.forget(arrived[week - 5])
        ax.plot(range(5, weeks), errors, style, color=BLUE, label=name)
    ax.axhline(0.5, color=GRAY, linewidth=0.8)
    ax.set(xlabel="week", ylabel="root mean square error", title="next week's rows (gray: the noise)", ylim=(0, None))
    ax.legend(fontsize=8)
    return fig


def decisions():
    """Costs of false alarms and misses by the threshold of the probability."""
    fig, ax = panels()
    (X, y), (new, truth) = ((X, y > 22) for X, y in (friedman(1500, 0), friedman(4000, 1)))
    model = mercer.fit(X, y.astype(int), effort="fast", report=False)
    p = model.predict_proba(new)[:, 1]
    thresholds = np.linspace(0.01, 0.99, 99)
    for miss, style in ((1, ":"), (5, "--"), (20, "-")):
        cost = np.array([np.mean(truth & (p < t)) * miss + np.mean(~truth & (p >= t)) for t in thresholds])
        ax.plot(thresholds, cost / cost.min(), style, color=BLUE, label=f"a miss costs {miss} false alarms")
        ax.axvline(1 / (1 + miss), color=GRAY, linestyle=style, linewidth=0.8)
    ax.set(xlabel="threshold of the probability", ylabel="cost / smallest cost", ylim=(0.9, 4))
    ax.set_title("gray: 1 / (1 + cost of a miss), the best threshold of exact probabilities", fontsize=9)
    ax.legend(fontsize=8)
    return fig


def streaming():
    """Parts of the rows and the tree in which their statistics merge."""
    fig, ax = panels(height=2.6)
    for level in range(4):
        n = 2 ** (3 - level)
        for at in range(n):
            x = (at + 0.5) * 8 / n
            text = f"part {at + 1}" if level == 0 else ("result" if n == 1 else "+")
            box(ax, x, level, text, GRAY if level == 0 else BLUE)
            if level < 3:
                parent = (at // 2 + 0.5) * 16 / n
                ax.plot([x, parent], [level + 0.18, level + 0.82], color=GRAY, linewidth=0.8, zorder=0)
    ax.text(-0.4, 0, "rows", ha="right", va="center")
    ax.text(-0.4, 1.5, "merges, fixed by\nthe index of a part", ha="right", va="center")
    ax.set(xlim=(-2.2, 8.3), ylim=(-0.4, 3.4))
    ax.axis("off")
    return fig


def serving():
    """Milliseconds of one row, as recorded by the benchmark."""
    fig, ax = panels(height=2.4)
    found = json.loads((RESULTS / "serving.json").read_text(encoding="utf-8"))["figures"][0]
    rows = found["rows"][::-1]
    ax.barh([row[0] for row in rows], [row[2] for row in rows], color=BLUE, alpha=0.3, label=found["columns"][2])
    ax.barh([row[0] for row in rows], [row[1] for row in rows], color=BLUE, label=found["columns"][1])
    ax.set(xlabel="milliseconds", title="time of one prediction, 12 mixed columns")
    ax.legend(fontsize=8)
    return fig


def scale():
    """What travels: parts of a file are read where they are processed, and only states come back."""
    fig, ax = panels(height=2.7)
    for at in range(4):
        box(ax, 0, 3 - at, f"part {at + 1} of the file", GRAY)
        box(ax, 4, 3 - at, f"worker {at % 2 + 1}: state of part {at + 1}")
        arrow(ax, (0.9, 3 - at), (2.75, 3 - at), "read")
        arrow(ax, (5.3, 3 - at), (7.35, 1.5), "merge" if at in (0, 3) else "")
    box(ax, 8.2, 1.5, "one state\nof fixed size")
    ax.set(xlim=(-1.3, 9.6), ylim=(-0.5, 3.5))
    ax.axis("off")
    return fig


PICTURES = (
    flow,
    commands,
    fit,
    tables,
    ridge,
    linear,
    losses,
    glass_box,
    updates,
    decisions,
    streaming,
    serving,
    scale,
)


def main(names):
    plt.rcParams.update(
        {"svg.hashsalt": "mercer", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    )
    for draw in PICTURES:
        if not names or draw.__name__ in names:
            fig = draw()
            fig.savefig(HERE / f"{draw.__name__}.png", dpi=110, facecolor="white", metadata={"Software": None})
            plt.close(fig)
            print(draw.__name__, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
