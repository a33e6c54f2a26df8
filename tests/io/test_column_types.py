"""The kind of a column follows from all of its values, and each value is parsed as it is written, or not at all."""

import datetime
import math

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from mercer.io import read_table
from mercer.io.column_types import TypeCandidates, UnparsableValue, forms, kind, parse, parse_lenient

DAY = datetime.datetime
MAX, MIN = 2**63 - 1, -(2**63)

#: The values of a column, its kind, and its values as read; None where they are the text.
COLUMNS = {
    "integers": (["1", "-2", "+3", " 4 ", "0", "-0"], "integer", [1, -2, 3, 4, 0, 0]),
    "the largest integers": ([str(MAX), str(MIN)], "integer", [MAX, MIN]),
    "beyond the largest integer": ([str(MAX + 1), "1"], "text", None),
    "below the smallest integer": ([str(MIN - 1), "1"], "text", None),
    "18 digits among integers": (["1" * 18, "1"], "integer", [int("1" * 18), 1]),
    "18 digits among numbers": (["1" * 18, "1.5"], "text", None),
    "17 digits among numbers": (["1" * 16 + "2", "1.5"], "number", [11111111111111112.0, 1.5]),
    "17 digits below zero among numbers": (["-" + "1" * 17, "0.5"], "number", [-11111111111111111.0, 0.5]),
    "18 digits below zero among numbers": (["-" + "1" * 18, "0.5"], "text", None),
    "codes": (["007", "12"], "text", None),
    "codes below zero": (["-07", "12"], "text", None),
    "codes above zero": (["+07", "1.5"], "text", None),
    "codes among numbers": (["01", "1.5"], "text", None),
    "codes of zeros among numbers": (["1.5", "-00", "+00"], "text", None),
    "several zeros": (["00", "1"], "text", None),
    "hexadecimal": (["0x1F", "0xA"], "text", None),
    "fractions": (["1.5", ".5", "-.5", "5.", "+0.25", "007.5"], "number", [1.5, 0.5, -0.5, 5.0, 0.25, 7.5]),
    "powers": (["1e3", "1E+3", "2.5e-1", "-.5e1"], "number", [1000.0, 1000.0, 0.25, -5.0]),
    "no digits": (["e5", "1.5"], "text", None),
    "no exponent": (["1e", "1.5"], "text", None),
    "a point alone": (["+.", "1.5"], "text", None),
    "two points": (["1.2.3", "1.5"], "text", None),
    "digits of other scripts": (["١٢", "3"], "text", None),
    "too large": (["1e400", "1.5"], "text", None),
    "too small": (["1e-400", "1.5"], "number", [0.0, 1.5]),
    "infinities": (["inf", "-Infinity", "+INF", "1"], "number", [math.inf, -math.inf, math.inf, 1.0]),
    "booleans": (["true", "FALSE", "True"], "boolean", [True, False, True]),
    "booleans and integers": (["true", "1"], "text", None),
    "gaps": (["1", "", "NA", "?", "NaN", "2"], "integer", [1, None, None, None, None, 2]),
    "gaps alone": (["", "NA"], "number", [None, None]),
    "gaps among dates": (["2020-01-02", ".", "null"], "date", [DAY(2020, 1, 2), None, None]),
    "days": (["2020-02-29", "0001-01-01"], "date", [DAY(2020, 2, 29), DAY(1, 1, 1)]),
    "a day that is not": (["2020-02-30", "2020-01-01"], "text", None),
    "the year 0": (["0000-01-01", "2020-01-01"], "text", None),
    "hours": (["2020-01-02 03", "2020-01-02T04"], "date", [DAY(2020, 1, 2, 3), DAY(2020, 1, 2, 4)]),
    "minutes": (["2020-01-02 03:04", "2020-01-02T03:05"], "date", [DAY(2020, 1, 2, 3, 4), DAY(2020, 1, 2, 3, 5)]),
    "seconds": (["2020-01-02 03:04:05", "2020-01-02"], "date", [DAY(2020, 1, 2, 3, 4, 5), DAY(2020, 1, 2)]),
    "microseconds": (
        ["2020-01-02 03:04:05.000006", "2020-01-02"],
        "date",
        [DAY(2020, 1, 2, 3, 4, 5, 6), DAY(2020, 1, 2)],
    ),
    "nanoseconds": (["2020-01-02 03:04:05.0000000", "2020-01-02"], "text", None),
    "one digit of a month": (["2020-1-02", "2020-01-02"], "text", None),
    "zones": (
        ["2020-01-02 03:04Z", "2020-01-02T03:04:05+02:00", "2020-01-02 03:04:05.5-0130"],
        "date",
        [DAY(2020, 1, 2, 3, 4), DAY(2020, 1, 2, 1, 4, 5), DAY(2020, 1, 2, 4, 34, 5, 500_000)],
    ),
    "some zones": (["2020-01-02 03:04Z", "2020-01-02 03:04"], "text", None),
    "day before month": (["01/02/2020", "13/02/2020"], "date", [DAY(2020, 2, 1), DAY(2020, 2, 13)]),
    "month before day": (["01/02/2020", "02/13/2020"], "date", [DAY(2020, 1, 2), DAY(2020, 2, 13)]),
    "day or month": (["01/02/2020", "12/12/2020"], "text", None),
    "neither day nor month": (["13/01/2020", "01/13/2020"], "text", None),
    "points": (["1.2.2020", "31.12.1999"], "date", [DAY(2020, 2, 1), DAY(1999, 12, 31)]),
    "dashes": (["01-02-2020", "31-12-1999"], "date", [DAY(2020, 2, 1), DAY(1999, 12, 31)]),
    "years first": (["2020/02/01", "1999/12/31"], "date", [DAY(2020, 2, 1), DAY(1999, 12, 31)]),
    "times of day": (
        ["1.2.2020 03:04", "31.12.1999 23:59"],
        "date",
        [DAY(2020, 2, 1, 3, 4), DAY(1999, 12, 31, 23, 59)],
    ),
    "seconds of days": (["2020/02/01 03:04:05"], "date", [DAY(2020, 2, 1, 3, 4, 5)]),
    "years of two digits": (["1.2.20", "31.12.99"], "text", None),
    "the first year": (["1.1.1800", "2.1.1800"], "text", None),
    "after the first year": (["2.1.1800", "3.1.1800"], "date", [DAY(1800, 1, 2), DAY(1800, 1, 3)]),
    "decimal commas where points were asked for": (["1,5", "2,25"], "text", None),
    "days and words": (["1.2.2020", "never"], "text", None),
}


@pytest.fixture
def read(tmp_path):
    """A function that reads a column between quotes, as a table."""

    def go(values, **options):
        lines = "".join(f'"{value}";x\n' for value in values)
        (tmp_path / "rows.csv").write_text("a;b\n" + lines, encoding="utf-8")
        return read_table(tmp_path / "rows.csv", delimiter=";", decimal=".", **options)

    return go


def values_of(source):
    return source.read(0, source.n_rows).X.table["a"].to_pylist()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("backwards", [False, True])
def test_columns(read, name, backwards):
    values, expected, parsed = COLUMNS[name]
    parsed, step = values if parsed is None else parsed, -1 if backwards else 1
    source = read(values[::step])
    assert source.schema["a"] == expected
    assert values_of(source) == parsed[::step]


@pytest.mark.parametrize("name", [name for name, (_, expected, _) in COLUMNS.items() if expected != "text"])
def test_declared_kinds(read, name):
    values, expected, parsed = COLUMNS[name]
    assert values_of(read(values, types={"a": expected})) == parsed
    assert values_of(read(values, types={"a": "text"}, missing=[])) == values


def test_a_declared_kind_takes_the_form_of_most_values(read, tmp_path):
    values = ["1.2.2020", "2.3.2020", "2020-01-01", "3.4.2020"]
    source = read(values, types={"a": "date"}, on_bad_rows="null")
    assert values_of(source) == [DAY(2020, 2, 1), DAY(2020, 3, 2), None, DAY(2020, 4, 3)]
    with pytest.raises(ValueError, match=r"line 4: column 'a' holds '2020-01-01', not a date"):
        read(values, types={"a": "date"})


@pytest.mark.parametrize("form", forms())
def test_lenient_parsers_say_what_they_lose(form):
    values = pa.array(
        ["x", None, "1", "1.5", "true", "2020-02-01", "1.2.2020", "2020-02-01 03:04Z", "1,234.5", "1.234,5"]
    )
    parsed, lost = parse_lenient(values, form)
    assert (parsed.is_null().to_numpy(False) == (lost.to_numpy(False) | values.is_null().to_numpy(False))).all()
    row = lost.to_pylist().index(True)
    with pytest.raises(UnparsableValue, match=f"{values[row].as_py()!r} in row {row}") as found:
        parse(values, form)
    assert (found.value.row, found.value.value) == (row, values[row].as_py())
    kept = values.filter(pc.invert(lost))
    assert parse(kept, form).to_pylist() == parsed.filter(pc.invert(lost)).to_pylist()


def test_text_loses_nothing():
    values = pa.array(["x", None, "1"])
    assert parse(values, "text").equals(values)
    assert [kind(form) for form in ("integer", "text", "written", "%d.%m.%Y", "iso")] == [
        *("integer", "text", "number", "date", "date")
    ]


ODD = {
    "one odd value among the first": (
        ["7"] * 20 + ["seven"] + ["7"] * 20,
        "'seven' in row 21; until there it was integer",
    ),
    "a late odd value": (["7"] * 40 + ["seven"], "'seven' in row 41; until there it was number"),
    "a late fraction of numbers": (["7.5"] * 40 + ["x", "y"], "'x' in row 41; until there it was number"),
    "a late word among dates": (["2020-01-02"] * 40 + ["never"], "'never' in row 41; until there it was date"),
    "an early word among dates": (
        ["2020-01-02"] * 20 + ["never"] + ["2020-01-02"] * 20,
        "row 21; until there it was date",
    ),
    "the first value": (["x"] + ["7"] * 20, "'x' in row 1; until there it was"),
    "too large a number": (["7"] * 3 + ["1e999"], "'1e999' in row 4; until there it was number"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_noted(read, name):
    values, note = ODD[name]
    source = read(values)
    assert source.schema["a"] == "text"
    assert len(source.notes) == 1
    assert f"Column 'a' is text because of {note}"[-len(note) :] in source.notes[0]
    assert source.notes[0].startswith("Column 'a' is text because of ")


PLAIN = {
    "words": ["x", "y"] * 20,
    "codes among the first": ["7"] * 20 + ["007"] + ["7"] * 20,
    "two of twenty": ["7"] * 18 + ["x", "y"],
    "few rows": ["7"] * 14 + ["x"],
    "no rows of numbers": ["x"] * 40 + ["7"],
}


@pytest.mark.parametrize("name", PLAIN)
def test_text_that_nobody_would_take_for_numbers_is_not_noted(read, name):
    source = read(PLAIN[name])
    assert source.schema["a"] == "text"
    assert source.notes == []


@pytest.mark.parametrize("name", ["integers", "fractions", "day before month", "booleans", "gaps", "zones", "codes"])
def test_candidates_do_not_depend_on_the_blocks(name):
    values = pa.array([None if value in ("", "NA", "?", "NaN") else value for value in COLUMNS[name][0]], pa.string())
    whole = TypeCandidates()
    expected = whole.update(values)
    for cut in range(1, len(values)):
        parts = TypeCandidates()
        parts.update(values[:cut])
        parts.update(values[cut:])
        assert parts.form == whole.form
        assert (parts.seen, parts.rows) == (whole.seen, whole.rows) == (len(values) - values.null_count, len(values))
        assert parse_lenient(values, parts.form)[0].equals(expected)
