"""The holdout of a fit: by the hashes of rows, by position where rows repeat, or as the splits say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mercer._numeric.block import Block
from mercer.auto.splits.row_splits import RowSplits
from mercer.source import Source, in_holdout, split_holdout
from mercer.source.holdout import split_by_position
from mercer.source.table import first_block

#: The fewest rows of which some are held out.
_MIN_SPLIT_ROWS = 10


@dataclass(frozen=True)
class HoldoutSplit:
    """Training rows, held-out rows, and the mask of the rows of a block that training rows do not contain."""

    train: Source
    held_out: Source | None = None
    excluded: Callable[[Block], np.ndarray] | None = None
    notes: list[str] = field(default_factory=list)


def hold_out(
    source: Source, fraction: float, seed: int, n_rows: int, n_distinct: int | None, splits: RowSplits | None
) -> HoldoutSplit:
    """Hold out a fraction of the rows: equal rows together, unless there are hardly any others."""
    if not fraction:
        return HoldoutSplit(source)
    notes: list[str] = []
    excluded: Callable[[Block], np.ndarray] = partial(in_holdout, fraction=fraction, seed=seed)
    if splits is not None:
        train, held_out, excluded = splits.divided(source, fraction)
    elif n_distinct is None or n_distinct > n_rows // 2:
        train, held_out = split_holdout(source, fraction, seed)
    else:
        notes.append(
            f"There are only {n_distinct} distinct rows among {n_rows:,}: held-out rows repeat training rows, and the "
            "score says how well the target of such rows is known."
        )
        train, held_out = split_by_position(source, fraction, seed)
    by_hash = splits is None and not notes
    if n_rows < _MIN_SPLIT_ROWS or not (_divides(source, excluded) if by_hash else _have_rows(train, held_out)):
        notes.append(f"{n_rows} rows are too few for a holdout: there is no score for new rows.")
        return HoldoutSplit(source, notes=notes)
    return HoldoutSplit(train, held_out, excluded, notes)


def _divides(source: Source, excluded: Callable[[Block], np.ndarray]) -> bool:
    """Whether a mask chooses some rows and leaves some; no row is copied to know that."""
    chosen = left = False
    for task in source.tasks():
        mask = excluded(task.read())
        chosen, left = chosen or bool(mask.any()), left or not mask.all()
        if chosen and left:
            return True
    return False


def _have_rows(*sources: Source) -> bool:
    return all(first_block(each) is not None for each in sources)
