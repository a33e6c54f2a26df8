"""The Markdown report: its tables, and data that stay texts."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from markdown_it import MarkdownIt

from mercer.report.format import visible
from mercer.report.markdown import render_markdown
from mercer.report.markdown.text import code_block, escaped, table
from report.payloads import PAYLOADS, replaced
from report.sample_reports import SAMPLES, everything, minimal_report, regression_report

PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False}).enable("table")


@cache
def kinds(text):
    """How many tokens of each kind a Markdown text has."""
    return Counter(inner.type for token in PARSER.parse(text) for inner in (token, *(token.children or [])))


def contents(text):
    """The texts of all blocks."""
    return [
        "".join(each.content for each in token.children if each.type in ("text", "text_special"))
        for token in PARSER.parse(text)
        if token.type == "inline"
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_reports_are_tables_and_sentences(name):
    text = render_markdown(SAMPLES[name]())
    assert text.startswith("# Report: ")
    found = kinds(text)
    assert found["heading_open"] == text.count("\n## ") + 1
    assert not {"html_block", "html_inline", "link_open", "image", "code_inline"} & set(found)
    assert name == "minimal" or found["table_open"] >= 5


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_payloads_stay_texts(payload):
    assert contents(escaped(payload, 60)) == [visible(payload, 60).strip()]
    text = render_markdown(replaced(everything(), payload))
    plain = render_markdown(replaced(everything(), "x"))
    assert set(kinds(text)) <= set(kinds(plain)) | {"text_special"}
    for kind in ("heading_open", "table_open", "tr_open", "td_open", "th_open", "bullet_list_open", "fence"):
        assert kinds(text)[kind] == kinds(plain)[kind], kind


def test_numbers_are_formatted_as_everywhere():
    text = render_markdown(regression_report())
    assert "| R² | 0.841 (0.829 to 0.853) | 0.602 (0.582 to 0.622) | -0.0003 (-0.0009 to 0.0003) |" in text
    assert "20,640 rows" in text
    assert "No rows were held out" in render_markdown(minimal_report())


def test_tables_and_code():
    assert table(("a", "b"), []) == []
    assert table(("a", "b"), [("x", "1")], 1) == ["| a | b |\n| --- | --: |\n| x | 1 |"]
    assert table(("a",), [("x",)] * 201)[1] == "1 more row not shown."
    assert code_block("a ``` b\nc\x00") == "````\na ``` b\nc\\x00\n````"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("median_income", "median_income"),
        ("-0.5", "-0.5"),
        ("8.3252", "8.3252"),
        ("- item", "&#45; item"),
        ("1. item", "&#49;. item"),
        ("a|b", "a\\|b"),
        ("<b>", "&lt;b&gt;"),
        ("two\nlines", "two\\\\nlines"),
        ("https://example.org @me #3", "https&#58;//example.org &#64;me \\#3"),
    ],
)
def test_escaping(text, shown):
    assert escaped(text) == shown
