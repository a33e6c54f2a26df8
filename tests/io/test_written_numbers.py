"""Numbers as people write them are read right where that is certain; a note says so in any case."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.io import read_table
from mercer.io.column_types import _quick, forms, parse_lenient

READ = {
    "thousands": (["1,234,567", "2,000", "-15"], [1234567.0, 2000.0, -15.0], "',' separates thousands"),
    "thousands and decimals": (["1,234.5", "2,000", "0.5"], [1234.5, 2000.0, 0.5], "',' separates thousands"),
    "apostrophes": (["1'234'567", "3"], [1234567.0, 3.0], "is read as numbers"),
    "no-break spaces": (["1\u00a0234\u00a0567", "3"], [1234567.0, 3.0], "is read as numbers"),
    "per cent": (["12%", "7.5 %", "-3%"], [0.12, 0.075, -0.03], "per cent as hundredths"),
    "dollars": (["$1,200", "$3", "-$4.5"], [1200.0, 3.0, -4.5], "$ left out"),
    "euros": (["5 €", "7.25 €"], [5.0, 7.25], "€ left out"),
    "parentheses": (["(12)", "13", "(0.5)"], [-12.0, 13.0, -0.5], "written as '(12)'"),
    "minus sign": (["\u22125", "3", "\u22120.5"], [-5.0, 3.0, -0.5], "written as '\u22125'"),
    "decimal comma": (["1,5", "2,25", "1,234"], [1.5, 2.25, 1.234], "',' is the decimal mark"),
    "dashes": (["1", "-", "3", "\u2013"], [1, None, 3, None], "2 dashes are read as missing values"),
}


def column(path, values):
    quoted = "".join(f'"{value}",x\n' for value in values)
    path.write_text("a,b\n" + quoted, encoding="utf-8")
    source = read_table(path)
    return source.read(0, source.n_rows).X.table["a"].to_pylist(), source.notes


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("before", [0, 100])
def test_certain_numbers_are_read_and_noted(tmp_path, name, before):
    values, expected, remark = READ[name]
    first, read = ("12%", 0.12) if name == "per cent" else ("7", 7)
    got, notes = column(tmp_path / "rows.csv", [first] * before + values)
    assert got == [read] * before + expected
    assert len(notes) == 1
    assert "Column 'a'" in notes[0]
    assert remark in notes[0]


TEXT = {
    "a thousand, or one and a bit": ["1,234", "5,678"],
    "two currencies": ["$5", "€6"],
    "some per cent": ["5%", "6"],
}


@pytest.mark.parametrize("name", TEXT)
def test_uncertain_numbers_stay_text_with_a_note(tmp_path, name):
    got, notes = column(tmp_path / "rows.csv", TEXT[name])
    assert got == TEXT[name]
    assert "Column 'a' is text, although its values look like numbers" in notes[0]


def test_a_model_settles_what_is_uncertain(tmp_path):
    (tmp_path / "rows.csv").write_text('a,b\n"1,234",x\n"5,678",y\n')
    source = read_table(tmp_path / "rows.csv", like={"a": "number"})
    assert source.read(0, 2).X.table["a"].to_pylist() == [1234.0, 5678.0]


@pytest.mark.parametrize("values", [["-", "-"], ["+", "-", "+"], ["2020-01", "x"], ["007", "012"], ["1 2", "3 4"]])
def test_other_text_is_left_alone(tmp_path, values):
    got, notes = column(tmp_path / "rows.csv", values)
    assert got == values
    assert notes == []


def test_numbers_too_large_are_noted(tmp_path):
    got, notes = column(tmp_path / "rows.csv", ["1e400", "2"])
    assert got == ["1e400", "2"]
    assert notes[0].startswith("Column 'a' is text because of '1e400' in row 1")


@pytest.mark.parametrize("first", [1, 3])
def test_the_kind_does_not_depend_on_blocks(first, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.io.csv_text._BATCH_ROWS", first)
    monkeypatch.setattr("mercer.io.csv_text._BLOCK_BYTES", 16)
    for values, expected, _ in READ.values():
        assert column(tmp_path / "rows.csv", values)[0] == expected


LETTERS = st.text(alphabet="0123456789.,-+eE%$() :T/xaN", max_size=8)
NUMBERS = st.from_regex(r"[+-]?0{0,2}[0-9]{0,19}(\.[0-9]{0,2})?([eE][+-]?0?[0-9]{1,3})?", fullmatch=True)
DATES = st.from_regex(
    r"(0{4}|[0-9]{4})-[01][0-9]-[0-3][0-9]([T ][0-2][0-9](:[0-5][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?)?)?(Z|[+-]01:?00)?",
    fullmatch=True,
)


@given(values=st.lists(LETTERS | NUMBERS, min_size=1, max_size=4) | st.lists(DATES, min_size=1, max_size=3))
def test_the_quick_parser_agrees_with_the_thorough_one(values):
    column = pa.array(values)
    for form in forms():
        quick = _quick(column, form, ".")
        if quick is not None:
            one_by_one = [parse_lenient(pa.array([" " + value]), form)[0].to_pylist()[0] for value in values]
            assert quick.to_pylist() == one_by_one
