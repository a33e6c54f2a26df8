"""The role of each column: a guess with its reason, which users can override."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from mercer._runtime.errors import DataError, Message, ParameterError, Setting
from mercer.source import Source
from mercer.stats import Sample, Together
from mercer.tables.leakage import LeakageCheck
from mercer.tables.profile import SAMPLE_ENTRIES, ColumnProfile, TableProfile

ROLES = ("number", "category", "high-cardinality", "date", "text", "sequence", "id", "constant")
MAX_ONEHOT = 100

_ID_NAME = re.compile(r"(^|[\s_.\-])(id|uuid|guid|key|index|idx|rowid|no|nr)$|^(id|uuid|guid)([\s_.\-]|$)|[a-z]I[dD]$")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
#: Numbers and dates in formats for people: with a unit, a currency or separators of thousands; 12/31/2020.
_FORMATS = {
    "numbers": re.compile(
        r"[+-]?[$€£¥]\s?[+-]?[\d.,' ]*\d\s?[kKmM]?|[+-]?\d[\d.,' ]*\s?[%$€£¥]|[+-]?[1-9]\d{0,2}([.,' ]\d{3})+([.,]\d+)?"
        r"|[+-]?\d+[.,]\d+([eE][+-]?\d+)?"
    ),
    "dates": re.compile(r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}([./])\d{1,2}\3\d{1,2})([ T]\d{1,2}:\d\d.*)?"),
}
_BASES, _PROTEIN = set("ACGTU"), set("ACDEFGHIKLMNPQRSTVWXYBZUOJ*")
#: The kinds of columns that a role can be given to; other roles suit all kinds.
_KINDS_OF_ROLE = {
    "number": ("integer", "number", "boolean"),
    "date": ("date", "text"),
    "text": ("text",),
    "sequence": ("text",),
}
_CONTENTS = {"integer": "integers", "number": "numbers", "boolean": "booleans", "date": "dates", "text": "text"}
_MIN_ID_ROWS = 30  # below, distinct values are no evidence of an identifier


@dataclass(frozen=True)
class Role:
    """The role of a column, the reason for it, and the reasons to be suspicious of the column."""

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
    - category: text or booleans of at most `max_onehot` categories; high-cardinality: of more.
    - date: points in time.
    - text: several words per value; sequence: long words over a small alphabet (DNA, RNA, proteins).
    - id: distinct values that count up, contain digits or belong to a column of such a name: they identify rows.
    - constant: one value, or none.

    If the source has a target, columns are checked for target leakage: see `Role.suspicions`.

    Use it to see and correct what `mercer.fit` and `TableEncoder` will do with a table, by their parameter `roles`. It
    is not needed before them: they call it. It takes one pass over the rows.

    Parameters
    ----------
    source : Source of a table, as `mercer.io.read_table` gives it
    roles : dict of names to roles, default=None
        Roles that are known and not to be guessed.
    max_onehot : int, default=100

    Examples
    --------
    >>> from mercer.io import read_table
    >>> table = {"age": [31.5, 40.0, 22.0], "city": ["Bern", "Oslo", "Bern"], "planet": ["Earth"] * 3}
    >>> for name, role in guess_roles(read_table(table)).items():
    ...     print(name, "-", role)
    age - number: 3 different numbers from 22 to 40
    city - category: 2 categories
    planet - constant: every row holds 'Earth'
    """
    learned = source.fold(Together(profile=TableProfile(), sample=Sample(max_entries=SAMPLE_ENTRIES))).finish()
    return roles_of(learned["profile"], learned["sample"], roles, max_onehot)


def roles_of(
    profiles: dict[str, ColumnProfile],
    sample: Any,
    roles: Mapping[str, Any] | None = None,
    max_onehot: int = MAX_ONEHOT,
    leakage: LeakageCheck | None = None,
) -> dict[str, Role]:
    """The roles that follow from the profiles of columns and a sample of rows; `leakage` is that of the sample.

    A `Role` among the given ones was guessed from more rows: its reason and its suspicions stay.
    """
    if roles is not None and not isinstance(roles, Mapping):
        raise TypeError(f"roles must map names of columns to roles, as in {{'zip': 'category'}}, not {roles!r}.")
    known = {str(name): role for name, role in (roles or {}).items() if isinstance(role, Role)}
    roles = {str(name): role for name, role in (roles or {}).items() if str(name) not in known}
    _check_roles(roles, profiles)
    leakage = LeakageCheck(sample) if leakage is None and sample is not None else leakage
    guessed = {}
    for name, profile in profiles.items():
        if name in known:
            guessed[name] = known[name]
            continue
        role = Role(roles[name], "as given") if name in roles else guess_role(profile, max_onehot)
        found = [] if leakage is None else leakage.suspicions(name, profile.kind)
        written = formatted_values(profile) if name not in roles and role.role != "date" else None
        if written is not None:
            found = [f"{written} as text, such as {profile.values[0]!r}: make {written} of them", *found]
        guessed[name] = replace(role, suspicions=tuple(found))
    return guessed


def _check_roles(roles: Mapping[str, str], profiles: dict[str, ColumnProfile]) -> None:
    for name, role in roles.items():
        given = Setting("roles", role, key=name)
        if name not in profiles:
            there = ", ".join(map(repr, list(profiles)[:12])) + (", ..." if len(profiles) > 12 else "")
            problem = f": the table has no such column to learn from, only {there}."
            raise DataError(given, problem, parameter="roles", column=name)
        if role not in ROLES:
            raise ParameterError(Setting("roles", key=name), role, f"must be one of {', '.join(ROLES)}")
        kind = profiles[name].kind
        if profiles[name].present and role in _KINDS_OF_ROLE and kind not in _KINDS_OF_ROLE[role]:
            wanted = Setting("types", role if role in ("number", "date") else "text", key=name)
            raise DataError(
                f"Column {name!r} holds {_CONTENTS[kind]}, it cannot be taken for a {role}.",
                remedy=Message("Read it as one with ", wanted, " if its values allow that."),
                parameter="roles",
                column=name,
            )


def guess_role(profile: ColumnProfile, max_onehot: int = MAX_ONEHOT) -> Role:
    """The role of one column."""
    if profile.present == 0:
        return Role("constant", "every value is missing")
    if profile.distinct == 1 and profile.missing == 0:
        value = profile.values[0]
        return Role("constant", f"every row holds {_day(profile.low) if profile.kind == 'date' else repr(value)}")
    if profile.kind == "date":
        return Role("date", f"from {_day(profile.low)} to {_day(profile.high)}")
    if profile.kind == "boolean":
        return Role("category", "true or false")
    if profile.kind == "text":
        return _text_role(profile, max_onehot)
    return _number_role(profile)


def _number_role(profile: ColumnProfile) -> Role:
    if profile.kind == "integer" and profile.present >= _MIN_ID_ROWS and _all_distinct(profile):
        if profile.high - profile.low + 1 < 2 * profile.present:  # some may be missing: held out, or deleted
            return Role("id", f"no two alike, counting from {profile.low} to {profile.high}")
        if _ID_NAME.search(profile.name):
            return Role("id", f"no two alike, and it is called {profile.name!r}")
    return Role("number", f"{_about(profile)} different numbers from {profile.low:g} to {profile.high:g}")


def _text_role(profile: ColumnProfile, max_onehot: int) -> Role:
    values = profile.values
    words = float(np.mean([len(value.split()) for value in values]))
    letters = float(np.mean([len(value) for value in values]))
    distinct = profile.present >= _MIN_ID_ROWS and _all_distinct(profile)
    if _are_days(values):
        return Role("date", f"written as {values[0]!r}")
    if profile.distinct > 10 and words <= 1 and letters >= 10:
        alphabet = Counter("".join(values).upper())
        bases = sum(alphabet[base] for base in _BASES) > 0.9 * alphabet.total()
        if alphabet.keys() <= _PROTEIN and (bases or letters >= 20):
            what = "nucleotides" if bases else "amino acids"
            return Role("sequence", f"{letters:.0f} letters on average, {what} ({len(alphabet)} letters)")
    if (
        distinct
        and words <= 1.5
        and (_ID_NAME.search(profile.name) or _coded(values))
        and formatted_values(profile) is None
    ):
        return Role("id", f"no two alike, such as {values[0]!r}")
    if profile.distinct > max_onehot and (words >= 4 or letters >= 60) and profile.distinct > 0.2 * profile.present:
        return Role("text", f"{words:.0f} words on average, {_about(profile)} different texts")
    if profile.distinct <= max_onehot and not (distinct and words >= 4):
        return Role("category", f"{profile.distinct} categories")
    if profile.distinct > 0.5 * profile.present:
        return Role("text", f"{'no' if distinct else 'hardly any'} two alike, {letters:.0f} letters on average")
    return Role("high-cardinality", f"{_about(profile)} categories")


def _are_days(values: list[str]) -> bool:
    """Whether all values are dates as in 2020-12-31, and on the calendar."""
    if not all(_ISO_DAY.fullmatch(value) for value in values):
        return False
    try:
        pa.array(values).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return min(values) >= "0001"


def _all_distinct(profile: ColumnProfile) -> bool:
    """Whether no value occurs twice, as far as counted."""
    return bool(profile.counts.max() == 1)


def formatted_values(profile: ColumnProfile) -> str | None:
    """ "numbers" or "dates" if nearly all values of a column of text are formatted ones, else None."""
    if profile.kind != "text" or not profile.values:
        return None
    fractions = (
        (what, np.mean([bool(form.fullmatch(value)) for value in profile.values])) for what, form in _FORMATS.items()
    )
    return next((what for what, fraction in fractions if fraction > 0.9), None)


def _coded(values: list[str]) -> bool:
    """Whether most values contain digits, as identifiers do."""
    return float(np.mean([any(letter.isdigit() for letter in value) for value in values])) > 0.9


def _about(profile: ColumnProfile) -> str:
    return f"{profile.distinct:,}" if profile.exact else f"about {profile.distinct:,}"


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"
