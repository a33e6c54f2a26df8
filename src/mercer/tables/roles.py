"""What each column is: a guess that says why, and can be overruled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mercer.source import Source
from mercer.stats import Sample, Together
from mercer.tables.facts import ColumnFacts, Facts
from mercer.tables.leaks import Leaks

ROLES = ("number", "category", "high-cardinality", "date", "text", "sequence", "id", "constant")
MAX_ONEHOT = 100

_ID_NAME = re.compile(r"(^|[\s_.\-])(id|uuid|guid|key|index|idx|rowid|no|nr)$|^(id|uuid|guid)([\s_.\-]|$)|[a-z]I[dD]$")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
#: Numbers and days as people write them: with a unit, a currency, a decimal point, thousands set apart; 12/31/2020.
_WRITTEN = {
    "numbers": re.compile(
        r"[+-]?[$€£¥]\s?[+-]?[\d.,' ]*\d\s?[kKmM]?|[+-]?\d[\d.,' ]*\s?[%$€£¥]|[+-]?[1-9]\d{0,2}([.,' ]\d{3})+([.,]\d+)?"
        r"|[+-]?\d+[.,]\d+([eE][+-]?\d+)?"
    ),
    "dates": re.compile(r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}([./])\d{1,2}\3\d{1,2})([ T]\d{1,2}:\d\d.*)?"),
}
_BASES, _PROTEIN = set("ACGTU"), set("ACDEFGHIKLMNPQRSTVWXYBZUOJ*")
#: The kinds of columns that can have a role; other roles suit all kinds.
_FROM = {
    "number": ("integer", "number", "boolean"),
    "date": ("date", "text"),
    "text": ("text",),
    "sequence": ("text",),
}
_HOLDS = {"integer": "whole numbers", "number": "numbers", "boolean": "truth values", "date": "dates", "text": "text"}
_ENOUGH = 30  # rows, before "no two are alike" means anything


@dataclass(frozen=True)
class Role:
    """What a column is taken for, why, and what should make one suspicious of it."""

    role: str
    why: str
    suspicions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.role}: {'; '.join([self.why, *self.suspicions])}"


def guess_roles(
    source: Source, roles: Mapping[str, str] | None = None, max_onehot: int = MAX_ONEHOT
) -> dict[str, Role]:
    """The role of every column of a table, from one pass over it.

    - number: numbers.
    - category: text or booleans of at most `max_onehot` levels; high-cardinality: of more.
    - date: points in time.
    - text: several words per value; sequence: long words over few letters (DNA, RNA, proteins).
    - id: no two rows alike, and counting, or called so, or made of digits: it names rows and says nothing of new ones.
    - constant: one value, or none.

    With a target, columns that give it away are suspected: see `Role.suspicions`.

    Parameters
    ----------
    source : Source of a table, as `mercer.io.read_table` gives it
    roles : dict of names to roles, default=None
        What is known already, and not to be guessed.
    max_onehot : int, default=100

    Examples
    --------
    >>> from mercer.io import read_table
    >>> table = {"age": [31.5, 40.0, 22.0], "city": ["Bern", "Oslo", "Bern"], "planet": ["Earth"] * 3}
    >>> for name, role in guess_roles(read_table(table)).items():
    ...     print(name, "-", role)
    age - number: 3 different numbers from 22 to 40
    city - category: 2 levels
    planet - constant: every row holds 'Earth'
    """
    learned = source.fold(Together(facts=Facts(), sample=Sample())).finish()
    return roles_of(learned["facts"], learned["sample"], roles, max_onehot)


def roles_of(facts: dict[str, ColumnFacts], sample, roles=None, max_onehot=MAX_ONEHOT) -> dict[str, Role]:
    """The roles that follow from what a pass has gathered."""
    if roles is not None and not isinstance(roles, Mapping):
        raise TypeError(f"roles must map names of columns to roles, as in {{'zip': 'category'}}, not {roles!r}.")
    roles = {str(name): role for name, role in (roles or {}).items()}
    _check_roles(roles, facts)
    guessed, leaks = {}, None if sample is None else Leaks(sample)
    for name, known in facts.items():
        role = Role(roles[name], "as told") if name in roles else guess_role(known, max_onehot)
        found = [] if leaks is None else leaks.suspicions(name, known.kind)
        written = _written(known) if name not in roles and role.role != "date" else None
        if written is not None:
            found = [f"{written} as text, such as {known.levels[0]!r}: make {written} of them", *found]
        guessed[name] = replace(role, suspicions=tuple(found))
    return guessed


def _check_roles(roles, facts):
    for name, role in roles.items():
        if name not in facts:
            there = ", ".join(map(repr, list(facts)[:12])) + (", ..." if len(facts) > 12 else "")
            raise ValueError(f"roles={{{name!r}: {role!r}}}: the table has no such column to learn from, only {there}.")
        if role not in ROLES:
            raise ValueError(f"roles[{name!r}] must be one of {', '.join(ROLES)}, not {role!r}.")
        kind = facts[name].kind
        if facts[name].present and role in _FROM and kind not in _FROM[role]:
            wanted = role if role in ("number", "date") else "text"
            raise ValueError(
                f"Column {name!r} holds {_HOLDS[kind]}, it cannot be taken for a {role}. Read it as one with "
                f"types={{{name!r}: {wanted!r}}} if its values allow that."
            )


def guess_role(facts: ColumnFacts, max_onehot=MAX_ONEHOT) -> Role:
    """The role of one column."""
    if facts.present == 0:
        return Role("constant", "every value is missing")
    if facts.distinct == 1 and facts.missing == 0:
        value = facts.levels[0]
        return Role("constant", f"every row holds {_day(facts.low) if facts.kind == 'date' else repr(value)}")
    if facts.kind == "date":
        return Role("date", f"from {_day(facts.low)} to {_day(facts.high)}")
    if facts.kind == "boolean":
        return Role("category", "true or false")
    if facts.kind == "text":
        return _text_role(facts, max_onehot)
    return _number_role(facts)


def _number_role(facts: ColumnFacts) -> Role:
    if facts.kind == "integer" and facts.present >= _ENOUGH and _unlike(facts):
        if facts.high - facts.low + 1 < 2 * facts.present:  # some may be missing: kept aside, or deleted
            return Role("id", f"no two alike, counting from {facts.low} to {facts.high}")
        if _ID_NAME.search(facts.name):
            return Role("id", f"no two alike, and it is called {facts.name!r}")
    return Role("number", f"{_about(facts)} different numbers from {facts.low:g} to {facts.high:g}")


def _text_role(facts: ColumnFacts, max_onehot) -> Role:
    levels = facts.levels
    words = float(np.mean([len(level.split()) for level in levels]))
    letters = float(np.mean([len(level) for level in levels]))
    unlike = facts.present >= _ENOUGH and _unlike(facts)
    if all(_ISO_DAY.fullmatch(level) for level in levels):
        return Role("date", f"written as {levels[0]!r}")
    if facts.distinct > 10 and words <= 1 and letters >= 10:
        alphabet = Counter("".join(levels).upper())
        bases = sum(alphabet[base] for base in _BASES) > 0.9 * alphabet.total()
        if alphabet.keys() <= _PROTEIN and (bases or letters >= 20):
            what = "nucleotides" if bases else "amino acids"
            return Role("sequence", f"{letters:.0f} letters on average, {what} ({len(alphabet)} letters)")
    if unlike and words <= 1.5 and (_ID_NAME.search(facts.name) or _coded(levels)) and _written(facts) is None:
        return Role("id", f"no two alike, such as {levels[0]!r}")
    if facts.distinct > max_onehot and (words >= 4 or letters >= 60) and facts.distinct > 0.2 * facts.present:
        return Role("text", f"{words:.0f} words on average, {_about(facts)} different texts")
    if facts.distinct <= max_onehot and not (unlike and words >= 4):
        return Role("category", f"{facts.distinct} levels")
    if facts.distinct > 0.5 * facts.present:
        return Role("text", f"{'no' if unlike else 'hardly any'} two alike, {letters:.0f} letters on average")
    return Role("high-cardinality", f"{_about(facts)} levels")


def _unlike(facts) -> bool:
    """Whether no value occurs twice, as far as counted."""
    return bool(facts.counts.max() == 1)


def _written(facts: ColumnFacts) -> str | None:
    """ "numbers" or "dates" if nearly all values of a column of text are such, for people; else None."""
    if facts.kind != "text" or not facts.levels:
        return None
    shares = (
        (what, np.mean([bool(form.fullmatch(level)) for level in facts.levels])) for what, form in _WRITTEN.items()
    )
    return next((what for what, share in shares if share > 0.9), None)


def _coded(levels) -> bool:
    """Whether most values have digits among their letters, as identifiers do."""
    return float(np.mean([any(letter.isdigit() for letter in level) for level in levels])) > 0.9


def _about(facts) -> str:
    return f"{facts.distinct:,}" if facts.exact else f"about {facts.distinct:,}"


def _day(moment) -> str:
    return f"{moment:%Y-%m-%d}"
