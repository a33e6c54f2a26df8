"""Warnings where rows that were taken as independent look dependent."""

import numpy as np
import pytest

from mercer.auto.learned import Learned
from mercer.auto.splits.needed import notes_of, split_checks
from mercer.auto.text.sparse_model import encode_training_rows
from mercer.io import read_table

N = 600


def _checks(data, y, classify=False):
    source = read_table(data, y)
    encoder, rows = encode_training_rows(source, None, classify, 0)
    return {check["code"]: check for check in split_checks(source, Learned(encoder, rows, None), classify, 0)}


def _rows(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N)
    customer = rng.integers(0, 100, N)
    day = np.datetime64("2024-01-01") + np.arange(N).astype("timedelta64[D]")
    data = {"x": x, "customer": [f"c{k}" for k in customer], "day": day}
    return rng, data, x + rng.normal(size=N), customer


@pytest.mark.parametrize("classify", [False, True])
def test_rows_of_a_group_that_resemble_each_other_are_noticed(classify):
    rng, data, y, customer = _rows()
    y = y + 2 * rng.normal(size=100)[customer]
    found = _checks(data, y > 0 if classify else y, classify)
    assert found["rows-in-groups"]["where"] == ["customer"]
    assert found["drift-in-time"]["severity"] == "passed"
    (note,) = notes_of(list(found.values()))
    assert "groups='customer'" in note


def test_numbered_groups_are_noticed_and_smooth_effects_of_a_number_are_not():
    rng, data, y, customer = _rows()
    data["customer"] = customer
    assert _checks(data, y + 2 * rng.normal(size=100)[customer])["rows-in-groups"]["where"] == ["customer"]
    for effect in (np.minimum(customer, 50) / 10, np.sin(customer / 20), (customer - 50.0) ** 2 / 500):
        assert _checks(data, y + 2 * effect)["rows-in-groups"]["severity"] == "passed"


def test_drift_along_a_date_is_noticed():
    _, data, y, _ = _rows()
    found = _checks(data, y + np.linspace(0, 3, N))
    assert found["drift-in-time"]["where"] == ["day"]
    assert "time='day'" in found["drift-in-time"]["remedy"]
    assert found["rows-in-groups"]["severity"] == "passed"


@pytest.mark.parametrize("seed", range(5))
def test_independent_rows_pass(seed):
    """The p-value of each check is below 1e-6 by chance in one of a million tables."""
    _, data, y, _ = _rows(seed)
    assert {check["severity"] for check in _checks(data, y).values()} == {"passed"}
