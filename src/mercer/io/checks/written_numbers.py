"""Numbers as people write them: $1,234.50, (12.5), 7 %, U+2212 for minus; and the evidence that they are numbers.

`1,234` alone may be a thousand or one and a bit. A column is read as numbers only where some of its values settle that:
`1,234,567` and `1,234.5` have a separator of thousands, `1,5` and `0,123` a decimal comma.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

#: Forms of columns: separators of thousands, or the other decimal mark.
WRITTEN = ("written", "written swapped")
#: What stands for a missing number.
DASHES = ("-", "--", "\u2013", "\u2014")

_SIGNS = "$\u20ac\u00a3\u00a5"
_MINUS = "\u2212\u2012\u2013\ufe63\uff0d"
_BLANKS = " \u00a0\u2009\u202f"
_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def marks(form: str, decimal: str) -> tuple[str, str]:
    """The separator of thousands and the decimal mark of a form."""
    other = "," if decimal == "." else "."
    return (other, decimal) if form == WRITTEN[0] else (decimal, other)


def parse_written(values: pa.Array, form: str, decimal: str) -> pa.Array:
    """The numbers, null for values of another form."""
    group, mark = marks(form, decimal)
    values = pc.replace_substring_regex(values, f"^[{_MINUS}]", "-")
    separators = f"\\{group}'\u2019{_BLANKS}" if form == WRITTEN[0] else f"'\u2019{_BLANKS}"
    whole = f"(?:0|[1-9]\\d{{0,17}}|[1-9]\\d{{0,2}}(?:[{separators}]\\d{{3}})+)"
    body = f"(?:{whole}(?:\\{mark}\\d*)?|\\{mark}\\d+)"
    money = f"[{_SIGNS}]?[{_BLANKS}]?{body}[{_BLANKS}]?[{_SIGNS}]?[{_BLANKS}]?%?"
    good = pc.match_substring_regex(values, f"^(?:[+-]?{money}|[{_SIGNS}]-{body}|\\({money}\\))$")
    good = pc.and_(good, pc.invert(pc.match_substring_regex(values, r"\d{18,}")))
    values = pc.if_else(good, values, None)
    negative = pc.match_substring_regex(values, r"^\(|-")
    digits = pc.replace_substring_regex(values, f"[^0-9\\{mark}]", "")
    parsed = pc.cast(pc.replace_substring(digits, mark, "."), pa.float64())
    parsed = pc.if_else(negative, pc.negate(parsed), parsed)
    return pc.if_else(pc.ends_with(values, "%"), pc.divide(parsed, 100.0), parsed)


def may_be_written(value: str) -> bool:
    """Whether a value can be a number, judging by its characters."""
    return any(letter.isdigit() for letter in value) and not any(letter.isalpha() for letter in value)


class WrittenEvidence:
    """What the values of a column show: how they are written, and whether that settles what they mean."""

    def __init__(self, decimal: str):
        self.decimal = decimal
        self.seen = self.percent = self.grouped = self.settled = self.swapped = 0
        self.signs: set[str] = set()
        self.example: str | None = None

    def update(self, column: pa.Array) -> None:
        """Add the values of a block, all of them written numbers."""
        values = pc.drop_null(pc.utf8_trim_whitespace(column))
        group, mark = marks(WRITTEN[0], self.decimal)
        self.seen += len(values)
        self.percent += _count(values, "%$")
        self.signs |= {sign for sign in _SIGNS if pc.any(pc.match_substring(values, sign)).as_py()}
        self.grouped += _count(values, f"\\d[\\{group}'\u2019{_BLANKS}]\\d")
        separator = f"[\\{group}'\u2019{_BLANKS}]"
        self.settled += _count(values, f"\\d{separator}\\d{{3}}(?:{separator}\\d{{3}}|\\{mark})")
        self.swapped += _count(values, f"^\\D*\\d*\\{group}(?:\\d{{1,2}}|\\d{{4,}})\\D*$|^\\D*0\\{group}\\d")
        if self.example is None:
            odd = pc.invert(pc.match_substring_regex(values, _PLAIN))
            found = pc.index(odd, True).as_py()
            self.example = values[found].as_py() if found >= 0 else None

    def is_certain(self, form: str, expected: bool) -> bool:
        """Whether the values mean numbers of this form; `expected` if a model says that the column holds numbers."""
        if self.percent not in (0, self.seen) or len(self.signs) > 1 or self.example is None:
            return False
        if form == WRITTEN[1]:
            return self.swapped > 0
        dollars = bool(self.signs) and self.signs <= set("$\u00a3\u00a5") and self.decimal == "."
        return self.swapped == 0 and (self.grouped == 0 or self.settled > 0 or dollars or expected)

    def describe(self, name: str, form: str) -> str:
        """A note on how the column was read."""
        group, mark = marks(form, self.decimal)
        how = [f"{sign} left out" for sign in sorted(self.signs)]
        how += ["per cent as hundredths"] * bool(self.percent)
        how += [f"{group!r} separates thousands"] * bool(self.grouped and form == WRITTEN[0])
        how += [f"{mark!r} is the decimal mark"] * (form == WRITTEN[1])
        shown = f" ({', '.join(how)})" if how else ""
        return f"Column {name!r} is read as numbers, written as {self.example!r}{shown}."


def _count(values: pa.Array, pattern: str) -> int:
    return pc.sum(pc.match_substring_regex(values, pattern), min_count=0).as_py()
