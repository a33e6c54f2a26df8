"""From what a pass has gathered to the encoders of a table; levels and texts take a pass of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from mercer.source import Source
from mercer.tables.columns import DateParts, Indicators, MissingFlag, Squashed, numbers
from mercer.tables.facts import ColumnFacts
from mercer.tables.levels import LevelSums, TargetMeans
from mercer.tables.roles import Role
from mercer.tables.words import Hashed

RARE = 10  # a level of fewer rows than this, in a table of at least RARE / SHARE rows, is rare
SHARE = 0.001
_MOST_CLASSES = 20


def learn_encoders(
    source: Source, facts: dict[str, ColumnFacts], sample, roles: dict[str, Role], max_onehot: int, seed: int
) -> list[Any]:
    """The encoders of all columns, in the order of the columns."""
    crowded = tuple(name for name, role in roles.items() if role.role == "high-cardinality")
    levels = _learn_levels(source, crowded, sample, seed) if crowded else {}
    encoders: list[Any] = []
    for name, role in roles.items():
        if role.role in ("id", "constant"):
            continue
        known = facts[name]
        encoders.append(levels[name] if name in levels else _encoder(known, role.role, sample, max_onehot))
        if known.missing:
            encoders.append(MissingFlag(name))
    return encoders


def _encoder(facts: ColumnFacts, role: str, sample, max_onehot: int):
    if role == "category":
        return Indicators.learned(facts, max_onehot, RARE if facts.n >= RARE / SHARE else 1)
    if role == "date":
        return DateParts.learned(facts, sample.X.table[facts.name].cast(pa.timestamp("us")))
    if role in ("text", "sequence"):
        return Hashed(facts.name, role)
    values = numbers(sample.X, facts.name)
    present = ~np.isnan(values)
    return Squashed.learned(facts, values[present], sample.weight[present])


def _learn_levels(source: Source, columns, sample, seed) -> dict[str, TargetMeans]:
    targets, suffixes = _targets_of(sample.y)
    tables = source.fold(LevelSums(columns, seed, targets)).finish()
    return {name: TargetMeans(name, tables[name], _smoothing(tables[name]), suffixes) for name in columns}


def _targets_of(y):
    """How targets become numbers: themselves, or an indicator per class (for two classes of the second)."""
    if y is None:
        return None, ()
    if y.ndim == 2 or (y.dtype.kind == "f" and np.any(y != np.rint(y))):
        return (lambda values: np.asarray(values, dtype=np.float64).reshape(len(values), -1)), ("target",)
    classes = np.unique(y)
    if y.dtype.kind in "fiu" and len(classes) > _MOST_CLASSES:
        return (lambda values: np.asarray(values, dtype=np.float64)[:, None]), ("target",)
    shown = classes[1:] if len(classes) == 2 else classes
    suffixes = ("target",) if len(shown) == 1 else tuple(f"target={label}" for label in shown.tolist())
    return (lambda values: (np.asarray(values)[:, None] == shown).astype(np.float64)), suffixes


def _smoothing(table: dict) -> float:
    """Rows that the overall mean counts for in each level."""
    return 10.0
