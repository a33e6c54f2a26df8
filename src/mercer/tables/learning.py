"""From what a pass has gathered to the encoders of a table; levels and texts take passes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from mercer.source import Source
from mercer.tables.columns import DateParts, Indicators, MissingFlag, Squashed, numbers
from mercer.tables.facts import ColumnFacts
from mercer.tables.levels import TargetMeans, learned_frequencies
from mercer.tables.roles import Role
from mercer.tables.words import Positions, Terms

#: A level of fewer rows than this is rare, in a table of at least RARE / SHARE rows.
RARE = 10
SHARE = 0.001


def learn_encoders(
    source: Source, facts: dict[str, ColumnFacts], sample, roles: dict[str, Role], max_onehot: int, seed: int
) -> list[Any]:
    """The encoders of all columns: in the order of the columns, targets of levels at the end."""
    encoders: list[Any] = []
    for name, role in roles.items():
        if role.role in ("text", "sequence"):
            encoders += _word_encoders(source, facts[name], role.role)
        elif role.role in ("number", "category", "date"):
            encoders.append(_encoder(facts[name], role.role, sample, max_onehot))
        if role.role not in ("id", "constant") and facts[name].missing:
            encoders.append(MissingFlag(name))
    crowded = tuple(name for name, role in roles.items() if role.role == "high-cardinality")
    if crowded:
        encoders += learned_frequencies(source, facts, crowded)
        if sample.y is not None:
            encoders.append(TargetMeans.learned(source, crowded, seed))
    return encoders


def _encoder(facts: ColumnFacts, role: str, sample, max_onehot: int):
    if role == "category":
        return Indicators.learned(facts, max_onehot, RARE if facts.n >= RARE / SHARE else 1)
    if role == "date":
        return DateParts.learned(facts, sample.X.table[facts.name].cast(pa.timestamp("us")))
    values = numbers(sample.X, facts.name)
    present = ~np.isnan(values)
    return Squashed.learned(facts, values[present], sample.weight[present])


def _word_encoders(source: Source, facts: ColumnFacts, role: str) -> list[Any]:
    terms = Terms.learned(source, facts, role)
    places = Positions.learned(facts) if role == "sequence" else None
    return [terms] if places is None else [terms, places]
