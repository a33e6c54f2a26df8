"""Residuals, calibration, confusion, slices and explained rows as Markdown."""

from __future__ import annotations

from typing import Any

from mercer.report import format
from mercer.report.markdown.text import escaped, table


def render_errors(report: dict[str, Any]) -> list[str]:
    found = _residuals(report) + _calibration(report) + _confusion(report) + _slices(report) + _examples(report)
    return ["## Where the model errs", *found] if found else []


def _residuals(report: dict[str, Any]) -> list[str]:
    trend = (report.get("residuals") or {}).get("trend", [])
    keys = ("predicted", "residual", "low", "high", "n")
    rows = [[format.number(each[key]) for key in keys] for each in trend]
    return table(("prediction", "mean residual", "low", "high", "rows"), rows, 5)


def _calibration(report: dict[str, Any]) -> list[str]:
    bins = (report.get("calibration") or {}).get("bins", [])
    rows = [
        [format.percent(each["predicted"]), format.percent(each["observed"]), format.count(each["n"])] for each in bins
    ]
    points = (report.get("thresholds") or {}).get("points", [])
    keys = ("threshold", "precision", "recall", "f1", "accuracy", "selected")
    shown = points[:: max(1, len(points) // 10)]
    choices = (report.get("thresholds") or {}).get("costs", [])
    costs = ("false_positive", "false_negative", "threshold", "cost", "cost_at_half")
    return [
        *table(("predicted", "observed", "rows"), rows, 3),
        *table(keys, ([format.number(each[key], 3) for key in keys] for each in shown), 6),
        *table(
            [key.replace("_", " ") for key in costs],
            ([format.number(each[key], 3) for key in costs] for each in choices),
            5,
        ),
    ]


def _confusion(report: dict[str, Any]) -> list[str]:
    confusion = report.get("confusion") or {"classes": [], "counts": []}
    names = [escaped(name, 30) for name in confusion["classes"]]
    rows = [(name, *(format.count(n) for n in row)) for name, row in zip(names, confusion["counts"], strict=False)]
    return table(("true \\\\ predicted", *names), rows, len(names))


def _slices(report: dict[str, Any]) -> list[str]:
    rows = [
        (
            f"{escaped(each['column'])} {escaped(each['condition'])}",
            escaped(format.metric_title(each["metric"])),
            format.interval(each["score"]),
            format.number(each["rest"], 3),
            format.number(each["p_value"], 2),
            format.count(each["n"]),
        )
        for each in report.get("slices") or []
    ]
    return table(("rows where", "metric", "these rows", "other rows", "p-value", "rows"), rows, 4)


def _examples(report: dict[str, Any]) -> list[str]:
    examples = report.get("examples") or {"worst": [], "typical": []}
    parts = []
    for title, rows in (("Largest error", examples["worst"]), ("Typical row", examples["typical"])):
        for each in rows[:5]:
            steps = [
                (escaped(one["column"], 40), escaped(one["value"], 40), format.number(one["contribution"]))
                for one in each["contributions"][:12]
            ]
            rest = each["score"] - each["baseline"] - sum(one["contribution"] for one in each["contributions"][:12])
            body = [
                ("baseline", "", format.number(each["baseline"])),
                *steps,
                ("all other columns", "", format.number(rest)),
            ]
            parts.append(
                f"{title}, row {format.count(each['row'])}: "
                f"predicted {escaped(each['predicted'])}, actual {escaped(each['actual'])}."
            )
            parts += table(
                ("column", "value", "contribution"), [*body, ("**sum**", "", f"**{format.number(each['score'])}**")], 1
            )
    return parts
