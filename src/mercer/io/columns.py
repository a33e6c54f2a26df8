"""Columns named by the user, checked against those of the data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from mercer._runtime.errors import DataError, MercerError, Message, Setting


def choose_features(available: list[str], named: Iterable[str], columns: Iterable[str] | None, where: str) -> list[str]:
    """The feature columns: `columns`, or all that are not named as target or weight."""
    named = set(named)
    if columns is None:
        features = [name for name in available if name not in named]
    else:
        if isinstance(columns, str):
            write = Message("write ", Setting("columns", [columns]), ".")
            raise MercerError(Setting("columns"), " must be a list of names:", remedy=write)
        features = list(columns)
        for name in features:
            require_column(name, available, "columns", where)
            if name in named:
                problem = f"{where}: column {name!r} cannot be a feature and the target or weight at once."
                raise DataError(problem, parameter="columns", column=name)
    if not features:
        problem = f"{where}: no feature columns are left; it has {', '.join(map(repr, available)) or 'none'}."
        raise DataError(problem, file=where)
    return features


def require_column(name: str, available: list[str], parameter: str, where: str, more: str = "") -> None:
    """Refuse a name, given as `parameter`, that is not available; suggest similar ones, and `more`."""
    if name in available:
        return
    near = get_close_matches(str(name), available, n=3, cutoff=0.5) or _ignoring_case(str(name), available)
    if len(available) == 1 and re.search(r"\w[ :,;|\t]+\w", available[0]):
        delimiter = Message(": set the ", Setting("delimiter"), " if that is wrong.")
        hint = Message(f"All of it is one column, {available[0]!r}", delimiter)
    elif near:
        hint = Message(f"Did you mean {' or '.join(map(repr, near))}?")
    else:
        shown = ", ".join(map(repr, available[:12])) + (", ..." if len(available) > 12 else "")
        hint = Message(f"It has {shown}.")
    problem = (f"{where}: no column named {name!r} (given as ", Setting(parameter), ").")
    raise DataError(*problem, remedy=Message(hint, more), parameter=parameter, value=name, column=name)


def refuse_text(kinds: dict[str, str], where: str) -> None:
    """Refuse feature columns that are not numbers: `kinds` maps their names to their types."""
    if not kinds:
        return
    listed = ", ".join(f"{name!r} ({kind})" for name, kind in list(kinds.items())[:8])
    more = f" and {len(kinds) - 8} more" if len(kinds) > 8 else ""
    raise DataError(
        f"{where}: {len(kinds)} of the feature columns do not hold numbers: {listed}{more}.",
        remedy="Name those that do with columns=[...], or turn these into numbers first: mercer.io.read_table and "
        "mercer.tables.TableEncoder do (or mercer.normalize.OneHot for categories).",
        parameter="columns",
        column=next(iter(kinds)),
    )


def _ignoring_case(name: str, available: list[str]) -> list[str]:
    return [other for other in available if other.lower() == name.lower()]
