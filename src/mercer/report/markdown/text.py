"""Texts, tables and code in Markdown, in which data never become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from mercer.report import format

MAX_ROWS = 200
#: Characters that start markup anywhere; an underscore only where it does not join words.
_SPECIAL = re.compile(r"[\\`*{}\[\]<>#|~$&@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
#: Starts of lists, at the start of a text.
_LIST = re.compile(r"^(\s*)([-+](?=[-\s]|$)|=|\d+(?=[.)](?:\s|$)))")
_REFERENCES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", ":": "&#58;", "@": "&#64;", ".": "&#46;"}


def escaped(text: Any, limit: int = 80) -> str:
    """A text in which nothing is markup: no HTML, links, mentions, lists, tables, code or line breaks."""
    shown = _SPECIAL.sub(lambda match: _REFERENCES.get(match[0], f"\\{match[0]}"), format.visible(text, limit))
    return _LIST.sub(lambda match: match[1] + "".join(f"&#{ord(char)};" for char in match[2]), shown)


def sentence(text: Any) -> str:
    """A longer text."""
    return escaped(text, 600)


def code_block(text: str) -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{format.visible(text, 6000, keep=chr(10)).rstrip()}\n{fence}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> list[str]:
    """A table whose last `numbers` columns are aligned to the right, and a line on rows that are left out."""
    rows = list(rows)
    if not rows:
        return []
    rules = ["---"] * (len(headings) - numbers) + ["--:"] * numbers
    lines = [headings, rules, *rows[:MAX_ROWS]]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    left_out = len(rows) - MAX_ROWS
    return [text] if left_out <= 0 else [text, f"{format.counted(left_out, 'more row')} not shown."]


def estimate(found: dict[str, Any] | None) -> str:
    """An estimate with its interval."""
    return format.MISSING if found is None else format.interval(found)


def value(found: Any) -> str:
    """A number or a text."""
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return format.number(found) if is_number else escaped(found, 40)
