"""Type inference over all values of a column of strings: booleans, integers, numbers, dates, or text.

Each kind is a candidate until a value contradicts it. `TypeCandidates` keeps those that are left: a late 1.5 leaves
"number" but not "integer", a late "n.a." leaves only text.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from mercer.io.checks.written_numbers import DASHES, WRITTEN, WrittenEvidence, may_be_written, parse_written

_BOOLEANS = ("true", "false")
_INFINITIES = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
_HOURS = ("", " %H:%M", " %H:%M:%S")
_FIRST_ROWS = 32
_HEAD_ROWS, _MAX_EXCEPTIONS = 2048, 0.05  # rows searched for exceptions, and their largest fraction
_MAX_FLOAT = 1e17  # an integer of 18 digits would be rounded as float64
_NOT_PLAIN = r"^[+-]?(0\d+|0[xX].*|\d{18,})$"
_NO_YEAR = "0000"
_EARLIEST = pa.scalar(-5364662400_000_000, pa.int64())  # year 1800 in microseconds: "1.2.20" is not the year 20

TYPES = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.timestamp("us"),
    "text": pa.string(),
}


class UnparsableValue(ValueError):
    """A value that a kind cannot hold; `row` is its index in the column."""

    def __init__(self, row: int, value: str):
        super().__init__(f"{value!r} in row {row}")
        self.row, self.value = row, value


def parse(column: pa.Array, form: str, decimal: str = ".") -> pa.Array:
    """A column of strings (null where missing) in one of `forms()`; UnparsableValue names the first exception."""
    parsed, lost = parse_lenient(column, form, decimal)
    if pc.any(lost).as_py():
        row = pc.index(lost, True).as_py()
        raise UnparsableValue(row, column[row].as_py())
    return parsed


def parse_lenient(column: pa.Array, form: str, decimal: str = ".") -> tuple[pa.Array, pa.Array]:
    """The column in `form`, null where a value cannot be parsed, and the mask of those values."""
    parsed = column if form == "text" else _quick(column, form, decimal)
    if parsed is not None:
        return parsed, pa.array([False])
    values = pc.utf8_trim_whitespace(column)
    if form in WRITTEN:
        parsed = parse_written(values, form, decimal)
    else:
        parsed = _PARSERS[form](values, decimal) if form in _PARSERS else _parse_date(values, form)
    return parsed, pc.and_(pc.is_null(parsed), pc.is_valid(column))


def forms() -> list[str]:
    """All formats of columns, in order of preference."""
    dates = ["iso", "iso+zone", *(day + hour for day in _DAYS for hour in _HOURS)]
    return ["boolean", "integer", "number", *dates, *WRITTEN]


def kind(form: str) -> str:
    """The kind of column that a form gives."""
    return form if form in TYPES else "number" if form in WRITTEN else "date"


class TypeCandidates:
    """The forms that all values so far agree with, and the first value that contradicted each of the others.

    With `declared`, a kind, only its forms are candidates, and `settle` picks the one that fits most values. With
    `expected`, the kind that a model was fitted to, numbers need less evidence. Dashes among numbers or dates are
    missing values.
    """

    def __init__(self, decimal: str = ".", declared: str | None = None, expected: str | None = None):
        self.decimal, self.declared, self.expected = decimal, declared, expected
        self.left = [form for form in forms() if declared is None or (declared == kind(form) and form not in WRITTEN)]
        self.contradicted: dict[str, tuple[int, str]] = {}
        self.seen = self.rows = self.n_dashes = 0
        self.head: pa.Array | None = None
        self.written = WrittenEvidence(decimal)

    def update(self, column: pa.Array) -> pa.Array:
        """Drop the forms that these values contradict, and parse them in the form now preferred."""
        parsed = {}
        if self.head is None and len(column):
            self.head = column[:_HEAD_ROWS]
        if column.null_count < len(column) and self.declared is None and self.left:
            values = self._without_dashes(column) if self._first(column)[1].strip() in DASHES else column
            if values.null_count < len(values):
                self._drop_unlikely(values)
            for form in list(self.left):
                if self._is_implied(form):
                    continue
                found, reason = self._tried(values, form)
                if reason is not None and values is column and reason.value.strip() in DASHES:
                    values = self._without_dashes(column)
                    found, reason = self._tried(values, form)
                parsed[form] = found
                if reason is not None:
                    self._contradict(form, reason.row, reason.value)
            if not set(self.left) - set(WRITTEN) and self.left:
                self.written.update(values)
        self.seen += len(column) - column.null_count
        self.rows += len(column)
        ready = parsed.get(self.form)
        return parse_lenient(column, self.form, self.decimal)[0] if ready is None else ready

    def _is_implied(self, form: str) -> bool:
        """Whether another form that is left stands for this one as well."""
        if form == "number":
            return "integer" in self.left  # every integer is a number
        if form == WRITTEN[1] and "number" in self.left and "integer" not in self.left:
            self.left.remove(form)  # it has the decimal mark of the file
            return True
        return form in WRITTEN and "number" in self.left

    def _without_dashes(self, column: pa.Array) -> pa.Array:
        """The column with null for dashes, if it may be one of numbers or dates."""
        dashes = pc.is_in(pc.utf8_trim_whitespace(column), value_set=pa.array(DASHES))
        count = pc.sum(dashes).as_py()
        self.n_dashes += count
        return pc.if_else(dashes, None, column) if count else column

    def settle(self, column: pa.Array) -> None:
        """Keep the form of the declared kind that fits most values of this column."""
        if self.declared is not None and len(self.left) > 1 and column.null_count < len(column):
            self.left = [min(self.left, key=lambda form: pc.sum(parse_lenient(column, form, self.decimal)[1]).as_py())]

    def has_some(self, wanted: str) -> bool:
        """Whether some of the first values are of a kind."""
        head = pa.array([], pa.string()) if self.head is None else self.head
        lost = (parse_lenient(head, form, self.decimal)[1] for form in forms() if kind(form) == wanted)
        return any(pc.sum(each).as_py() < len(head) - head.null_count for each in lost)

    def exception(self) -> tuple[int, str, str] | None:
        """(row, value, form) of a value that turned a column of another kind into text."""
        if self.form != "text" or self.declared is not None:
            return None
        found = [(row, value, form) for form, (row, value) in self.contradicted.items() if row >= _FIRST_ROWS]
        row, value = self.contradicted.get("number", (0, ""))
        if re.fullmatch(r"[+-]?\d+(\.\d*)?[eE]\+?\d+", value.strip()):  # only too large for a number
            return row, value, "number"
        return max(found) if found else self._early_exception()

    def _early_exception(self) -> tuple[int, str, str] | None:
        """The same for a value near the beginning, if nearly all values of the first rows are numbers or dates."""
        present = 0 if self.head is None else len(self.head) - self.head.null_count
        for form in () if present < _FIRST_ROWS // 2 else self.contradicted:
            lost = parse_lenient(self.head, form, self.decimal)[1]
            if 0 < pc.sum(lost).as_py() <= _MAX_EXCEPTIONS * present:
                row = pc.index(lost, True).as_py()
                value = self.head[row].as_py()  # type: ignore[index]
                return None if value.strip().isdigit() else (row, value, form)  # 007 is a code
        return None

    def _drop_unlikely(self, column: pa.Array) -> None:
        """Drop the forms that the first value rules out, which saves time in tables of thousands of columns."""
        row, value = self._first(column)
        for form in [form for form in self.left if not _may_be(value.strip(), form)]:
            self._contradict(form, row, value)

    def _tried(self, column: pa.Array, form: str) -> tuple[pa.Array | None, UnparsableValue | None]:
        """The column in this form, or the value that contradicts it."""
        try:
            parse(column[:_FIRST_ROWS], form, self.decimal)  # most forms are contradicted here
            return parse(column, form, self.decimal), None
        except UnparsableValue as reason:
            return None, reason

    def _contradict(self, form: str, row: int, value: str) -> None:
        self.left.remove(form)
        self.contradicted[form] = (self.rows + row, value)

    @staticmethod
    def _first(column: pa.Array) -> tuple[int, str]:
        """The row and value of the first value that is not missing."""
        row = pc.index(pc.is_valid(column), True).as_py()
        return row, column[row].as_py()

    @property
    def form(self) -> str:
        """The preferred form; a column of only missing values counts as numbers."""
        if self.declared is not None:
            return self.left[0] if self.left else "text"
        if self.seen == 0:
            return "number"
        if self.seen == self.n_dashes:
            return "text"
        left = [form for form in self.left if form not in WRITTEN or self._is_certain(form)]
        ambiguous = {day for day in left if day.startswith(("%d/", "%m/"))}
        if {day[:2] for day in ambiguous} == {"%d", "%m"}:
            return "text"  # 03/04/2020 throughout: day and month cannot be distinguished
        return left[0] if left else "text"

    def _is_certain(self, form: str) -> bool:
        return self.written.is_certain(form, self.expected in ("integer", "number"))

    def remarks(self, name: str) -> list[str]:
        """Notes on values that were read as something else than they look."""
        found = [self.written.describe(name, self.form)] if self.form in WRITTEN else []
        if self.n_dashes and self.form != "text":
            found.append(f"Column {name!r}: {self.n_dashes} dashes are read as missing values.")
        if self.form == "text" and self.left and self.seen > self.n_dashes and self.written.example is not None:
            found.append(
                f"Column {name!r} is text, although its values look like numbers ({self.written.example!r}): it is not "
                "certain which, or units differ. Write them plainly."
            )
        return found


def _may_be(value: str, form: str) -> bool:
    """Whether a value can have a form, judging by a few characters."""
    if form == "boolean":
        return value.lower() in _BOOLEANS
    if form == "integer":
        return value.lstrip("+-").isdigit()
    if form in WRITTEN:
        return may_be_written(value)
    if form in ("iso", "iso+zone"):
        return value[4:5] == "-"
    return value.count(form[2]) == 2 if form.startswith("%") else True


def _quick(column: pa.Array, form: str, decimal: str) -> pa.Array | None:
    """The parsed column if all values are ordinary, ten times faster than the parsers; else None."""
    if form not in ("integer", "number", "iso") or (decimal != "." and form == "number"):
        return None
    try:
        parsed = pc.cast(column, TYPES[kind(form)])
    except pa.ArrowInvalid:
        return None
    if form == "iso":
        return None if pc.any(pc.starts_with(column, _NO_YEAR)).as_py() else parsed
    doubtful = pc.or_(_led_by_zero(column, "0"), pc.or_(_led_by_zero(column, "-0"), _led_by_zero(column, "+0")))
    if form == "number":
        if not pc.all(pc.is_finite(parsed)).as_py():
            return None
        doubtful = pc.or_(doubtful, pc.greater_equal(pc.abs(parsed), _MAX_FLOAT))
    odd = pc.any(pc.match_substring_regex(column.filter(doubtful), _NOT_PLAIN)).as_py()
    return None if odd else parsed


def _led_by_zero(column: pa.Array, zero: str) -> pa.Array:
    return pc.and_not(pc.starts_with(column, zero), pc.starts_with(column, zero + "."))


def _parse_boolean(values: pa.Array, _: str) -> pa.Array:
    lowered = pc.utf8_lower(values)
    known = pc.is_in(lowered, value_set=pa.array(_BOOLEANS))
    return pc.if_else(known, pc.equal(lowered, "true"), pa.scalar(None, pa.bool_()))


def _parse_integer(values: pa.Array, _: str) -> pa.Array:
    """Digits with a sign that fit 64 bits. 007 is a code, not a number."""
    fits = pc.and_(pc.match_substring_regex(values, r"^[+-]?\d{1,19}$"), pc.invert(_coded(values)))
    digits = pc.if_else(fits, values, None)
    if pc.any(pc.starts_with(digits, "+")).as_py():
        digits = pc.utf8_ltrim(digits, "+")
    return _cast_or_null(digits, pa.int64())


def _parse_number(values: pa.Array, decimal: str) -> pa.Array:
    """Values that float64 can hold, except integers that it would round."""
    if decimal != ".":
        values = pc.if_else(pc.match_substring(values, "."), None, values)
        values = pc.replace_substring(values, decimal, ".")
    form = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
    infinite = pc.is_in(pc.utf8_lower(values), value_set=pa.array(_INFINITIES))
    good = pc.and_(pc.match_substring_regex(values, form), pc.invert(_coded(values)))
    good = pc.and_(good, pc.invert(pc.match_substring_regex(values, r"^[+-]?\d{18,}$")))
    parsed = pc.cast(pc.if_else(pc.or_(good, infinite), values, None), pa.float64())
    return pc.if_else(pc.or_(infinite, pc.is_finite(parsed)), parsed, pa.scalar(None, pa.float64()))


def _coded(values: pa.Array) -> pa.Array:
    return pc.match_substring_regex(values, r"^[+-]?0\d+$")


def _parse_date(values: pa.Array, form: str) -> pa.Array:
    if form == "iso":
        shape = r"^\d{4}-\d\d-\d\d([ T]\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?$"
        return _cast_where(values, shape, pa.timestamp("us"))
    if form == "iso+zone":
        shape = r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)$"
        return _cast_where(values, shape, pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    parsed = pc.strptime(values, format=form, unit="us", error_is_null=True)
    return pc.if_else(pc.greater(parsed.cast(pa.int64()), _EARLIEST), parsed, None)


def _cast_where(values: pa.Array, shape: str, kind: pa.DataType) -> pa.Array:
    fits = pc.and_(pc.match_substring_regex(values, shape), pc.invert(pc.starts_with(values, _NO_YEAR)))
    return _cast_or_null(pc.if_else(fits, values, None), kind)


def _cast_or_null(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """The cast, null for invalid values: 20 digits, the 31st of February."""
    try:
        return pc.cast(values, kind)
    except pa.ArrowInvalid:
        if len(values) == 1:
            return pa.nulls(1, kind)
        half = len(values) // 2
        return pa.concat_arrays([_cast_or_null(values[:half], kind), _cast_or_null(values[half:], kind)])


_PARSERS = {"boolean": _parse_boolean, "integer": _parse_integer, "number": _parse_number}
