"""Mercer against boosted trees, kernel machines and linear models, on real tables.

    python -m benchmarks leaderboard --data DIR
    python -m benchmarks.leaderboard --data DIR [--sets a,b] [--models c,d] [--seeds 0,1,2] [--out results.jsonl]

Scores (R^2 or accuracy on test rows), wall and CPU seconds of each fit are appended to a file of JSON lines, one per
(set, model, seed); those already in the file are not run again. `--table` only prints the contents of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.harness import table
from benchmarks.leaderboard_data import SETS, load
from benchmarks.leaderboard_models import MODELS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder of Parquet files")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--seeds", default="0,1,2", help="numbers of the splits; published ones where there are some")
    parser.add_argument("--out", default="leaderboard.jsonl")
    parser.add_argument("--table", action="store_true", help="print the table of the results so far and stop")
    asked = parser.parse_args()
    if not asked.table:
        if asked.data is None:
            parser.error("--data DIR names the folder of Parquet files")
        seeds = [int(seed) for seed in asked.seeds.split(",")]
        race(asked.data, asked.sets.split(","), asked.models.split(","), seeds, Path(asked.out))
    print(render(_results(Path(asked.out))))


def run() -> None:
    """All sets and models that are there, three splits; the mean scores are recorded."""
    folder = os.environ.get("MERCER_BENCH_DATA")
    if not folder:
        print("left out: give the folder of the Parquet files with --data")
        return
    out = Path("leaderboard.jsonl")
    race(folder, list(SETS), [name for name in MODELS if name != "mercer-high"], [0, 1, 2], out)
    mean = _means(_results(out))
    models = [name for name in MODELS if any(model == name for _, model in mean)]
    rows = [[name, *(mean.get((name, model)) for model in models)] for name in SETS if (name, models[0]) in mean]
    table("test scores (R2 or accuracy), means of three splits", ["set", *models], rows)
    print(render(_results(out)))


def _means(rows: list[dict]) -> dict[tuple[str, str], float]:
    """Mean scores by (set, model)."""
    scores: dict = defaultdict(list)
    for row in rows:
        if "score" in row:
            scores[row["set"], row["model"]].append(row["score"])
    return {key: round(float(np.mean(values)), 4) for key, values in scores.items()}


def race(folder, sets, models, seeds, out: Path) -> None:
    done = {(row["set"], row["model"], row["seed"]) for row in _results(out)}
    for name in sets:
        if not (Path(folder) / f"{name}.parquet").exists():
            print(f"{name}: not in {folder}, left out")
            continue
        for seed in seeds:
            missing = [model for model in models if (name, model, seed) not in done]
            if not missing:
                continue
            split = load(folder, name, seed)
            for model in missing:
                row = {"set": name, "model": model, "seed": seed, "task": split.task, **_scored(split, model)}
                print(json.dumps(row), flush=True)
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def _scored(split, name) -> dict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model, X, X_test = MODELS[name](split)
            wall, cpu = time.perf_counter(), os.times()
            model.fit(X, split.y)
            wall, spent = time.perf_counter() - wall, os.times()
            predicted = np.asarray(model.predict(X_test)).reshape(len(split.y_test))
        except Exception as error:  # report a model that fails on a set, and continue
            return {"error": f"{type(error).__name__}: {error}"[:300]}
    if split.task == "regression":
        rest = np.sum((split.y_test - predicted) ** 2)
        score = 1 - rest / np.sum((split.y_test - split.y_test.mean()) ** 2)
    else:
        score = np.mean(predicted.astype(int) == split.y_test)
    cpu_seconds = spent.user - cpu.user + spent.system - cpu.system
    return {"score": round(float(score), 5), "wall": round(wall, 3), "cpu": round(cpu_seconds, 3), "rows": len(split.y)}


def _results(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def render(rows: list[dict]) -> str:
    """Mean scores per set, then mean rank, mean fraction of the best score, and median times of each model."""
    scores: dict = defaultdict(list)
    times: dict = defaultdict(list)
    for row in rows:
        if "score" in row:
            scores[row["set"], row["model"]].append(row["score"])
            times[row["model"], row["set"]].append((row["wall"], row["cpu"]))
    models = [name for name in MODELS if any(model == name for _, model in scores)]
    sets = [name for name in SETS if any(found == name for found, _ in scores)]
    lines = ["| set | " + " | ".join(models) + " |", "|---" * (len(models) + 1) + "|"]
    mean = {key: float(np.mean(values)) for key, values in scores.items()}
    for name in sets:
        cells = [mean.get((name, model)) for model in models]
        best = max(cell for cell in cells if cell is not None)
        shown = ["" if c is None else f"**{c:.4f}**" if c == best else f"{c:.4f}" for c in cells]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    common = [name for name in sets if all((name, model) in mean for model in models)]
    if common:
        table = np.array([[mean[name, model] for model in models] for name in common])
        ranks = (table[:, None, :] > table[:, :, None]).sum(axis=2) + 1.0
        fraction = np.clip(table, 0, None) / table.max(axis=1, keepdims=True)
        wall = [np.median([np.mean([t[0] for t in times[model, name]]) for name in common]) for model in models]
        cpu = [np.median([np.mean([t[1] for t in times[model, name]]) for name in common]) for model in models]
        for title, values, form in (
            ("mean rank", ranks.mean(axis=0), "{:.2f}"),
            ("mean fraction of the best", fraction.mean(axis=0), "{:.4f}"),
            ("median fit, wall s", wall, "{:.1f}"),
            ("median fit, CPU s", cpu, "{:.1f}"),
        ):
            lines.append(f"| {title} ({len(common)} sets) | " + " | ".join(form.format(v) for v in values) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
