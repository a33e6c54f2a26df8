"""A look ahead at a few rows: how long encoding takes, so that a time budget can be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._numeric.block import collected
from mercer._runtime.pool import n_threads
from mercer.auto.budget.effort import Clock
from mercer.source import MemorySource, Source, in_holdout
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.table import first_block

#: Rows of the trials: the difference of the last two is what rows cost, without what is paid once.
_TRIALS = (100, 400, 1600)
#: The share of the time left that a trial may take, and the rows whose predictions say how long others take.
_LOOK, _FEW = 0.1, 512
#: What is judged must not go by the bits that put rows into the holdout.
_JUDGED_SEED = 0x4A55444745


def seconds_per_row(source: Source, n_classes: int, encode: Callable[[Source], Any], clock: Clock) -> float:
    """How many seconds `encode` takes for each row of a source, by its first rows; labels are evenly dealt out."""
    rows = first_rows(source, _TRIALS[-1])
    if n_classes:
        rows.y = np.arange(rows.n_rows) % n_classes
    sizes, times = [0], [0.0]
    for size in sorted({min(trial, rows.n_rows) for trial in _TRIALS}):
        if len(times) > 1 and 2 * times[-1] > _LOOK * clock.left():  # most of a short trial is paid once
            break
        start = clock.spent()
        encode(MemorySource.of(rows.read(0, size)))
        sizes.append(size)
        times.append(clock.spent() - start)
    if len(times) < 3:
        return times[-1] / max(sizes[-1], 1)
    # What is paid once makes the first trials dear; a slope from short ones is not to be trusted to be small.
    return max((times[-1] - times[-2]) / (sizes[-1] - sizes[-2]), 0.2 * times[-1] / sizes[-1])


def predicting_seconds(source: Source, model, n_rows: float, clock: Clock) -> float:
    """How long the predictions of a model take for a source of about `n_rows` rows, by a few of its first block."""
    block = first_block(source).rows(slice(0, _FEW))
    start = clock.spent()
    model.predict(block.X)
    return (clock.spent() - start) * n_rows / len(block) / min(n_threads(), max(1.0, n_rows / BLOCK_ROWS))


def some_of(source: Source, share: float, seed: int) -> Source:
    """About this share of the rows of a source; all of them if that would be none."""
    chosen = source.where(lambda block: in_holdout(block, share, seed + _JUDGED_SEED))
    return source if first_block(chosen) is None else chosen


def first_rows(source: Source, size: int) -> MemorySource:
    """The first rows of a source, at most so many, in memory."""
    blocks, n = [], 0
    for task in source.tasks():
        block = task.read()
        if len(block):
            blocks.append(block.rows(slice(0, size - n)))
            n += len(blocks[-1])
        if n >= size:
            break
    return MemorySource.of(collected(blocks))


def gathered(source: Source) -> Source:
    """The rows of a source in memory: a sample is read from its file once, not in every pass that encoders take."""
    return source if first_block(source) is None else MemorySource.of(source.collect())
