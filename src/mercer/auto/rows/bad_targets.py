"""Targets that cannot be scored or learned: refused by file and row, or left out where bad rows are skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._runtime.errors import RowError, rows_at
from mercer.auto.rows.target_counts import HUGE, refuse_unusable
from mercer.source import Source
from mercer.source.remarks import rows_were, some_rows


def unusable(y: np.ndarray) -> np.ndarray:
    """Mask of the numbers that are not finite, or whose squares overflow; other targets are all usable.

    >>> unusable(np.array([1.0, np.inf, 1e200])).tolist()
    [False, True, True]
    """
    if y.dtype.kind not in "fiub":
        return np.zeros(len(y), dtype=bool)
    return np.asarray(~(np.abs(y.reshape(len(y), -1).astype(np.float64)) <= HUGE).all(axis=1))


def with_usable_targets(
    source: Source,
    policy: str,
    called: str,
    is_bad: Callable[[np.ndarray], np.ndarray] = unusable,
    numbers: bool = False,
) -> tuple[Source, list[int], list[str]]:
    """The rows of a source with a target that can be used, the numbers in the input of those left out, and a note.

    Unless the policy of bad rows is "skip", such a row is an error when it is read, and so is a text among `numbers`.
    """
    if policy != "skip":

        def checked(block: Block) -> Block:
            with rows_at(block.positions):
                y = np.asarray(block.y)
                if numbers:
                    _refuse_text(y, called)
                refuse_unusable(y, called)
            return block

        return _like(source.map(checked), source), [], []
    indices = [int(i) for block in source.blocks() if len(block) for i in block.positions[is_bad(np.asarray(block.y))]]
    if not indices:
        return source, [], []
    left_out = source.numbers_in_input(indices).tolist()
    kept = _like(source.where(lambda block: ~is_bad(np.asarray(block.y))), source)
    note = f"{rows_were(left_out)} skipped for targets that cannot be used: {some_rows(left_out)}."
    return kept, left_out, [note]


def _refuse_text(y: np.ndarray, called: str) -> None:
    """Refuse the first text that is no number."""
    for row, value in enumerate(y.tolist() if y.ndim == 1 and y.dtype.kind in "OUS" else ()):
        try:
            float(value)
        except (TypeError, ValueError):
            raise RowError(f"{called} is {value!r} at ", row, ", but the model predicts numbers.") from None


def _like(mapped: Any, source: Source) -> Source:
    """A source of rows of another one, with its columns and target."""
    mapped.schema, mapped.target, mapped.notes = source.schema, source.target, source.notes
    return mapped


def schema_with_target(model: Any) -> dict[str, str]:
    """The kinds of the columns of a model, with that of its target where that is a number."""
    known = dict(model.encoder.schema_)
    return known if model.target is None or model.classes_ is not None else known | {model.target: "number"}
