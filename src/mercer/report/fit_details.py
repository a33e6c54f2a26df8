"""The details of a fit on the terminal: the candidates in words, the blocks of features, and the columns."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from mercer.report.format import count, counted, number, percent, seconds, visible
from mercer.report.terminal import hanging, plain_table

#: Columns and letters of a name.
_MAX_COLUMNS, _MAX_NAME = 20, 40


def render_details(report: dict[str, Any]) -> list[RenderableType]:
    """What was tried, kept or dropped and why; the features of the model; the columns."""
    return [*_candidates(report), *_blocks(report), *_columns(report)]


def _candidates(report: dict[str, Any]) -> list[RenderableType]:
    """The candidates in the order in which they were tried."""
    candidates = report.get("candidates", [])
    if not candidates:
        return []
    title = Text("\nWhat was tried", style="bold")
    title.append(", by cross-validation on the training rows", style="dim")
    return [title, hanging((_outcome(each), _described(each)) for each in candidates)]


def _outcome(candidate: dict[str, Any]) -> Text:
    return Text(" kept", style="green") if candidate["kept"] else Text(" dropped", style="dim")


def _described(candidate: dict[str, Any]) -> Text:
    """The candidate, its loss and cost, and why it was kept or dropped."""
    numbers = (
        f"loss {number(candidate['loss'])}, {counted(candidate['width'], 'feature')}, {seconds(candidate['seconds'])}"
    )
    line = Text(f"{candidate['stage']}: {candidate['name']} ({numbers})")
    return line.append(f"; {candidate['why']}" if candidate["why"] else "", style="dim")


def _blocks(report: dict[str, Any]) -> list[RenderableType]:
    blocks = report.get("blocks", [])
    if not blocks:
        return []
    table = plain_table("block", ">features", ">penalty", ">of the gain")
    for block in blocks:
        gain = block.get("gain_fraction")
        cells = (count(block["width"]), number(block["penalty"], 3), "" if gain is None else percent(gain))
        table.add_row(Text(block["title"]), *cells)
    title = Text("\nFeatures", style="bold")
    return [title.append(f": {report['model']}" if report.get("model") else "", style="dim"), table]


def _columns(report: dict[str, Any]) -> list[RenderableType]:
    schema, ranked = report.get("schema", {}), dict(strongest_columns(report))
    if not schema:
        return []
    table = plain_table("column", "type", "role", ">importance")
    names = sorted(schema, key=lambda name: -ranked.get(name, 0.0))
    for name in names[:_MAX_COLUMNS]:
        importance = percent(ranked[name]) if name in ranked else ""
        table.add_row(Text(visible(name, _MAX_NAME)), schema[name]["kind"], schema[name]["role"], importance)
    parts: list[RenderableType] = [Text("\nColumns", style="bold"), table]
    if len(names) > _MAX_COLUMNS:
        parts.append(Text(f"... and {count(len(names) - _MAX_COLUMNS)} more", style="dim"))
    return parts


def strongest_columns(report: dict[str, Any]) -> list[tuple[str, float]]:
    """Columns with their importances as fractions of all, the largest first."""
    if "importances" in report:
        return [(each["column"], each["fraction"]) for each in report["importances"]["columns"]]
    return sorted(report.get("importance", {}).items(), key=lambda pair: -pair[1])
