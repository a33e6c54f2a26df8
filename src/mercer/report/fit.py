"""What `mercer fit` shows: how the rows were read, what was tried, what was kept, and the score on rows kept aside."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

_MOST_COLUMNS, _MOST_CANDIDATES = 12, 12


def gather_fit(model, source, data: str, target: str, path: str) -> dict[str, Any]:
    """The report of the model, with where its rows came from and where it was written."""
    found = {
        "file": data,
        "rows": source.n_rows,
        "dialect": None if source.dialect is None else str(source.dialect),
        "notes": list(source.notes),
        "target": target,
        "saved": str(path),
    }
    report = model.report()
    return {**found, **report, "notes": list(dict.fromkeys([*found["notes"], *report.get("said", [])]))}


def render_fit(report: dict[str, Any]) -> RenderableType:
    """The report for the terminal."""
    kind = "class" if report["task"] == "classify" else "quantity"
    parts: list[RenderableType] = [
        _whole(f"{report['file']}: {report['rows']:,} rows; {report['target']} is a {kind}", "bold"),
    ]
    if report["dialect"]:
        parts.append(Text(f"Read as {report['dialect']}.", style="dim"))
    parts += [*_notes(report), Text("\nColumns", style="bold"), _column_table(report)]
    parts += [Text("\nTried, judged by five folds of the training rows", style="bold"), _candidate_table(report)]
    parts += [Text(f"\nKept: {report['model']}.", style="bold"), _block_table(report)]
    parts += [*_verdict(report), _whole(f"\nSaved to {report['saved']}.  Next:", "bold")]
    parts.append(_whole(f"  mercer predict {report['saved']} NEW.csv", "italic"))
    return Group(*parts)


def _whole(line: str, style: str) -> Text:
    """A line with a path in it, to be copied: never broken."""
    return Text(line, style=style, no_wrap=True, overflow="ignore")


def _notes(report):
    return [Text(f"  {note}", style="yellow") for note in [*report["notes"], *report.get("columns", [])]]


def _plain_table(*headings) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading in ("importance", "loss", "seconds", "features", "penalty")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    return table


def _column_table(report) -> Table:
    table = _plain_table("column", "type", "role", "importance")
    importance = report["importance"]
    ranked = sorted(report["schema"], key=lambda name: -importance.get(name, 0.0))
    for name in ranked[:_MOST_COLUMNS]:
        about = report["schema"][name]
        table.add_row(Text(name), about["kind"], about["role"], _share(importance.get(name)))
    if len(ranked) > _MOST_COLUMNS:
        table.add_row(Text(f"... and {len(ranked) - _MOST_COLUMNS} more", style="dim"), "", "", "")
    return table


def _share(value) -> str:
    return "" if value is None else f"{value:.1%}"


def _candidate_table(report) -> Table:
    table = _plain_table("stage", "candidate", "features", "loss", "seconds", "")
    candidates = report["candidates"]
    shown = [each for each in candidates if each["kept"]]
    others = sorted((each for each in candidates if not each["kept"]), key=lambda each: each["loss"])
    shown += others[: max(0, _MOST_CANDIDATES - len(shown))]
    for each in sorted(shown, key=candidates.index):
        style = "green" if each["kept"] else "dim"
        cells = (each["stage"], each["name"], f"{each['width']:,}", f"{each['loss']:.5g}", f"{each['seconds']:.1f}")
        table.add_row(*(Text(cell) for cell in cells), Text(each["why"] or ""), style=style)
    if len(candidates) > len(shown):
        table.add_row(Text(f"... and {len(candidates) - len(shown)} more", style="dim"), "", "", "", "", "")
    return table


def _block_table(report) -> Table:
    table = _plain_table("block", "features", "penalty", "")
    for block in report["blocks"]:
        table.add_row(block["kind"], f"{block['width']:,}", f"{block['penalty']:.3g}", Text(block["note"] or ""))
    return table


def _verdict(report) -> list[RenderableType]:
    verdict = report.get("holdout")
    if verdict is None:
        return [Text("\nNo rows were kept aside, so nothing is said about new ones.", style="yellow")]
    lines = [
        (verdict.get("baseline", "linear model of the plain columns"), verdict["linear"]),
        ("this model", verdict["model"]),
        ("gain", verdict["gain"]),
    ]
    table = _plain_table(verdict["metric"], "", "95% interval")
    for name, estimate in lines:
        interval = f"{estimate['low']:.4f} to {estimate['high']:.4f}"
        table.add_row(name, f"{estimate['value']:.4f}", interval, style="bold" if name == "this model" else None)
    title = f"\nOn the {verdict['n']:,} rows kept aside, looked at once"
    return [Text(title, style="bold"), table, Text(f"Intervals: {verdict['interval']}.", style="dim")]
