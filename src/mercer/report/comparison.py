"""The report of `mercer compare` on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

_MAX_COLUMNS = 20
_LEVEL = 0.05


def render_comparison(found: dict[str, Any]) -> RenderableType:
    """The answer, the columns that moved, the strangest rows, and the score where there are targets."""
    style = "bold yellow" if found["changed"] else "bold green"
    parts: list[RenderableType] = [Text(found["sentence"], style=style), Text(_samples(found), style="dim")]
    if found["score"] is not None:
        parts.append(Text(found["score"]["sentence"]))
    parts += [Text(note) for note in found["notes"]]
    parts += [Text("\nColumns", style="bold"), _columns(found["columns"])]
    if len(found["columns"]) > _MAX_COLUMNS:
        parts.append(Text(f"... and {len(found['columns']) - _MAX_COLUMNS:,} more: --json lists all.", style="dim"))
    if found["rows"]:
        parts += [Text("\nStrangest new rows", style="bold"), _rows(found["rows"])]
    return Group(*parts)


def _samples(found: dict[str, Any]) -> str:
    return (
        f"{found['n_new']:,} rows of {found['new']} beside {found['n_old']:,} of {found['old']}. Kernel two-sample "
        f"test: MMD^2 = {found['statistic']:.3g}, p = {found['p_value']:.3g} ({found['method']})."
    )


def _columns(columns: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("column", "test", "statistic", "p-value", "q-value"):
        left = heading in ("column", "test")
        table.add_column(heading, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for each in columns[:_MAX_COLUMNS]:
        numbers = (f"{each['statistic']:.3f}", f"{each['p_value']:.2g}", f"{each['q_value']:.2g}")
        style = "bold" if each["q_value"] < _LEVEL else ""
        table.add_row(*(Text(cell, style=style) for cell in (each["column"], each["test"], *numbers)))
    return table


def _rows(rows: list[dict[str, Any]]) -> Table:
    lines = any("line" in each for each in rows)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("row", *(["line"] if lines else []), "witness"):
        table.add_column(heading, justify="right")
    for each in rows:
        line = [str(each.get("line", ""))] if lines else []
        table.add_row(str(each["row"]), *line, f"{each['witness']:.3g}")
    return table
