"""Refits on all rows, which may have categories that the training rows lacked."""

import numpy as np
import pytest

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.features.base import Refit
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.rows.encoding import encoded_rows, one_array
from mercer.auto.search.learning import learn, learn_again
from mercer.io import read_table
from mercer.tables import TableEncoder


def test_frequencies_follow_their_columns():
    rng = np.random.default_rng(0)
    block, X = FourierBlock(rng.normal(size=(5, 3))), rng.normal(size=(4, 3))
    moved = block.refit(Refit(None, np.array([2, -1, 0, 1]), None))
    wider = np.column_stack([X[:, 2], rng.normal(size=4), X[:, 0], X[:, 1]])
    np.testing.assert_allclose(moved.features(wider), block.features(X), atol=1e-6)


@pytest.mark.parametrize("classify", [False, True])
def test_categories_that_the_training_rows_lack(classify):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-2, 2, size=(2, 480))
    city = rng.choice(["x", "y"], 480)
    city[400:430] = "n"  # sorted before the others, so that their columns move
    y = np.sin(2 * a + b)
    y = np.where(y > 0, "up", "down") if classify else y
    encoders, encoded = [], []
    for rows in (slice(400), slice(None)):
        encoders.append(TableEncoder(roles={"city": "category"}))
        table = {"a": a[rows], "city": city[rows].tolist(), "b": b[rows]}
        encoded.append(encoded_rows(encoders[-1], read_table(table, y[rows]), learn=True))
    effort, (few, all_rows) = EFFORTS["fast"], encoded
    first = learn(few, classify, effort, Clock(), 0, Steps())
    before = encoders[0].get_feature_names_out().tolist()
    positions = np.array([before.index(name) if name in before else -1 for name in encoders[1].get_feature_names_out()])
    again = learn_again(first, all_rows, effort, 0, positions)
    fourier = next(block for block in again.features.blocks if block.kind == "fourier")
    assert fourier.frequencies.shape[1] == all_rows.X.shape[1] == few.X.shape[1] + 1
    assert np.all(fourier.frequencies[:, positions < 0] == 0)
    right = again.predict(all_rows.X) == y if classify else np.abs(again.predict(all_rows.X) - y) < 0.3
    assert right.mean() > 0.9


@pytest.mark.parametrize("n_rows", [None, 5, 9])
def test_parts_become_one_array_with_and_without_a_known_number_of_rows(n_rows):
    whole = np.arange(10.0).reshape(5, 2)
    found = one_array(iter([whole[:2], whole[2:3], whole[3:]]), n_rows)
    np.testing.assert_array_equal(found, whole)
    with pytest.raises(ValueError, match="no rows"):
        one_array(iter([]), n_rows)
