"""The report of `mercer fit`: input, columns, candidates, the selected model and its score on the holdout."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

_MAX_COLUMNS, _MAX_CANDIDATES = 12, 12


def gather_fit(model: Any, source: Any, data: str, target: str, path: str) -> dict[str, Any]:
    """Return the report of the model with its input and output files."""
    found = {
        "file": data,
        "rows": source.n_rows,
        "dialect": None if source.dialect is None else str(source.dialect),
        "notes": list(source.notes),
        "target": target,
        "saved": str(path),
    }
    report = model.report()
    notes = list(dict.fromkeys([*found["notes"], *report.get("notes", [])]))
    return {**found, **report, "notes": notes}


def render_fit(report: dict[str, Any]) -> RenderableType:
    """Render the report for the terminal."""
    parts: list[RenderableType] = [
        _unwrapped(f"{report['file']}: {report['rows']:,} rows; {report['task']} of {report['target']}", "bold"),
    ]
    if report["dialect"]:
        parts.append(Text(f"Read as {report['dialect']}.", style="dim"))
    parts += [*_notes(report), Text("\nColumns", style="bold"), _column_table(report)]
    parts += [
        Text("\nCandidates, by 5-fold cross-validation on the training rows", style="bold"),
        _candidate_table(report),
    ]
    parts += [Text(f"\nSelected: {report['model']}.", style="bold"), _block_table(report)]
    parts += [*_holdout(report), _unwrapped(f"\nSaved to {report['saved']}.  Next:", "bold")]
    parts.append(_unwrapped(f"  mercer predict {report['saved']} NEW.csv", "italic"))
    return Group(*parts)


def _unwrapped(line: str, style: str) -> Text:
    """A line with a path, which is never wrapped, so that it can be copied."""
    return Text(line, style=style, no_wrap=True, overflow="ignore")


def _notes(report: dict[str, Any]) -> list[RenderableType]:
    return [Text(f"  {note}", style="yellow") for note in [*report["notes"], *report.get("columns", [])]]


def _plain_table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading in ("importance", "loss", "seconds", "features", "penalty")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    return table


def _column_table(report: dict[str, Any]) -> Table:
    table = _plain_table("column", "type", "role", "importance")
    importance = report["importance"]
    ranked = sorted(report["schema"], key=lambda name: -importance.get(name, 0.0))
    for name in ranked[:_MAX_COLUMNS]:
        about = report["schema"][name]
        table.add_row(Text(name), about["kind"], about["role"], _percent(importance.get(name)))
    if len(ranked) > _MAX_COLUMNS:
        table.add_row(Text(f"... and {len(ranked) - _MAX_COLUMNS} more", style="dim"), "", "", "")
    return table


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _candidate_table(report: dict[str, Any]) -> Table:
    table = _plain_table("stage", "candidate", "features", "loss", "seconds", "")
    candidates = report["candidates"]
    shown = [each for each in candidates if each["kept"]]
    others = sorted((each for each in candidates if not each["kept"]), key=lambda each: each["loss"])
    shown += others[: max(0, _MAX_CANDIDATES - len(shown))]
    for each in sorted(shown, key=candidates.index):
        style = "green" if each["kept"] else "dim"
        cells = (each["stage"], each["name"], f"{each['width']:,}", f"{each['loss']:.5g}", f"{each['seconds']:.1f}")
        table.add_row(*(Text(cell) for cell in cells), Text(each["why"] or ""), style=style)
    if len(candidates) > len(shown):
        table.add_row(Text(f"... and {len(candidates) - len(shown)} more", style="dim"), "", "", "", "", "")
    return table


def _block_table(report: dict[str, Any]) -> Table:
    table = _plain_table("block", "features", "penalty", "")
    for block in report["blocks"]:
        table.add_row(block["kind"], f"{block['width']:,}", f"{block['penalty']:.3g}", Text(block["note"] or ""))
    return table


def _holdout(report: dict[str, Any]) -> list[RenderableType]:
    scores = report.get("holdout")
    if scores is None:
        return [Text("\nNo holdout: the score on new rows is unknown.", style="yellow")]
    lines = [
        (scores.get("baseline", "linear model of the plain columns"), scores["linear"]),
        ("this model", scores["model"]),
        ("gain", scores["gain"]),
    ]
    table = _plain_table(scores["metric"], "", "95% interval")
    for name, estimate in lines:
        interval = f"{estimate['low']:.4f} to {estimate['high']:.4f}"
        table.add_row(name, f"{estimate['value']:.4f}", interval, style="bold" if name == "this model" else None)
    title = f"\nHoldout: {scores['n']:,} rows, evaluated once"
    return [Text(title, style="bold"), table, Text(f"Intervals: {scores['interval']}.", style="dim")]
