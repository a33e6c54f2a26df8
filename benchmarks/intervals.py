"""Prediction intervals: coverage, width beside MAPIE and LightGBM's quantile regression, and coverage by difficulty.

    python -m benchmarks.intervals --data DIR [--sets a,b] [--splits 20] [--peer-splits 5] [--out intervals.jsonl]

Twenty sets, real and generated, at most 1,000 training rows, effort "fast", level 0.9. Coverage is that of test rows.
Widths are compared at equal coverage: the half-widths of each method are multiplied by (for quantile regression:
increased by) the constant with which 90 % of the test rows are inside. Difficulty is the true standard deviation of
generated sets; for real sets it is the width that quantile regression gives to the row. Constant width is that of the
same predictions plus or minus a constant. Results are appended to a file of JSON lines, and those already there are not
run again. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks import json_lines
from benchmarks.harness import data_file, size
from benchmarks.leaderboard_data import SETS, load

LEVEL, TRAIN_ROWS, TEST_ROWS = 0.9, size(1_000, 200), size(2_000, 200)
REAL = [name for name, task in SETS.items() if task == "regression"]


def main() -> None:
    json_lines.main(_options().parse_args(), run_all, render)


def run() -> None:
    """Every set at hand, MERCER_BENCH_REPETITIONS splits of it."""
    splits = os.environ.get("MERCER_BENCH_REPETITIONS", size("20", "1"))
    json_lines.main(_options().parse_args(["--splits", splits]), run_all, render)


def _options() -> argparse.ArgumentParser:
    parser = json_lines.parser("intervals", __doc__, [*REAL, *GENERATED])
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--peer-splits", type=int, default=5, help="splits for which the peers are fitted as well")
    return parser


def run_all(asked) -> None:
    out = Path(asked.out)
    done = {(row["set"], row["split"]) for row in json_lines.results(out)}
    names = [name for name in asked.sets.split(",") if name in GENERATED or data_file(name, asked.data)]
    for split in range(asked.splits):
        for name in names:
            if (name, split) in done:
                continue
            row = {"set": name, "split": split, **_measured(asked.data, name, split, split < asked.peer_splits)}
            print({key: row[key] for key in ("set", "split", "coverage", "seconds")}, flush=True)
            json_lines.append(out, row)


def _real(folder, name, seed):
    """Rows of a set, divided anew by `seed`."""
    import pandas as pd

    split = load(folder, name, 0)
    X, y = pd.concat([split.X, split.X_test], ignore_index=True), np.concatenate([split.y, split.y_test])
    order = np.random.default_rng(seed).permutation(len(y))
    cut = min(TRAIN_ROWS, int(0.7 * len(y)))
    train, test = order[:cut], order[cut : cut + TEST_ROWS]
    return X.iloc[train], y[train], X.iloc[test], y[test], None


def _generated(name, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(TRAIN_ROWS + TEST_ROWS, 6))
    mean, noise, scale = GENERATED[name](X, rng)
    y, scale = mean + noise, np.broadcast_to(scale, len(X))
    cut = TRAIN_ROWS
    return X[:cut], y[:cut], X[cut:], y[cut:], scale[cut:]


def _friedman(X):
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def _heteroscedastic(X, rng):
    scale = np.exp(3 * X[:, 5] - 1)
    return _friedman(X), scale * rng.normal(size=len(X)), scale


def _linear_spread(X, rng):
    scale = 0.2 + 4 * X[:, 0]
    return 5 * X[:, 1], scale * rng.normal(size=len(X)), scale


def _v_shaped(X, rng):
    scale = 0.2 + 6 * np.abs(X[:, 2] - 0.5)
    return _friedman(X), scale * rng.normal(size=len(X)), scale


def _steps(X, rng):
    scale = np.where(X[:, 1] > 0.7, 4.0, 1.0)
    return 10.0 * (X[:, 0] > 0.5), scale * rng.standard_t(4, size=len(X)), scale


def _constant(X, rng):
    return _friedman(X), rng.normal(size=len(X)), 1.0


def _noise(X, rng):
    return np.zeros(len(X)), rng.normal(size=len(X)), 1.0


GENERATED = {
    "heteroscedastic": _heteroscedastic,
    "linear spread": _linear_spread,
    "v-shaped spread": _v_shaped,
    "steps": _steps,
    "constant spread": _constant,
    "noise": _noise,
}


def _measured(folder, name, seed, peers) -> dict:
    from threadpoolctl import threadpool_limits

    from mercer import MercerRegressor

    X, y, X_test, y_test, scale = _real(folder, name, seed) if name in REAL else _generated(name, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model = MercerRegressor(effort="fast").fit(X, y)
        seconds = time.process_time() - start
        ends = model.predict_interval(X_test, level=LEVEL)
        f = model.predict(X_test)
        found = {"coverage": float(np.mean(_inside(ends, y_test))), "seconds": round(seconds, 3)}
        found["spread"] = float(np.std(y_test))
        widths = {"mercer": _at_equal_coverage(ends, y_test)}
        constant = np.quantile(np.abs(y_test - f), LEVEL)
        widths["constant"] = 2 * float(constant)
        if peers and find_spec("lightgbm"):
            quantiles = _lightgbm_quantiles(X, y, X_test)
            widths["lightgbm"] = _at_equal_coverage(quantiles, y_test, additive=True)
            scale = quantiles[:, 1] - quantiles[:, 0] if scale is None else scale
        if peers and find_spec("lightgbm") and find_spec("mapie"):
            mapie = _mapie(X, y, X_test)
            widths["mapie"] = _at_equal_coverage(mapie, y_test)
            found["coverage_mapie"] = float(np.mean(_inside(mapie, y_test)))
    inside = {"mercer": _inside(ends, y_test), "constant": np.abs(y_test - f) <= constant}
    if scale is not None and np.ptp(scale) > 0:
        order = np.array_split(np.argsort(scale, kind="stable"), 10)
        found["deciles"] = {which: [float(each[part].mean()) for part in order] for which, each in inside.items()}
    return found | {"widths": widths}


def _inside(ends, y):
    return (y >= ends[:, 0]) & (y <= ends[:, 1])


def _at_equal_coverage(ends, y, additive=False) -> float:
    """The mean width of intervals after the one change of their half-widths with which LEVEL of the rows are inside."""
    middle, half = ends.mean(axis=1), np.maximum(0.5 * (ends[:, 1] - ends[:, 0]), 1e-12)
    if additive:
        shift = np.quantile(np.abs(y - middle) - half, LEVEL)
        return float(np.mean(2 * np.maximum(half + shift, 0)))
    return float(np.mean(2 * half) * np.quantile(np.abs(y - middle) / half, LEVEL))


def _lightgbm_quantiles(X, y, X_test):
    from lightgbm import LGBMRegressor

    models = (
        LGBMRegressor(objective="quantile", alpha=alpha, verbose=-1, n_jobs=1).fit(X, y)
        for alpha in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    return np.sort(np.column_stack([model.predict(X_test) for model in models]), axis=1)


def _mapie(X, y, X_test):
    """CV+ of five folds around LightGBM, the default method of MAPIE."""
    from lightgbm import LGBMRegressor
    from mapie.regression import CrossConformalRegressor

    known = CrossConformalRegressor(LGBMRegressor(verbose=-1, n_jobs=1), confidence_level=LEVEL, method="plus", cv=5)
    return known.fit_conformalize(X, y).predict_interval(X_test)[1][:, :, 0]


def render(rows: list[dict]) -> str:
    """Coverage, relative widths and the standard deviation of coverage over deciles, for each set and in the mean."""
    sets = defaultdict(list)
    for row in rows:
        sets[row["set"]].append(row)
    lines = [
        "| set | splits | coverage | width | / MAPIE | / LightGBM | / constant | deciles | constant | seconds |",
        "|---" * 10 + "|",
    ]
    means, ratios, spreads = [], defaultdict(list), []
    for name, found in sets.items():
        coverage = np.mean([row["coverage"] for row in found])
        means.append(coverage)
        cells = [name, str(len(found)), f"{coverage:.3f}", f"{np.mean([r['widths']['mercer'] for r in found]):.4g}"]
        for peer in ("mapie", "lightgbm", "constant"):
            both = [(r["widths"]["mercer"], r["widths"][peer]) for r in found if peer in r["widths"]]
            ratio = np.exp(np.mean([np.log(a / b) for a, b in both])) if both else np.nan
            ratios[peer].append(ratio)
            cells.append(f"{ratio:.3f}")
        deciles = [row["deciles"] for row in found if "deciles" in row]
        if deciles:
            spread = [float(np.std(np.mean([d[which] for d in deciles], axis=0))) for which in ("mercer", "constant")]
            spreads.append(spread)
            cells += [f"{each:.3f}" for each in spread]
        else:
            cells += ["", ""]
        lines.append("| " + " | ".join([*cells, f"{np.mean([row['seconds'] for row in found]):.2f}"]) + " |")
    if not means:
        return "no results"
    ours, other = np.mean(spreads, axis=0) if spreads else (np.nan, np.nan)
    overall = {peer: np.exp(np.nanmean(np.log(each))) for peer, each in ratios.items()}
    lines += [
        "",
        f"mean coverage over {len(means)} sets: {np.mean(means):.4f} (sets from {min(means):.3f} to {max(means):.3f})",
        "geometric mean of width over that of " + ", ".join(f"{peer}: {each:.3f}" for peer, each in overall.items()),
        f"standard deviation of coverage over deciles of difficulty: {ours:.4f}; of constant width {other:.4f}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
