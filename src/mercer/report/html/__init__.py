"""Reports as HTML: one file with everything it needs, readable without scripts."""

from __future__ import annotations

from typing import Any

from mercer.report.html.page import render_page, render_part
from mercer.report.html.sections import present_sections, without_rows

__all__ = ["render_comparison_html", "render_first_screen", "render_html", "render_inspection_html"]


def render_html(report: dict[str, Any], rows: bool = True) -> str:
    """Render the whole report as one HTML file of at most 1 MB.

    With `rows=False` no data rows are shown: no examples, no points of rows, no values of text columns.
    """
    report = report if rows else without_rows(report)
    return render_page("report.html.j2", report, sections=present_sections(report), rows=rows)


def render_first_screen(report: dict[str, Any]) -> str:
    """Render verdict, scores and a summary of the checks as a fragment for notebooks: no script, no ids."""
    return render_part("card.html.j2", report)


def render_inspection_html(found: dict[str, Any]) -> str:
    """Render what `mercer inspect` finds in a file as one HTML file of at most 1 MB."""
    sections = [("checks", "Checks"), ("profiles", "Column profiles")]
    return render_page("inspection.html.j2", found, sections=sections, rows=True)


def render_comparison_html(found: dict[str, Any]) -> str:
    """Render what `mercer compare` finds as one HTML file of at most 1 MB."""
    sections = [("columns", "Columns"), ("rows", "Strangest rows")]
    return render_page("comparison.html.j2", found, sections=sections, rows=True)
