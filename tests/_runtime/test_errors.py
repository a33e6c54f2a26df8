"""Errors keep their data through pickling and location."""

import pickle

import numpy as np
import pytest

from mercer._runtime.errors import DataError, Location, Message, ParameterError, RowError, Setting
from mercer.io import read_table

ERRORS = [
    ParameterError("holdout", 2, "must be below 1", remedy="0 holds nothing out."),
    DataError("Bad", " value.", remedy=Message("Use ", Setting("types", "text", key="a"), "."), column="a", line=3),
    RowError("Infinity at ", 7, ".", remedy="Replace it.", column="x", value=np.inf),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_can_be_pickled(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.message.format_settings(lambda setting: "?") == error.message.format_settings(lambda setting: "?")


def test_a_row_is_located_once():
    error = ERRORS[2].located(lambda row: Location("a.csv", line=row + 2), start=10)
    assert str(error) == "Infinity at a.csv, line 19. Replace it."
    assert (error.row, error.file, error.line, error.column) == (17, "a.csv", 19, "x")
    assert str(error.located(lambda row: Location("b.csv", line=row), start=5)) == str(error)
    assert str(ERRORS[2].located(None, 3)) == "Infinity at row 10. Replace it."


def test_refusals_of_files_carry_file_line_and_remedy(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n3\n")
    with pytest.raises(DataError) as caught:
        read_table(str(tmp_path / "a.csv"), "y")
    error = caught.value
    assert (error.file, error.line) == (str(tmp_path / "a.csv"), 3)
    settings = [part for part in error.remedy.parts if isinstance(part, Setting)]
    assert [(each.parameter, *each.values) for each in settings] == [("on_bad_rows", "skip"), ("on_bad_rows", "null")]


def test_a_refused_parameter_is_named():
    with pytest.raises(ParameterError, match=r"^on_bad_rows must be one of error, skip, null, not 'drop'\.$") as caught:
        read_table({"a": [1, 2]}, on_bad_rows="drop")
    assert (caught.value.parameter, caught.value.value) == ("on_bad_rows", "drop")


def test_notes_mention_parameters_as_data(tmp_path):
    rows = [*map(str, range(60)), "n.a."]
    (tmp_path / "a.csv").write_text("\n".join(["a,b", *(f"{value},1" for value in rows)]))
    (note,) = read_table(str(tmp_path / "a.csv")).notes
    assert "missing=[..., 'n.a.'] or types={'a': 'number'}" in note
    assert "--missing n.a. or --types" in note.format_settings(lambda s: f"--{s.parameter} {s.values[0]}")
