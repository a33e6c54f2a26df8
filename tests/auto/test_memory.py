"""What fits into memory: rows and features together, neither of them to nothing."""

import numpy as np
import pytest

from mercer.auto.effort import EFFORTS
from mercer.auto.memory import (
    AMPLE,
    bytes_of_features,
    bytes_per_row,
    encoded_columns,
    most_features,
    narrower,
    reached,
    rows_in,
)


def numbers(n_columns):
    return {f"x{j}": "number" for j in range(n_columns)}


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("n_classes", [0, 2, 10])
@pytest.mark.parametrize("n_columns", [3, 30, 100])
@pytest.mark.parametrize("memory", [0.3, 0.5, 1.0, 3.0])
def test_rows_and_features_together_stay_within_memory(memory, n_columns, n_classes, effort):
    rows = rows_in(memory, numbers(n_columns), EFFORTS[effort], n_classes)
    width = reached(n_columns, narrower(EFFORTS[effort], memory))
    per_row = bytes_per_row(n_columns, max(n_classes, 1), width if n_classes else 0)
    assert bytes_of_features(width) + rows * per_row <= memory * 1e9 - 8e7 + 1
    assert rows > 1000


def test_features_take_no_more_than_their_share():
    for memory in (0.3, 0.5, 1.0, 4.0):
        width = most_features(memory)
        assert bytes_of_features(width) <= 0.5 * memory * 1e9 < 1.3 * bytes_of_features(width + 1) + 8e7


def test_more_memory_holds_more_of_everything():
    memory = np.geomspace(1e-4, 0.999 * AMPLE, 20)
    widths = [most_features(each) for each in memory]
    rows = [rows_in(each, numbers(30), EFFORTS["normal"]) for each in memory]
    assert np.all(np.diff(widths) >= 0)
    assert np.all(np.diff(rows) > 0)


def test_little_memory_narrows_a_search_and_ample_memory_does_not():
    effort = EFFORTS["normal"]
    short = narrower(effort, 0.3)
    assert short.widest == most_features(0.3) < 1000
    assert short.most_waves <= short.widest
    assert 4 * short.search_waves < short.widest  # finalists have so many
    ample = narrower(effort, 100.0)
    assert (ample.most_waves, ample.search_waves, ample.metric_waves) == (2048, 256, 256)


def test_kinds_of_columns_say_how_many_they_become():
    assert encoded_columns({"age": "number", "n": "integer"}) == 2
    assert encoded_columns({"when": "date", "city": "text"}) == 15
    assert encoded_columns({}) == 1
