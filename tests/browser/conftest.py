"""A browser for the tests: Playwright drives Debian's chromium."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
AXE = Path(__file__).parents[2] / ".venv/browser/node_modules/axe-core/axe.min.js"


def unavailable(reason: str) -> None:
    """Skip the test on a developer's machine; fail where the tools have to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("Playwright is not installed: run `make browser`.")
    if not CHROMIUM.exists():
        unavailable("There is no /usr/bin/chromium: run `make browser`, or install it with apt-get.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe_source() -> str:
    if not AXE.exists():
        unavailable("axe-core is not installed: run `make browser`.")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A function that opens HTML from a file, in a page that is there already or in a new one.

    At the end nothing was logged, requested or run that should not be.
    """
    contexts, problems, paths = [], [], []

    def open_html(html: str, width: int = 1440, page: Any = None, **options: Any) -> Any:
        paths.append(tmp_path / f"page{len(paths)}.html")
        paths[-1].write_text(html, encoding="utf-8")
        page = page or new_page(width, options)
        page.goto(paths[-1].as_uri())
        return page

    def new_page(width: int, options: dict[str, Any]) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: problems.append(f"popup: {popup.url}"))
        page.on("request", lambda request: _check_request(request.url, paths[-1], problems))
        return page

    yield open_html
    for context in contexts:
        context.close()
    assert problems == []


def _check_request(url: str, path: Path, problems: list[str]) -> None:
    if url.partition("#")[0] != path.as_uri():
        problems.append(f"request: {url[:200]}")
