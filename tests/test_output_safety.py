"""Names and values made to do harm where outputs are opened: formulas in spreadsheets, escapes on terminals, paths."""

import csv
import io
import os
import pty
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest

import mercer
from mercer import cli
from mercer._runtime.errors import DataError
from mercer.io.checks.formulas import harmless_column, is_formula
from mercer.io.row_writers import open_rows

FORMULAS = ["=cmd|' /C calc'!A0", "@SUM(1+1)", "+A1*2", "-2+3+cmd|x", "\t=1+1", '=HYPERLINK("x")']
PLAIN = ["-2", "+1.5e-7", "-inf", "+49 30 1234", "a=b", "-", "", "'=x", "1-A", "x@y.org"]
ESCAPES = ["\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "back\x08space", "\x00nul"]
PATHS = ["../../outside", "/etc/mercer-outside", "..\\outside"]


def run(*arguments):
    return cli._run([str(argument) for argument in arguments])


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_text(text):
    assert is_formula(text)
    column, count = harmless_column(pa.chunked_array([[text, None, "x"]]))
    assert column.to_pylist() == [f"'{text}", None, "x"]
    assert count == 1


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_stays_as_it_is(text):
    assert not is_formula(text)
    assert harmless_column(pa.array([text]))[0].to_pylist() == [text]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_tables_hold_no_formulas(tmp_path, form):
    path = tmp_path / f"out.{form}"
    texts = np.array(FORMULAS + PLAIN, dtype=object)
    with pytest.warns(UserWarning, match=r"^7 texts .* formula got an apostrophe"), open_rows(str(path)) as out:
        out.write({"=name": texts, "number": -np.arange(len(texts))})
    with open(path, newline="") as file:
        names, *rows = csv.reader(file, delimiter="\t" if form == "tsv" else ",")
    assert names == ["'=name", "number"]
    assert [row[0] for row in rows] == [f"'{text}" for text in FORMULAS] + PLAIN
    assert [row[1] for row in rows] == [str(-i) for i in range(len(texts))]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A table with harmful names, values and classes, and a model of it."""
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    table = {
        "=number\x1b[31m": x,
        "../../outside": rng.choice([*ESCAPES[:4], *PATHS], size=120),
        "key": rng.choice(FORMULAS[:4], size=120),
        "label": np.where(x + 0.3 * rng.normal(size=120) > 0, "=1+cmd|x", "\x1b[32m../up"),
    }
    out = io.StringIO()
    csv.writer(out).writerows([table, *zip(*(np.asarray(column).tolist() for column in table.values()), strict=True)])
    (folder / "rows.csv").write_text(out.getvalue(), newline="")
    mercer.fit(str(folder / "rows.csv"), "label", effort="fast", report_rows=3).save(folder / "model.mercer")
    return folder


COMMANDS = {
    "predict": ["predict", "model.mercer", "rows.csv", "--keep", "all", "--proba", "-o", "out.csv"],
    "transform": ["transform", "model.mercer", "rows.csv", "-o", "out.tsv"],
    "select": ["select", "rows.csv", "--target", "label", "-k", "2", "-o", "out.csv"],
    "inspect": ["inspect", "rows.csv", "--target", "label"],
    "report": ["report", "model.mercer", "--format", "table"],
    "explain": ["explain", "model.mercer", "rows.csv", "--row", "0"],
    "compare": ["compare", "model.mercer", "rows.csv"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_or_writes_harm(hostile, tmp_path, monkeypatch, capfd, command):
    for name in ("rows.csv", "model.mercer"):
        os.symlink(hostile / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    code = run(*COMMANDS[command])
    out, err = capfd.readouterr()
    assert code == 0, err
    assert not set(out + err) & set("\x1b\x07\x08\x9b\x00"), (out, err)
    made = {path.name for path in tmp_path.iterdir()} - {"rows.csv", "model.mercer"}
    assert made <= {"out.csv", "out.tsv"}
    for name in made:
        with open(name, newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file, delimiter="\t" if name.endswith("tsv") else ",") for cell in row]
        assert not any(map(is_formula, cells))


def test_rows_on_a_terminal_hold_no_escapes(hostile):
    master, slave = pty.openpty()
    code = "import sys; from mercer.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "predict", "model.mercer", "rows.csv", "--keep", "all", "--quiet"]
    process = subprocess.Popen(command, cwd=hostile, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        shown += part
    error = process.stderr.read()
    process.stderr.close()
    os.close(master)
    assert process.wait() == 0, error
    assert b"\x1b" not in shown
    assert "\ufffd[31mred" in shown.decode()


@pytest.mark.parametrize("name", ["../manifest.json", "/manifest.json", "x/../../arrays.safetensors"])
def test_members_outside_of_a_model_file_are_refused(hostile, tmp_path, name):
    with zipfile.ZipFile(hostile / "model.mercer") as archive, zipfile.ZipFile(tmp_path / "m.mercer", "w") as out:
        for member in archive.namelist():
            out.writestr(member, archive.read(member))
        out.writestr(name, b"{}")
    with pytest.raises(DataError, match="and only those"):
        mercer.load(tmp_path / "m.mercer")
    assert os.listdir(tmp_path) == ["m.mercer"]
