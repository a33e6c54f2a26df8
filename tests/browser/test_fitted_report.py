"""Reports of real fits in a browser: hostile names and values, sizes, numbers, widths."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mercer
from auto.diagnostics.held_out_cases import mixed_table, texts
from browser.test_report_page import WIDTHS, expected
from estimates import LONG
from report.payloads import PAYLOADS


def _hostile():
    """Payloads as the names of columns, as categories, as texts and as classes."""
    rng = np.random.default_rng(0)
    n, marks = 300, [payload for payload in PAYLOADS if "\0" not in payload and "\ud800" not in payload]
    signal = rng.normal(size=n)
    table = {f"{marks[0]} {j}": signal + rng.normal(size=n) for j in range(2)}
    table[marks[1]] = np.array(marks[2:8], dtype=object)[rng.integers(0, 6, n)]
    table["text"] = np.array([f"{marks[9]} {marks[10]} word{k} {k}" for k in rng.integers(0, 80, n)], dtype=object)
    table[marks[11]] = np.where(signal > 0, marks[12], marks[13]).astype(object)
    return table, marks[11], {"roles": {"text": "text"}}


def _mixed(classes):
    table, signal = mixed_table(300, np.random.default_rng(1))
    target = np.where(signal > 1, "yes", "no").astype(object) if classes else 1000 * signal
    return {**table, "price": target}, "price", {}


def _many_classes():
    table, signal = mixed_table(1200, np.random.default_rng(2))
    return {**table, "kind": [f"class {k}" for k in np.argsort(np.argsort(signal)) // 12]}, "kind", {}


def _wide():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2000))
    return {f"a column of many {j}": column for j, column in enumerate(X.T)} | {"y": X[:, 0]}, "y", {}


def _texts():
    text, good = texts(300, np.random.default_rng(4), 1500)
    return {"text": text, "good": good}, "good", {}


def _ten_rows():
    return {"x": np.arange(10.0), "y": np.arange(10.0) ** 2}, "y", {}


KINDS = {
    "hostile": _hostile,
    "regression": lambda: _mixed(False),
    "ten rows": _ten_rows,
    **(
        {"classes": lambda: _mixed(True), "hundred classes": _many_classes, "wide": _wide, "texts": _texts}
        if LONG
        else {}
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_of_a_fit(visit, kind):
    data, target, options = KINDS[kind]()
    model = mercer.fit(data, target, effort="fast", **options)
    html = model.report_html()
    assert len(html.encode()) <= 1_000_000
    page = visit(html)
    shown = page.evaluate(
        "[...document.querySelectorAll('[data-path]')].map(e => [e.dataset.path, e.dataset.as, e.textContent])"
    )
    assert len(shown) > 20
    report = json.loads(json.dumps(model.report()))
    assert [each for each in shown if each[2] != expected(report, each[0], each[1])] == []
    assert page.evaluate("window.__pwned") is None
    assert page.locator("script").count() == 1
    assert page.locator("iframe, object, embed, img, link, form").count() == 0
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
