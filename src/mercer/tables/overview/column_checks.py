"""Checks of the columns: identifiers, constants, values stored as text, categories, missing values, outliers."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np

from mercer._runtime.errors import Message, Setting
from mercer.tables.overview.distributions import Values
from mercer.tables.overview.findings import CheckData, finding, listed
from mercer.tables.profile import ColumnProfile
from mercer.tables.roles import formatted_values

#: Rows of a category or class below which it is rare.
MIN_ROWS = 5
_MOSTLY_MISSING = 0.5  # fraction of rows
_MAX_IQRS = 20.0  # distance from the quartiles
_MAX_SPELLED = 1000  # categories whose spelling is compared, the most frequent ones


def id_columns(data: CheckData) -> list[dict[str, Any]]:
    """Columns that identify rows."""
    names = data.with_role("id")
    if not names:
        return []
    message = f"Left out, as they identify rows: {listed(f'{name!r} ({data.roles[name].why})' for name in names)}."
    other = "category" if data.profiles[names[0]].kind == "text" else "number"
    remedy = Message("If one of them is more than a name, give it a role: ", Setting("roles", other, key=names[0]), ".")
    return [finding("id-column", "info", names, message, remedy)]


def constant_columns(data: CheckData) -> list[dict[str, Any]]:
    """Columns of one value."""
    names = data.with_role("constant")
    if not names:
        return []
    message = f"Left out: {listed(f'{name!r} ({data.roles[name].why})' for name in names)}."
    return [finding("constant-column", "info", names, message, "Nothing to do, unless values were expected to vary.")]


def numbers_as_text(data: CheckData) -> list[dict[str, Any]]:
    """Columns of text whose values are formatted numbers."""
    return _as_text(data, "number", "numbers")


def dates_as_text(data: CheckData) -> list[dict[str, Any]]:
    """Columns of text whose values are formatted dates."""
    return _as_text(data, "date", "dates")


def _as_text(data: CheckData, kind: str, contents: str) -> list[dict[str, Any]]:
    columns = {name: each for name, each in data.profiles.items() if name not in data.given}
    if data.target is not None and data.target_name is not None:
        columns[data.target_name] = data.target
    roles = {name: role.role for name, role in data.roles.items()}
    examples = {
        name: profile.values[0]
        for name, profile in columns.items()
        if profile.kind == "text"
        and roles.get(name) not in ("date", "constant")
        and formatted_values(profile) == contents
    }
    if not examples:
        return []
    message = f"Read as text: {listed(f'{name!r} (such as {each!r})' for name, each in examples.items())}."
    if kind == "number":
        remedy = "Remove units, currencies and separators of thousands, so that they are read as numbers."
    else:
        remedy = "Write dates as 2020-12-31, so that they are read as dates."
    return [finding(f"{kind}-as-text", "warning", examples, message, remedy)]


def missing_values(data: CheckData) -> list[dict[str, Any]]:
    """Columns with missing values: a warning if more than half are missing."""
    counts = {name: profile.missing for name, profile in data.profiles.items() if profile.missing and profile.present}
    ranked = sorted(counts, key=lambda name: -counts[name])
    mostly = [name for name in ranked if counts[name] > _MOSTLY_MISSING * data.n_rows]
    some = ranked[len(mostly) :]

    def details(names: list[str]) -> str:
        return listed(f"{name!r} {counts[name]:,} ({counts[name] / data.n_rows:.1%})" for name in names)

    found = []
    if mostly:
        remedy = Message("Find out why, or leave the column out: ", Setting("roles", "id", key=mostly[0]), ".")
        found.append(
            finding("missing-values", "warning", mostly, f"More than half missing: {details(mostly)}.", remedy)
        )
    if some:
        remedy = Message(
            "Each such column gets an indicator of missing values; codes such as -999 must be declared: ",
            Setting("missing", "-999", item=True),
            ".",
        )
        found.append(finding("missing-values", "info", some, f"Missing: {details(some)}.", remedy))
    return found


def high_cardinality(data: CheckData) -> list[dict[str, Any]]:
    """Columns of more categories than get an indicator each."""
    names = data.with_role("high-cardinality")
    if not names:
        return []
    each = listed(f"{name!r} ({data.profiles[name].distinct:,})" for name in names)
    message = f"Encoded by the mean target and the frequency of each category: {each}."
    remedy = Message("If it is free text, say so: ", Setting("roles", "text", key=names[0]), ".")
    return [finding("high-cardinality", "info", names, message, remedy)]


def rare_categories(data: CheckData) -> list[dict[str, Any]]:
    """Columns with categories of fewer than 5 rows."""
    rare: dict[str, int] = {}
    for name in data.with_role("category"):
        profile = data.profiles[name]
        n = int(np.sum(np.asarray(profile.counts) < MIN_ROWS)) if profile.exact else 0
        rare |= {name: n} if n else {}
    if not rare:
        return []
    each = listed(f"{name!r} ({n} of {data.profiles[name].distinct})" for name, n in rare.items())
    message = f"Categories of fewer than {MIN_ROWS} rows: {each}."
    return [
        finding(
            "rare-category", "info", rare, message, "Merge rare categories into broader ones where that makes sense."
        )
    ]


def spelling(data: CheckData) -> list[dict[str, Any]]:
    """Categories that differ only by blanks or by case."""
    columns = {name: data.profiles[name] for name in data.with_role("category", "high-cardinality")}
    if data.task == "classification" and data.target is not None and data.target_name is not None:
        columns[data.target_name] = data.target
    pairs, blanks = {}, False
    for name, profile in columns.items():
        first = _spelled_twice(profile)
        if first is not None:
            pairs[name] = first
            blanks |= first[0].casefold() != first[1].casefold()
    if not pairs:
        return []
    message = (
        f"Spelled in more than one way: {listed(f'{name!r} ({a!r} and {b!r})' for name, (a, b) in pairs.items())}."
    )
    return [finding("whitespace", "warning" if blanks else "info", pairs, message, "Spell each category in one way.")]


def _spelled_twice(profile: ColumnProfile) -> tuple[str, str] | None:
    """Two values of a column that differ only by blanks or case, in blanks if there are such."""
    if profile.kind != "text":
        return None
    groups: dict[str, list[str]] = defaultdict(list)
    for value in profile.values[:_MAX_SPELLED]:
        groups["".join(value.split()).casefold()].append(value)
    several = [sorted(group) for group in groups.values() if len(group) > 1]
    pairs = [(a, b) for group in several for a, b in itertools.pairwise(group)]
    return min(pairs, key=lambda pair: (pair[0].casefold() == pair[1].casefold(), pair), default=None)


def outliers(data: CheckData) -> list[dict[str, Any]]:
    """Numbers further than 20 interquartile ranges from the quartiles, also on the scale of logarithms."""
    found: dict[str, tuple[int, float]] = {}
    for name in data.with_role("number"):
        if name in data.values:
            n, extreme = count_outliers(data.values[name], data.profiles[name])
            found |= {name: (n, extreme)} if n else {}
    if not found:
        return []
    each = listed(f"{name!r} {n:,} (such as {extreme:g})" for name, (n, extreme) in found.items())
    message = f"Further than {_MAX_IQRS:g} interquartile ranges from the quartiles: {each}."
    extreme = next(iter(found.values()))[1]
    remedy = Message(
        "Correct them if they are errors; if they stand for missing values: ",
        Setting("missing", f"{extreme:g}", item=True),
        ".",
    )
    return [finding("outlier", "info", found, message, remedy)]


def count_outliers(values: Values, profile: ColumnProfile) -> tuple[int, float]:
    """The number of outliers, and the furthest of them; values are finite, the range is that of all rows."""
    if not len(values):
        return 0, 0.0
    ends = np.array([float(profile.low), float(profile.high)])
    ends = ends[np.isfinite(ends)]
    if not _is_outlier(ends, values).any():
        return 0, 0.0
    far = _is_outlier(values.values, values)
    furthest = ends[np.argmax(np.abs(ends - values.quantiles[2]))]
    return max(1, values.count(far)), float(furthest)


def _is_outlier(points: np.ndarray, values: Values) -> np.ndarray:
    low, high = values.quantiles[1], values.quantiles[3]
    far = _is_far(points, low, high)
    if far.any() and values.values[0] > 0 and np.all(points > 0):
        # A product of many factors has a long tail, which is no error.
        far &= _is_far(np.log(points), math.log(low), math.log(high))
    return far


def _is_far(points: np.ndarray, low: float, high: float) -> np.ndarray:
    """Mask of the points further than 20 interquartile ranges from the quartiles."""
    with np.errstate(all="ignore"):
        reach = _MAX_IQRS * (high - low)
        return ((points < low - reach) | (points > high + reach)) & bool(0 < reach < np.inf)


def duplicate_columns(data: CheckData) -> list[dict[str, Any]]:
    """Columns equal to an earlier one in all rows of the sample."""
    groups: dict[tuple, list[str]] = defaultdict(list)
    for name in data.used():
        profile = data.profiles[name]
        first = str(profile.values[0]) if profile.exact and profile.kind in ("text", "boolean") else ""
        groups[profile.missing, profile.distinct, str(profile.low), str(profile.high), first].append(name)
    table, copies = data.sample.X.table, {}
    for names in groups.values():
        for j, name in enumerate(names):
            original = next((each for each in names[:j] if each not in copies and _equal(table, each, name)), None)
            if original is not None:
                copies[name] = original
    if not copies:
        return []
    message = f"Equal in all rows: {listed(f'{name!r} and {original!r}' for name, original in copies.items())}."
    remedy = Message("Leave one of them out: ", Setting("roles", "id", key=next(iter(copies))), ".")
    return [finding("duplicate-column", "info", copies, message, remedy)]


def _equal(table: Any, first: str, second: str) -> bool:
    return bool(table[first].type == table[second].type and table[first].equals(table[second]))
