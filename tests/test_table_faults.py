"""What every command promises about faulty tables: a finite answer, or exit code 1 with the file and a remedy."""

import csv
import json
import math
import re
import subprocess
import sys
import warnings

import pytest

import mercer
from estimates import LONG
from mercer import cli
from table_faults import FAULTS, columns, text, written

#: What the commands do with the faulty table, and the file of rows that they write.
COMMANDS = {
    "inspect": (["inspect", "faulty.csv", "--target", "y", "--json", "--quiet"], None),
    "fit": (["fit", "faulty.csv", "--target", "y", "--effort", "fast", "--no-report", "--json", "--quiet"], None),
    "select": (["select", "faulty.csv", "--target", "y", "-k", "3", "--json", "--quiet"], None),
    "predict": (["predict", "model.mercer", "faulty.csv", "-o", "out.csv", "--quiet"], "out.csv"),
    "transform": (["transform", "model.mercer", "faulty.csv", "-o", "out.csv", "--quiet"], "out.csv"),
    "explain": (["explain", "model.mercer", "faulty.csv", "--row", "0", "-o", "out.csv", "--quiet"], "out.csv"),
    "compare": (["compare", "model.mercer", "faulty.csv", "--json", "--quiet"], None),
    "report": (["report", "model.mercer", "faulty.csv", "--json", "--quiet"], None),
}
NAMES = sorted(FAULTS)
SHORT = [(command, fault) for i, command in enumerate(COMMANDS) for fault in NAMES[i :: 4 * len(COMMANDS)]]
LEAKS = re.compile(r"Traceback|Internal error|Warning:|RuntimeWarning|site-packages|\.py:\d")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    (folder / "whole.csv").write_text(text(columns()))
    mercer.fit(str(folder / "whole.csv"), "y", effort="fast", report=False).save(folder / "model.mercer")
    return folder


@pytest.mark.parametrize("command", COMMANDS if LONG else ["all"])
def test_faulty_tables_give_an_answer_or_a_refusal(folder, command, monkeypatch, capfd, record_property):
    cases = [(command, fault) for fault in NAMES] if LONG else SHORT
    record_property("cases", len(cases))
    monkeypatch.chdir(folder)
    found = [(*case, broken(*case, capfd, folder)) for case in cases]
    assert [f"{command}, {fault}: {wrong}" for command, fault, wrong in found if wrong] == []


def broken(command, fault, capfd, folder):
    """What breaks the contract, or None."""
    (folder / "faulty.csv").write_bytes(written(fault))
    (folder / "out.csv").unlink(missing_ok=True)
    arguments, output = COMMANDS[command]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code = cli._run(arguments)
    out, err = capfd.readouterr()
    if LEAKS.search(err):
        return f"leaks {err[-400:]!r}"
    if code == 1:
        if FAULTS[fault].harmless:
            return f"refused {err!r}"
        return None if "faulty.csv" in err and len(err) < 3000 else f"does not name the file: {err!r}"
    if code != 0:
        return f"ended with {code}: {err!r}"
    return wrong_rows(output) if output else wrong_json(command, out, fault)


def wrong_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    values = [cell.lower() for row in rows[1:] for cell in row]
    return "NaN or infinity in the output" if any(cell in ("nan", "inf", "-inf") for cell in values) else None


def wrong_json(command, out, fault):
    numbers = []

    def refuse(constant):
        numbers.append(constant)
        return math.nan

    found = json.loads(out, parse_constant=refuse)
    if numbers:
        return f"{numbers[0]} in the output"
    if command == "fit" and FAULTS[fault].harmless and found["holdout"]["model"]["value"] < 0.9:
        return f"R2 {found['holdout']['model']['value']}"
    return None


def test_faults_are_many():
    assert len(FAULTS) >= 60


def test_a_fault_is_located(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "faulty.csv").write_bytes(written("a row too long"))
    command = [sys.executable, "-c", "from mercer.cli import main; main()", "inspect", "faulty.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "faulty.csv, line 122" in done.stderr
    assert "on-bad-rows" in done.stderr
