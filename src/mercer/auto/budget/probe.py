"""Timing probes on a few rows, so that a time budget can be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._numeric.block import collected
from mercer._runtime.pool import n_threads
from mercer.auto.budget.clock import Clock
from mercer.source import MemorySource, Source, in_holdout
from mercer.source.accumulator import BLOCK_ROWS
from mercer.source.table import first_block

#: Rows of the probes: the difference of the last two is the cost of rows, without the cost of starting. On a busy
#: machine a probe of few rows takes a hundred times as long per row as a pass over many.
_PROBES = (100, 800, 6400, 51_200)
#: Fraction of the time left that a probe may take, and the rows whose predictions are timed.
_PROBE_FRACTION, _PREDICTED_ROWS = 0.1, 512
#: A part of the holdout must not be chosen by the bits that choose the holdout.
_PART_SEED = 0x4A55444745


def seconds_per_row(source: Source, n_classes: int, encode: Callable[[Source], Any], clock: Clock) -> float:
    """Seconds per row of `encode` for a source, by its first rows, with labels in equal numbers."""
    rows = first_rows(source, _PROBES[-1])
    if n_classes:
        rows.y = np.arange(rows.n_rows) % n_classes
    sizes, times = [0], [0.0]
    for size in sorted({min(probe, rows.n_rows) for probe in _PROBES}):
        if len(times) > 1 and _next_seconds(sizes, times, size) > _PROBE_FRACTION * clock.left():
            break
        start = clock.spent()
        encode(MemorySource.of(rows.read(0, size)))
        sizes.append(size)
        times.append(clock.spent() - start)
    return times[-1] / max(sizes[-1], 1) if len(times) < 3 else _slope(sizes, times)


def _slope(sizes: list[int], times: list[float]) -> float:
    """Seconds per row by the last two probes; a small difference of short ones is not reliable.

    >>> round(_slope([0, 100, 900], [0.0, 0.5, 0.9]), 6)
    0.0005
    """
    mean = times[-1] / sizes[-1]
    return float(np.clip((times[-1] - times[-2]) / (sizes[-1] - sizes[-2]), 0.2 * mean, mean))


def _next_seconds(sizes: list[int], times: list[float], size: int) -> float:
    """Seconds that a probe of more rows will take; most of the first is the cost of starting."""
    return 2 * times[-1] if len(times) < 3 else times[-1] + _slope(sizes, times) * (size - sizes[-1])


def predicting_seconds(source: Source, model: Any, n_rows: float, clock: Clock) -> float:
    """Seconds of the predictions of a model for a source of about `n_rows` rows, by a few rows of its first block."""
    block = first_rows(source, _PREDICTED_ROWS).read(0, _PREDICTED_ROWS)
    start = clock.spent()
    model.predict(block.X)
    return (clock.spent() - start) * n_rows / len(block) / min(n_threads(), max(1.0, n_rows / BLOCK_ROWS))


def some_of(source: Source, fraction: float, seed: int) -> Source:
    """About this fraction of the rows of a source; all of them if that would be none."""
    chosen = source.where(lambda block: in_holdout(block, fraction, seed + _PART_SEED))
    return source if first_block(chosen) is None else chosen


def first_rows(source: Source, size: int) -> MemorySource:
    """The first rows of a source, at most `size`, in memory."""
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
    """The rows of a source in memory: a sample is read from its file once, not in every pass of the encoders."""
    blocks = [block for block in source.blocks() if len(block)]
    return MemorySource.of(collected(blocks)) if blocks else source
