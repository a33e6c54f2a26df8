"""Encoded columns of monotone effects: their signs, and an encoding that keeps the order of numbers exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.auto.rows.encoding import EncodedRows


def monotone_rows(encoder: Any, rows: EncodedRows, monotone: Mapping[str, int]) -> EncodedRows:
    """The rows with the sign of each encoded column; the encoder keeps the order of monotone columns from now on.

    Encoded training rows differ from that by a few units of the last place.
    """
    if not monotone:
        return rows
    table = getattr(encoder, "table", encoder)  # a `ScoredEncoder` has a `TableEncoder`
    table.keep_order(monotone)
    signs = np.zeros(rows.X.shape[1], dtype=np.int64)
    for block in encoder.blocks_:
        if block.column in monotone and block.kind == "number":
            signs[block.start : block.stop] = int(monotone[block.column])
    return replace(rows, signs=signs)
