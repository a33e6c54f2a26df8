"""`mercer inspect`: its report as a table and as JSON."""

import json
import os
import sys
import types

import numpy as np
import pytest

from mercer import cli


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    with open(path, "w") as file:
        file.write("id;age;sex;height;income\n")
        for i in range(300):
            income = int(rng.integers(0, 4))
            age = "NA" if i % 10 == 0 else rng.integers(20, 60)
            file.write(f"{i};{age};{rng.choice(['f', 'm'])};{income + 1},5;{income}\n")
    return str(path)


def test_as_json(people, capsys):
    assert cli._run(["inspect", people, "--target", "income", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 300
    assert (found["dialect"]["delimiter"], found["dialect"]["decimal"]) == (";", ",")
    columns = {column["name"]: column for column in found["columns"]}
    assert {name: column["role"] for name, column in columns.items()} == {
        "id": "id",
        "age": "number",
        "sex": "category",
        "height": "number",
    }
    assert columns["age"]["n_missing"] == 30
    assert {item["category"] for item in columns["sex"]["top"]} == {"f", "m"}
    assert [each.split(":")[0] for each in found["suspicions"]] == ["height"]


def test_as_table(people, capsys, monkeypatch):
    monkeypatch.chdir(os.path.dirname(people))
    assert cli._run(["inspect", os.path.basename(people), "--target", "income"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for expected in (
        "300 rows, 4 columns",
        "delimiter ';'",
        "no two alike",
        "Target income: classification, 4 classes",
    ):
        assert expected in out
    assert "warning  A column predicts the target alone (target-leak, 1)" in out
    assert "--role height=id" in out
    assert max(map(len, out.splitlines())) <= 80


def test_profiles_and_checks_as_json(people, capsys):
    assert cli._run(["inspect", people, "--target", "income", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["target"], found["task"]) == ("income", "classification")
    assert found["target_profile"]["column"] == "income"
    assert sum(found["target_profile"]["histogram"]["counts"]) == 300
    profiles = {each["column"]: each for each in found["profiles"]}
    assert profiles["age"]["quantiles"] == sorted(profiles["age"]["quantiles"])
    assert profiles["height"]["association"]["value"] == 1.0
    checks = {(check["code"], check["severity"]): check for check in found["checks"]}
    assert checks["target-leak", "warning"]["where"] == ["height"]
    assert checks["id-column", "info"]["where"] == ["id"]
    assert ("duplicate-column", "passed") in checks


def test_the_target_of_a_regression(people, capsys):
    assert cli._run(["inspect", people, "--target", "age", "--on-bad-rows", "skip"]) == 0
    out = capsys.readouterr().out
    assert "Target age: regression" in out
    assert "median" in out
    assert "alone: fraction of the target's error" in out


def test_without_a_target(people, capsys):
    assert cli._run(["inspect", people]) == 0
    out = capsys.readouterr().out
    assert "alone" not in out
    assert "Target" not in out
    assert "identifiers" not in out.split("passed")[1]


def test_a_target_alone(tmp_path, capsys):
    path = tmp_path / "alone.csv"
    path.write_text("y\n" + "1\n2\n" * 60)
    assert cli._run(["inspect", str(path), "--target", "y"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "120 rows, 0 columns" in out
    assert "Target y: classification, 2 classes" in out


def test_of_very_many_columns_some_are_shown(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    rows = [",".join(str(i * j % 97 + 0.5) for j in range(80)) for i in range(120)]
    path.write_text("\n".join([",".join(f"x{j}" for j in range(80)), *rows]))
    assert cli._run(["inspect", str(path)]) == 0
    assert "... and 19 more: --json lists all." in capsys.readouterr().out


def test_as_a_page(people, tmp_path, capsys, monkeypatch):
    given = []
    page = types.ModuleType("mercer.report.html")
    page.render_inspection_html = lambda found: given.append(found) or "<!doctype html>\u00fc"
    monkeypatch.setitem(sys.modules, "mercer.report.html", page)
    path = tmp_path / "people.html"
    assert cli._run(["inspect", people, "--target", "income", "--html", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == "<!doctype html>\u00fc"
    assert "300 rows" in capsys.readouterr().out
    keys = {"file", "rows", "dialect", "target", "task", "profiles", "target_profile", "checks", "notes"}
    assert keys <= given[0].keys()
    assert any("--role height=id" in check["remedy"] for check in given[0]["checks"])
    assert cli._run(["inspect", people, "--html", people]) == 2
    assert "--html" in capsys.readouterr().err
    assert cli._run(["inspect", people, "--html", str(tmp_path / "no" / "page.html")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_mistakes_are_one_line(people, tmp_path, capsys):
    for arguments, expected in (
        (["inspect", people, "--target", "incme"], "Did you mean 'income'"),
        (["inspect", str(tmp_path / "none.csv")], "no such file"),
        (["inspect", people, "--encoding", "klingon"], "not an encoding"),
    ):
        assert cli._run(arguments) == 1
        err = capsys.readouterr().err
        assert expected in err
        assert err.count("\n") == 1


def test_options_of_reading(tmp_path, capsys):
    path = tmp_path / "rows.tsv"
    path.write_text("1\tx\n2\ty\n3\n")
    options = ["--delimiter", "tab", "--no-header", "--on-bad-rows", "null", "--format", "json"]
    assert cli._run(["inspect", str(path), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in found["columns"]] == ["x0", "x1"]
    assert "repaired" in found["notes"][0]
