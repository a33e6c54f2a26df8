"""Rows and features that fit into memory together."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.memory import (
    bytes_of_features,
    bytes_of_reading,
    bytes_per_row,
    encoded_columns,
    most_features,
    narrower,
    reached,
    rows_in,
    usable,
)


def numbers(n_columns):
    return dict.fromkeys([f"x{j}" for j in range(n_columns)], "number")


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("n_classes", [0, 2, 10])
@pytest.mark.parametrize("n_columns", [3, 30, 100])
@pytest.mark.parametrize("memory", [0.3, 0.5, 1.0, 3.0])
def test_rows_and_features_together_stay_within_memory(memory, n_columns, n_classes, effort):
    room = usable(memory)
    rows = rows_in(room, numbers(n_columns), EFFORTS[effort], n_classes)
    width = reached(n_columns, narrower(EFFORTS[effort], room))
    per_row = bytes_per_row(n_columns, max(n_classes, 1), width if n_classes else 0)
    assert bytes_of_features(width) + rows * per_row <= room + 1 <= 1e9 * memory
    assert rows > 1000


def test_features_take_all_of_their_fraction_and_no_more():
    for room in (1e8, 5e8, 4e9):
        width = most_features(room)
        assert bytes_of_features(width) <= 0.5 * room < bytes_of_features(width + 1)


def test_more_memory_holds_more_rows_and_features():
    rooms = [usable(memory) for memory in np.geomspace(1e-4, 4.0, 20)]
    assert np.all(np.diff([most_features(room) for room in rooms]) >= 0)
    assert np.all(np.diff([rows_in(room, numbers(30), EFFORTS["normal"]) for room in rooms]) > 0)


def test_little_memory_limits_features_and_ample_memory_does_not():
    effort, room = EFFORTS["normal"], usable(0.3)
    short = narrower(effort, room)
    assert short.max_width == most_features(room) < 1000
    assert short.max_fourier <= short.max_width
    assert 4 * short.search_features < short.max_width  # finalists have four times as many features
    ample = narrower(effort, usable(100.0))
    assert (ample.max_fourier, ample.search_features, ample.metric_features) == (2048, 256, 256)


def test_large_row_groups_leave_less():
    file = SimpleNamespace(bounds=[0, 20_000, 25_000], names=list(numbers(99)))
    reading = bytes_of_reading(file, 2)
    assert reading == 2 * 3 * 20_000 * 100 * 8
    assert usable(1.0, reading) == usable(1.0) - reading
    assert usable(0.01, reading) == 0.5 * 0.01 * 1e9  # half of it is left, whatever reading takes
    assert bytes_of_reading(SimpleNamespace(bounds=None), 2) == 0


def test_encoded_columns_by_kind():
    assert encoded_columns({"age": "number", "n": "integer"}) == 2
    assert encoded_columns({"when": "date", "city": "text"}) == 15
    assert encoded_columns({}) == 1
