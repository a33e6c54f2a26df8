"""Text that a spreadsheet would run as a formula, or that would steer a terminal, made harmless in written tables.

A spreadsheet evaluates a value of a CSV file that begins with =, +, - or @, also after a tab or a carriage return:
https://owasp.org/www-community/attacks/CSV_Injection. An apostrophe before the value makes it text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

#: Numbers with a sign, telephone numbers and the like hold nothing that could be called.
_FORMULA = r"^[\t\r ]*([=@]|[+-][^\n]*[A-Za-z|!])"
_SIGNED_NUMBER = r"^[\t\r ]*[+-](([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?|([iI]nf|[nN]a[nN])[a-z]*)$"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f]|\x{80}|[\x{81}-\x{9f}]"


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would evaluate this text.

    >>> [is_formula(text) for text in ("=cmd()", "@SUM(A1)", "-2+cmd|x", "-2", "+49 30 1234", "-1e5", "a=b")]
    [True, True, True, False, False, False, False]
    """
    return bool(re.search(_FORMULA, text)) and not re.search(_SIGNED_NUMBER, text)


def harmless(text: str) -> str:
    """The text, after an apostrophe if a spreadsheet would evaluate it."""
    return f"'{text}" if is_formula(text) else text


def harmless_row(values: Iterable[Any]) -> list[Any]:
    """A row of a CSV file with all text made harmless."""
    return [harmless(value) if isinstance(value, str) else value for value in values]


def harmless_column(column: Any) -> tuple[Any, int]:
    """An Arrow column of text with formulas made harmless, and their number; other columns as they are."""
    import pyarrow.compute as pc

    if not _is_text(column):
        return column, 0
    found = pc.and_not(
        pc.match_substring_regex(column, pattern=_FORMULA), pc.match_substring_regex(column, pattern=_SIGNED_NUMBER)
    )
    count = pc.sum(found).as_py()
    if not count:
        return column, 0
    return pc.if_else(found, pc.binary_join_element_wise("'", column, ""), column), count


def without_escapes(column: Any) -> Any:
    """An Arrow column of text for a terminal: control characters are replaced by U+FFFD."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(column, pattern=_CONTROL, replacement="\ufffd") if _is_text(column) else column


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
