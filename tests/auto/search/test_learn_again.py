"""Weights fitted again to all rows, which may have levels that the first rows lacked."""

import numpy as np
import pytest

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.rows.encoding import encoded_rows, one_array
from mercer.auto.search.learning import learn, learn_again
from mercer.io import read_table
from mercer.tables import TableEncoder


def test_waves_follow_their_columns():
    rng = np.random.default_rng(0)
    waves, X = FourierBlock(rng.normal(size=(5, 3))), rng.normal(size=(4, 3))
    moved = waves.along(np.array([2, -1, 0, 1]))
    wider = np.column_stack([X[:, 2], rng.normal(size=4), X[:, 0], X[:, 1]])
    np.testing.assert_allclose(moved.features(wider), waves.features(X), atol=1e-6)


@pytest.mark.parametrize("classify", [False, True])
def test_levels_that_the_first_rows_lack(classify):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-2, 2, size=(2, 480))
    level = rng.choice(["x", "y"], 480)
    level[400:430] = "n"  # sorted before the others, so that their columns move
    y = np.sin(2 * a + b)
    y = np.where(y > 0, "up", "down") if classify else y
    encoders, encoded = [], []
    for rows in (slice(400), slice(None)):
        encoders.append(TableEncoder(roles={"level": "category"}))
        table = {"a": a[rows], "level": level[rows].tolist(), "b": b[rows]}
        encoded.append(encoded_rows(encoders[-1], read_table(table, y[rows]), learn=True))
    effort, (few, all_rows) = EFFORTS["fast"], encoded
    first = learn(few, classify, effort, Clock(), 0, Steps())
    before = encoders[0].get_feature_names_out().tolist()
    places = np.array([before.index(name) if name in before else -1 for name in encoders[1].get_feature_names_out()])
    again = learn_again(first, all_rows, effort, 0, places)
    waves = next(block for block in again.features.blocks if block.kind == "fourier")
    assert waves.frequencies.shape[1] == all_rows.X.shape[1] == few.X.shape[1] + 1
    assert np.all(waves.frequencies[:, places < 0] == 0)
    right = again.predict(all_rows.X) == y if classify else np.abs(again.predict(all_rows.X) - y) < 0.3
    assert right.mean() > 0.9


@pytest.mark.parametrize("most", [None, 5, 9])
def test_parts_become_one_array_whether_rows_were_counted_or_not(most):
    whole = np.arange(10.0).reshape(5, 2)
    found = one_array(iter([whole[:2], whole[2:3], whole[3:]]), most)
    np.testing.assert_array_equal(found, whole)
    with pytest.raises(ValueError, match="no rows"):
        one_array(iter([]), most)
