"""From what a pass has gathered to the encoders of a table; levels and texts take passes of their own."""

from __future__ import annotations

from typing import Any

from mercer.source import Source
from mercer.tables.columns import Indicators, MissingFlag, Squashed
from mercer.tables.dates import DateParts
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
    """The encoders of all columns by role: numbers, categories, dates, levels, gaps, and then what is sparse."""
    named: dict[str, list[ColumnFacts]] = {}
    for name, role in roles.items():
        named.setdefault(role.role, []).append(facts[name])
    encoders: list[Any] = list(Squashed.all_learned(named.get("number", []), sample))
    rare = RARE if next(iter(facts.values())).n >= RARE / SHARE else 1
    encoders += [Indicators.learned(known, max_onehot, rare) for known in named.get("category", ())]
    encoders += [DateParts.learned(known, sample) for known in named.get("date", ())]
    crowded = tuple(known.name for known in named.get("high-cardinality", ()))
    if crowded:
        encoders += learned_frequencies(source, facts, crowded)
        if sample.y is not None:
            encoders.append(TargetMeans.learned(source, crowded, seed))
    used = [name for name, role in roles.items() if role.role not in ("id", "constant")]
    encoders += [MissingFlag(name) for name in used if facts[name].missing]
    for words in ("text", "sequence"):
        for known in named.get(words, ()):
            encoders += _word_encoders(source, known, words)
    return encoders


def _word_encoders(source: Source, facts: ColumnFacts, role: str) -> list[Any]:
    terms = Terms.learned(source, facts, role)
    places = Positions.learned(facts) if role == "sequence" else None
    return [terms] if places is None else [terms, places]
