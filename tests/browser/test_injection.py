"""Data never becomes markup: every payload in every place of the report, in a browser."""

from __future__ import annotations

from typing import Any

import pytest

from estimates import LONG
from mercer.report.format import visible
from mercer.report.html import render_first_screen, render_html, render_inspection_html
from report.payloads import PAYLOADS, replaced, texts
from report.sample_reports import everything, inspection

FORBIDDEN = (
    "iframe, img, object, embed, link, form, input, base, video, audio, textarea, select, meta[http-equiv=refresh]"
)
PROBE = """() => ({
    pwned: window.__pwned,
    scripts: document.scripts.length,
    styles: document.querySelectorAll('style').length,
    forbidden: [...document.querySelectorAll(FORBIDDEN)].map(e => e.outerHTML.slice(0, 200)),
    handlers: [...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).map(a => a.name)
        .filter(name => name.startsWith('on') || name === 'style' || name === 'srcdoc'),
    links: [...document.querySelectorAll('[href], [src]')].map(e => e.getAttribute('href') || e.getAttribute('src'))
        .filter(link => !link.startsWith('#')),
    title: document.title,
    headings: [...document.querySelectorAll('h1')].map(e => e.textContent),
    text: document.body.textContent,
})""".replace("FORBIDDEN", repr(FORBIDDEN))


def assert_harmless(page: Any, payload: str, n_scripts: int) -> dict[str, Any]:
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    found = page.evaluate(PROBE)
    assert found["pwned"] is None
    assert (found["scripts"], found["styles"]) == (n_scripts, 1)
    assert (found["forbidden"], found["handlers"], found["links"]) == ([], [], [])
    assert "49" not in found["text"].split() or payload != "{{7*7}}"
    return found


def test_there_are_many_payloads_and_places():
    assert len(PAYLOADS) >= 40
    places = {path.strip(".").partition(".")[0] for path in texts(everything())}
    sections = {key for key, value in everything().items() if any(True for _ in texts({key: value}))}
    assert places == sections
    assert len(list(texts(everything()))) > 500


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 11))
def test_nothing_in_a_report_runs(visit, start):
    page = None
    for payload in PAYLOADS[start : start + 11]:
        page = visit(render_html(replaced(everything(), payload)), page=page)
        found = assert_harmless(page, payload, 1)
        assert found["headings"] == [f"Predicting {visible(payload, 60)}"]
        assert found["title"].split() == f"{visible(payload, 80)}: Mercer report".split()
        assert found["text"].count(visible(payload, 30)) > 20 or len(payload) > 30


@pytest.mark.parametrize("i", range(0, len(PAYLOADS), 1 if LONG else 6))
def test_nothing_in_an_inspection_or_a_notebook_runs(visit, i):
    payload = PAYLOADS[i]
    found = assert_harmless(visit(render_inspection_html(replaced(inspection(), payload))), payload, 1)
    assert found["headings"] == [visible(payload, 80)]
    card = render_first_screen(replaced(everything(), payload))
    found = assert_harmless(visit(f"<!doctype html><meta charset=utf-8><body>{card}</body>"), payload, 0)
    assert visible(payload, 80) in found["text"]
