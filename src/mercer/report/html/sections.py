"""Which sections a page has, and small computations on sections that only serve their display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.report.html.figures.columns import effect_ranges
from mercer.report.html.node import ReportNode, raw

SEVERITIES = (
    ("error", "Looks wrong", "✕"),
    ("warning", "Deserves attention", "!"),
    ("info", "Good to know", "i"),
    ("passed", "Passed", "✓"),
)
#: (id, title, keys of the report of which one at least is needed). Sections without keys are always there.
SECTIONS = (
    ("verdict", "Verdict", ()),
    ("checks", "Checks", ("checks", "notes", "columns")),
    ("representations", "Representations tried", ("candidates", "blocks")),
    ("metrics", "All metrics", ("holdout", "other_data")),
    ("scorecard", "Scorecard", ("scorecard",)),
    ("columns", "Which columns matter", ("importances", "effects", "interactions", "terms")),
    ("errors", "Where the model errs", ("residuals", "calibration", "confusion", "thresholds", "examples", "slices")),
    ("limits", "Limits of the model", ("learning_curve", "kernel_map", "boundary", "certificates")),
    ("profiles", "Column profiles", ("profiles", "target_profile")),
    ("repeat", "How to repeat it", ()),
    ("glossary", "Glossary", ()),
)


def present_sections(report: dict[str, Any]) -> list[tuple[str, str]]:
    """(id, title) of the sections with content."""
    return [(key, title) for key, title, needs in SECTIONS if not needs or any(report.get(need) for need in needs)]


def without_rows(report: dict[str, Any]) -> dict[str, Any]:
    """The report without anything that shows single rows: examples, points, and values of text columns."""
    shown = {key: value for key, value in report.items() if key != "examples"}
    if shown.get("boundary"):
        shown["boundary"] = {**shown["boundary"], "points": []}
    if shown.get("residuals"):
        shown["residuals"] = {**shown["residuals"], "predicted": [], "actual": []}
    if shown.get("profiles"):
        shown["profiles"] = [_without_values(profile) for profile in shown["profiles"]]
    return shown


def _without_values(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile without values of single rows: texts, identifiers, and the date that shows how dates are written."""
    if profile["role"] in ("number", "category", "constant"):
        return profile
    if profile["role"] == "date":
        return {**profile, "reason": ""}
    return {**profile, "reason": "", "top": [], "histogram": None, "min": None, "max": None}


def severity_groups(checks: ReportNode) -> list[tuple[str, str, str, list[ReportNode]]]:
    """(severity, title, sign, checks) from the most to the least severe."""
    return [
        (severity, title, sign, [each for each in checks if raw(each.severity) == severity])
        for severity, title, sign in SEVERITIES
    ]


def ranges_of(effects: Sequence[dict[str, Any]] | None, most: int) -> dict[str, tuple[float, float]]:
    """The vertical ranges of the effects that are shown, by output."""
    return effect_ranges(list(effects or ())[:most])


def add_up(example: dict[str, Any], most: int) -> dict[str, Any]:
    """Running totals of the contributions that are shown, the rest, the ends of their scale, and the decimals."""
    totals = [example["baseline"]]
    for each in example["contributions"][:most]:
        totals.append(totals[-1] + each["contribution"])
    rest = example["score"] - totals[-1]
    low, high = min(*totals, example["score"]), max(*totals, example["score"])
    size = max(abs(low), abs(high))
    decimals = next((n for n, bound in ((0, 1e4), (1, 1e3), (2, 1e2), (3, 1e-1)) if size >= bound), 4)
    return {"totals": totals, "rest": rest, "low": low, "high": high, "decimals": decimals}
