"""Model files of every format load and compute what they did when they were written."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from golden import columns_of, rows_of
from mercer.auto import Model
from mercer.io import load, save

ARCHIVES = sorted((Path(__file__).parent / "golden").glob("format-*.tar.xz"))


def cases(path):
    with tarfile.open(path) as archive:
        return [pytest.param(path, case, id=f"{path.name[:8]}-{case['file']}") for case in described(archive)]


def described(archive):
    return json.load(archive.extractfile("cases.json"))


@pytest.mark.parametrize(("path", "case"), [case for path in ARCHIVES for case in cases(path)])
def test_a_golden_file_computes_what_it_did(path, case, tmp_path):
    with tarfile.open(path) as archive:
        archive.extract(case["file"], tmp_path, filter="data")
    inputs, expected = rows_of(case["inputs"]), np.array(case["expected"])
    model = load(tmp_path / case["file"])
    found = getattr(model, case["method"])(inputs)
    np.testing.assert_allclose(columns_of(found), expected, rtol=0, atol=case["tolerance"] * np.abs(expected).max())
    assert repr(model)  # its parameters are those of the class as it is now
    save(model, tmp_path / "now.mercer")
    again = getattr(load(tmp_path / "now.mercer"), case["method"])(inputs)
    assert np.array_equal(columns_of(again), columns_of(found))
    if isinstance(model, Model) and case["method"] != "transform":
        pipeline = getattr(model.to_pipeline(), case["method"])(inputs)
        np.testing.assert_allclose(columns_of(pipeline), columns_of(found), atol=1e-6 * np.abs(expected).max())


def test_the_files_of_format_1_are_there_and_small():
    assert ARCHIVES[0].name == "format-1.tar.xz"
    assert len(cases(ARCHIVES[0])) >= 170
    assert all(path.stat().st_size < 300_000 for path in ARCHIVES)
