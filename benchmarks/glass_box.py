"""Explainable models of Mercer beside the explainable boosting machine (EBM) of interpret, on real tables.

    python -m benchmarks.glass_box --data DIR [--sets a,b] [--models c,d] [--seeds 0,1] [--out results.jsonl]

Each set has at most 4,000 training rows. EBM is fitted with two outer bags, and with its default of fourteen where
seven times the CPU time of that is within `--limit` seconds. Every fit runs in a process of its own on one thread.
Scores (R^2 or accuracy, and log-loss and AUC for classes) and CPU seconds are appended to a file of JSON lines; rows
already in the file are not run again. `--table` only prints the contents of the file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks import json_lines
from benchmarks.harness import data_file, size
from benchmarks.leaderboard_data import SETS, Split, load

TRAIN_ROWS, TEST_ROWS = 4_000, 10_000
#: Ratio of the bags of the default to two.
_MORE_BAGS = 7


def main() -> None:
    json_lines.main(_options().parse_args(), run_all, render)


def run() -> None:
    """All sets of the folder that the command line names."""
    if os.environ.get("MERCER_BENCH_DATA") is None:
        print("  --data DIR names the folder of Parquet files: nothing run")
        return
    json_lines.main(_options().parse_args([]), run_all, render)


def _options() -> argparse.ArgumentParser:
    parser = json_lines.parser("glass_box", __doc__, list(SETS))
    parser.add_argument("--models", default=size(",".join(MODELS), "glass,mercer"))
    parser.add_argument("--seeds", default="0", help="numbers of the splits")
    parser.add_argument("--limit", type=float, default=180.0, help="CPU seconds that EBM with fourteen bags may take")
    parser.add_argument("--timeout", type=float, default=900.0, help="CPU seconds after which a fit is given up")
    return parser


def run_all(asked) -> None:
    out = Path(asked.out)
    for name in asked.sets.split(","):
        if data_file(name, asked.data) is None:
            continue
        for seed in map(int, asked.seeds.split(",")):
            for model in asked.models.split(","):
                done = {(row["model"], row["set"], row["seed"]): row for row in json_lines.results(out)}
                bags = done.get(("ebm-2", name, seed), {}).get("cpu", np.inf)
                if (model, name, seed) in done or (model == "ebm" and bags * _MORE_BAGS > asked.limit):
                    continue
                row = {"set": name, "model": model, "seed": seed}
                row |= _in_process(asked.data, name, seed, model, asked.timeout)
                print(json.dumps(row), flush=True)
                json_lines.append(out, row)


def _in_process(folder, name, seed, model, timeout) -> dict:
    """The result of a fit in a new process, which ends with it."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, folder, name, seed, model, int(timeout)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return {"error": f"not finished in {timeout:g} s of CPU time"}
    finally:
        process.join()


def _send(sender, folder, name, seed, model, timeout) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout))
    os.environ["MERCER_THREADS"] = "1"
    warnings.simplefilter("ignore")
    try:
        sender.send(_scored(subsampled(load(folder, name, seed)), MODELS[model]))
    except Exception as error:  # report a model that fails on a set, and continue
        sender.send({"error": f"{type(error).__name__}: {error}"[:300]})


def subsampled(split: Split) -> Split:
    """The first rows of a split, whose order is random."""
    return Split(
        split.name, split.task, split.X[:TRAIN_ROWS], split.y[:TRAIN_ROWS], split.X_test[:TEST_ROWS],
        split.y_test[:TEST_ROWS],
    )  # fmt: skip


def _scored(split: Split, make) -> dict:
    from threadpoolctl import threadpool_limits

    model = make(split.task)
    with threadpool_limits(1):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(split.X, split.y)
        spent = {"wall": round(time.perf_counter() - wall, 3), "cpu": round(time.process_time() - cpu, 3)}
        y = split.y_test
        if split.task == "regression":
            rest = np.sum((y - np.asarray(model.predict(split.X_test)).ravel()) ** 2)
            scores = {"score": 1 - rest / np.sum((y - y.mean()) ** 2)}
        else:
            scores = _class_scores(y, model.classes_, np.asarray(model.predict_proba(split.X_test)))
    scores = {name: round(float(value), 5) for name, value in scores.items()}
    return {"task": split.task, **scores, **spent, "rows": len(split.y)}


def _class_scores(y, classes, probabilities) -> dict:
    from sklearn.metrics import log_loss, roc_auc_score

    found = {
        "score": np.mean(np.asarray(classes)[probabilities.argmax(axis=1)] == y),
        "log_loss": log_loss(y, probabilities, labels=classes),
    }
    return found | ({"auc": roc_auc_score(y, probabilities[:, 1])} if len(classes) == 2 else {})


def mercer_model(**options):
    def make(task):
        from mercer import MercerClassifier, MercerRegressor

        return (MercerRegressor if task == "regression" else MercerClassifier)(**options)

    return make


def ebm(**options):
    def make(task):
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingRegressor if task == "regression" else ExplainableBoostingClassifier
        return kind(n_jobs=1, random_state=0, **options)

    return make


MODELS = {
    "glass": mercer_model(explainable=True),
    "mercer": mercer_model(),
    "ebm-2": ebm(outer_bags=2),
    "ebm": ebm(),
}


def render(rows: list[dict]) -> str:
    """Scores of each set, mean ranks beside EBM (its default where it was run), and the ratio of CPU times."""
    found = {(row["set"], row["model"], row["seed"]): row for row in rows if "score" in row}
    lines = [
        "| set | rows | glass box | EBM (bags) | full model | log-loss glass box | log-loss EBM | CPU s glass box "
        "| CPU s EBM | of the full |",
        "|---" * 10 + "|",
    ]
    compared, by_loss, fractions, times = [], [], [], []
    for name, seed in sorted({(row["set"], row["seed"]) for row in rows}):
        glass, full = found.get((name, "glass", seed)), found.get((name, "mercer", seed))
        peer, bags = found.get((name, "ebm", seed)), 14
        if peer is None:
            peer, bags = found.get((name, "ebm-2", seed)), 2
        if glass is None:
            continue
        cells = [name, str(glass["rows"]), f"{glass['score']:.4f}"]
        cells += [f"{peer['score']:.4f} ({bags})" if peer else "", f"{full['score']:.4f}" if full else ""]
        cells += [f"{each['log_loss']:.4f}" if each and "log_loss" in each else "" for each in (glass, peer)]
        cells += [f"{glass['cpu']:.1f}", f"{peer['cpu']:.1f}" if peer else ""]
        fraction = glass["score"] / full["score"] if full else np.nan
        lines.append("| " + " | ".join([*cells, f"{fraction:.3f}" if full else ""]) + " |")
        if full:
            fractions.append(fraction)
        if peer:
            compared.append(np.sign(glass["score"] - peer["score"]))
            loss = [-each["log_loss"] if "log_loss" in each else each["score"] for each in (glass, peer)]
            by_loss.append(np.sign(loss[0] - loss[1]))
            times.append(peer["cpu"] / glass["cpu"])
    if compared:
        rank, other = (1.5 - np.mean(each) / 2 for each in (compared, by_loss))
        lines += [
            "",
            f"mean rank by R^2 or accuracy over {len(compared)} sets: glass box {rank:.2f}, EBM {3 - rank:.2f}",
            f"mean rank by R^2 or log-loss: glass box {other:.2f}, EBM {3 - other:.2f}",
            f"CPU time of EBM over that of the glass box: median {np.median(times):.1f}, smallest {min(times):.1f}",
        ]
    if fractions:
        near = int(np.sum(np.array(fractions) >= 0.98))
        lines.append(f"within 2 % of the full model on {near} of {len(fractions)} sets")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
