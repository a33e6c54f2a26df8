"""Layout on the terminal: tables without lines, marked lines, and lines that are never wrapped."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text


def plain_table(*headings: str) -> Table:
    """A table without lines; headings that start with ">" are those of numbers."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.lstrip(">"), justify="right" if right else "left", overflow="fold")
    return table


def hanging(rows: Iterable[tuple[RenderableType, RenderableType]]) -> Table:
    """Lines with a mark each; what does not fit is continued below the text, not below the mark."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def unwrapped(line: str, style: str = "") -> Text:
    """A line with a path, which is never wrapped, so that it can be copied."""
    return Text(line, style=style, no_wrap=True, overflow="ignore")
