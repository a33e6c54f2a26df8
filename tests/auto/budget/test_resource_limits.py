"""`memory=` holds in a process of its own, on tables of many classes, categories, columns and texts.

The short form has one small table; the long one all of them, as large as in the benchmark `resource_limits`.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LONG = os.environ.get("MERCER_TEST_LENGTH") == "long"
#: Gigabytes that a process may grow beyond its limit: libraries that are loaded on first use.
SLACK = 0.2
CASES = [
    "thousands of classes, no yes",
    "thousands of classes, 30 s",
    "300 columns of categories",
    "300 columns of categories, 5 s",
    "10,000 columns",
    "100,000 columns",
    "10^6 short texts",
    "327,000 rows",
]
SIZES = dict.fromkeys(CASES, 1.0) if LONG else {"thousands of classes, no yes": 0.5, "300 columns of categories": 0.01}


@pytest.mark.parametrize("name", SIZES)
def test_memory_stays_within_its_limit(name):
    environment = os.environ | {"MERCER_BENCH_SIZE": str(SIZES[name])}
    command = [sys.executable, "-m", "benchmarks.resource_limits", name]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["growth"] <= (found["memory"] or 4.0) + SLACK
    if "no yes" in name:
        assert found["score"] == "refused"
        assert "max_classes=" in found["notes"]
    else:
        assert math.isfinite(float(found["score"]))
