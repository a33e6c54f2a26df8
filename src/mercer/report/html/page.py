"""Pages from templates: environment, Content-Security-Policy, and the size limit."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mercer.report.format import counted, metric_title
from mercer.report.html import figures
from mercer.report.html.charts.axes import legend
from mercer.report.html.charts.bars import running_bar
from mercer.report.html.charts.scale import thinned
from mercer.report.html.figures.errors import THRESHOLD_CURVES
from mercer.report.html.figures.maps import boundary_labels
from mercer.report.html.filters import FILTERS, typeset
from mercer.report.html.glossary import GLOSSARY
from mercer.report.html.limits import MAX_BYTES, TIERS, Limits
from mercer.report.html.node import ReportNode, items, raw
from mercer.report.html.sections import add_up, ranges_of, severity_groups

_TEMPLATES = Path(__file__).parent / "templates"


def render_page(template: str, content: dict[str, Any], **context: Any) -> str:
    """Render a page, with less detail if it would exceed 1 MB."""
    page = ""
    for limits in TIERS:
        page = _render(template, content, limits, context)
        if len(page.encode()) <= MAX_BYTES:
            break
    return page


def render_part(template: str, content: dict[str, Any], **context: Any) -> str:
    """Render a part of a page without its frame."""
    return _render(template, content, TIERS[0], context)


def _render(template: str, content: dict[str, Any], limits: Limits, context: dict[str, Any]) -> str:
    report = ReportNode(content, limits=limits)
    return _environment().get_template(template).render(report=report, limits=limits, **_assets(), **context)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.globals.update({name: _on_nodes(getattr(figures, name)) for name in figures.__all__})
    environment.globals.update(
        add_up=_on_nodes(add_up),
        boundary_labels=_on_nodes(boundary_labels),
        counted=counted,
        glossary=GLOSSARY,
        items=items,
        known_terms=frozenset(key for key, _, _ in GLOSSARY),
        legend=legend,
        metric_title=_on_nodes(metric_title),
        ranges_of=_on_nodes(ranges_of),
        running_bar=running_bar,
        severity_groups=severity_groups,
        thinned=thinned,
        threshold_curves=THRESHOLD_CURVES,
        typeset=typeset,
    )
    return environment


def _on_nodes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with nodes replaced by their values."""

    def call(*arguments: Any) -> Any:
        return function(*(raw(each) if isinstance(each, ReportNode) else each for each in arguments))

    return call


@cache
def _assets() -> dict[str, Any]:
    """Style and script, which hold no data, and the policy that allows these two and nothing else."""
    style, script = _style(), _read("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "script": Markup(script), "policy": policy, "card_style": Markup(_read("card.css"))}


def _style() -> str:
    dark = _read("dark.css")
    chosen = f':root[data-theme="dark"] {{ {dark} }}'
    preferred = f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}'
    return f"{_read('style.css')}\n@media screen {{ {chosen} {preferred} }}\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
