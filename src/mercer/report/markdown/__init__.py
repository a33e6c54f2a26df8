"""Reports as GitHub-flavored Markdown: the content of the HTML report as tables, without pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.report import format
from mercer.report.markdown.columns import render_columns, render_scorecard
from mercer.report.markdown.errors import render_errors
from mercer.report.markdown.text import MAX_ROWS, code_block, escaped, estimate, sentence, table, value

__all__ = ["render_markdown"]


def render_markdown(report: dict[str, Any]) -> str:
    """Render the report as Markdown. Texts of unknown origin are escaped, so that they stay texts."""
    parts = [part for section in _SECTIONS for part in section(report)]
    return "\n\n".join(parts) + "\n"


def _verdict(report: dict[str, Any]) -> list[str]:
    verdict, split = report["verdict"], report.get("split")
    target = f" of {escaped(report['target'])}" if report["target"] else ""
    parts = [f"# Report: {escaped(report['task'])}{target}", f"**{sentence(verdict['sentence'])}**"]
    if verdict["details"]:
        parts.append("\n".join(f"- {sentence(each)}" for each in verdict["details"]))
    parts.append(f"{format.counted(report['rows'], 'row')}; effort {escaped(report['effort'])}.")
    return [*parts, sentence(split["sentence"])] if split else parts


def _checks(report: dict[str, Any]) -> list[str]:
    checks = report.get("checks") or []
    order = ("error", "warning", "info", "passed")
    rows = [
        (
            check["severity"],
            f"{sentence(check['title'])} ({escaped(check['code'])})",
            sentence(check["message"]),
            ", ".join(escaped(name, 40) for name in check["where"][:20]),
            sentence(check["remedy"]),
            format.count(check["count"]),
        )
        for check in sorted(checks, key=lambda check: order.index(check["severity"]))
    ]
    notes = [f"- {sentence(note)}" for note in [*report["notes"], *report["columns"]][:MAX_ROWS]]
    found = table(("severity", "check", "found", "where", "what to do", "count"), rows, 1)
    found += ["\n".join(notes)] if notes else []
    return ["## Checks", *found] if found else []


def _representations(report: dict[str, Any]) -> list[str]:
    blocks = [
        (
            escaped(each["title"]),
            format.percent(each["gain_fraction"]),
            format.count(each["width"]),
            format.number(each["penalty"], 3),
        )
        for each in report["blocks"]
    ]
    candidates = [
        (
            escaped(each["name"]),
            "kept" if each["kept"] else "dropped",
            escaped(each["why"] or "", 120),
            format.number(each["loss"]),
            format.count(each["width"]),
            format.seconds(each["seconds"]),
        )
        for each in report["candidates"]
    ]
    found = table(("block", "fraction of the gain", "features", "penalty"), blocks, 3)
    found += table(("representation", "outcome", "why", "loss", "features", "time"), candidates, 3)
    return ["## Representations tried", f"The model: {sentence(report['model'])}.", *found]


def _scores(scores: dict[str, Any]) -> list[str]:
    models = [key for key in ("model", "linear", "naive") if scores.get(key)]
    titles = {"model": "this model", "linear": "linear model", "naive": "naive guess"}
    rows = [
        (format.metric_title(key), *(estimate(scores[model]["metrics"].get(key)) for model in models))
        for key in scores["model"]["metrics"]
    ]
    return table(("metric", *(titles[model] for model in models)), rows, len(models))


def _coverage(report: dict[str, Any]) -> list[str]:
    found = report.get("intervals")
    if not found:
        return []
    width = "mean width" if found["kind"] == "intervals" else "mean number of classes"
    rows = [
        (format.percent(each["level"]), estimate(each), format.number(each["width"], 4)) for each in found["levels"]
    ]
    about = f"{sentence(found['sentence'])} Method: {escaped(found['method'])}."
    return [about, *table(("level", "coverage", width), rows, 2)]


def _metrics(report: dict[str, Any]) -> list[str]:
    holdout, other = report.get("holdout"), report.get("other_data")
    parts = []
    if holdout:
        about = f"On {format.counted(holdout['n'], 'held-out row')}; {sentence(holdout['interval'])}."
        parts += ["## All metrics", about, *_scores(holdout), *_coverage(report)]
    if other and other.get("model"):
        parts += [f"## On other data: {escaped(other.get('name') or other.get('file') or '')}", *_scores(other)]
        parts += [f"- {sentence(note)}" for note in other.get("notes", ())]
    return parts


def _limits(report: dict[str, Any]) -> list[str]:
    curve, kernel = report.get("learning_curve"), report.get("kernel_map")
    found = []
    if curve:
        rows = [(format.count(each["n"]), format.interval(each["score"])) for each in curve["points"]]
        found += [
            sentence(curve["sentence"]),
            *table(("training rows", escaped(format.metric_title(curve["metric"]))), rows, 2),
        ]
    found += [sentence(kernel["sentence"])] if kernel else []
    certificates = [
        (
            escaped(each["block"]),
            escaped(each["quantity"]),
            format.number(each["bound"], 3),
            format.number(each["measured"], 3),
            format.percent(each["confidence"]),
        )
        for each in report.get("certificates") or []
    ]
    found += table(("approximation", "error", "bound", "measured", "confidence"), certificates, 3)
    return ["## Limits of the model", *found] if found else []


def _profiles(report: dict[str, Any]) -> list[str]:
    target = [report["target_profile"]] if report.get("target_profile") else []
    rows = [
        (
            escaped(each["column"]),
            escaped(each["type"]),
            escaped(each["role"]),
            format.MISSING if each["min"] is None else f"{value(each['min'])} to {value(each['max'])}",
            format.number(each["mean"]),
            format.count(each["n_missing"]),
            ("" if each["n_distinct_is_exact"] else "about ") + format.count(each["n_distinct"]),
            format.MISSING if each["association"] is None else format.number(each["association"]["value"], 3),
        )
        for each in [*target, *(report.get("profiles") or [])]
    ]
    headings = ("column", "type", "role", "range", "mean", "missing", "distinct", "association")
    return ["## Column profiles", *table(headings, rows, 4)] if rows else []


def _reproduction(report: dict[str, Any]) -> list[str]:
    again = report.get("reproduction")
    if not again:
        return []
    parts = ["## How to repeat it"]
    parts += [code_block(text) for text in (again["command"], again["code"]) if text]
    parts.append(
        f"Seed {format.count(again['seed'])}; rows {escaped(again['rows_hash'])}; made {escaped(again['created'])}."
    )
    parts += table(("version of", ""), [(escaped(name), escaped(each)) for name, each in again["versions"].items()])
    files = [
        (escaped(each.get("name", "")), escaped(each.get("sha256") or ""), format.count(each.get("rows")))
        for each in again["data"]
    ]
    parts += table(("file", "SHA-256", "rows"), files, 1)
    return parts + table(
        ("stage", "time"), [(escaped(each["stage"]), format.seconds(each["seconds"])) for each in again["seconds"]], 1
    )


_SECTIONS: tuple[Callable[[dict[str, Any]], list[str]], ...] = (
    _verdict,
    _checks,
    _representations,
    _metrics,
    render_scorecard,
    render_columns,
    render_errors,
    _limits,
    _profiles,
    _reproduction,
)
