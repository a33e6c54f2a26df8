"""The report of a fit on the terminal: the verdict, what carried it, what deserves attention, and the files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from mercer.report.fit_details import render_details
from mercer.report.format import MISSING, count, counted, estimate_parts, metric_title, visible
from mercer.report.terminal import hanging, plain_table, unwrapped

#: Lines on what carried the score, notes, checks, and names in a line.
_MAX_CARRIED, _MAX_NOTES, _MAX_CHECKS, _MAX_NAMES = 5, 4, 8, 3
#: Letters of a name of the data.
_MAX_NAME = 32
#: The least width for a second interval in the table of scores.
_WIDE = 76
#: The second metric of the table: errors in units of the target, or what accuracy leaves open.
_SECOND = ("rmse", "mae", "auc", "balanced_accuracy", "log_loss")
_COLORS = {"gain": "green", "linear": "yellow", "no-skill": "red", "unknown": "yellow"}
_SEVERITIES = {"error": "bold red", "warning": "yellow"}


def gather_fit(
    model: Any, source: Any, data: str, target: str, path: str, report_file: str | None = None
) -> dict[str, Any]:
    """Return the report of the model with its input and output files."""
    found = {
        "file": data,
        "rows": source.n_rows,
        "dialect": None if source.dialect is None else str(source.dialect),
        "notes": list(source.notes),
        "target": target,
        "saved": str(path),
        "report_file": report_file,
    }
    report = model.report()
    notes = list(dict.fromkeys([*found["notes"], *report["notes"]]))
    return {**found, **report, "notes": notes}


def render_fit(report: dict[str, Any], verbose: bool = False, commands: bool = True) -> RenderableType:
    """Render the report for the terminal; `verbose` adds columns, blocks and the candidates in words.

    `commands` ends it with the next commands.
    """
    parts: list[RenderableType] = [*_verdict(report, verbose), *_carried(report), *_checks(report, verbose)]
    parts += [*_notes(report, verbose), *_other_data(report)]
    if verbose:
        parts += render_details(report)
    return Group(*parts, *_files(report, commands))


def render_written(report: dict[str, Any]) -> RenderableType:
    """Render the verdict, the scores on other data, and where the report is."""
    sentence = Text(report["verdict"]["sentence"], style="bold")
    return Group(sentence, *_other_data(report), *_files(report, commands=False))


def _verdict(report: dict[str, Any], verbose: bool) -> list[RenderableType]:
    """The sentence, the scores, and how they were measured."""
    verdict = report["verdict"]
    parts: list[RenderableType] = [Text(verdict["sentence"], style=f"bold {_COLORS[verdict['level']]}")]
    holdout = report.get("holdout")
    if holdout is not None:
        parts += [Text(""), ScoreTable(holdout)]
    return [*parts, Text(" ".join(_circumstances(report, verbose)), style="dim")]


def _circumstances(report: dict[str, Any], verbose: bool) -> Iterable[str]:
    """How many rows of which file were held out; `verbose` adds how, and what the numbers mean."""
    target = f" of {visible(report['target'], _MAX_NAME)}" if report.get("target") else ""
    rows = [counted(report["rows"], "row")] if report.get("rows") else []
    about = "; ".join([*rows, f"{report['task']}{target}"])
    yield f"{os.path.basename(report['file'])}: {about}." if report.get("file") else f"{about[:1].upper()}{about[1:]}."
    split, holdout = report.get("split"), report.get("holdout")
    if split is not None and verbose:
        yield split["sentence"]
    elif holdout is not None:
        yield f"Held out: {counted(holdout['n'], 'row')}, evaluated once."
    if report.get("intervals"):
        yield report["intervals"]["sentence"]
    if holdout is not None and verbose:
        if _second(holdout) in ("rmse", "mae"):
            yield f"{metric_title(_second(holdout) or '')} is in units of {visible(report.get('target'), _MAX_NAME)}."
        yield f"Intervals: {holdout['interval']}."
    if report.get("dialect") and verbose:
        yield f"Read as {report['dialect']}."


class ScoreTable:
    """The model, the linear model and the naive guess: the main metric and one more, with their intervals."""

    def __init__(self, scores: dict[str, Any]):
        self.scores = scores

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        scores, second, wide = self.scores, _second(self.scores), options.max_width >= _WIDE
        headings = ["", f">{metric_title(scores['metric'])}", "95 % interval"]
        if second is not None:
            headings += [f">{metric_title(second)}", *(["95 % interval"] if wide else [])]
        table = plain_table(*headings)
        names = {"model": "this model", "linear": _baseline(scores), "naive": "naive guess"}
        models = {key: scores[key] for key in names if key in scores}
        cells = _cells(models)
        if second is not None:
            others = _cells({key: each.get("metrics", {}).get(second, {}) for key, each in models.items()})
            cells = {key: [*cells[key], *others[key][: 2 if wide else 1]] for key in models}
        for key in models:
            table.add_row(Text(names[key]), *cells[key], style="bold" if key == "model" else None)
        yield table


def _cells(estimates: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Value and interval of each model, all with the decimals of the first."""
    first = estimate_parts(next(iter(estimates.values())))[0]
    decimals = len(first.partition(".")[2]) if first.replace(",", "").replace(".", "").lstrip("-").isdigit() else None
    cells = {}
    for key, estimate in estimates.items():
        parts = estimate_parts(estimate)
        if decimals is not None and MISSING not in parts[:1]:
            parts = tuple(_rounded(estimate.get(end), decimals) for end in ("value", "low", "high"))  # type: ignore[assignment]
        cells[key] = [parts[0], "" if MISSING in parts[1:] else f"{parts[1]} to {parts[2]}"]
    return cells


def _rounded(value: float | None, decimals: int) -> str:
    return MISSING if value is None else f"{round(value, decimals) + 0.0:,.{decimals}f}"


def _baseline(scores: dict[str, Any]) -> str:
    """The name of the simple model: what a text model is compared with is not linear."""
    name = scores.get("baseline", "linear model")
    return "linear model" if "linear" in name else name


def _second(scores: dict[str, Any]) -> str | None:
    known = scores["model"].get("metrics", {})
    return next((key for key in _SECOND if key in known), None)


def _carried(report: dict[str, Any]) -> list[RenderableType]:
    lines = report["verdict"]["details"][:_MAX_CARRIED]
    if not lines:
        return []
    title = "\nWhat carried it" if "holdout" in report else "\nThe model"
    return [Text(title, style="bold"), hanging((" -", Text(line)) for line in lines)]


def _checks(report: dict[str, Any], verbose: bool) -> list[RenderableType]:
    """Errors and warnings with what to do; the others are counted."""
    checks = report.get("checks", [])
    order = ("error", "warning", "info") if verbose else ("error", "warning")
    shown = [each for severity in order for each in checks if each["severity"] == severity]
    most = len(shown) if verbose else _MAX_CHECKS
    lines = [
        (Text(f" {each['severity']}", style=_SEVERITIES.get(each["severity"], "dim")), _check_line(each))
        for each in shown[:most]
    ]
    rest = [f"{count(len(shown) - most)} more are in the report"] if len(shown) > most else []
    rest += [f"{counted(n, 'check')} passed" for n in [sum(each["severity"] == "passed" for each in checks)] if n]
    parts: list[RenderableType] = []
    if lines:
        parts += [Text("\nWhat deserves attention", style="bold"), hanging(lines)]
    if rest:
        parts.append(Text(f"{'' if lines else chr(10)}{'; '.join(rest)}.".capitalize(), style="dim"))
    return parts


def _check_line(check: dict[str, Any]) -> Text:
    where = [visible(name, _MAX_NAME) for name in check["where"][:_MAX_NAMES]]
    where += ["..."] if len(check["where"]) > _MAX_NAMES else []
    columns = f" ({', '.join(where)})" if where else ""
    line = f"{check['title']}{columns}. {check['remedy']}".rstrip()
    return Text(f"{check['code']}  ", style="bold").append(line, style="not bold")


def _notes(report: dict[str, Any], verbose: bool) -> list[RenderableType]:
    notes = [*report.get("notes", []), *(report.get("columns", []) if verbose or "checks" not in report else [])]
    most = len(notes) if verbose else _MAX_NOTES
    if not notes:
        return []
    lines = [(" -", Text(note)) for note in notes[:most]]
    lines += [(" -", Text(f"{count(len(notes) - most)} more: --verbose shows them."))] if len(notes) > most else []
    return [Text("\nNotes", style="bold"), hanging(lines)]


def _other_data(report: dict[str, Any]) -> list[RenderableType]:
    other = report.get("other_data")
    if other is None:
        return []
    name = visible(other["file"])
    title = Text(f"\nOn {name}: {counted(other['n'], 'row')}", style="bold", no_wrap=True, overflow="ignore")
    return [title, ScoreTable(other), *(Text(f" - {visible(note)}") for note in other.get("notes", ()))]


def _files(report: dict[str, Any], commands: bool) -> list[RenderableType]:
    """Where the files are, and the commands to go on with."""
    saved, page = report.get("saved"), report.get("report_file")
    lines = [f"{name}  {path}" for name, path in (("Model ", saved), ("Report", page)) if path]
    if saved and commands:
        model = shlex.quote(saved)
        lines += ["", "Next", f"  mercer predict {model} NEW.csv", f"  mercer explain {model} NEW.csv"]
    return [Text(""), *(unwrapped(line) for line in lines)] if lines else []
