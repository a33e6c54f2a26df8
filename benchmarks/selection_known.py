"""Known relevant columns: how many of them each method ranks first, on real data if available.

madelon has 20 relevant columns of 500, many of them only in combination with others (random labels on the corners of a
cube); fried has 5 of 10. `--data` names the folder with madelon.parquet and fried.parquet. A similar problem is
generated in place of a file that is not there.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from benchmarks.harness import data_file, size, table, threads
from mercer.learn import PiecewiseLinear
from mercer.normalize import Standardize
from mercer.select import FilterSelector, GreedySelector

MADELON = (28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453, 455, 472, 475, 493)
TREES = size(500, 10)


def run() -> None:
    with threads(1):
        _classes()
        _numbers()


def _classes() -> None:
    path = data_file("madelon")
    if path:
        X, y = _table(path)
        compare("madelon", X, np.unique(y.astype(str), return_inverse=True)[1], MADELON, classes=True)
        return
    clusters = {"n_informative": 5, "n_redundant": 15, "n_clusters_per_class": 16, "class_sep": 2.0, "flip_y": 0.01}
    X, y = make_classification(*size((2600, 500), (300, 40)), **clusters, shuffle=False, random_state=0)
    compare("generated like madelon", X, y, range(20), classes=True)


def _numbers() -> None:
    path = data_file("fried")
    if path:
        X, y = _table(path)
        compare("fried", X, y.astype(float), range(5), classes=False)
        return
    X, y = make_friedman1(size(10_000, 300), 10, noise=1.0, random_state=0)
    compare("generated like fried", X, y, range(5), classes=False)


def compare(name, X, y, known, classes) -> None:
    """Print, per method, the known columns among its first (as many as there are), and before the first other."""
    known = set(known)
    rows = []
    for method, rank in methods(classes).items():
        before = time.process_time()
        order = [int(j) for j in rank(X, y)]
        spent = time.process_time() - before
        found = len(known & set(order[: len(known)]))
        first = next((place for place, j in enumerate(order) if j not in known), len(order))
        rows.append([method, found, first, round(spent, 2)])
    rows.sort(key=lambda row: (-row[1], -row[2], row[3]))  # the best first, the quicker of equals first
    title = f"{name}: {len(known)} relevant columns of {X.shape[1]}, {X.shape[0]:,} rows, one thread"
    table(title, ["method", f"among the first {len(known)}", "before the first other", "CPU s"], rows)


def methods(classes):
    """Method -> ranking of the columns, best first."""
    target = "classes" if classes else "numbers"
    filters = ("pearson", "spearman", "mutual_information", "pair_information")
    ranked = {f"FilterSelector({score!r})": _filter(score, target) for score in filters}
    candidates = {"the columns": None, "'quadratic'": "quadratic", "PiecewiseLinear(4)": PiecewiseLinear(4)}
    for name, given in candidates.items():
        ranked[f"Standardize, GreedySelector(candidates={name})"] = _greedy(given, target)
    information = mutual_info_classif if classes else mutual_info_regression
    ranked["scikit-learn mutual information (neighbors)"] = lambda X, y: np.argsort(-information(X, y, random_state=0))
    forest, extra = (
        (RandomForestClassifier, ExtraTreesClassifier) if classes else (RandomForestRegressor, ExtraTreesRegressor)
    )
    for kind in (forest, extra):
        ranked[f"scikit-learn {kind.__name__}({TREES}), importances"] = _forest(kind)
    return ranked


def _filter(score, target):
    return lambda X, y: np.argsort(-FilterSelector(score, target=target).fit(X, y).scores_, kind="stable")


def _greedy(candidates, target):
    def rank(X, y):
        X = Standardize().fit_transform(X)
        selector = GreedySelector(k=25, target=target, candidates=candidates).fit(X, y)
        order = np.argsort(selector.ranking_, kind="stable")
        return order[selector.ranking_[order] <= selector.n_steps_]

    return rank


def _forest(kind):
    def rank(X, y):
        forest = kind(TREES, max_features="sqrt", min_samples_leaf=5, random_state=0)
        return np.argsort(-forest.fit(X[:5000], y[:5000]).feature_importances_)

    return rank


def _table(path):
    import pandas as pd

    frame = pd.read_parquet(path)
    if "x" in frame:
        return np.stack(frame["x"].to_numpy()).astype(float), frame["target"].to_numpy()
    return frame.drop(columns="target").to_numpy(float), frame["target"].to_numpy()


if __name__ == "__main__":
    run()
