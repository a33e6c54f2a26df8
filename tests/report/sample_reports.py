"""Synthetic reports with every section of the schema, for tests of the renderers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Report = dict[str, Any]
TEXT = "The quick brown fox jumps over the lazy dog"


def estimate(value: float, half: float | None = None) -> dict[str, Any]:
    """An estimate with a symmetric interval, or with none."""
    if half is None:
        return {"value": value, "low": None, "high": None}
    return {"value": value, "low": value - half, "high": value + half}


def numbers(values: Any) -> list[float]:
    return [float(value) for value in np.asarray(values, dtype=float).ravel()]


def histogram(values: Any, bins: int = 20) -> dict[str, Any]:
    counts, edges = np.histogram(values, bins)
    return {"edges": numbers(edges), "counts": [int(n) for n in counts]}


def minimal_report() -> Report:
    """The required keys only."""
    return {
        "format": 1,
        "mercer": "0.1.0",
        "task": "regression",
        "target": None,
        "classes": None,
        "rows": 10,
        "effort": "fast",
        "model": "linear model of 2 columns",
        "notes": [],
        "columns": [],
        "schema": {},
        "seconds": {},
        "importance": {},
        "blocks": [],
        "candidates": [],
        "verdict": {"level": "unknown", "sentence": "No rows were held out: the score is unknown.", "details": []},
    }


def coverage() -> dict[str, Any]:
    levels = [{"level": level, **estimate(level + 0.004, 0.02), "width": 3 * level} for level in (0.5, 0.8, 0.9, 0.95)]
    return {
        "kind": "intervals",
        "method": "CV+, checked on the holdout",
        "n": 583,
        "level": 0.9,
        "coverage": estimate(0.904, 0.02),
        "width": 2.7,
        "levels": levels,
        "coverage_by_width": [0.91, 0.9, 0.89],
        "sentence": "90% intervals contain 90.4% of 583 held-out rows (88.4% to 92.4%); mean width 2.7.",
    }


def model_scores(name: str, metrics: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, **next(iter(metrics.values())), "metrics": metrics}


def regression_holdout() -> dict[str, Any]:
    scores = {
        "model": model_scores(
            "this model",
            {
                "r2": estimate(0.8412, 0.0123),
                "rmse": estimate(0.4561, 0.021),
                "mae": estimate(0.3012, 0.009),
                "median_absolute_error": estimate(0.1987, 0.0077),
            },
        ),
        "linear": model_scores(
            "linear model of the columns",
            {
                "r2": estimate(0.6021, 0.0204),
                "rmse": estimate(0.7294, 0.024),
                "mae": estimate(0.5312, 0.012),
                "median_absolute_error": estimate(0.4102, 0.011),
            },
        ),
        "naive": model_scores(
            "mean of the training rows",
            {
                "r2": estimate(-0.0003, 0.0006),
                "rmse": estimate(1.1541, 0.02),
                "mae": estimate(0.9123, 0.015),
                "median_absolute_error": estimate(0.7688, 0.02),
            },
        ),
    }
    return {
        "metric": "R2",
        "n": 4128,
        **scores,
        "gain": estimate(0.2391, 0.0171),
        "gains": gains_over(scores),
        "interval": "95% bootstrap intervals over the held-out rows",
        "baseline": "linear model of the columns",
        "metrics": scores["model"]["metrics"],
    }


def gains_over(scores: dict[str, Any]) -> dict[str, Any]:
    """The differences of the metrics, positive where the model is better."""
    signs = {"rmse": -1, "mae": -1, "median_absolute_error": -1, "log_loss": -1, "brier": -1}
    model = scores["model"]["metrics"]
    return {
        other: {
            key: estimate(signs.get(key, 1) * (model[key]["value"] - scores[other]["metrics"][key]["value"]), 0.006)
            for key in model
        }
        for other in ("linear", "naive")
    }


def class_holdout(n: int = 9768) -> dict[str, Any]:
    keys = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "f1")
    values = {
        "model": (0.8731, 0.7934, 0.9281, 0.2788, 0.0874, 0.7158),
        "linear": (0.8512, 0.7651, 0.9052, 0.3201, 0.1012, 0.6602),
        "naive": (0.7607, 0.5, 0.5, 0.5501, 0.1820, 0.0),
    }
    names = {"model": "this model", "linear": "linear model of the columns", "naive": "most frequent class"}
    scores = {
        which: model_scores(
            names[which], {key: estimate(value, 0.0067) for key, value in zip(keys, values[which], strict=True)}
        )
        for which in values
    }
    return {
        "metric": "accuracy",
        "n": n,
        **scores,
        "gain": estimate(0.0219, 0.0045),
        "gains": gains_over(scores),
        "interval": "95% bootstrap intervals over the held-out rows",
        "baseline": "linear model of the columns",
        "metrics": scores["model"]["metrics"],
    }


def checks() -> list[dict[str, Any]]:
    def check(code: str, severity: str, title: str, count: int, where: list[str], message: str, remedy: str) -> Any:
        keys = ("code", "severity", "title", "count", "where", "message", "remedy")
        return dict(zip(keys, (code, severity, title, count, where, message, remedy), strict=True))

    return [
        check(
            "leak",
            "error",
            "A column almost equals the target",
            1,
            ["list_price"],
            "list_price alone explains 99.7% of the target.",
            "Leave it out with --drop list_price if it is not known at the time of the prediction.",
        ),
        check(
            "number-as-text",
            "warning",
            "Numbers stored as text",
            2,
            ["rooms", "age"],
            "12 values of rooms and 3 values of age end in a unit.",
            "Remove the units, or read the columns as categories with --role rooms=category.",
        ),
        check(
            "drift",
            "warning",
            "The target drifts along the rows",
            1,
            ["price"],
            "The mean of the last tenth of the rows is 1.3 standard deviations above that of the first.",
            "If rows are ordered in time, name the column with --time.",
        ),
        check(
            "constant", "info", "Constant columns", 1, ["country"], "country has one value.", "Nothing: it is ignored."
        ),
        check("few-rows", "passed", "Number of rows", 0, [], "There are more than 200 rows.", ""),
        check("id", "passed", "Row identifiers", 0, [], "No column numbers the rows.", ""),
        check("missing-target", "passed", "Missing targets", 0, [], "Every row has a target.", ""),
    ]


def candidates() -> list[dict[str, Any]]:
    rows = [
        ("columns", "encoded columns", 0.3984, 0.21, 14, True, "the linear model of the columns"),
        ("piecewise", "piecewise-linear basis of 8 columns", 0.2712, 0.62, 206, True, "32% less loss"),
        ("products", "6 products of pairs", 0.2688, 1.31, 212, False, "no gain (within one standard error)"),
        ("fourier", "256 random features, Gaussian, bandwidth 2.1", 0.2391, 1.9, 462, True, "12% less loss"),
        ("fourier", "512 random features, Gaussian, bandwidth 2.1", 0.2344, 2.8, 718, True, "2.0% less loss"),
        (
            "fourier",
            "1,024 random features, Laplace, bandwidth 4.0",
            0.2362,
            4.4,
            1230,
            False,
            "more loss than the best",
        ),
        ("trees", "score of 430 boosting rounds", 0.1711, 6.3, 719, True, "27% less loss"),
        ("trees", "score of 900 boosting rounds", 0.1709, 11.7, 719, False, "no gain (within one standard error)"),
    ]
    keys = ("stage", "name", "loss", "seconds", "width", "kept", "why")
    return [{**dict(zip(keys, row, strict=True)), "measure": "squared error", "on_all_rows": True} for row in rows]


def blocks() -> list[dict[str, Any]]:
    rows = [
        ("trees", "score of 430 boosting rounds", 1, 0.013, "out of fold for the training rows", 0.71),
        ("piecewise", "piecewise-linear basis of 8 columns", 192, 12.5, "", 0.22),
        ("linear", "encoded columns", 14, 3.1, "", 0.09),
        ("fourier", "512 random features of a Gaussian kernel", 512, 41.2, "bandwidth 2.1", -0.02),
    ]
    return [dict(zip(("kind", "title", "width", "penalty", "note", "gain_fraction"), row, strict=True)) for row in rows]


def importances(names: list[str], metric: str) -> dict[str, Any]:
    sizes = 0.6 * 0.72 ** np.arange(len(names))
    return {
        "metric": metric,
        "columns": [
            {"column": name, "increase": estimate(float(size), float(0.01 + 0.06 * size)), "fraction": float(part)}
            for name, size, part in zip(names, sizes, sizes / sizes.sum(), strict=True)
        ],
    }


def effect(column: str, role: str, x: list[Any], mean: Any, width: float, density: Any, output: str | None) -> Any:
    mean = np.asarray(mean, dtype=float)
    return {
        "column": column,
        "role": role,
        "output": output,
        "x": x,
        "mean": numbers(mean),
        "low": numbers(mean - width * (1 + 0.3 * np.sin(np.arange(len(mean))))),
        "high": numbers(mean + width),
        "density": density,
    }


def effects(output: str | None = None) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    scale = 1.0 if output is None else 0.25
    x = np.linspace(0.5, 15, 40)
    t = np.linspace(0, 1, 24)
    days = [f"2023-{1 + i % 12:02d}-15" if i < 12 else f"2024-{1 + i % 12:02d}-15" for i in range(24)]
    places = ["inland", "near bay", "near ocean", "<1h ocean", "island"]
    return [
        effect(
            "median_income",
            "number",
            numbers(x),
            scale * (1.2 + 2.2 / (1 + np.exp(-(x - 5)))),
            0.12 * scale,
            histogram(rng.gamma(3, 1.3, 4000).clip(0.5, 15), 30),
            output,
        ),
        effect(
            "ocean_proximity",
            "category",
            places,
            scale * np.array([1.4, 2.1, 2.3, 2.0, 3.1]),
            0.2 * scale,
            {"labels": places, "counts": [6551, 2290, 2658, 9136, 5]},
            output,
        ),
        effect(
            "sold_on",
            "date",
            days,
            scale * (2 + 0.4 * t + 0.1 * np.sin(6 * np.pi * t)),
            0.05 * scale,
            {"edges": [days[0], days[6], days[12], days[18], days[23]], "counts": [300, 500, 800, 1200]},
            output,
        ),
        effect(
            "house_age",
            "number",
            numbers(np.arange(1, 53)),
            scale * (1.9 + 0.004 * np.arange(52)),
            0.03 * scale,
            histogram(rng.integers(1, 53, 4000), 26),
            output,
        ),
        effect(
            "population",
            "number",
            numbers(np.geomspace(3, 35000, 30)),
            scale * (2.2 - 0.05 * np.log(np.geomspace(3, 35000, 30))),
            0.04 * scale,
            histogram(rng.lognormal(7, 0.7, 4000), 30),
            output,
        ),
        effect(
            "rooms",
            "number",
            [3.0, 4.0],
            [1.9 * scale, 2.0 * scale],
            0.02,
            {"edges": [3.0, 4.0], "counts": [9]},
            output,
        ),
    ]


def interactions(output: str | None = None) -> list[dict[str, Any]]:
    x, y = np.linspace(-124, -114, 14), np.linspace(32, 42, 12)
    remainder = 0.4 * np.sin(x[None, :]) * np.cos(y[:, None])
    places = ["inland", "near bay", "near ocean"]
    return [
        {
            "columns": ["longitude", "latitude"],
            "strength": 0.213,
            "output": output,
            "x": numbers(x),
            "y": numbers(y),
            "remainder": [numbers(row) for row in remainder],
        },
        {
            "columns": ["ocean_proximity", "median_income"],
            "strength": 0.094,
            "output": output,
            "x": places,
            "y": numbers(np.linspace(1, 9, 8)),
            "remainder": [numbers([0.1 * (i - 4), -0.02 * i, 0.05]) for i in range(8)],
        },
    ]


def residuals() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    predicted = rng.gamma(4, 0.5, 400).clip(0.3, 5)
    error = 0.2 * rng.standard_t(4, 400) * np.sqrt(predicted)
    groups = np.array_split(np.argsort(predicted), 12)
    trend = [
        {
            "predicted": float(predicted[group].mean()),
            "residual": float(error[group].mean()),
            "low": float(error[group].mean() - 0.1),
            "high": float(error[group].mean() + 0.1),
            "n": len(group),
        }
        for group in groups
    ]
    return {
        "predicted": numbers(predicted),
        "actual": numbers(predicted + error),
        "histogram": histogram(error, 30),
        "trend": trend,
    }


def calibration(output: str | None) -> dict[str, Any]:
    p = np.linspace(0.03, 0.97, 10)
    observed = p + 0.03 * np.sin(7 * p)
    bins = [
        {
            "predicted": float(a),
            "observed": float(b),
            "low": float(max(0, b - 0.04)),
            "high": float(min(1, b + 0.04)),
            "n": 900,
        }
        for a, b in zip(p, observed, strict=True)
    ]
    return {"output": output, "bins": bins, "error": 0.0183}


def confusion(classes: list[str]) -> dict[str, Any]:
    shown = classes if len(classes) <= 15 else [*classes[:14], "others"]
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 30, (len(shown), len(shown))) + np.diag(rng.integers(200, 900, len(shown)))
    return {"classes": shown, "counts": [[int(n) for n in row] for row in counts]}


def thresholds(output: str) -> dict[str, Any]:
    points = []
    for t in np.linspace(0.01, 0.99, 99):
        recall = float(1 - t**1.6)
        precision = None if t > 0.985 else float(0.24 + 0.75 * t**0.6)
        f1 = None if precision is None else 2 * precision * recall / (precision + recall)
        points.append(
            {
                "threshold": float(t),
                "precision": precision,
                "recall": recall,
                "f1": f1,
                "accuracy": float(0.76 + 0.11 * math.sin(math.pi * t)),
                "selected": float(0.24 * recall + 0.3 * (1 - t) ** 4),
            }
        )
    costs = [
        {"false_positive": a, "false_negative": b, "threshold": t, "cost": c, "cost_at_half": d}
        for a, b, t, c, d in (
            (1.0, 1.0, 0.49, 0.127, 0.127),
            (1.0, 5.0, 0.17, 0.241, 0.402),
            (5.0, 1.0, 0.81, 0.188, 0.266),
        )
    ]
    return {"output": output, "points": points, "costs": costs}


def example(row: int, actual: str, predicted: str, probability: float | None, output: str | None, sign: float) -> Any:
    parts = [0.91, -0.42, 0.31, 0.12, -0.05]
    names = ["median_income", "ocean_proximity", "house_age", "population", "rooms"]
    values = ["8.3252", "near bay", "41", "322", "6.98"]
    contributions = [
        {"column": name, "value": value, "contribution": sign * part}
        for name, value, part in zip(names, values, parts, strict=True)
    ]
    return {
        "row": row,
        "actual": actual,
        "predicted": predicted,
        "probability": probability,
        "output": output,
        "baseline": 2.07,
        "score": 2.07 + sign * sum(parts) + 0.034,
        "contributions": contributions,
        "other": 0.034,
    }


def slices(metric: str) -> list[dict[str, Any]]:
    return [
        {
            "column": "ocean_proximity",
            "condition": "is island",
            "n": 5,
            "metric": metric,
            "score": estimate(0.91, 0.4),
            "rest": 0.45,
            "p_value": 0.021,
        },
        {
            "column": "median_income",
            "condition": "above 8.1",
            "n": 412,
            "metric": metric,
            "score": estimate(0.83, 0.09),
            "rest": 0.42,
            "p_value": 0.000013,
        },
    ]


def learning_curve(metric: str) -> dict[str, Any]:
    points = [
        {"n": n, "score": estimate(0.86 - 1.4 / n**0.35, 0.3 / n**0.35)} for n in (516, 1032, 2064, 4128, 8256, 16512)
    ]
    return {"metric": metric, "points": points, "sentence": "Twice as many rows would raise R2 by about 0.01."}


def kernel_map() -> dict[str, Any]:
    bandwidths, penalties = np.geomspace(0.25, 16, 7), np.geomspace(1e-3, 1e3, 9)
    loss = 0.2 + 0.03 * np.log(bandwidths[:, None] / 2) ** 2 + 0.004 * np.log(penalties[None, :] / 3) ** 2
    return {
        "kernel": "Gaussian",
        "bandwidths": numbers(bandwidths),
        "penalties": numbers(penalties),
        "loss": [numbers(row) for row in loss],
        "chosen": [3, 5],
        "sentence": "The loss is within 1% of its minimum for bandwidths between 1.5 and 2.8.",
    }


def boundary(labels: list[str], output: str | None) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    x, y = np.linspace(-3, 3, 40), np.linspace(-3, 3, 40)
    values = 1 / (1 + np.exp(-2 * (x[None, :] ** 2 + y[:, None] - 1)))
    points = [
        {"x": float(a), "y": float(b), "label": labels[int(a * a + b > 1) % len(labels)]}
        for a, b in rng.normal(size=(200, 2))
    ]
    return {
        "x_title": "median_income",
        "y_title": "0.8 latitude + 0.6 longitude",
        "output": output,
        "x": numbers(x),
        "y": numbers(y),
        "values": [numbers(row) for row in values],
        "points": points,
    }


def certificates() -> list[dict[str, Any]]:
    return [
        {
            "block": "512 random features of a Gaussian kernel",
            "quantity": "largest error of a kernel value",
            "n_features": 512,
            "bound": 0.231,
            "measured": 0.118,
            "confidence": 0.95,
            "sentence": "No kernel value is off by more than 0.231 with 95% confidence; measured: 0.118.",
        },
        {
            "block": "2,048 hashed terms",
            "quantity": "largest relative error of a squared length",
            "n_features": 2048,
            "bound": None,
            "measured": 0.043,
            "confidence": 0.95,
            "sentence": "No bound is known for these data; the largest error measured is 0.043.",
        },
    ]


def profile(column: str, role: str = "number", association: float | None = 0.2, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    if role == "number":
        values = rng.gamma(2, 2, 2000)
        return {
            "column": column,
            "type": "float",
            "role": role,
            "reason": "numbers with 1,998 distinct values",
            "n_missing": 12,
            "n_distinct": 1998,
            "n_distinct_is_exact": True,
            "min": float(values.min()),
            "max": float(values.max()),
            "mean": float(values.mean()),
            "sd": float(values.std()),
            "quantiles": numbers(np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])),
            "top": [],
            "histogram": histogram(values, 20),
            "association": None if association is None else {"name": "R2", "value": association},
        }
    labels = ["inland", "near bay", "near ocean", "<1h ocean", "island"]
    return {
        "column": column,
        "type": "string",
        "role": role,
        "reason": "texts with few distinct values",
        "n_missing": 0,
        "n_distinct": 120_000 if role == "text" else 5,
        "n_distinct_is_exact": role != "text",
        "min": None,
        "max": None,
        "mean": None,
        "sd": None,
        "quantiles": None,
        "top": [{"category": label, "rows": 4000 // (i + 1)} for i, label in enumerate(labels)],
        "histogram": {"labels": labels, "counts": [4000 // (i + 1) for i in range(5)]},
        "association": None if association is None else {"name": "R2", "value": association},
    }


def reproduction() -> dict[str, Any]:
    return {
        "command": "mercer fit houses.csv --target price --effort normal",
        "code": 'import mercer\n\nmodel = mercer.fit("houses.csv", target="price", random_state=0)\n',
        "seed": 0,
        "versions": {"mercer": "0.1.0", "numpy": "2.4.6", "python": "3.12.4", "scikit-learn": "1.9.1"},
        "data": [
            {
                "name": "houses.csv",
                "rows": 20640,
                "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            }
        ],
        "rows_hash": "b1946ac92492d2347c6235b4d2611184",
        "seconds": [
            {"stage": "read", "seconds": 0.31},
            {"stage": "encode", "seconds": 0.42},
            {"stage": "search", "seconds": 18.2},
            {"stage": "holdout", "seconds": 0.9},
            {"stage": "final fit", "seconds": 4.4},
            {"stage": "report", "seconds": 1.7},
        ],
        "created": "2026-01-15T10:30:00+00:00",
    }


NAMES = ["median_income", "ocean_proximity", "house_age", "longitude", "latitude", "population", "sold_on", "rooms"]


def regression_report() -> Report:
    """All sections of a regression."""
    profiles = [
        profile(name, "category" if name == "ocean_proximity" else "number", 0.5 / (i + 1), i)
        for i, name in enumerate(NAMES)
    ]
    return {
        **minimal_report(),
        "target": "price",
        "rows": 20640,
        "effort": "normal",
        "model": "ridge regression on 719 features",
        "notes": ["3 rows are duplicates of others.", "The column total_rooms is missing in 207 rows."],
        "columns": ["zip is read as a category: 85 distinct whole numbers."],
        "schema": {name: {"kind": "float", "role": "number"} for name in NAMES},
        "seconds": {"read": 0.31, "search": 18.2},
        "importance": {name: 1 / len(NAMES) for name in NAMES},
        "blocks": blocks(),
        "candidates": candidates(),
        "verdict": {
            "level": "gain",
            "sentence": "On new rows the model explains 84% of the variance of price (R2 0.841, 95% interval 0.829 to "
            "0.853); "
            "the linear model explains 60%. A typical error is 0.46 in units of price.",
            "details": [
                "71% of the gain comes from the score of 430 boosting rounds, 22% from piecewise-linear features.",
                "median_income matters most: without it the RMSE is 0.60 higher.",
                "Errors are largest where median_income is above 8.1.",
            ],
        },
        "split": {
            "n_train": 16512,
            "n_holdout": 4128,
            "fraction": 0.2,
            "n_duplicates": 3,
            "method": "hash of the row",
            "sentence": "4,128 of 20,640 rows were held out by the hash of the row, so that duplicates stay together.",
        },
        "checks": checks(),
        "holdout": regression_holdout(),
        "importances": importances(NAMES, "rmse"),
        "effects": effects(),
        "interactions": interactions(),
        "intervals": coverage(),
        "residuals": residuals(),
        "examples": {
            "unit": "price",
            "worst": [example(17, "5.00", "2.974", None, None, 1.0), example(9032, "3.91", "1.234", None, None, -1.0)],
            "typical": [example(512, "2.96", "2.974", None, None, 1.0)],
        },
        "slices": slices("rmse"),
        "learning_curve": learning_curve("R2"),
        "kernel_map": kernel_map(),
        "boundary": boundary(["below the median", "above the median"], None),
        "certificates": certificates(),
        "profiles": profiles,
        "target_profile": profile("price", "number", None, 99),
        "reproduction": reproduction(),
    }


def two_class_report() -> Report:
    """All sections of a classification into two classes."""
    report = regression_report()
    for key in ("residuals", "terms"):
        report.pop(key, None)
    return {
        **report,
        "task": "classification",
        "target": "income",
        "classes": ["<=50K", ">50K"],
        "rows": 48842,
        "model": "logistic regression on 719 features",
        "verdict": {
            "level": "linear",
            "sentence": "On new rows the model is right in 87.3% of cases (95% interval 86.6% to 88.0%), not clearly "
            "more often than the linear model with 85.1%; the most frequent class alone gives 76.1%.",
            "details": ["Probabilities are calibrated: they are off by 1.8 percentage points on average."],
        },
        "holdout": class_holdout(),
        "importances": importances(NAMES, "log_loss"),
        "effects": effects(">50K"),
        "interactions": interactions(">50K"),
        "calibration": calibration(">50K"),
        "confusion": confusion(["<=50K", ">50K"]),
        "thresholds": thresholds(">50K"),
        "examples": {
            "unit": "log-odds",
            "worst": [example(40, "<=50K", ">50K", 0.7745, ">50K", -1.0)],
            "typical": [example(41, ">50K", ">50K", 0.9514, ">50K", 1.0)],
        },
        "slices": slices("log_loss"),
        "learning_curve": learning_curve("accuracy"),
        "boundary": boundary(["<=50K", ">50K"], ">50K"),
        "target_profile": profile("income", "category", None, 99),
    }


def many_class_report(n_classes: int = 100) -> Report:
    """A classification into many classes."""
    classes = [f"species {i:03d} of a long list of plants" for i in range(n_classes)]
    report = two_class_report()
    report.pop("thresholds")
    return {
        **report,
        "target": "species",
        "classes": classes,
        "effects": [each for name in classes[:20] for each in effects(name)],
        "interactions": [each for name in classes[:10] for each in interactions(name)],
        "calibration": calibration(None),
        "confusion": confusion(classes),
        "boundary": boundary(classes[:6], classes[0]),
    }


def text_report() -> Report:
    """A classification of texts: terms, no other columns."""
    report = many_class_report(4)
    for key in ("effects", "interactions", "kernel_map", "boundary"):
        report.pop(key)
    rng = np.random.default_rng(4)
    words = [*TEXT.lower().split(), "court", "oil prices", "world cup", "nasa", "profit", "coach", "software"]
    names = ["world", "sports", "business", "science"]

    def terms(sign: float) -> list[dict[str, Any]]:
        sizes = np.sort(rng.uniform(0.1, 2, 15))[::-1]
        return [{"term": words[i % len(words)], "weight": float(sign * size)} for i, size in enumerate(sizes)]

    return {
        **report,
        "target": "topic",
        "classes": names,
        "confusion": confusion(names),
        "importances": importances(["title", "body"], "log_loss"),
        "terms": [
            {"column": column, "output": name, "positive": terms(1), "negative": terms(-1)}
            for column in ("title", "body")
            for name in names
        ],
        "profiles": [profile("title", "text", 0.4), profile("body", "text", 0.6)],
    }


def no_holdout_report() -> Report:
    """A regression without held-out rows."""
    report = regression_report()
    for key in ("holdout", "split", "importances", "residuals", "examples", "slices", "learning_curve"):
        report.pop(key)
    return {**report, "verdict": minimal_report()["verdict"]}


def scorecard(times: int = 1) -> dict[str, Any]:
    """The section of an explainable model: curves and pairs are effects and interactions with a strength."""
    curves = [{**each, "strength": 0.4, "missing": -0.12} for each in effects()] * times
    pairs = interactions() * times
    names = [each["column"] for each in curves] + [" x ".join(each["columns"]) for each in pairs]
    terms = [{"term": name, "output": None, "strength": 0.4, "low": -1.5, "high": 2.25} for name in names]
    sizes = {"n_columns": len(curves), "n_pairs": len(pairs)}
    return {"unit": "prediction", **sizes, "terms": terms, "curves": curves, "pairs": pairs}


def wide_report(n_columns: int = 2000) -> Report:
    """A regression on many columns, with as many entries as the schema allows."""
    names = [f"gene_{i:05d}_expression_level" for i in range(n_columns)]
    return {
        **regression_report(),
        "columns": [f"{name} is read as a number." for name in names],
        "schema": {name: {"kind": "float", "role": "number"} for name in names},
        "importance": dict.fromkeys(names, 1 / n_columns),
        "importances": importances(names, "rmse"),
        "candidates": [{**each, "name": f"{each['name']} {i}"} for i in range(100) for each in candidates()],
        "scorecard": scorecard(40),
        "effects": effects() * 40,
        "interactions": interactions() * 40,
        "profiles": [profile(name, "number", 1 / (i + 2), i % 7) for i, name in enumerate(names)],
        "slices": slices("rmse") * 100,
        "checks": checks() * 30,
    }


def inspection() -> dict[str, Any]:
    """What `mercer inspect` finds in a file."""
    report = regression_report()
    return {
        "file": "houses.csv",
        "rows": 20640,
        "dialect": {"delimiter": ",", "quote": '"', "encoding": "utf-8", "header": True, "decimal": "."},
        "target": "price",
        "task": "regression",
        "profiles": report["profiles"],
        "target_profile": report["target_profile"],
        "checks": report["checks"],
        "notes": report["notes"],
    }


SAMPLES = {
    "regression": regression_report,
    "two_classes": two_class_report,
    "many_classes": many_class_report,
    "text": text_report,
    "no_holdout": no_holdout_report,
    "minimal": minimal_report,
    "wide": wide_report,
}


def everything() -> Report:
    """Every section at once, whatever the task."""
    classes, text = two_class_report(), text_report()
    return {
        **regression_report(),
        **{key: classes[key] for key in ("calibration", "confusion", "thresholds", "classes")},
        "terms": text["terms"],
        "scorecard": scorecard(),
        "weight": "copies",
        "profiles": [*classes["profiles"], *text["profiles"]],
        "target_profile": classes["target_profile"],
        "left_out": ["kernel_map"],
        "other_data": {"file": "new.csv", **regression_holdout()},
    }
