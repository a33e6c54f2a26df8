"""Mercer against everything that trains without downloaded weights, on real tables, by the metrics of the field.

    python -m benchmarks leaderboard --data DIR
    python -m benchmarks.leaderboard --data DIR [--sets a,b] [--models c,d] [--splits N] [--timeout S] [--out FILE]

Each fit runs in a process of its own, on all cores. Errors on test rows (RMSE, 1 - AUC for two classes, log-loss for
more) beside R2 or accuracy, wall and CPU seconds are appended to a file of JSON lines, one per (set, model, seed);
those already in the file are not run again. `--table` only prints the contents of the file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import json_lines
from benchmarks.harness import data_file, size, table
from benchmarks.leaderboard_data import SETS, Split, load, n_splits
from benchmarks.leaderboard_models import EXTRA, MODELS
from benchmarks.leaderboard_summary import figures

#: Seconds after which a fit is given up.
TIMEOUT = 1800.0
#: Left out of the full run: a longer search of Mercer, and models that take minutes for a thousand rows.
LEFT_OUT = ("mercer-high", *EXTRA)


def main() -> None:
    parser = json_lines.parser("leaderboard", __doc__ or "", list(SETS))
    parser.add_argument("--models", default=",".join(name for name in MODELS if name not in LEFT_OUT))
    parser.add_argument("--splits", type=int, help="of each set; by default 10 below 2,000 rows, else 3")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds after which a fit is given up")
    asked = parser.parse_args()
    if not asked.table:
        if asked.data is None:
            parser.error("--data DIR names the folder of Parquet files")
        race(asked)
    show(Path(asked.out))


def run() -> None:
    """All sets and models that are there; mean errors and scores are recorded."""
    folder = os.environ.get("MERCER_BENCH_DATA")
    if not folder:
        print("left out: give the folder of the Parquet files with --data")
        return
    models = size(",".join(name for name in MODELS if name not in LEFT_OUT), "mercer,linear")
    out, splits = Path("leaderboard.jsonl"), size(None, 1)
    race(
        argparse.Namespace(
            data=folder, sets=",".join(SETS), models=models, splits=splits, timeout=TIMEOUT, out=str(out)
        )
    )
    show(out)


def show(out: Path) -> None:
    """Print and record the tables of all results in a file."""
    for figure in figures(json_lines.results(out)):
        table(*figure)


def race(asked: argparse.Namespace) -> None:
    """Run what is missing: split by split, so that all models of a split run under the same conditions."""
    out, models = Path(asked.out), asked.models.split(",")
    for name in asked.sets.split(","):
        if data_file(name, asked.data) is None:
            continue
        for seed in range(asked.splits or n_splits(asked.data, name)):
            done = {(row["set"], row["model"], row["seed"]) for row in json_lines.results(out)}
            for model in [each for each in models if (name, each, seed) not in done]:
                row = {"set": name, "model": model, "seed": seed, "task": SETS[name]}
                row |= _in_process(asked.timeout, asked.data, name, seed, model)
                print(json.dumps(row), flush=True)
                json_lines.append(out, row)


def _in_process(timeout: float, *arguments: Any) -> dict:
    """The result of a fit in a new process, which is killed when its time is over."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, *arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(timeout) else {"failed": f"not finished in {timeout:g} s"}
    except EOFError:
        return {"failed": "the process ended, perhaps for lack of memory"}
    finally:
        process.kill()
        process.join()


def _send(sender: Any, folder: str, name: str, seed: int, model: str) -> None:
    warnings.simplefilter("ignore")
    try:
        sender.send(_scored(load(folder, name, seed), model))
    except Exception as error:  # report a model that fails on a set, and continue
        sender.send({"failed": f"{type(error).__name__}: {error}"[:300]})


def _scored(split: Split, name: str) -> dict:
    model, X, X_test = MODELS[name](split)
    wall, cpu = time.perf_counter(), os.times()
    model.fit(X, split.y)
    wall, spent = time.perf_counter() - wall, os.times()
    seconds = sum(spent[:4]) - sum(cpu[:4])
    scores = _regression(split, model, X_test) if split.task == "regression" else _classes(split, model, X_test)
    return {
        **{key: value if isinstance(value, str) else round(float(value), 6) for key, value in scores.items()},
        "wall": round(wall, 3),
        "cpu": round(seconds, 3),
        "rows": len(split.y),
    }


def _regression(split: Split, model: Any, X_test: Any) -> dict:
    y = split.y_test
    mean_square = np.mean((y - np.asarray(model.predict(X_test)).reshape(len(y))) ** 2)
    return {"score": 1 - mean_square / np.var(y), "error": np.sqrt(mean_square), "metric": "rmse"}


def _classes(split: Split, model: Any, X_test: Any) -> dict:
    """Accuracy of the predictions, and 1 - AUC or the log-loss of the probabilities."""
    from sklearn.metrics import log_loss, roc_auc_score

    y, classes = split.y_test, np.unique(split.y)
    if len(classes) == 2 and not hasattr(model, "predict_proba"):
        scores = np.asarray(model.decision_function(X_test))
        return {
            "score": np.mean(model.predict(X_test) == y),
            "error": 1 - roc_auc_score(y, scores),
            "metric": "1 - auc",
        }
    found = np.asarray(model.predict_proba(X_test), dtype=np.float64)
    accuracy = np.mean(np.asarray(model.predict(X_test)).reshape(len(y)).astype(int) == y)
    bounded = np.clip(found, 1e-7, None)
    bounded /= bounded.sum(axis=1, keepdims=True)
    loss = log_loss(y, bounded, labels=classes)
    if len(classes) == 2:
        return {"score": accuracy, "error": 1 - roc_auc_score(y, found[:, 1]), "metric": "1 - auc", "log_loss": loss}
    return {"score": accuracy, "error": loss, "metric": "log-loss", "log_loss": loss}


if __name__ == "__main__":
    main()
