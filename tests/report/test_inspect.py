"""`mercer inspect`: its report as a table and as JSON."""

import json

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


def test_as_table(people, capsys):
    assert cli._run(["inspect", people, "--target", "income"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for expected in ("300 rows", "delimiter ';'", "no two alike", "Suspicious", "height: alone it predicts"):
        assert expected in out


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
