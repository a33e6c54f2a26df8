"""Quantile and Poisson losses beside LightGBM with the same objective; monotone columns beside its constraints.

Mean pinball loss over the quantiles 0.1, 0.5 and 0.9, mean Poisson deviance, and R2 of monotone models on held-out
rows. LightGBM stops early on a fifth of the training rows and is fitted again to all of them. Without it,
scikit-learn's histogram gradient boosting takes its place. Sets whose file is not there are left out.
MERCER_BENCH_ROWS bounds the rows of a set, MERCER_BENCH_SETS names some of them.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import mean_pinball_loss, mean_poisson_deviance, r2_score

import mercer
from benchmarks import leaderboard_data
from benchmarks.harness import data_file, size, table

ROWS = int(os.environ.get("MERCER_BENCH_ROWS", size("10000", "300")))
QUANTILES = (0.1, 0.5, 0.9)
EFFORT = os.environ.get("MERCER_BENCH_EFFORT", size("normal", "fast"))
PEER = "lightgbm" if find_spec("lightgbm") else "scikit-learn"
#: Set -> kinds of comparison.
CASES = {
    "concrete": ("quantile", "monotone"),
    "abalone": ("quantile", "poisson", "monotone"),
    "counts": ("poisson",),
    "noise": ("quantile",),
    "wine_quality": ("quantile",),
    "bike_sharing_hour": ("quantile", "poisson"),
    "cpu_act": ("quantile",),
    "california_housing": ("quantile", "monotone"),
    "diamonds": ("quantile",),
    "rare": ("poisson",),
    "overdispersed": ("poisson",),
    "mostly_zero": ("poisson",),
}
#: Generated sets of counts: the logarithm of the mean count beside the effects.
COUNTS = {"counts": 1.0, "rare": -2.0, "overdispersed": 1.0, "mostly_zero": -3.0}
GENERATED = ("noise", *COUNTS)
MONOTONE = {
    "concrete": {"x0": 1, "x7": 1, "x3": -1},
    "abalone": {"shell_weight": 1, "shucked_weight": -1},
    "california_housing": {"median_income": 1},
}


def run():
    named = os.environ.get("MERCER_BENCH_SETS", size(",".join(CASES), "counts")).split(",")
    chosen = [name for name in named if name in GENERATED or data_file(name)]
    ratios: dict[str, list[float]] = {}
    rows = []
    for name in chosen:
        X, y, X_test, y_test = rows_of(name)
        for kind in CASES[name]:
            ours, theirs = COMPARED[kind](name, X, y, X_test, y_test)
            ratio = ours / theirs if kind != "monotone" else (1 - ours) / (1 - theirs)
            ratios.setdefault(kind, []).append(ratio)
            rows.append([name, kind, *map(float, (ours, theirs, ratio))])
            print(f"  {name:<20} {kind:<10} {ours:10.5g} {theirs:10.5g} {ratio:7.3f}", flush=True)
    title = f"Losses on test rows (R2 if monotone), effort {EFFORT}, at most {ROWS} training rows"
    table(title, ["set", "loss", "mercer", PEER, "ratio of losses"], rows)
    means = [[kind, float(np.exp(np.mean(np.log(each)))), len(each)] for kind, each in ratios.items()]
    table("Geometric means of the ratios of losses", ["loss", "ratio", "sets"], means)


def rows_of(name):
    """Training and test rows; generated ones for `noise` and the sets of `COUNTS`.

    Means of `overdispersed` are multiplied by gamma variables of variance 1/2 (negative binomial counts).
    """
    import pandas as pd

    if name in GENERATED:
        rng = np.random.default_rng(1)
        n = min(ROWS, 8000)
        X = rng.normal(size=(2 * n, 6))
        eta = 0.6 * X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
        if name == "noise":
            y = eta + np.exp(0.5 * X[:, 4]) * rng.standard_t(4, size=2 * n)
        else:
            factor = rng.gamma(2.0, 0.5, size=2 * n) if name == "overdispersed" else 1.0
            y = rng.poisson(factor * np.exp(eta + COUNTS[name])).astype(float)
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
        return X[:n], y[:n], X[n:], y[n:]
    split = leaderboard_data.load(os.environ["MERCER_BENCH_DATA"], name, 0)
    X, y = split.X.reset_index(drop=True), np.asarray(split.y, dtype=float)
    return X[:ROWS], y[:ROWS], split.X_test[:ROWS], np.asarray(split.y_test, dtype=float)[:ROWS]


def _boosted(X, y, loss="squared_error", quantile=None, signs=None):
    """Boosted trees of the peer, with the number of trees that a fifth of the rows prefers."""
    if PEER == "scikit-learn":
        options = {"learning_rate": 0.05, "early_stopping": True, "validation_fraction": 0.2, "random_state": 0}
        found = HistGradientBoostingRegressor(
            loss=loss, quantile=quantile, monotonic_cst=signs, max_iter=3000, n_iter_no_change=50, **options
        )
        return found.fit(X, y)
    objective = {"objective": {"squared_error": "regression"}.get(loss, loss)}
    objective |= {} if quantile is None else {"alpha": quantile}
    return _lightgbm(X, y, **objective, **({} if signs is None else {"monotone_constraints": signs}))


def _lightgbm(X, y, **objective):
    import lightgbm as lgb

    rng = np.random.default_rng(0)
    held_out = rng.random(len(y)) < 0.2
    known = {"learning_rate": 0.05, "verbose": -1, "n_jobs": 1, "random_state": 0, **objective}
    model = lgb.LGBMRegressor(n_estimators=3000, **known)
    stop = [lgb.early_stopping(50, verbose=False)]
    model.fit(X[~held_out], y[~held_out], eval_set=[(X[held_out], y[held_out])], callbacks=stop)
    return lgb.LGBMRegressor(n_estimators=max(1, int(1.1 * model.best_iteration_)), **known).fit(X, y)


def _fitted(X, y, **options):
    return mercer.fit(X, y, holdout=0, report=False, effort=EFFORT, **options)


def quantile(name, X, y, X_test, y_test):
    """Mean pinball losses."""
    ours = _fitted(X, y, loss="quantile", quantiles=QUANTILES).predict_quantiles(X_test)
    theirs = [_boosted(X, y, "quantile", tau).predict(X_test) for tau in QUANTILES]
    pairs = zip(QUANTILES, ours.T, theirs, strict=True)
    losses = [[mean_pinball_loss(y_test, each, alpha=tau) for each in two] for tau, *two in pairs]
    return np.mean(losses, axis=0)


def poisson(name, X, y, X_test, y_test):
    """Mean Poisson deviances."""
    models = (_fitted(X, y, loss="poisson"), _boosted(X, y, "poisson"))
    return [mean_poisson_deviance(y_test, np.maximum(model.predict(X_test), 1e-9)) for model in models]


def monotone(name, X, y, X_test, y_test):
    """R2 of monotone models."""
    known = {column: sign for column, sign in MONOTONE[name].items() if column in X.columns}
    constraints = [known.get(column, 0) for column in X.columns]
    models = (_fitted(X, y, monotone=known), _boosted(X, y, signs=constraints))
    return [r2_score(y_test, model.predict(X_test)) for model in models]


COMPARED = {"quantile": quantile, "poisson": poisson, "monotone": monotone}
