"""How rows were held out, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mercer.auto.diagnostics.schema import Split

if TYPE_CHECKING:
    from mercer.auto.splits import RowSplits


def split_section(
    n_rows: int,
    n_holdout: int,
    fraction: float,
    by_hash: bool,
    refitted: bool,
    ids: np.ndarray | None,
    splits: RowSplits | None = None,
) -> Split:
    """The section `split`; `ids` are the hashes of all rows, None if they were not all in memory."""
    n_duplicates = None if ids is None else int(len(ids) - len(np.unique(ids)))
    return {
        "n_train": n_rows - n_holdout,
        "n_holdout": n_holdout,
        "fraction": fraction,
        "n_duplicates": n_duplicates,
        "method": splits.method if splits is not None else "hash of the row" if by_hash else "position of the row",
        "sentence": " ".join(_sentences(n_rows, n_holdout, by_hash, refitted, n_duplicates, splits)),
    }


def _sentences(
    n_rows: int, n_holdout: int, by_hash: bool, refitted: bool, n_duplicates: int | None, splits: RowSplits | None
) -> list[str]:
    found = [f"{n_holdout:,} of {n_rows:,} rows were held out before anything was learned, and evaluated once."]
    if splits is not None:
        found.append(splits.sentence)
    elif not by_hash:
        found.append("Few rows are distinct, so rows were held out by position: equal rows are on both sides.")
    elif n_duplicates:
        repeats = "1 row repeats another" if n_duplicates == 1 else f"{n_duplicates:,} rows repeat others"
        found.append(f"{repeats}; equal rows are on the same side, because the hash of a row decides.")
    else:
        found.append("The hash of a row decides on its side, so equal rows would be on the same one.")
    if splits is None:
        found.append("Rows are taken as independent: there are no groups and no order in time.")
    found.append(
        "The model was then refitted on all rows."
        if refitted
        else "The model was not refitted: it knows the rest only."
    )
    return found
