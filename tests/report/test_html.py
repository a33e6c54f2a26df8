"""The HTML report: size, policy, escaping, what is left out, and every key of the schema."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from mercer.report.html import render_first_screen, render_html, render_inspection_html
from mercer.report.html.limits import MAX_BYTES, TIERS
from mercer.report.html.node import ReportNode, items
from mercer.report.html.page import render_part
from mercer.report.html.sections import present_sections
from report.payloads import PAYLOADS, replaced
from report.sample_reports import SAMPLES, everything, inspection, minimal_report, regression_report, wide_report

TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "p",
        "svg",
        "path",
        "button",
        "div",
        "nav",
        "ol",
        "li",
        "main",
        "section",
        "h1",
        "h2",
        "h3",
        "h4",
        "span",
        "bdi",
        "strong",
        "code",
        "ul",
        "figure",
        "figcaption",
        "line",
        "rect",
        "circle",
        "text",
        "dl",
        "dt",
        "dd",
        "details",
        "summary",
        "table",
        "caption",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "pre",
        "br",
        "wbr",
        "footer",
        "script",
    ]
)
ATTRIBUTES = frozenset(
    [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "href",
        "id",
        "type",
        "hidden",
        "aria-label",
        "aria-labelledby",
        "aria-hidden",
        "tabindex",
        "role",
        "viewbox",
        "d",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "width",
        "height",
        "stroke-width",
        "text-anchor",
        "scope",
        "data-path",
        "data-as",
        "data-sort",
    ]
)


class Skeleton(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.links, self.ids = [], set(), set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value for name, value in attrs if name in ("href", "src")}
        self.ids += [value for name, value in attrs if name == "id"]


@pytest.mark.parametrize("name", SAMPLES)
def test_page_is_small_and_well_formed(name):
    html = render_html(SAMPLES[name]())
    page = Skeleton(html)
    assert len(html.encode()) <= MAX_BYTES
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert len(set(page.ids)) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    headings = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


@pytest.mark.parametrize("text", ["é" * 5000, "\U000e0001" * 5000, '"&<' * 5000, "東" * 5000])
def test_page_is_small_whatever_the_texts(text):
    crowded = replaced({**wide_report(), "terms": everything()["terms"] * 50}, text)
    assert len(render_html(crowded).encode()) <= MAX_BYTES
    assert len(render_inspection_html({**inspection(), "profiles": crowded["profiles"]}).encode()) <= MAX_BYTES


def test_last_tier_fits_the_largest_report():
    worst = {**wide_report(), **{key: everything()[key] * 50 for key in ("terms", "certificates", "blocks")}}
    worst["reproduction"] = {**worst["reproduction"], "data": worst["reproduction"]["data"] * 100}
    worst = replaced(worst, "\U000e0001" * 5000)
    html = render_part("report.html.j2", worst, sections=present_sections(worst), rows=True)
    assert len(html.encode()) > MAX_BYTES  # so that the tiers matter
    assert len(render_html(worst).encode()) <= MAX_BYTES
    assert len(str(ReportNode(worst, limits=TIERS[-1]).target)) == TIERS[-1].name


def test_long_lists_say_what_is_left_out():
    html = render_html(wide_report())
    assert re.search(r"1,[0-9]{3} columns more are not shown", html)
    assert "representations more are not shown" in html


SOURCES = {render_html: everything, render_first_screen: everything, render_inspection_html: inspection}


@cache
def plain_page(render):
    return Skeleton(render(SOURCES[render]()))


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.parametrize("render", SOURCES)
def test_payloads_add_no_element_and_no_attribute(payload, render):
    page, plain = Skeleton(render(replaced(SOURCES[render](), payload))), plain_page(render)
    # The bars of dates and categories differ, and invalid dates become categories: other elements do not.
    drawn = {"path", "rect", "line", "circle", "text", "title", "svg", "figure", "strong", "bdi", "span", "p"}
    drawn |= {"li", "code", "wbr", "div", "dt", "dd", "tr", "td", "th", "a"}
    assert set(page.tags) <= set(plain.tags) | {"bdi"}
    assert page.attributes <= plain.attributes
    assert page.links <= plain.links | {link for link in page.links if link.startswith("#term-")}
    for tag in set(page.tags) - drawn:
        assert page.tags.count(tag) == plain.tags.count(tag), tag


def test_policy_allows_only_the_style_and_the_script_of_the_page():
    html = render_html(regression_report())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert re.search(r'\sstyle="', html) is None


def test_style_and_script_hold_no_data():
    pages = [render_html(replaced(everything(), payload)) for payload in ("first", "second")]
    for tag in ("style", "script"):
        first, second = (re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for page in pages)
        assert first == second


def test_rendering_does_not_change_the_report():
    report = everything()
    before = copy.deepcopy(report)
    render_html(report)
    render_html(report, rows=False)
    render_first_screen(report)
    assert report == before


def test_rows_are_left_out_on_request():
    report = everything()
    report["profiles"] = [{**each, "top": [{"category": "a secret text", "rows": 1}]} for each in report["profiles"]]
    report["examples"]["worst"][0]["contributions"][0]["value"] = "a secret value"
    with_rows, without = render_html(report), render_html(report, rows=False)
    assert "Rows explained" in with_rows
    assert "a secret value" in with_rows
    assert "Rows explained" not in without
    assert "a secret value" not in without
    assert 'class="dots' in with_rows
    assert 'class="dots' not in without
    assert "mark point0" not in without
    dated = {**report["profiles"][0], "role": "date", "reason": "written as '1/2/2023'"}
    assert "1/2/2023" in render_html({**report, "profiles": [dated]})
    assert "1/2/2023" not in render_html({**report, "profiles": [dated]}, rows=False)
    texts = [each for each in report["profiles"] if each["role"] == "text"]
    assert with_rows.count("a secret text") - without.count("a secret text") == len(texts)


def test_every_section_is_there_in_the_order_of_the_contents():
    html = render_html(everything())
    found = re.findall(r'<section id="(\w+)"', html)
    assert found == [key for key, _ in present_sections(everything())]
    assert len(found) == 11
    assert re.findall(r'<section id="(\w+)"', render_html(minimal_report())) == ["verdict", "repeat", "glossary"]


@pytest.mark.parametrize("missing", sorted(set(everything()) - set(minimal_report())))
def test_any_section_may_be_absent(missing):
    report = {key: value for key, value in everything().items() if key != missing}
    assert len(render_html(report)) < len(render_html(everything()))


def test_first_screen_has_no_ids_scripts_or_links():
    page = Skeleton(render_first_screen(regression_report()))
    assert page.ids == []
    assert "script" not in page.tags
    assert page.links == set()
    assert Skeleton(render_first_screen(minimal_report())).tags[0] == "div"


def test_nodes_know_their_paths():
    node = ReportNode({"a": [{"b": 1.5}], "t": "x<y", "value": {"items": 2}})
    assert [each.b._path for each in node.a] == ["a.0.b"]
    assert node.t.__html__() == "<bdi>x&lt;y</bdi>"
    assert not node.missing.deeper
    assert len(node.missing) == 0
    assert node["value"]["items"] == 2
    assert next((str(key), value._path) for key, value in items(node)) == ("a", "a")
    with pytest.raises(TypeError, match=r"a\.0\.b needs a filter"):
        node.a[0].b.__html__()
