"""Scores of several models in one pass: the same in any blocks; positions are those of the data."""

import numpy as np
import pytest

from mercer.auto.final.baselines import ConstantPredictor
from mercer.auto.holdout.outputs import ModelOutputs
from mercer.source import split_holdout
from mercer.source.table import table_in_memory


class FirstColumn:
    def scores(self, X):
        return X.array("x")[:, None]


def outputs(n, fraction=1.0):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    source = table_in_memory({"x": x, "k": np.arange(n), "y": 2 * x}, "y")
    _, held_out = split_holdout(source, 0.3, 0)
    return x, held_out.fold(ModelOutputs((FirstColumn(), ConstantPredictor(1.0)), fraction)).finish()


@pytest.mark.parametrize("n", [50, 20_000])
def test_scores_follow_the_rows(n):
    x, found = outputs(n)
    assert np.array_equal(found.positions, found.table.array("k"))
    assert np.array_equal(found.scores[0][:, 0], x[found.positions])
    assert np.array_equal(found.y, 2 * x[found.positions])
    assert found.scores[1].shape == (len(found.y), 0)
    assert found.sampled.all()


def test_a_sample_is_part_of_the_rows():
    x, found = outputs(20_000, 0.1)
    assert 450 < len(found.table) < 750
    assert found.sampled.sum() == len(found.table) == len(found.positions)
    assert np.array_equal(found.scores[0][found.sampled, 0], x[found.positions])


def test_no_rows():
    with pytest.raises(ValueError, match="holdout has no rows"):
        ModelOutputs((FirstColumn(),)).finish()
