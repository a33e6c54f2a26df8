"""What a column of text holds, decided over all of its values: booleans, whole numbers, numbers, dates, or text.

Each kind is a candidate until a value contradicts it. `Candidates` keeps those that are left; a late 1.5 ends "whole
number" and leaves "number", a late "n.a." leaves text.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_BOOLEANS = ("true", "false")
_INFINITIES = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
_HOURS = ("", " %H:%M", " %H:%M:%S")
_FEW = 32
_HEAD, _STRAYS = 2048, 0.05  # rows looked at for values that make text of the rest, and their largest share
_LONG = 1e17  # a whole number of 18 digits would not survive as float64
_NOT_PLAIN = r"^[+-]?(0\d+|0[xX].*|\d{18,})$"
_EARLIEST = pa.scalar(-5364662400_000_000, pa.int64())  # year 1800 in microseconds: "1.2.20" is not the year 20

TYPES = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.timestamp("us"),
    "text": pa.string(),
}


class NotThat(ValueError):
    """A value that a kind cannot hold; `row` is its place in the column."""

    def __init__(self, row: int, value: str):
        super().__init__(f"{value!r} in row {row}")
        self.row, self.value = row, value


def parse(column: pa.Array, form: str, decimal: str = ".") -> pa.Array:
    """A column of text (null where missing) as one of `forms()`; NotThat names the first value that is not."""
    parsed, lost = lenient(column, form, decimal)
    if pc.any(lost).as_py():
        row = pc.index(lost, True).as_py()
        raise NotThat(row, column[row].as_py())
    return parsed


def lenient(column: pa.Array, form: str, decimal: str = ".") -> tuple[pa.Array, pa.Array]:
    """The column as `form`, null where a value is not that, and the mask of those values."""
    parsed = column if form == "text" else _quick(column, form, decimal)
    if parsed is not None:
        return parsed, pa.array([False])
    values = pc.utf8_trim_whitespace(column)
    parsed = _PARSERS[form](values, decimal) if form in _PARSERS else _parse_date(values, form)
    return parsed, pc.and_(pc.is_null(parsed), pc.is_valid(column))


def forms() -> list[str]:
    """Every way to read a column, in the order in which they are preferred."""
    return ["boolean", "integer", "number", "iso", "iso+zone", *(day + hour for day in _DAYS for hour in _HOURS)]


def kind(form: str) -> str:
    """The kind of column that a form gives."""
    return form if form in TYPES else "date"


class Candidates:
    """The forms that every value so far agrees with, and the first value that ended each of the others.

    With `declared`, a kind, only its forms are candidates, and `settle` picks the one that most values fit.
    """

    def __init__(self, decimal: str = ".", declared: str | None = None):
        self.decimal, self.declared = decimal, declared
        self.left = [form for form in forms() if declared in (None, kind(form))]
        self.ended: dict[str, tuple[int, str]] = {}
        self.seen = self.rows = 0
        self.head: pa.Array | None = None

    def see(self, column: pa.Array) -> pa.Array:
        """Drop what the values of this column contradict, and give it in the form now preferred."""
        parsed = {}
        if self.head is None and len(column):
            self.head = column[:_HEAD]
        if column.null_count < len(column) and self.declared is None:
            self._drop_unlike(column)
            for form in list(self.left):
                if form == "number" and "integer" in self.left:
                    continue  # every whole number is a number
                parsed[form] = self._tried(column, form)
        self.seen += len(column) - column.null_count
        self.rows += len(column)
        ready = parsed.get(self.form)
        return lenient(column, self.form, self.decimal)[0] if ready is None else ready

    def settle(self, column: pa.Array) -> None:
        """Of the forms of the declared kind keep the one that fits most values of this column, the first there is."""
        if self.declared is not None and len(self.left) > 1 and column.null_count < len(column):
            self.left = [min(self.left, key=lambda form: pc.sum(lenient(column, form, self.decimal)[1]).as_py() or 0)]

    def stray(self) -> tuple[int, str, str] | None:
        """(row, value, form) of a value that made text of what had long been something else."""
        if self.form != "text" or self.declared is not None:
            return None
        late = [(row, value, form) for form, (row, value) in self.ended.items() if row >= _FEW]
        return max(late) if late else self._early()

    def _early(self) -> tuple[int, str, str] | None:
        """The same of a value near the beginning, where nearly all values of the first rows are numbers or dates."""
        present = 0 if self.head is None else len(self.head) - self.head.null_count
        for form in () if present < _FEW // 2 else self.ended:
            lost = lenient(self.head, form, self.decimal)[1]
            if 0 < (pc.sum(lost).as_py() or 0) <= _STRAYS * present:
                row = pc.index(lost, True).as_py()
                value = self.head[row].as_py()  # type: ignore[index]
                return None if value.strip().isdigit() else (row, value, form)  # 007 is a code and means to be one
        return None

    def _drop_unlike(self, column):
        """End the forms that a glance at the first value rules out: tables of thousands of columns are in a hurry."""
        row = pc.index(pc.is_valid(column), True).as_py()
        value = column[row].as_py()
        for form in [form for form in self.left if not _may_be(value.strip(), form)]:
            self.left.remove(form)
            self.ended[form] = (self.rows + row, value)

    def _tried(self, column, form):
        try:
            parse(column[:_FEW], form, self.decimal)  # most forms end here, at once
            return parse(column, form, self.decimal)
        except NotThat as reason:
            self.left.remove(form)
            self.ended[form] = (self.rows + reason.row, reason.value)
            return None

    @property
    def form(self) -> str:
        """The preferred form; a column of nothing but missing values counts as numbers."""
        if self.declared is not None:
            return self.left[0] if self.left else "text"
        if self.seen == 0:
            return "number"
        ambiguous = {day for day in self.left if day.startswith(("%d/", "%m/"))}
        if {day[:2] for day in ambiguous} == {"%d", "%m"}:
            return "text"  # 03/04/2020 all the way: nobody knows which is the day
        return self.left[0] if self.left else "text"


def _may_be(value: str, form: str) -> bool:
    """False where a value cannot be that, for a letter it has not or should not have."""
    if form == "boolean":
        return value.lower() in _BOOLEANS
    if form == "integer":
        return value.lstrip("+-").isdigit()
    if form in ("iso", "iso+zone"):
        return value[4:5] == "-"
    return value.count(form[2]) == 2 if form.startswith("%") else True


def _quick(column, form, decimal):
    """What the parsers say of a column of nothing but ordinary values, ten times sooner; or None."""
    if form not in ("integer", "number", "iso") or (decimal != "." and form == "number"):
        return None
    try:
        parsed = pc.cast(column, TYPES[kind(form)])
    except pa.ArrowInvalid:
        return None
    if form == "iso":
        return parsed
    doubtful = pc.or_(_led_by_zero(column, "0"), _led_by_zero(column, "-0"))
    if form == "number":
        if not pc.all(pc.is_finite(parsed)).as_py():
            return None
        doubtful = pc.or_(doubtful, pc.greater_equal(pc.abs(parsed), _LONG))
    odd = pc.any(pc.match_substring_regex(column.filter(doubtful), _NOT_PLAIN)).as_py()
    return None if odd else parsed


def _led_by_zero(column, zero):
    return pc.and_not(pc.starts_with(column, zero), pc.starts_with(column, zero + "."))


def _parse_boolean(values, _):
    lowered = pc.utf8_lower(values)
    known = pc.is_in(lowered, value_set=pa.array(_BOOLEANS))
    return pc.if_else(known, pc.equal(lowered, "true"), pa.scalar(None, pa.bool_()))


def _parse_integer(values, _):
    """Digits with a sign that fit 64 bits. 007 is no number but a code: its zeros mean something."""
    fits = pc.and_(pc.match_substring_regex(values, r"^[+-]?\d{1,19}$"), pc.invert(_coded(values)))
    digits = pc.if_else(fits, values, None)
    if pc.any(pc.starts_with(digits, "+")).as_py():
        digits = pc.utf8_ltrim(digits, "+")
    return _cast_or_null(digits, pa.int64())


def _parse_number(values, decimal):
    """Anything float64 can hold, whole numbers too long for it excepted: their digits would change."""
    if decimal != ".":
        values = pc.if_else(pc.match_substring(values, "."), None, values)
        values = pc.replace_substring(values, decimal, ".")
    form = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
    infinite = pc.is_in(pc.utf8_lower(values), value_set=pa.array(_INFINITIES))
    good = pc.and_(pc.match_substring_regex(values, form), pc.invert(_coded(values)))
    good = pc.and_(good, pc.invert(pc.match_substring_regex(values, r"^[+-]?\d{18,}$")))
    parsed = pc.cast(pc.if_else(pc.or_(good, infinite), values, None), pa.float64())
    return pc.if_else(pc.or_(infinite, pc.is_finite(parsed)), parsed, pa.scalar(None, pa.float64()))


def _coded(values):
    return pc.match_substring_regex(values, r"^[+-]?0\d+$")


def _parse_date(values, form):
    if form == "iso":
        shape = r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"
        return _cast_where(values, shape, pa.timestamp("us"))
    if form == "iso+zone":
        shape = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)$"
        return _cast_where(values, shape, pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    parsed = pc.strptime(values, format=form, unit="us", error_is_null=True)
    return pc.if_else(pc.greater(parsed.cast(pa.int64()), _EARLIEST), parsed, None)


def _cast_where(values, shape, kind):
    return _cast_or_null(pc.if_else(pc.match_substring_regex(values, shape), values, None), kind)


def _cast_or_null(values, kind):
    """The cast, null for what cannot be: 20 digits, the 31st of February."""
    try:
        return pc.cast(values, kind)
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, kind)
        half = len(values) // 2
        return pa.concat_arrays([_cast_or_null(values[:half], kind), _cast_or_null(values[half:], kind)])


_PARSERS = {"boolean": _parse_boolean, "integer": _parse_integer, "number": _parse_number}
