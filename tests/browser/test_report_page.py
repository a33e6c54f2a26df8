"""The report in a browser: widths, light and dark, print, scripts off, keyboard, accessibility, numbers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from estimates import LONG
from mercer.report.format import estimate_parts
from mercer.report.html import render_first_screen, render_html, render_inspection_html
from mercer.report.html.filters import formatted, typeset
from report.sample_reports import SAMPLES, everything, inspection, regression_report, two_class_report

WIDTHS = (390, 800, 1440)
PAGES = {
    **{name: lambda make=make: render_html(make()) for name, make in SAMPLES.items()},
    "everything": lambda: render_html(everything()),
    "without_rows": lambda: render_html(everything(), rows=False),
    "inspection": lambda: render_inspection_html(inspection()),
}
SHOWN = PAGES if LONG else {name: PAGES[name] for name in ("everything", "minimal", "many_classes", "inspection")}


@pytest.mark.parametrize("name", SHOWN)
def test_page_fits_every_width_in_light_and_dark(visit, name):
    html = PAGES[name]()
    backgrounds = set()
    for scheme in ("light", "dark"):
        page = visit(html, color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (scheme, width)
            assert page.locator("h1").is_visible()
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(backgrounds) == 2


def test_charts_stay_inside_their_pictures(visit):
    page = visit(render_html(everything()))
    outside = page.evaluate(
        """() => [...document.querySelectorAll('svg.chart text')].filter(text => {
            const box = text.getBoundingClientRect(), frame = text.closest('svg').getBoundingClientRect();
            return box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 2;
        }).map(text => text.textContent)"""
    )
    assert outside == []


@pytest.mark.parametrize("name", SHOWN)
def test_page_prints_everything(visit, name):
    page = visit(PAGES[name]())
    page.emulate_media(media="print")
    hidden = page.evaluate(
        """() => [...document.querySelectorAll('details table, details ul')]
            .filter(each => each.getBoundingClientRect().height === 0).length"""
    )
    assert hidden == 0
    assert not page.locator("nav").is_visible()
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    sizes = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", pdf)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) == len(sizes) >= 1
    assert {(round(float(w)), round(float(h))) for w, h in sizes} <= {(595, 842), (596, 842), (595, 841)}


@pytest.mark.parametrize("name", SHOWN)
def test_page_is_complete_without_scripts(visit, name):
    def count(page: Any) -> list[int]:
        kinds = ("table", "tbody tr", "svg[role=img]", "section", "details", "[data-path]", "th[scope]")
        return [page.locator(kind).count() for kind in kinds]

    html = PAGES[name]()
    plain = visit(html, java_script_enabled=False)
    assert count(plain) == count(visit(html))
    assert not plain.locator("#theme").is_visible()
    assert plain.locator("main > section").count() == plain.locator("main > section:visible").count()


def test_theme_button_switches_colors(visit):
    page = visit(render_html(regression_report()), color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Use dark colors").click()
    dark = page.evaluate(background)
    page.get_by_role("button", name="Use light colors").click()
    assert page.evaluate(background) == light != dark


def test_keyboard_reaches_skip_link_and_sorts_tables(visit):
    page = visit(render_html(regression_report()))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    header = page.locator("table.candidates th", has_text="Loss")
    losses = "[...document.querySelectorAll('table.candidates tbody tr')].map(row => +row.cells[3].dataset.sort)"
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    down = page.evaluate(losses)
    page.keyboard.press("Space")
    assert header.get_attribute("aria-sort") == "ascending"
    assert page.evaluate(losses) == sorted(down)
    assert down == sorted(down, reverse=True)
    names = page.locator("table.candidates th", has_text="Representation")
    names.get_by_role("button").press("Enter")
    assert names.get_attribute("aria-sort") == "ascending"
    assert header.get_attribute("aria-sort") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["everything", "inspection", "text", "minimal"] if LONG else ["everything", "inspection"]
)
def test_axe_finds_nothing_serious(visit, axe_source, name, scheme):
    page = visit(PAGES[name](), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.evaluate(axe_source)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        {"id": each["id"], "nodes": [node["html"][:200] for node in each["nodes"][:3]]}
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert len(found["passes"]) > 15


def value_at(report: Any, path: str) -> Any:
    for key in path.split("."):
        report = report[int(key)] if isinstance(report, list) else report[key]
    return report


def expected(report: Any, path: str, how: str) -> str:
    if how != "estimate":
        return formatted(value_at(report, path), how)
    parent, _, end = path.rpartition(".")
    return typeset(estimate_parts(value_at(report, parent))[("value", "low", "high").index(end)])


@pytest.mark.parametrize("make", [everything, two_class_report, inspection], ids=lambda make: make.__name__)
def test_numbers_on_the_page_are_those_of_the_report(visit, make):
    report = make()
    html = render_inspection_html(report) if make is inspection else render_html(report)
    shown = visit(html).evaluate(
        "[...document.querySelectorAll('[data-path]')].map(e => [e.dataset.path, e.dataset.as, e.textContent])"
    )
    assert len(shown) > 60
    report = json.loads(json.dumps(report))
    assert [each for each in shown if each[2] != expected(report, each[0], each[1])] == []


def test_first_screen_twice_in_a_notebook(visit):
    card = render_first_screen(two_class_report())
    frames = ("background:#fff;color:#111", "background:#111;color:#eee")
    html = "<!doctype html><meta charset=utf-8><title>x</title>"
    page = visit(html + "".join(f'<div style="{frame}">{card}</div>' for frame in frames), width=800)
    assert page.locator(".mercer-card").count() == 2
    assert page.locator(".mercer-card [id], .mercer-card script").count() == 0
    colors = [each.evaluate("e => getComputedStyle(e).color") for each in page.locator(".mercer-sentence").all()]
    assert colors == ["rgb(17, 17, 17)", "rgb(238, 238, 238)"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
