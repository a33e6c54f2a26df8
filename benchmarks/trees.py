"""Boosted trees against those of scikit-learn and LightGBM, with equal numbers of trees and leaves, on one thread."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score

from benchmarks.harness import measure, show, size, threads
from mercer.learn import TreeFeatures
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import TreeParams

REPEATS = int(os.environ.get("MERCER_BENCH_REPEATS", size("3", "1")))
TREES, LEAVES = size((100, 24), (4, 4))
TALL, MIDDLE, SHORT = size((20_000, 10_000, 5000), (300, 300, 300))


def run() -> None:
    with threads(1):
        scores(f"regression, {TALL:,} x 20", *problem(TALL, 20))
        scores(f"two classes, {TALL:,} x 20", *problem(TALL, 20, classes=2))
        scores(f"seven classes, {MIDDLE:,} x 20", *problem(MIDDLE, 20, classes=7))
        leaves(f"leaves, {SHORT:,} x 10", *problem(SHORT, 10))
        if find_spec("lightgbm") is None:
            print("\nout of fold: skipped, lightgbm is not installed")
            return
        out_of_fold("regression, 16,000 x 10", *problem(size(16_000, 400), 10)[:2])
        out_of_fold("two classes, 16,000 x 10", *problem(size(16_000, 400), 10, classes=2)[:2])


def problem(n, d, classes=0):
    """Rows and a target of steps and interactions; half of the rows are test rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, d))
    score = (
        2 * np.maximum(X[:, 0], X[:, 1])
        + np.sin(2 * X[:, 2]) * (X[:, 3] > 0)
        + 0.5 * X[:, 4]
        + 0.5 * rng.normal(size=2 * n)
    )
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score) if classes else score
    return X[:n], y[:n], X[n:], y[n:]


def scores(title, X, y, X_test, y_test) -> None:
    is_class = y.dtype.kind == "i"
    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    peer = kind(max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False)
    ours = TreeFeatures("score", n_estimators=TREES, max_leaf_nodes=LEAVES)
    rows = measure(
        {kind.__name__: lambda: peer.fit(X, y), "TreeFeatures": lambda: ours.fit(X, y)}, kind.__name__, REPEATS
    )
    metric = accuracy_score if is_class else r2_score
    predicted = ours.transform(X_test)
    if is_class:
        margins = np.column_stack([-predicted, predicted]) if predicted.shape[1] == 1 else predicted
        predicted = ours.classes_[margins.argmax(axis=1)]
    theirs, mine = (metric(y_test, np.ravel(each)) for each in (peer.predict(X_test), predicted))
    show(f"{title}: fit", rows, similar("R2" if metric is r2_score else "accuracy", theirs, mine))


def similar(metric, theirs, mine) -> str:
    """Check that two scores are close: trees of two libraries split ties and bins in their own ways."""
    assert mine > theirs - size(0.02, 0.2), (mine, theirs)
    return f"{metric} of new rows: {theirs:.4f} (peer), {mine:.4f}"


def leaves(title, X, y, X_test, _) -> None:
    peer = GradientBoostingRegressor(n_estimators=TREES, max_leaf_nodes=LEAVES, max_depth=None)
    ours = TreeFeatures("leaves", n_estimators=TREES // 2, max_leaf_nodes=LEAVES)  # two ensembles of half the trees
    methods = {
        "GradientBoosting, fit and apply": lambda: peer.fit(X, y).apply(X_test),
        "TreeFeatures": lambda: ours.fit(X, y).transform(X_test),
    }
    rows = measure(methods, next(iter(methods)), 1)
    found = [method() for method in methods.values()]
    n_leaves = [len({(k, leaf) for k, column in enumerate(found[0].T) for leaf in column}), found[1].shape[1]]
    same = f"leaves in use: {n_leaves[0]:,} (peer), {n_leaves[1]:,}"
    show(f"{title}: fit, and the leaves of other rows", rows, same)


def out_of_fold(title, X, y) -> None:
    """The out-of-fold score of the search: five ensembles with early stopping on their held-out rows."""
    is_class, folds = y.dtype.kind == "i", np.arange(len(X)) % 5
    params = TreeParams(n_estimators=TREES, early_stopping_rounds=TREES)
    loss = LogisticTreeLoss(y, 2) if is_class else SquaredTreeLoss(y)
    found = {}

    def ours():
        found["boost"] = boost(X, loss, folds, params).scores[:, 0]

    def peer():
        found["LightGBM"] = _peer_out_of_fold(X, y, folds, params, is_class)

    rows = measure({"LightGBM": peer, "boost": ours}, "LightGBM", REPEATS)
    results = [
        accuracy_score(y, found[name] > 0) if is_class else r2_score(y, found[name]) for name in ("LightGBM", "boost")
    ]
    show(f"{title}: scores out of five folds", rows, similar("accuracy" if is_class else "R2", *results))


def _peer_out_of_fold(X, y, folds, params, is_class) -> np.ndarray:
    import lightgbm

    parameters = {
        "objective": "binary" if is_class else "regression",
        "num_leaves": params.max_leaf_nodes,
        "learning_rate": params.learning_rate,
        "lambda_l2": params.l2_regularization,
        "feature_fraction": params.max_features,
        "max_bin": params.max_bins,
        "min_data_in_leaf": 1 if is_class else int(params.min_samples_leaf),
        "min_sum_hessian_in_leaf": params.min_samples_leaf / (10 if is_class else 1),
        "num_threads": 1,
        "force_row_wise": True,  # no time is spent on trying both ways
        "verbose": -1,
    }
    scores = np.empty(len(X))
    for k in range(5):
        seen = folds != k
        data = lightgbm.Dataset(X[seen], y[seen], params=parameters)
        watched = lightgbm.Dataset(X[~seen], y[~seen], reference=data)
        model = lightgbm.train(parameters, data, params.n_estimators, valid_sets=[watched])
        scores[~seen] = model.predict(X[~seen], raw_score=True)
    return scores
