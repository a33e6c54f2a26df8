"""The report of `mercer inspect`: the dialect of a file, the target, the columns, and the checks."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mercer._runtime.errors import Message
from mercer.io import read_table
from mercer.report.distribution import bar_lines, short_number
from mercer.report.format import visible
from mercer.tables.overview import Overview, overview

#: Most frequent categories shown per column, and columns shown per table.
_TOP, _MAX_COLUMNS = 3, 60
#: Longer names of columns lose their middle.
_MAX_NAME = 80
_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "cyan"}
_COLUMN_KEYS = ("type", "role", "reason", "n_missing", "n_distinct", "n_distinct_is_exact", "min", "max")


def gather_inspection(path: str, target: str | None = None, task: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the dialect, the profile of each column and of the target, and the checks; `options` go to `read_table`.

    `profiles`, `target_profile` and `checks` have the keys of `ColumnReport` and `Check` of the report of a fit.
    """
    source: Any = read_table(path, target, **options)
    seen = overview(source, task=task)
    return {
        "file": path,
        "rows": source.n_rows,
        "dialect": None if source.dialect is None else vars(source.dialect),
        "target": target,
        "task": seen.task,
        "target_profile": seen.target,
        "profiles": seen.profiles,
        "checks": seen.checks,
        "notes": list(source.notes),
        "columns": [_column(profile) for profile in seen.profiles],
        "suspicions": _suspicions(seen),
    }


def _suspicions(seen: Overview) -> list[str]:
    return [Message(f"{name}: ", each) for name, role in seen.roles.items() for each in role.suspicions]


def _column(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile of a column in short."""
    top = profile["top"][:_TOP] if profile["role"] == "category" else []
    return {"name": profile["column"], **{key: profile[key] for key in _COLUMN_KEYS}, "top": top}


def render_inspection(found: dict[str, Any]) -> RenderableType:
    """Render the report for the terminal."""
    rows, columns = found["rows"], len(found["profiles"])
    head = f"{found['file']}: {rows:,} row{'s' * (rows != 1)}, {columns:,} column{'s' * (columns != 1)}"
    parts: list[RenderableType] = [Text(head, style="bold")]
    if found["dialect"] is not None:
        parts.append(Text(_dialect_line(found["dialect"]), style="dim"))
    if found["target_profile"] is not None:
        parts += _target_lines(found)
    parts += _column_tables(found["profiles"])
    parts += _check_lines(found["checks"])
    if found["notes"]:
        parts += [Text("\nNotes", style="bold"), *(Text(f"  {note}") for note in found["notes"])]
    return Group(*parts)


def _dialect_line(dialect: dict[str, Any]) -> str:
    from mercer.io import Dialect

    return str(Dialect(**dialect))


def _target_lines(found: dict[str, Any]) -> list[RenderableType]:
    """The task, mean and quantiles or the number of classes, and a histogram."""
    target = found["target_profile"]
    title = Text(f"\nTarget {visible(target['column'], _MAX_NAME)}", style="bold")
    title.append(f": {found['task']}", style="default")
    if found["task"] == "classification":
        title.append(f", {target['n_distinct']:,} classes", style="not bold")
    lines: list[RenderableType] = [title]
    if target["quantiles"] is not None:
        names = ("min", "5 %", "25 %", "median", "75 %", "95 %", "max", "mean", "sd")
        values = (target["min"], *target["quantiles"], target["max"], target["mean"], target["sd"])
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        for name in names:
            table.add_column(name, justify="right")
        table.add_row(*map(short_number, values))
        lines.append(table)
    if target["histogram"] is not None:
        lines += [Text(line) for line in bar_lines(target["histogram"])]
    return lines


def _column_tables(profiles: list[dict[str, Any]]) -> list[RenderableType]:
    numbers = [each for each in profiles if each["role"] == "number" and each["quantiles"] is not None]
    others = [each for each in profiles if not (each["role"] == "number" and each["quantiles"] is not None)]
    associated = any(each["association"] is not None for each in profiles)
    parts: list[RenderableType] = []
    for rows, headings, cells in (
        (numbers, ("number", "missing", "distinct", "mean", "5 %", "median", "95 %"), _number_cells),
        (others, ("column", "role", "missing", "distinct", "contents"), _other_cells),
    ):
        if rows:
            parts += [Text(""), _table(rows, (*headings, *(["alone"] if associated else [])), cells, associated)]
        if len(rows) > _MAX_COLUMNS:
            parts.append(Text(f"... and {len(rows) - _MAX_COLUMNS:,} more: --json lists all.", style="dim"))
    if associated:
        caption = "alone: fraction of the target's error removed by the column, out of sample"
        parts.append(Text(caption, style="dim"))
    return parts


def _table(rows: list[dict[str, Any]], headings: tuple[str, ...], cells: Any, associated: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        left = heading in ("number", "column", "role", "contents")
        table.add_column(heading, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for each in rows[:_MAX_COLUMNS]:
        value = each["association"]
        last = [f"{value['value']:.2f}" if value is not None else ""] if associated else []
        table.add_row(*(Text(cell) for cell in (*cells(each), *last)))
    return table


def _number_cells(each: dict[str, Any]) -> list[str]:
    quantiles = [each["quantiles"][k] for k in (0, 2, 4)]
    return [
        visible(each["column"], _MAX_NAME),
        *_counts(each),
        short_number(each["mean"]),
        *map(short_number, quantiles),
    ]


def _other_cells(each: dict[str, Any]) -> list[str]:
    contents = each["reason"]
    if each["top"] and each["role"] == "category":
        contents = ", ".join(f"{item['category']} ({item['rows']:,})" for item in each["top"][:_TOP])
        contents += ", ..." if each["n_distinct"] > _TOP else ""
    return [visible(each["column"], _MAX_NAME), each["role"], *_counts(each), contents]


def _counts(each: dict[str, Any]) -> list[str]:
    distinct = f"{'' if each['n_distinct_is_exact'] else '~'}{each['n_distinct']:,}"
    return [f"{each['n_missing']:,}" if each["n_missing"] else "", distinct]


def _check_lines(checks: list[dict[str, Any]]) -> list[RenderableType]:
    """What deserves attention, the most severe first, then the codes of what passed."""
    parts: list[RenderableType] = [Text("\nChecks", style="bold")]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for check in checks:
        if check["severity"] != "passed":
            text = Text(f"{check['title']} ", style="bold")
            text.append(f"({check['code']}, {check['count']:,})\n", style="not bold dim")
            text.append(f"{check['message']}\n{check['remedy']}", style="not bold")
            grid.add_row(Text(check["severity"], style=_STYLES[check["severity"]]), text)
    passed = [check["code"] for check in checks if check["severity"] == "passed"]
    if passed:
        grid.add_row(Text("passed", style="green"), Text(", ".join(passed), style="dim"))
    return [*parts, grid]
