"""The encoders of a table from its column profiles; categories and texts take further passes."""

from __future__ import annotations

from typing import Any

from mercer.source import Source
from mercer.tables.categories import TargetMeans, learned_frequencies
from mercer.tables.columns import Indicators, MissingFlag, SmoothClipped
from mercer.tables.dates import DateParts
from mercer.tables.profile import ColumnProfile
from mercer.tables.roles import Role
from mercer.tables.text_columns import Positions, TextTerms

#: Categories of fewer rows are pooled, in tables of at least so many rows.
MIN_CATEGORY_ROWS, MIN_TABLE_ROWS = 10, 10_000


def learn_encoders(
    source: Source, profiles: dict[str, ColumnProfile], sample: Any, roles: dict[str, Role], max_onehot: int, seed: int
) -> list[Any]:
    """The encoders of all columns: numbers, categories, dates, high cardinality, missing flags, then sparse ones."""
    by_role: dict[str, list[ColumnProfile]] = {}
    for name, role in roles.items():
        by_role.setdefault(role.role, []).append(profiles[name])
    encoders: list[Any] = list(SmoothClipped.all_learned(by_role.get("number", []), sample))
    min_rows = MIN_CATEGORY_ROWS if next(iter(profiles.values())).n >= MIN_TABLE_ROWS else 1
    encoders += [Indicators.learned(profile, max_onehot, min_rows) for profile in by_role.get("category", ())]
    encoders += [DateParts.learned(profile, sample) for profile in by_role.get("date", ())]
    high_cardinality = tuple(profile.name for profile in by_role.get("high-cardinality", ()))
    if high_cardinality:
        encoders += learned_frequencies(source, profiles, high_cardinality)
        if sample.y is not None:
            encoders.append(TargetMeans.learned(source, high_cardinality, seed))
    used = [name for name, role in roles.items() if role.role not in ("id", "constant")]
    encoders += [MissingFlag(name) for name in used if profiles[name].missing]
    for role_name in ("text", "sequence"):
        for profile in by_role.get(role_name, ()):
            encoders += _text_encoders(source, profile, role_name)
    return encoders


def _text_encoders(source: Source, profile: ColumnProfile, role: str) -> list[Any]:
    terms = TextTerms.learned(source, profile, role)
    positions = Positions.learned(profile) if role == "sequence" else None
    return [terms] if positions is None else [terms, positions]
