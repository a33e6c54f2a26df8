"""Damaged text tables: the fast and the careful reader agree, and no damage passes unnoticed."""

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from damage import STRUCTURAL, make_case
from estimates import LONG
from mercer._runtime.errors import DataError
from mercer.io import csv_text, read_table, spool
from mercer.io.checks.quotes import QuoteProof
from mercer.io.csv_text import Unclean
from mercer.io.dialect import Dialect

N_CASES = 3000 if LONG else 300
PER_TEST = 100


def outcome(path, options):
    """("table", columns, notes) or ("refused", file, line)."""
    try:
        source = read_table(path, missing=[], **options)
    except DataError as error:
        refusal = error
    else:
        table = pa.concat_tables([block.X.table for block in source.blocks()])
        return "table", [table.column_names, *map(list, zip(*table.to_pydict().values(), strict=True))], source.notes
    assert str(path) in str(refusal)
    assert refusal.file == str(path)
    return "refused", refusal.line, "no rows" in str(refusal)


def both_outcomes(path, options, monkeypatch):
    """The outcomes of the fast reader, where it may read the file, and of the careful one alone."""

    def unclean(*_):
        raise Unclean

    fast = outcome(path, options)
    with monkeypatch.context() as patched:
        patched.setattr(spool, "fast_batches", unclean)
        return fast, outcome(path, options)


@pytest.mark.parametrize("first", range(0, N_CASES, PER_TEST))
def test_no_damage_passes_unnoticed(first, tmp_path, monkeypatch, record_property):
    record_property("cases", PER_TEST)
    monkeypatch.setattr(csv_text, "_BLOCK_BYTES", 4096)
    for seed in range(first, first + PER_TEST):
        case = make_case(seed)
        path = tmp_path / f"{seed}.csv"
        path.write_bytes(case.data)
        as_text = case.options | {"like": dict.fromkeys(case.table[0], "text")}
        fast, careful = both_outcomes(path, as_text, monkeypatch)
        assert fast == careful, (seed, case)
        if case.damage == "none":
            assert fast[1] == case.table, (seed, case)
        if case.damage in STRUCTURAL and fast[1] != case.table:
            assert fast[0] == "refused" or fast[2], (seed, case, fast)
        if fast[0] == "refused":
            assert fast[1] is not None or fast[2], (seed, case)
        assert both_outcomes(path, case.options, monkeypatch)[0][0] == fast[0], (seed, case)


def is_clean(text, delimiter, quote):
    """The slow twin of `QuoteProof`: writing what was read, with the same values quoted, gives the text again."""
    fields, i, start = True, 0, True
    while i < len(text):
        if start and text[i] == quote:
            i += 1
            while True:
                end = text.find(quote, i)
                if end < 0:
                    return False
                i = end + 1
                if text[i : i + 1] != quote:
                    break
                i += 1
            if i < len(text) and text[i] not in (delimiter, "\n", "\r"):
                return False
            start = False
            continue
        fields = fields and text[i] != quote
        start = text[i] in (delimiter, "\n", "\r")
        i += 1
    return fields


@settings(max_examples=2000 if LONG else 300, deadline=None)
@given(text=st.text(alphabet='ab",\n\r ', max_size=24), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_quotes_are_proved_in_any_blocks(text, sizes):
    proof, data, i = QuoteProof(",", '"'), text.encode(), 0
    while data:
        size = sizes[i % len(sizes)]
        proof.update(data[:size])
        data, i = data[size:], i + 1
    assert proof.finish() == is_clean(text, ",", '"')


@pytest.mark.parametrize("cut", range(9))
def test_only_the_first_byte_order_mark_is_left_out_of_the_proof(cut):
    def proved(data):
        proof = QuoteProof(",", '"')
        for block in (data[:cut], data[cut:]):
            proof.update(block)
        return proof.finish()

    mark = "\ufeff".encode()
    assert proved(b'"a",b' + mark)
    assert not proved(b"a" + mark + b'"b"')
    if not 0 < cut < 3:  # blocks of the reader are longer
        assert proved(mark + b'"a",b')
        assert not proved(mark + mark + b'"a"')


STRAYS = {  # the text, and the line with the quote
    "text after a closing quote": ('a,b,c\n"1"2,3,4\n5,6,7\n', 2),
    "a quote that is never closed": ('a,b,c,d,e\n"u,"v,w,x,2\n1,2,3,4,5\n', 2),
    "a lost opening quote": ('a,b\n"x",1\ny",2\n', 3),
    "a quote inside": ('a,b\n"x",1\n5"6,2\n', 3),
    "only the header is quoted": ('a,"b"\nx"1,2\n', 2),
}


@pytest.mark.parametrize("name", STRAYS)
@pytest.mark.parametrize("before", [0, 100_000])
def test_quotes_out_of_place_are_refused_anywhere(name, before, tmp_path):
    text, line = STRAYS[name]
    header, _, rest = text.partition("\n")
    row = ",".join("0" * (header.count(",") + 1)) + "\n"
    (tmp_path / "rows.csv").write_text(header + "\n" + row * before + rest)
    with pytest.raises(DataError, match=rf"rows.csv, line {before + line}: .*quote"):
        read_table(tmp_path / "rows.csv")


def test_quotes_are_literal_where_nothing_is_quoted(tmp_path):
    (tmp_path / "rows.csv").write_text('a,b\n5" pipe,1\nx,2\n12",3\n')
    source = read_table(tmp_path / "rows.csv")
    assert source.read(0, 3).X.table["a"].to_pylist() == ['5" pipe', "x", '12"']
    assert "quotes are read as a part of the values they are in (2 lines, first line 2)" in source.notes[0]


def test_rows_with_stray_quotes_follow_the_policy(tmp_path):
    (tmp_path / "rows.csv").write_text('a,b\n"x",1\ny",2\n"z",3\n')
    skipped = read_table(tmp_path / "rows.csv", on_bad_rows="skip", rejected=tmp_path / "bad.csv")
    assert skipped.read(0, 2).X.table.to_pydict() == {"a": ["x", "z"], "b": [1, 3]}
    with open(tmp_path / "bad.csv", newline="") as file:
        assert [row[1] for row in csv.reader(file)] == ["line", "3"]
    mended = read_table(tmp_path / "rows.csv", on_bad_rows="null")
    assert mended.read(0, 3).X.table.to_pydict() == {"a": ["x", None, "z"], "b": [1, 2, 3]}
    assert "1 bad rows were repaired" in mended.notes[0]


def test_values_of_several_lines_need_no_careful_reader(tmp_path, monkeypatch):
    monkeypatch.delattr(spool, "careful_batches")
    out = io.StringIO()
    rows = [["a", "b"], *([f'x\n{i},\r\n"y"', str(i)] for i in range(50))]
    csv.writer(out, lineterminator="\n").writerows(rows)
    (tmp_path / "rows.csv").write_text(out.getvalue(), newline="")
    table = read_table(tmp_path / "rows.csv").read(0, 50).X.table
    assert table["a"].to_pylist() == [row[0] for row in rows[1:]]
    assert np.array_equal(table["b"], np.arange(50))


def test_quotes_after_blanks(tmp_path):
    (tmp_path / "rows.csv").write_text('a, b, c\n1, "x,y", 2\n3, "z ""w""", 4\n')
    source = read_table(tmp_path / "rows.csv")
    assert source.read(0, 2).X.table.to_pydict() == {"a": [1, 3], "b": ["x,y", 'z "w"'], "c": [2, 4]}
    assert source.dialect == Dialect(trim=True)
