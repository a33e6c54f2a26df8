"""Importances, effects, interactions and terms of columns as Markdown."""

from __future__ import annotations

from typing import Any

from mercer.report import format
from mercer.report.markdown.text import escaped, table, value


def render_columns(report: dict[str, Any]) -> list[str]:
    importances = report.get("importances") or {"columns": [], "metric": ""}
    rows = [
        (escaped(each["column"]), format.interval(each["increase"]), format.percent(each["fraction"]))
        for each in importances["columns"]
    ]
    heading = f"increase of the {escaped(format.metric_title(importances['metric']))} when shuffled"
    found = table(("column", heading, "part"), rows, 2)
    found += _effects(report) + _interactions(report) + _terms(report)
    return ["## Which columns matter", *found] if found else []


def render_scorecard(report: dict[str, Any]) -> list[str]:
    card = report.get("scorecard")
    if not card:
        return []
    rows = [
        (
            escaped(each["term"]),
            format.MISSING if each["output"] is None else escaped(each["output"], 40),
            format.number(each["strength"], 3),
            format.number(each["low"], 3),
            format.number(each["high"], 3),
        )
        for each in card["terms"]
    ]
    about = f"The model is a sum of points, in units of the {escaped(card['unit'])}."
    return ["## Scorecard", about, *table(("term", "of", "strength", "fewest points", "most points"), rows, 3)]


def _effects(report: dict[str, Any]) -> list[str]:
    rows = []
    for each in report.get("effects") or []:
        mean = each["mean"]
        if mean:
            low, high = min(range(len(mean)), key=mean.__getitem__), max(range(len(mean)), key=mean.__getitem__)
            ends = (f"{format.number(mean[i], 3)} at {value(each['x'][i])}" for i in (low, high))
            rows.append((escaped(each["column"]), _output(each["output"]), *ends))
    return table(("effect of", "on", "lowest", "highest"), rows)


def _output(output: Any) -> str:
    return "the prediction" if output is None else f"the probability of {escaped(output, 40)}"


def _interactions(report: dict[str, Any]) -> list[str]:
    rows = [
        (
            " and ".join(escaped(name, 40) for name in each["columns"]),
            _output(each["output"]),
            format.number(each["strength"], 3),
        )
        for each in report.get("interactions") or []
    ]
    return table(("columns that act together", "on", "strength"), rows, 1)


def _terms(report: dict[str, Any]) -> list[str]:
    rows = []
    for each in report.get("terms") or []:
        raising, lowering = (
            ", ".join(f"{escaped(one['term'], 40)} ({format.number(one['weight'], 3)})" for one in each[key][:12])
            for key in ("positive", "negative")
        )
        rows.append((escaped(each["column"]), _output(each["output"]), raising, lowering))
    return table(("text", "on", "terms that raise it", "terms that lower it"), rows)
