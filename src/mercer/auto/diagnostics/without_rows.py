"""A report without values of single rows."""

from __future__ import annotations

from typing import Any


def without_rows(report: dict[str, Any]) -> dict[str, Any]:
    """The report without examples, and without points that are rows of the data; curves and counts stay."""
    found = {name: section for name, section in report.items() if name != "examples"}
    for name, keys in {"residuals": ("predicted", "actual"), "boundary": ("points",)}.items():
        if name in found:
            found[name] = found[name] | {key: [] for key in keys}
    return found
