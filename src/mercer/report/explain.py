"""The tables of `mercer explain`: the contributions of the columns to the predictions for single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mercer.auto.explain.explanation import Explanations, text_bar
from mercer.report.distribution import short_number

#: Contributions listed per row; the others are summed.
_MAX_LISTED = 12
_MAX_VALUE = 24
_BAR = 12


def gather_rows(model: Any, rows: Any, found: Explanations, numbers: Iterator[int]) -> list[dict[str, Any]]:
    """The explanations of rows as plain dicts; `numbers` gives the number of each row in the file."""
    gathered = []
    for i, each in enumerate(found):
        parts = list(each.contributions.items())
        listed = [
            {"column": name, "value": _value(rows, name, i), "contribution": value}
            for name, value in parts[:_MAX_LISTED]
        ]
        gathered.append(
            {
                "row": next(numbers),
                "unit": each.unit,
                "class": None if model.classes_ is None else str(each.output),
                "probability": each.probability,
                "baseline": each.baseline,
                "baseline_description": each.baseline_description,
                "contributions": listed,
                "n_other": len(parts) - len(listed),
                "other": float(sum(value for _, value in parts[_MAX_LISTED:])),
                "score": each.prediction,
            }
        )
    return gathered


def _value(rows: Any, name: str, i: int) -> str:
    """A value of the table as text; terms of texts have none."""
    if name not in rows.columns:
        return ""
    value = rows.table[name][i].as_py()
    if value is None:
        return "missing"
    text = short_number(value) if isinstance(value, float) else " ".join(str(value).split())
    text = text.removesuffix(" 00:00:00") if rows.schema[name] == "date" else text
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 3] + "..."


def render_explanations(found: dict[str, Any]) -> RenderableType:
    """Render explanations for the terminal: baseline, sorted contributions and their sum for each row."""
    if not found["rows"]:
        return Text(f"{found['file']}: no rows.")
    parts: list[RenderableType] = []
    for row in found["rows"]:
        parts += [_head(row), _contributions(row), Text("")]
    first = found["rows"][0]
    parts.append(Text(f"Baseline: {first['baseline_description']}.", style="dim"))
    return Group(*parts)


def _head(row: dict[str, Any]) -> Text:
    text = Text(f"Row {row['row']}: ", style="bold")
    if row["class"] is None:
        text.append(f"{row['unit']} {short_number(row['score'])}")
    else:
        text.append(f"{row['class']}, probability {row['probability']:.3g}")
        text.append(f"  ({row['unit']})", style="not bold dim")
    return text


def _contributions(row: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("column", overflow="fold", max_width=28)
    table.add_column("value", overflow="fold", max_width=_MAX_VALUE)
    table.add_column("contribution", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    largest = max((abs(each["contribution"]) for each in row["contributions"]), default=0.0)
    table.add_row("baseline", "", short_number(row["baseline"]), "", style="dim")
    for each in row["contributions"]:
        value = each["contribution"]
        cells = (each["column"], each["value"], _signed(value))
        table.add_row(*map(Text, cells), Text(text_bar(value, largest, _BAR), style="green" if value > 0 else "red"))
    if row["n_other"]:
        table.add_row("others", "", _signed(row["other"]), "", style="dim")
    table.add_row(Text("sum", style="bold"), "", Text(short_number(row["score"]), style="bold"), "")
    return table


def _signed(value: float) -> str:
    return f"+{short_number(value)}" if value > 0 else short_number(value)
