"""Model files that were written once load for ever and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pytest

from mercer.io import load

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("*.mercer"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_file_predicts_what_it_did(path):
    told = json.loads(path.with_suffix(".json").read_text())
    expected = np.array(told["expected"])
    found = getattr(load(path), told["method"])(told["inputs"])
    np.testing.assert_allclose(found, expected, rtol=0, atol=told["tolerance"] * np.abs(expected).max())


def test_the_files_are_there_and_small():
    assert len(GOLDEN) >= 4
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 80_000
