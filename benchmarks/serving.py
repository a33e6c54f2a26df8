"""Prediction times of one row and of many rows, against boosted trees and a scikit-learn pipeline.

The methods take turns in bursts of single rows. A server uses one model, whose arrays are in the caches after the
first row; taking turns after every row, with cold caches, doubles the times. Everything runs on one thread; CPU time is
that of the whole process. Libraries that are not installed are left out.
"""

from __future__ import annotations

import gc
import os
import time
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd

import mercer
from benchmarks.harness import measure, show, size, table, threads

ROWS = int(os.environ.get("MERCER_BENCH_SERVING_ROWS", size("4000", "1000")))
CALLS, BURST, DIFFERENT = size((400, 50, 100), (4, 2, 2))
NEW = size(10_000, 200)
EFFORTS = {"mercer": size("normal", "fast"), "mercer, effort=fast": "fast"}


def run():
    with threads(1):
        table, y = _table(ROWS, 0)
        new, new_y = _table(NEW, 1)
        _mixed(table, y, new, new_y)
        numbers = [name for name in table if name[0] in "xn"]
        X, Z = (each[numbers].to_numpy(dtype=np.float64) for each in (table, new))
        _numbers(X, y, Z, new_y)
        _classes(X, y, Z, new_y)


def _table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Twelve columns: numbers with missing values, integers, columns of 2, 12 and 400 categories, a date and a flag."""
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.normal(size=n) for i in range(6)}
    columns["n0"] = rng.integers(0, 1000, n)
    gaps = columns["x1"].copy()
    kind, city = rng.integers(0, 12, n), rng.integers(0, 400, n)
    y = np.sin(2 * columns["x0"]) + columns["x2"] * columns["x3"] + gaps + 0.3 * (kind % 5) + 0.002 * columns["n0"]
    columns["x1"] = np.where(rng.random(n) < 0.1, np.nan, gaps)
    columns["sex"] = rng.choice(["f", "m"], n)
    columns["kind"] = [f"k{i}" for i in kind]
    columns["city"] = [f"c{i}" for i in city]
    columns["when"] = np.datetime64("2020-01-01T00:00", "us") + rng.integers(0, 10**6, n).astype("m8[m]")
    columns["flag"] = rng.random(n) < 0.5
    y = y + (columns["sex"] == "f") * columns["x4"] + 0.02 * (city % 50) + 0.3 * rng.normal(size=n)
    return pd.DataFrame(columns), y


def _mixed(table, y, new, new_y):
    model = mercer.fit(table, y, holdout=0.0, effort=EFFORTS["mercer"])
    rows = [new.iloc[i : i + 1] for i in range(DIFFERENT)]
    dicts = [dict(zip(new, row, strict=True)) for row in new[:DIFFERENT].itertuples(index=False, name=None)]
    whole = model.predict(new)
    assert all(model.predict(row)[0] == value for row, value in zip(rows, whole, strict=False))
    assert all(model.predict(row)[0] == value for row, value in zip(dicts, whole, strict=False))
    methods = {"mercer, frame": (model.predict, rows), "mercer, dict": (model.predict, dicts)}
    fast = mercer.fit(table, y, holdout=0.0, effort="fast")
    batches = dict(zip(EFFORTS, [partial(model.predict, new), partial(fast.predict, new)], strict=True))
    for name, (predict, as_frame) in _peers(table, y).items():
        methods[f"{name}, frame"] = (predict, [as_frame(row) for row in rows])
        batches[name] = partial(predict, as_frame(new))
    _compare("12 mixed columns", methods, batches, new_y)


def _numbers(X, y, Z, new_y):
    model = mercer.fit(X, y, holdout=0.0, effort=EFFORTS["mercer"])
    rows = [Z[i : i + 1] for i in range(DIFFERENT)]
    whole = model.predict(Z)
    assert all(model.predict(row)[0] == value for row, value in zip(rows, whole, strict=False))
    fitted = dict(zip(EFFORTS, [model, mercer.fit(X, y, holdout=0.0, effort="fast")], strict=True))
    for name, make in _learners().items():
        fitted[name] = make().fit(X, y)
    _compare(
        f"{X.shape[1]} columns of numbers, an array",
        {name: (each.predict, rows) for name, each in fitted.items()},
        {name: partial(each.predict, Z) for name, each in fitted.items()},
        new_y,
    )


def _classes(X, y, Z, new_y):
    """Probabilities of three classes for many rows."""
    cuts = np.quantile(y, [1 / 3, 2 / 3])
    labels, truth = np.digitize(y, cuts), np.digitize(new_y, cuts)
    fitted = {name: mercer.fit(X, labels.astype(str), holdout=0.0, effort=effort) for name, effort in EFFORTS.items()}
    for name, make in _learners("Classifier").items():
        fitted[name] = make().fit(X, labels)
    results = {name: np.mean(model.predict_proba(Z).argmax(axis=1) == truth) for name, model in fitted.items()}
    assert min(results.values()) > 0.5, results
    batches = {name: partial(model.predict_proba, Z) for name, model in fitted.items()}
    shown = ", ".join(f"{name} {score:.3f}" for name, score in results.items())
    show(
        f"{NEW:,} rows of {X.shape[1]} columns of numbers, three classes",
        measure(batches, "mercer", 3),
        f"accuracy: {shown}",
    )


def _compare(title, methods, batches, y):
    """Check that all models have similar scores, then measure their times."""
    explained = {name: 1 - np.mean((np.asarray(run()) - y) ** 2) / np.var(y) for name, run in batches.items()}
    assert min(explained.values()) > 0.5, explained
    rows = [
        [name, *(round(float(each) * 1e3, 3) for each in (*np.quantile(wall, [0.5, 0.99]), np.median(cpu)))]
        for name, wall, cpu in _latencies(methods)
    ]
    table(f"one row of {title}: milliseconds", ["method", "median", "99th percentile", "median CPU"], rows)
    same = f"R2 {', '.join(f'{name} {value:.3f}' for name, value in explained.items())}; one row has the bits of many"
    show(f"{NEW:,} rows of {title}", measure(batches, "mercer", 3), same)


def _latencies(methods) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Wall and CPU seconds of each call."""
    taken = {name: np.empty((2, CALLS)) for name in methods}
    gc.collect()
    gc.disable()  # so that no method pays for the garbage of another
    try:
        for start in range(-BURST, CALLS, BURST):  # the first burst does not count
            for name, (predict, rows) in methods.items():
                for k in range(start, start + BURST):
                    row = rows[k % len(rows)]
                    wall, cpu = time.perf_counter(), time.process_time()
                    predict(row)
                    if k >= 0:
                        taken[name][:, k] = time.perf_counter() - wall, time.process_time() - cpu
    finally:
        gc.enable()
    return [(name, *times) for name, times in taken.items()]


def _learners(task: str = "Regressor") -> dict:
    """Boosted trees with default settings, on one thread."""
    from sklearn import ensemble

    found = {"scikit-learn HistGradientBoosting": getattr(ensemble, f"HistGradientBoosting{task}")}
    if find_spec("lightgbm"):
        import lightgbm

        found["LightGBM"] = partial(getattr(lightgbm, f"LGBM{task}"), n_jobs=1, verbose=-1)
    if find_spec("xgboost"):
        import xgboost

        found["XGBoost"] = partial(getattr(xgboost, f"XGB{task}"), n_jobs=1)
    if find_spec("catboost"):
        import catboost

        known = {"thread_count": 1, "verbose": 0, "allow_writing_files": False, "iterations": size(None, 100)}
        found["CatBoost"] = partial(getattr(catboost, f"CatBoost{task}"), **known)
    return found


def _peers(table, y) -> dict:
    """{name: (predict, conversion of the frame to the input of the model)} of models of mixed columns."""
    learners = _learners()
    words = ["sex", "kind", "city"]
    found = {"scikit-learn pipeline": (_pipeline(words).fit(table, y).predict, lambda frame: frame)}
    categories = {name: pd.CategoricalDtype(sorted(table[name].unique())) for name in words}

    def with_categories(frame):
        return frame.astype(categories).assign(when=frame["when"].astype(np.int64))

    def strings(frame):
        return frame.assign(when=frame["when"].astype(np.int64), **{name: frame[name].astype(object) for name in words})

    if "LightGBM" in learners:
        found["LightGBM"] = learners["LightGBM"]().fit(with_categories(table), y).predict, with_categories
    if "CatBoost" in learners:
        found["CatBoost"] = learners["CatBoost"](cat_features=words).fit(strings(table), y).predict, strings
    return found


def _pipeline(words):
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, TargetEncoder

    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), words[:2]),
        (TargetEncoder(), words[2:]),
        (FunctionTransformer(lambda frame: frame.astype(np.int64)), ["when"]),
        remainder="passthrough",
    )
    return make_pipeline(columns, HistGradientBoostingRegressor())
