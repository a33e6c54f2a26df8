"""A million moves up a monotone column: how many predictions fall, in Python and through ONNX.

Rows are drawn value by value from those of a table, or from a normal distribution wider than theirs, with missing
values and unseen categories among them. A move adds nothing, a bit, a little or much to one monotone column. In Python
no score may fall by a bit; in ONNX, which computes in float32, the largest fall is given in units of float32 rounding
(2^-24 times the largest score).
MERCER_BENCH_MOVES is the number of moves of all models together.
"""

from __future__ import annotations

import os

import numpy as np

import mercer
from benchmarks.harness import size, table

MOVES = int(os.environ.get("MERCER_BENCH_MOVES", size("1000000", "800")))
ROWS = size(1500, 300)
SIGNS = {"a": 1, "b": -1}
#: Name -> target from (effects, noise) and options of the fit.
CASES = {
    "regression, normal": (lambda eta, rng: eta + 0.3 * rng.normal(size=len(eta)), {"effort": "normal"}),
    "regression, fast": (lambda eta, rng: eta + 0.3 * rng.normal(size=len(eta)), {"effort": "fast"}),
    "classes, normal": (lambda eta, rng: eta + rng.logistic(size=len(eta)) > 0, {"effort": "normal"}),
    "classes, fast": (lambda eta, rng: eta + rng.logistic(size=len(eta)) > 0, {"effort": "fast"}),
    "median, fast": (lambda eta, rng: eta + rng.standard_t(3, size=len(eta)), {"effort": "fast", "loss": "absolute"}),
    "quantiles, fast": (lambda eta, rng: eta + rng.normal(size=len(eta)), {"effort": "fast", "loss": "quantile"}),
    "Poisson, normal": (lambda eta, rng: rng.poisson(np.exp(eta / 2)), {"effort": "normal", "loss": "poisson"}),
    "Poisson, fast": (lambda eta, rng: rng.poisson(np.exp(eta / 2)), {"effort": "fast", "loss": "poisson"}),
}
_STEPS = (0.0, 1e-15, 1e-9, 1e-3, 0.3, 5.0)
#: Moves that are predicted at once, and those of each model that ONNX predicts too.
_BATCH, _ONNX_MOVES = 20_000, 5_000


def run():
    each = -(-MOVES // len(CASES))
    rows = []
    for number, (name, (target, options)) in enumerate(CASES.items()):
        X, y = training_rows(target, np.random.default_rng(number))
        model = mercer.fit(X, y, monotone=SIGNS, report=False, holdout=0, **options)
        falls, rises, done = 0, 0, 0
        rng = np.random.default_rng([1, number])
        while done < each:
            before, after, signs = moves(X, min(_BATCH, each - done), rng)
            change = signs[:, None] * (scores(model, after) - scores(model, before))
            falls, rises = falls + int(np.sum(change < 0)), rises + int(np.sum(np.any(change > 0, axis=1)))
            done += len(signs)
        rows.append([name, done, rises, falls, onnx_fall(model, *moves(X, min(_ONNX_MOVES, each), rng))])
        print(f"  {name:<20} {done:>8} moves, {falls} falls; ONNX {rows[-1][-1]:.3g} roundings", flush=True)
    table("Moves up a monotone column", ["model", "moves", "rises", "falls", "largest fall of ONNX, roundings"], rows)
    table("All models", ["moves", "falls"], [[sum(row[1] for row in rows), sum(row[3] for row in rows)]])


def training_rows(target, rng):
    """Numbers a and b with signs, a number and a category without; a tenth of a, c and d is missing."""
    a, b, c = rng.normal(size=(3, ROWS))
    d = rng.choice(["u", "v", "w"], size=ROWS)
    eta = np.sin(3 * a) + a - b**3 / 3 + b + (0.5 + (d == "u")) * c
    y = target(eta, rng)
    d = np.where(rng.random(ROWS) < 0.1, None, d)
    return {"a": _gaps(a, rng), "b": b, "c": _gaps(c, rng), "d": d}, y


def moves(X, n, rng):
    """Rows, the same rows with a larger value in one monotone column, and the sign of that column."""
    before = {}
    for name, column in X.items():
        drawn = rng.choice(column, size=n)
        if drawn.dtype.kind == "f":
            drawn = np.where(rng.random(n) < 0.5, drawn, _gaps(2 * rng.normal(size=n), rng))
        else:
            drawn = np.where(rng.random(n) < 0.05, "unseen", drawn)
        before[name] = drawn
    after = {name: column.copy() for name, column in before.items()}
    moved, signs = rng.choice(list(SIGNS), size=n), np.zeros(n)
    for name, sign in SIGNS.items():
        some = moved == name
        start = np.where(np.isnan(before[name]), 0.0, before[name])  # a gap is not below or above a number
        before[name] = np.where(some, start, before[name])
        larger = np.nextafter(start + rng.choice(_STEPS, size=n), np.inf)
        after[name], signs = np.where(some, larger, before[name]), np.where(some, sign, signs)
    return before, after, signs


def _gaps(column, rng):
    return np.where(rng.random(len(column)) < 0.1, np.nan, column)


def scores(model, rows):
    """What the columns are monotone in: log-odds, logarithms of means, or numbers, in float64."""
    return np.reshape(model.map_encoded(rows, model.predictor.scores), (len(rows["a"]), -1))


def onnx_fall(model, before, after, signs):
    """The largest fall of predictions or probabilities by ONNX over the rounding of float32; NaN without a runtime."""
    try:
        import onnxruntime
    except ImportError:
        return np.nan
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    output = "prediction" if model.classes_ is None else "probabilities"

    def predicted(rows):
        fed = {}
        for name, column in rows.items():
            known = column if column.dtype.kind == "f" else np.where(column == None, "", column).astype(str)  # noqa: E711
            fed[name] = known[:, None]
        found = np.asarray(session.run([output], fed)[0], dtype=np.float64).reshape(len(signs), -1)
        return found[:, -1]

    first, second = predicted(before), predicted(after)
    fall = np.max(np.maximum(-signs * (second - first), 0.0))
    return float(fall / (2.0**-24 * np.max(np.abs(first))))


if __name__ == "__main__":
    run()
