"""Encodings that fail, comments and blank lines at the beginning of text tables."""

import pytest

from mercer._runtime.errors import DataError
from mercer.io import read_table

LATE = 100_000  # rows: beyond the sample


def rows(source):
    return source.read(0, source.n_rows).X.table.to_pydict()


@pytest.mark.parametrize("before", [0, LATE])
def test_damaged_utf8_is_not_taken_for_another_encoding(tmp_path, before):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n1,é\n2,ü\n".encode() + b"3,x\n" * before + b"4,\xff\n5,y\n")
    with pytest.raises(DataError, match=rf"rows.csv, line {before + 4}: the byte 0xff is not utf-8, as the others are"):
        read_table(path)
    assert rows(read_table(path, encoding="latin-1"))["b"][-2] == "ÿ"


@pytest.mark.parametrize("before", [0, LATE])
def test_a_file_cut_off_inside_a_character(tmp_path, before):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n1,é\n2,ü\n".encode() + b"3,x\n" * before + "4,身".encode()[:-1])
    with pytest.raises(DataError, match=rf"line {before + 4}: the file ends in the middle of a character"):
        read_table(path)


@pytest.mark.parametrize("before", [0, LATE])
@pytest.mark.parametrize("end", ["é".encode()[:1], "身".encode()[:1], "身".encode()[:2], "😀".encode()[:3]])
@pytest.mark.parametrize("letters", ["", "é"])
def test_a_file_cut_off_inside_its_only_letters_beyond_ascii(tmp_path, before, end, letters):
    path = tmp_path / "rows.csv"
    path.write_bytes(f"a,b\n1,x{letters}\n".encode() + b"3,x\n" * before + b"4," + end)
    with pytest.raises(DataError, match=rf"rows.csv, line {before + 3}: the file ends in the middle") as refused:
        read_table(path)
    assert refused.value.line == before + 3
    assert ("encoding=" in str(refused.value)) == (not letters)
    assert rows(read_table(path, encoding="latin-1"))["b"][-1] == end.decode("latin-1")


def test_a_given_encoding_is_not_replaced(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n1,x\n2,\xe9\n")
    assert rows(read_table(path))["b"] == ["x", "é"]
    with pytest.raises(DataError, match="line 3: the byte 0xe9 is not utf-8"):
        read_table(path, encoding="utf-8")


def test_utf16_cut_off_inside_a_character(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n1,x\n2,y\n".encode("utf-16")[:-1])
    with pytest.raises(DataError, match="the file ends in the middle of a character"):
        read_table(path)


@pytest.mark.parametrize("n", [1, 400, 5000])
def test_blank_lines_at_the_beginning(tmp_path, n):
    (tmp_path / "rows.csv").write_text("\n" * n + "a,b\n1,2\n")
    assert rows(read_table(tmp_path / "rows.csv")) == {"a": [1], "b": [2]}


def test_nothing_but_blanks_at_the_beginning(tmp_path):
    (tmp_path / "rows.csv").write_text("\n" * 300_000 + "a,b\n1,2\n")
    with pytest.raises(DataError, match="begins with only blanks"):
        read_table(tmp_path / "rows.csv")


COMMENTS = {
    "one line": ("# made by a program\na,b\n1,2\n", {"a": [1], "b": [2]}, 1),
    "several, with a comma and a blank line": ("# x, y, z\n\n# t\na,b\n1,2\n", {"a": [1], "b": [2]}, 3),
    "as wide as the table": ("# units: m, s\na,b\n1,2\n", {"a": [1], "b": [2]}, 1),
    "the last one names the columns": ("# made\n#a,b\n1,2\n", {"#a": [1], "b": [2]}, 1),
    "names alone": ("#a,b\n1,2\n", {"#a": [1], "b": [2]}, 0),
    "one column": ("# values\na\n1\n2\n", {"a": [1, 2]}, 1),
}


@pytest.mark.parametrize("name", COMMENTS)
def test_comments_at_the_beginning(tmp_path, name):
    text, expected, n_comments = COMMENTS[name]
    (tmp_path / "rows.csv").write_text(text)
    source = read_table(tmp_path / "rows.csv")
    assert rows(source) == expected
    assert source.dialect.n_comments == n_comments
    assert [note for note in source.notes if "comments" in note] == [
        f"{tmp_path / 'rows.csv'}: {n_comments} lines at its beginning, marked with #, are comments."
    ] * bool(n_comments)
    (tmp_path / "rows.csv").write_text(text + "3,4,5\n")
    with pytest.raises(DataError, match=f"line {text.count(chr(10)) + 1}: 3 fields"):
        read_table(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n\n", b"\xc3", b"\n\xce", b"\xff\xfe\n\x00", b"\xff\xfea"]
)
def test_files_of_nothing_but_a_mark_or_half_a_character_are_empty(tmp_path, data):
    (tmp_path / "rows.csv").write_bytes(data)
    with pytest.raises(DataError, match=r"rows.csv is empty"):
        read_table(tmp_path / "rows.csv")
