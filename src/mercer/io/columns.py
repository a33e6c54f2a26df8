"""Columns named by the user, checked against those there are; the errors are written here once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def choose_features(available: list[str], named: Iterable[str], columns, where: str) -> list[str]:
    """The feature columns: `columns`, or all that are not named as target or weight."""
    named = set(named)
    if columns is None:
        features = [name for name in available if name not in named]
    else:
        if isinstance(columns, str):
            raise ValueError(f"columns must be a list of names: write columns=[{columns!r}].")
        features = list(columns)
        for name in features:
            require_column(name, available, "columns", where)
            if name in named:
                raise ValueError(f"{where}: column {name!r} cannot be a feature and the target or weight at once.")
    if not features:
        raise ValueError(f"{where}: no feature columns are left; it has {', '.join(map(repr, available)) or 'none'}.")
    return features


def require_column(name: str, available: list[str], what: str, where: str, more: str = "") -> None:
    """Refuse a name that is not there, with the likeliest ones meant, and `more` to say."""
    if name in available:
        return
    near = get_close_matches(str(name), available, n=3, cutoff=0.5) or _ignoring_case(str(name), available)
    if len(available) == 1 and re.search(r"\w[ :,;|\t]+\w", available[0]):
        hint = f"All of it is one column, {available[0]!r}: name the delimiter if that is wrong."
    elif near:
        hint = f"Did you mean {' or '.join(map(repr, near))}?"
    else:
        shown = ", ".join(map(repr, available[:12])) + (", ..." if len(available) > 12 else "")
        hint = f"It has {shown}."
    raise ValueError(f"{where}: no column named {name!r} (given as {what}). {hint}{more}")


def refuse_text(kinds: dict[str, str], where: str) -> None:
    """Refuse feature columns that are not numbers: `kinds` maps their names to their types."""
    if not kinds:
        return
    listed = ", ".join(f"{name!r} ({kind})" for name, kind in list(kinds.items())[:8])
    more = f" and {len(kinds) - 8} more" if len(kinds) > 8 else ""
    raise ValueError(
        f"{where}: {len(kinds)} of the feature columns do not hold numbers: {listed}{more}. "
        "Name those that do with columns=[...], or turn these into numbers first: mercer.io.read_table and "
        "mercer.tables.TableEncoder do (or mercer.normalize.OneHot for categories)."
    )


def _ignoring_case(name, available):
    return [other for other in available if other.lower() == name.lower()]
