"""Dialects: what the first lines of a text table show, and files that are no text tables."""

import gzip

import pytest

from mercer._runtime.errors import DataError, MercerError
from mercer.io.dialect import Dialect, dialect_of, sniff

DETECTED = {
    "commas": ("a,b\n1,2\n", Dialect()),
    "semicolons and decimal commas": ("a;b\n1,5;2\n", Dialect(";", decimal=",")),
    "tabs": ("a\tb\n1\t2\n", Dialect("\t")),
    "pipes": ("a|b\n1|2\n", Dialect("|")),
    "one column": ("a\nb\n", Dialect()),
    "the delimiter that splits most lines evenly": ("a;b,c\n1;2,x\n4;5\n", Dialect(";")),
    "a delimiter inside text": ("a;b\nx, y;1\nz;2\n", Dialect(";")),
    "fields of most lines, not most fields": ("a;b,c,d\n1;2\n3;4\n5;6\n", Dialect(";")),
    "tabs before pipes where both split evenly": ("a\tb|c\nx\ty|z\n", Dialect("\t")),
    "semicolons before commas where both split evenly": ("a;b,c\nx;y,z\n", Dialect(";")),
    "a delimiter in quotes": ('a,b\n"x;y",1\n"z;w",2\n', Dialect()),
    "lines in quotes": ('a;b\n1;"x, y\nz, w"\n2;"u, v\ns, t"\n', Dialect(";")),
    "single quotes": ("a,b\n'x',1\n'y',2\n", Dialect(quote="'")),
    "one value in single quotes": ("a,b\n'x',1\ny,2\n", Dialect()),
    "double quotes beside single ones": ("a,b\n'x',\"1\"\n'y',2\n", Dialect()),
    "few values in single quotes": ("a,b\n'x',1\n'y',2\n" + "z,3\n" * 9, Dialect()),
    "a quarter of the lines in single quotes": ("a,b\n'x',1\n'y',2\n'z',2\n" + "z,3\n" * 8, Dialect(quote="'")),
    "apostrophes": ("a,b\nit's,1\nthat's,2\n", Dialect()),
    "no header": ("1,2\n3,4\n", Dialect(header=False)),
    "one line of names": ("a,b\n", Dialect()),
    "one line of numbers": ("1,b\n", Dialect(header=False)),
    "a number among names, above numbers": ("a,2020\n1,2\n3,4\n", Dialect()),
    "a number among names, above text": ("a,2020\nx,2\ny,4\n", Dialect(header=False)),
    "a number among names, above gaps": ("a,2020\nNA,2\n,4\n", Dialect(header=False)),
    "a missing value above numbers": ("NA,1\n2,3\n", Dialect(header=False)),
    "a name above numbers and gaps": ("2020,a\nx,1\ny,NA\nz\n", Dialect()),
    "numbers in all forms": ("a;b;c\n-1,5;+.5;1e-5\n,5;2;3\n", Dialect(";", decimal=",")),
    "as many points as commas": ("a;b\n1,5;2.5\n", Dialect(";")),
    "more points than commas": ("a;b\n1.5;2.5\n1,5;3\n", Dialect(";")),
    "commas in text": ("a;b\n1;x,y\n2;u,v\n", Dialect(";")),
    "decimal commas after blanks": ("a;b\n 1,5 ;2\n", Dialect(";", decimal=",")),
    "a blank after each delimiter": ("a, b\n1, 2\n", Dialect(trim=True)),
    "a blank after some delimiters": ("a, b\n1,2\n", Dialect()),
    "blanks before quotes": ('a, b\n1, "x,y"\n', Dialect(trim=True)),
    "blanks inside quotes": ('a,b\n1,"x, y"\n', Dialect()),
    "nothing between delimiters": ("a, b, c\n1,, 3\n", Dialect(trim=True)),
    "a byte order mark": ("\ufeffa,ß\n1,2\n".encode(), Dialect(encoding="utf-8-sig")),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), Dialect(encoding="utf-16")),
    "Western European": ("a,b\nZoë,2\n".encode("cp1252"), Dialect(encoding="cp1252")),
    "a byte that cp1252 lacks": (b"a,b\nZo\x81,2\n", Dialect(encoding="latin-1")),
    "utf-8 with a bad byte": ("ä,ö\nü,".encode() + b"\xff\n", Dialect()),
    "as many bad bytes as those of letters": ("ä,b\n1,".encode() + b"\xff\xe4\n", Dialect(encoding="cp1252")),
    "a letter cut off by the end": ("a,ä\n1,ö".encode()[:-1], Dialect()),
    "carriage returns alone": ("a,b\r1,2\r3,4\r", Dialect()),
}


@pytest.mark.parametrize("name", DETECTED)
def test_what_the_first_lines_show(name):
    text, expected = DETECTED[name]
    assert dialect_of(text.encode() if isinstance(text, str) else text, "rows.csv") == expected


GIVEN = {
    "delimiter": ("a;b,c\n1;2,x\n4;5\n", {"delimiter": ","}, Dialect()),
    "no quotes": ("a,b\n'x',1\n'y',2\n", {"quote": ""}, Dialect(quote="")),
    "header": ("a,b\n1,2\n", {"header": False}, Dialect(header=False)),
    "decimal": ("a;b\n1,5;2\n", {"decimal": "."}, Dialect(";")),
    "encoding": ("a,b\nZoë,2\n", {"encoding": "cp1252"}, Dialect(encoding="cp1252")),
    "nothing": ("a;b\n1;2\n", {"delimiter": None, "quote": None, "encoding": None}, Dialect(";")),
    "blanks as delimiters": ("a b\n1 2\n", {"delimiter": " "}, Dialect(" ")),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_given_is_not_detected(name):
    text, given, expected = GIVEN[name]
    assert dialect_of(text.encode(), "rows.csv", **given) == expected


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"delimiter": "ä"}, "delimiter must be one character"),
        ({"delimiter": ""}, "delimiter must be one character"),
        ({"quote": "ä"}, "quote must be one character"),
        ({"decimal": ""}, "decimal must be"),
        ({"delimiter": ".", "decimal": "."}, r"delimiter and decimal are both '\.'"),
        ({"delimiter": "'", "quote": "'"}, r"delimiter and quote are both"),
    ],
)
def test_parameters_that_make_no_dialect(given, match):
    with pytest.raises(MercerError, match=match):
        dialect_of(b"a,b\n1,2\n", "rows.csv", **given)


def test_a_dialect_describes_itself():
    assert str(Dialect()) == "delimiter ',', quote \", header, decimal '.', utf-8"
    other = Dialect("\t", "", False, ",", "latin-1", True, True, 3)
    words = "delimiter tab, quote none, no header, decimal ',', latin-1, blanks trimmed, gzip, 3 lines of comments"
    assert str(other) == words
    assert str(Dialect(" ")).startswith("delimiter space, ")


def test_packed_files_are_sniffed_as_others(tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"a;b\n1;2\n"))
    assert sniff(str(tmp_path / "rows.csv.gz")) == Dialect(";", compressed=True)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"a;b\n1;2\n" * 1000)[:-9])
    with pytest.raises(DataError, match=r"rows\.csv\.gz is cut off or damaged"):
        sniff(str(tmp_path / "rows.csv.gz"))


def test_the_sample_ends_at_a_whole_line(tmp_path):
    line = ";".join(["x" * 1000] * 3) + "\n"
    (tmp_path / "rows.csv").write_text(line * 87 + "y," * 2000)  # the sample ends in the last line
    assert sniff(str(tmp_path / "rows.csv")) == Dialect(";")


OTHER_FILES = {
    "zip": (b"PK\x03\x04" + b"x" * 60, "a zip archive or an Excel workbook"),
    "xls": (b"\xd0\xcf\x11\xe0abc", "an old Excel workbook"),
    "bzip2": (b"BZh91AY&SYabc", "packed with bzip2"),
    "xz": (b"\xfd7zXZabc", "packed with xz"),
    "zstd": (b"\x28\xb5\x2f\xfdabc", "packed with zstd"),
    "sqlite": (b"SQLite format 3\0", "a database of SQLite"),
    "arrow": (b"ARROW1\0\0abc", "an Arrow or Feather file"),
    "hdf5": (b"\x89HDFabc", "an HDF5 file"),
    "numpy": (b"\x93NUMPYabc", "an array of NumPy"),
    "encrypted": (b"PAREabc", "an encrypted Parquet file"),
    "model": (b"PK\x03\x04" + b"\n" * 26 + b"manifest.json{}", "a model file of Mercer, .*mercer predict rows.csv"),
    "arrays of a model": (b"PK\x03\x04" + b"x" * 26 + b"arrays.safetensors", "a model file of Mercer"),
    "json": (b' [ { "a": 1}]', "looks like JSON"),
    "json lines": (b'{"a": 1}\n{"a": 2}\n', "looks like JSON"),
}


@pytest.mark.parametrize("name", OTHER_FILES)
def test_other_files_are_named(name):
    head, match = OTHER_FILES[name]
    with pytest.raises(DataError, match=rf"rows\.csv (is )?{match}"):
        dialect_of(head, "rows.csv")


CONTROLS = [byte for byte in range(32) if chr(byte) not in "\t\n\v\f\r\x1b\x1c\x1d\x1e\x1f"]


@pytest.mark.parametrize("byte", CONTROLS)
def test_a_twentieth_of_control_bytes_may_be_text(byte):
    """In a short text, 16 of them may be."""
    for text, allowed in ((b"a,b\n" + b"1,2\n" * 10, 16), (b"a,b\n" + b"1,2\n" * 1000, 210)):
        dialect_of(text + bytes([byte]) * allowed, "rows.csv", encoding=None)
        with pytest.raises(DataError, match=r"rows\.csv holds bytes that are no text.*encoding"):
            dialect_of(text + bytes([byte]) * (allowed + 1), "rows.csv")
        assert dialect_of(text + bytes([byte]) * (allowed + 1), "rows.csv", encoding="latin-1").delimiter == ","


@pytest.mark.parametrize("byte", sorted(set(range(32)) - set(CONTROLS)))
def test_bytes_of_text_do_not_count(byte):
    assert dialect_of(b"a,b\n" + b"1,2\n" * 10 + bytes([byte]) * 40, "rows.csv").delimiter == ","
