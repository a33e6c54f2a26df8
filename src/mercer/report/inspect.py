"""What `mercer inspect` shows: a table gathered into a dict of plain values, and that dict on the terminal."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mercer.io import read_table
from mercer.stats import Sample, Together
from mercer.tables.profile import ColumnProfile, TableProfile
from mercer.tables.roles import Role, roles_of

_TOP = 3


def gather_inspection(path: str, target: str | None = None, **options) -> dict[str, Any]:
    """The dialect, the columns with kinds, roles and facts, and whatever looks suspicious. `options`: of read_table."""
    source: Any = read_table(path, target, **options)
    learned = source.fold(Together(profile=TableProfile(), sample=Sample())).finish()
    roles = roles_of(learned["profile"], learned["sample"])
    return {
        "file": path,
        "rows": source.n_rows,
        "dialect": None if source.dialect is None else vars(source.dialect),
        "target": target,
        "columns": [_column(facts, roles[name]) for name, facts in learned["profile"].items()],
        "notes": list(source.notes),
        "suspicions": [f"{name}: {said}" for name, role in roles.items() for said in role.suspicions],
    }


def _column(facts: ColumnProfile, role: Role) -> dict[str, Any]:
    top = zip(facts.values[:_TOP], facts.counts[:_TOP].tolist(), strict=True)
    return {
        "name": facts.name,
        "type": facts.kind,
        "role": role.role,
        "why": role.why,
        "missing": facts.missing,
        "distinct": facts.distinct,
        "distinct_is_exact": facts.exact,
        "low": _plain(facts.low),
        "high": _plain(facts.high),
        "top": [{"level": _plain(level), "rows": rows} for level, rows in top] if role.role == "category" else [],
    }


def _plain(value):
    """A value that JSON knows."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def render_inspection(found: dict[str, Any]) -> RenderableType:
    """The same for the terminal."""
    parts: list[RenderableType] = [
        Text(f"{found['file']}: {found['rows']:,} row{'s' * (found['rows'] != 1)}", style="bold")
    ]
    if found["dialect"] is not None:
        parts.append(Text(_dialect_line(found["dialect"]), style="dim"))
    parts += [Text(""), _columns_table(found["columns"])]
    if found["suspicions"]:
        parts += [Text("\nSuspicious", style="bold yellow"), *(Text(f"  {said}") for said in found["suspicions"])]
    if found["notes"]:
        parts += [Text("\nNoticed", style="bold"), *(Text(f"  {note}") for note in found["notes"])]
    return Group(*parts)


def _dialect_line(dialect) -> str:
    from mercer.io import Dialect

    return str(Dialect(**dialect))


def _columns_table(columns) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("column", "type", "role", "missing", "why"):
        table.add_column(heading, justify="right" if heading == "missing" else "left", overflow="fold")
    for column in columns:
        top = ", ".join(f"{item['level']} ({item['rows']:,})" for item in column["top"])
        why = column["why"] + (f": {top}" + (", ..." if column["distinct"] > _TOP else "") if top else "")
        missing = f"{column['missing']:,}" if column["missing"] else ""
        cells = (column["name"], column["type"], column["role"], missing, why)
        table.add_row(*(Text(cell) for cell in cells))
    return table
