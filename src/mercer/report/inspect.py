"""The report of `mercer inspect`: the dialect of a file and the profile of each column."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mercer._runtime.errors import Message
from mercer.io import read_table
from mercer.stats import Sample, Together
from mercer.tables.profile import ColumnProfile, TableProfile
from mercer.tables.roles import Role, roles_of

#: Most frequent categories shown per column.
_TOP = 3


def gather_inspection(path: str, target: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the dialect, the profile and role of each column, and suspicions; `options` go to `read_table`."""
    source: Any = read_table(path, target, **options)
    learned = source.fold(Together(profile=TableProfile(), sample=Sample())).finish()
    roles = roles_of(learned["profile"], learned["sample"])
    return {
        "file": path,
        "rows": source.n_rows,
        "dialect": None if source.dialect is None else vars(source.dialect),
        "target": target,
        "columns": [_column(profile, roles[name]) for name, profile in learned["profile"].items()],
        "notes": list(source.notes),
        "suspicions": [Message(f"{name}: ", each) for name, role in roles.items() for each in role.suspicions],
    }


def _column(profile: ColumnProfile, role: Role) -> dict[str, Any]:
    top = zip(profile.values[:_TOP], profile.counts[:_TOP].tolist(), strict=True)
    return {
        "name": profile.name,
        "type": profile.kind,
        "role": role.role,
        "reason": role.why,
        "n_missing": profile.missing,
        "n_distinct": profile.distinct,
        "n_distinct_is_exact": profile.exact,
        "min": _plain(profile.low),
        "max": _plain(profile.high),
        "top": [{"category": _plain(category), "rows": rows} for category, rows in top]
        if role.role == "category"
        else [],
    }


def _plain(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def render_inspection(found: dict[str, Any]) -> RenderableType:
    """Render the report for the terminal."""
    parts: list[RenderableType] = [
        Text(f"{found['file']}: {found['rows']:,} row{'s' * (found['rows'] != 1)}", style="bold")
    ]
    if found["dialect"] is not None:
        parts.append(Text(_dialect_line(found["dialect"]), style="dim"))
    parts += [Text(""), _columns_table(found["columns"])]
    if found["suspicions"]:
        parts += [Text("\nSuspicious", style="bold yellow"), *(Text(f"  {each}") for each in found["suspicions"])]
    if found["notes"]:
        parts += [Text("\nNotes", style="bold"), *(Text(f"  {note}") for note in found["notes"])]
    return Group(*parts)


def _dialect_line(dialect: dict[str, Any]) -> str:
    from mercer.io import Dialect

    return str(Dialect(**dialect))


def _columns_table(columns: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("column", "type", "role", "missing", "reason"):
        table.add_column(heading, justify="right" if heading == "missing" else "left", overflow="fold")
    for column in columns:
        top = ", ".join(f"{item['category']} ({item['rows']:,})" for item in column["top"])
        reason = column["reason"] + (f": {top}" + (", ..." if column["n_distinct"] > _TOP else "") if top else "")
        missing = f"{column['n_missing']:,}" if column["n_missing"] else ""
        cells = (column["name"], column["type"], column["role"], missing, reason)
        table.add_row(*(Text(cell) for cell in cells))
    return table
