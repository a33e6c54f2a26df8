"""Tables of noise: how often the promised gain covers zero, and what the models score on new rows.

Columns and target are independent, so no model can gain over a constant prediction: a confidence interval of 95 % of
the gain on the holdout should leave zero out in five of a hundred tables, and R2 on new rows should be close to zero.
"""

from __future__ import annotations

import warnings

import numpy as np

import mercer
from benchmarks.harness import size, table

#: Rows and columns of the tables; every second one of each size has two classes.
SIZES = ((100, 300), (300, 20), (1000, 10), (200, 8), (2000, 30))
N_TABLES = size(300, 2)
NEW = 2000


def run():
    rows = []
    for effort in ("fast", "normal"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [_fitted(seed, effort) for seed in range(N_TABLES)]
        low, high, scores = (np.array(each) for each in zip(*found, strict=True))
        covered, above = int(np.sum((low <= 0) & (high >= 0))), int(np.sum(low > 0))
        known = scores[~np.isnan(scores)]
        rows.append([effort, N_TABLES, covered, above, *(round(float(f(known)), 3) for f in (np.median, np.min))])
        print(f"    {effort}: {covered} of {N_TABLES} gains cover 0, {above} lie above; R2 {rows[-1][4:]}", flush=True)
    columns = ["effort", "tables", "gain covers 0", "gain above 0", "R2 of new rows, median", "lowest"]
    table("tables of noise: promised gains (95 % intervals) and R2", columns, rows)


def _fitted(seed: int, effort: str) -> tuple[float, float, float]:
    """The interval of the gain, and R2 of new rows (NaN for classes)."""
    rng, (n, p) = np.random.default_rng(seed), SIZES[seed % len(SIZES)]
    X, new = rng.normal(size=(n, p)), rng.normal(size=(NEW, p))
    y, truth = rng.normal(size=n), rng.normal(size=NEW)
    classes = seed % 2 == 1
    model = mercer.fit(X, (y > 0).astype(int) if classes else y, effort=effort, report=False)
    gain = model.report()["holdout"]["gain"]
    return gain["low"], gain["high"], np.nan if classes else float(model.score(new, truth))
