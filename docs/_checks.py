"""Checks of the built pages: nothing is loaded from the network, and every link inside them leads somewhere.

python docs/_checks.py docs/_build/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

#: Attributes whose address the browser fetches when it shows a page.
LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src")}
#: Kinds of <link> that the browser fetches.
FETCHED = {"stylesheet", "preload", "modulepreload", "icon", "shortcut", "manifest", "prefetch", "preconnect"}
_REMOTE = re.compile(r"(?:https?:)?//")
_IN_STYLE = re.compile(r"""(?:url\(\s*['"]?|@import\s+['"])((?:https?:)?//[^'")\s]+)""")


class Page(HTMLParser):
    """Addresses that a page loads, its links, and the anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.loads += [given[name] for kind, name in LOADED if kind == tag and name in given]
        if tag == "link" and FETCHED & set(given.get("rel", "").split()):
            self.loads.append(given.get("href", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += _IN_STYLE.findall(given.get("style", ""))


def pages_of(folder: Path) -> list[Path]:
    """The pages of a folder, without templates among the files of the theme."""
    return sorted(path for path in folder.rglob("*.html") if "_static" not in path.relative_to(folder).parts)


def remote_loads(folder: Path) -> Iterator[str]:
    """Addresses on the network that pages or style sheets of a folder load."""
    for path in pages_of(folder):
        text = path.read_text(encoding="utf-8")
        found = [address for address in Page(text).loads if _REMOTE.match(address)]
        found += [
            address
            for style in re.findall(r"<style.*?</style>", text, re.DOTALL)
            for address in _IN_STYLE.findall(style)
        ]
        yield from (f"{path.relative_to(folder)} loads {address}" for address in found)
    for path in sorted(folder.rglob("*.css")):
        found = _IN_STYLE.findall(path.read_text(encoding="utf-8", errors="replace"))
        yield from (f"{path.relative_to(folder)} loads {address}" for address in found)


def broken_links(folder: Path) -> Iterator[str]:
    """Links and images inside a folder whose file or anchor does not exist."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in pages_of(folder)}
    for path, page in sorted(pages.items()):
        for address in [*page.links, *page.loads]:
            if _REMOTE.match(address) or re.match(r"[a-z]+:", address):
                continue
            place, anchor = urldefrag(address)
            target = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            lost = not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].anchors)
            if lost:
                yield f"{path.relative_to(folder.resolve())} links to {address}"


def main(folder: Path) -> int:
    problems = [*remote_loads(folder), *broken_links(folder)]
    print("\n".join(problems) or f"{len(pages_of(folder))} pages: no network, no broken links")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
