"""The gate: no recorded ratio may be much worse than the one recorded before.

Ratios are those of user time to the reference of each comparison, so that they carry over between machines of one
kind. A comparison fails where a method of Mercer lost more than `TOLERANCE` relative to the reference, or the
reference is Mercer's and a peer caught up by as much.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, load
from benchmarks.registry import NAMES

TOLERANCE = 1.25
#: User times below this are within a few ticks of the clock.
SHORT = 0.05
#: Words in the names of methods that are not Mercer's.
PEERS = ("scikit", "sklearn", "bare", "product", "X.T", "definition", "lightgbm", "LightGBM", "XGBoost", "CatBoost")
PEERS += ("celer", "skglm", "fastcan", "SPAMS", "SciPy", "pandas", "polars", "strkernel")
PEERS += ("Random", "MiniBatch", "Hist", "GradientBoosting", "SparseCoder ")
OURS = ("RandomFeatures", "TreeFeatures")


def gate(before: Path | None = None, now: Path = RESULTS) -> int:
    """Print what became worse; return 1 if anything did."""
    worse = []
    compared = 0
    for name in NAMES:
        old = load(name, before) if before else committed(name)
        new = load(name, now)
        if old is None or new is None:
            continue
        for line, factor in changes(old, new):
            compared += 1
            if factor > TOLERANCE:
                worse.append(f"{name}: {line}: {factor:.2f} x as long as before, relative to the reference")
    print("\n".join(worse) or f"{compared} ratios compared, none worse by more than {TOLERANCE - 1:.0%}")
    return int(bool(worse))


def changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """(comparison and method, factor by which Mercer lost against the peer) for all comparisons in both records."""
    former = {each["title"]: {row["name"]: row for row in each["rows"]} for each in old["comparisons"]}
    for each in new["comparisons"]:
        rows = former.get(each["title"], {})
        for row in each["rows"]:
            was = rows.get(row["name"])
            if was is None or row["name"] == each["reference"] or not (row["user_ratio"] and was["user_ratio"]):
                continue
            if min(row["user"], was["user"]) < SHORT:
                continue
            factor = row["user_ratio"] / was["user_ratio"]
            yield f"{each['title']}, {row['name']}", factor if is_ours(row["name"]) else 1 / factor


def is_ours(name: str) -> bool:
    """Whether a method is Mercer's."""
    return name.startswith(OURS) or not any(word in name for word in PEERS)


def committed(name: str) -> dict[str, Any] | None:
    """The record of the last commit."""
    path = f"benchmarks/results/{name}.json"
    done = subprocess.run(["git", "show", f"HEAD:{path}"], cwd=RESULTS.parents[1], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None
