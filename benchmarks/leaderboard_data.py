"""The tables of the leaderboard: Parquet files with a column `target` and maybe a published split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

#: Set -> task, without sets of documents, sequences or a few dozen rows.
SETS = {
    "abalone": "regression",
    "adult": "classification",
    "ames_housing": "regression",
    "bank_marketing": "classification",
    "bike_sharing_hour": "regression",
    "california_housing": "regression",
    "concrete": "regression",
    "covertype": "classification",
    "cpu_act": "regression",
    "credit_default": "classification",
    "diamonds": "regression",
    "fried": "regression",
    "higgs_7k": "classification",
    "ijcnn1": "classification",
    "jungle_chess": "classification",
    "kin40k": "regression",
    "kin8nm": "regression",
    "letter": "classification",
    "madelon": "classification",
    "magic_telescope": "classification",
    "phishing_websites": "classification",
    "power_plant": "regression",
    "protein_casp": "regression",
    "pumadyn32nm": "regression",
    "spambase": "classification",
    "usps": "classification",
    "wine_quality": "regression",
}
#: Sets that choices are made on: candidates of blocks, constants, rules. The others are only reported.
CHOSEN_ON = (
    "adult", "ames_housing", "bank_marketing", "california_housing", "concrete", "covertype", "diamonds", "ijcnn1",
    "kin40k", "magic_telescope", "protein_casp", "spambase", "usps",
)  # fmt: skip
TRAIN_ROWS, TEST_ROWS = 20_000, 20_000
#: Sets of fewer rows have more splits.
FEW_ROWS, SPLITS_OF_FEW, SPLITS = 2000, 10, 3


@dataclass
class Split:
    """Training and test rows of one set as pandas frames; categories are of dtype category."""

    name: str
    task: str
    X: object
    y: np.ndarray
    X_test: object
    y_test: np.ndarray


def load(folder: str, name: str, seed: int) -> Split:
    """The official split where there is one (its repetition number `seed`), else 80/20 by `seed`; rows capped."""
    import pandas as pd

    frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
    rng = np.random.default_rng(seed)
    test = _test_mask(frame, seed, rng)
    task = SETS[name]
    y = frame["target"].to_numpy()
    y = y.astype(float) if task == "regression" else np.unique(y.astype(str), return_inverse=True)[1]
    X = _columns(frame)
    train, held = (rng.permutation(np.flatnonzero(mask)) for mask in (~test, test))
    train, held = train[:TRAIN_ROWS], held[:TEST_ROWS]
    return Split(
        name, task, X.iloc[train].reset_index(drop=True), y[train], X.iloc[held].reset_index(drop=True), y[held]
    )


def n_splits(folder: str, name: str) -> int:
    """The number of splits of a set: the fewer its rows, the more."""
    import pyarrow.parquet as pq

    rows = pq.ParquetFile(Path(folder) / f"{name}.parquet").metadata.num_rows
    return SPLITS_OF_FEW if rows < FEW_ROWS else SPLITS


def _test_mask(frame, seed, rng) -> np.ndarray:
    if "split" in frame:
        return (frame["split"] == "test").to_numpy()
    if "test_fold" in frame:
        return (frame["test_fold"] == seed).to_numpy()
    if f"split_{seed}" in frame:
        return frame[f"split_{seed}"].to_numpy().astype(bool)
    return rng.permutation(len(frame)) >= 0.8 * len(frame)


def _columns(frame):
    import pandas as pd

    kept = [name for name in frame if name not in ("target", "test_fold") and not name.startswith("split")]
    frame = frame[kept]
    if kept == ["x"]:
        wide = np.stack(frame["x"].to_numpy()).astype(float)
        return pd.DataFrame(wide, columns=[f"x{j}" for j in range(wide.shape[1])])
    if kept == ["idx", "val"]:
        wide = np.zeros((len(frame), 1 + max(int(places.max(initial=0)) for places in frame["idx"])))
        for row, (places, values) in enumerate(zip(frame["idx"], frame["val"], strict=True)):
            wide[row, places] = values
        return pd.DataFrame(wide, columns=[f"x{j}" for j in range(wide.shape[1])])
    parts = {}
    for name in kept:
        column = frame[name]
        numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        words = column.astype(object).where(column.notna(), "missing").astype(str)  # a gap is a level: not all take NaN
        parts[name] = column.astype(float) if numeric else words.astype("category")
    return pd.DataFrame(parts)
