"""Compiled trees are those of their definition."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric import boosting


def grown(module, seed, max_leaves=7, least=3.0):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 12, size=(200, 5)).astype(np.uint8)
    widths = np.full(5, 12)
    gradient = rng.integers(-8, 9, 200).astype(float)  # whole numbers, so that every way to add gives the same
    hessian = rng.integers(1, 4, 200).astype(float)
    rows = np.sort(rng.choice(200, 150, replace=False))
    return (
        module.grow_boosted_tree(bins, gradient, hessian, np.array([0, 2, 3]), rows, widths, max_leaves, least, 1.0),
        bins,
        rows,
    )


@pytest.mark.parametrize("seed", range(5))
def test_trees_agree(seed):
    ours, bins, rows = grown(_numeric, seed)
    theirs, _, _ = grown(boosting, seed)
    for mine, defined in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, defined, rtol=1e-12)
    column, cut, left, right, value, gain, reached = ours
    assert set(np.unique(column)) <= {-1, 0, 2, 3}
    assert np.all(gain[column >= 0] > 0)
    assert np.all(gain[column < 0] == 0)
    out = np.zeros((200, 2))
    arguments = (np.array([0]), column, cut.astype(float), left, right, value, np.array([1]))
    _numeric.add_boosted_trees(bins.astype(float), *arguments, out)
    assert np.array_equal(out[rows, 1], value[reached])
    assert not out[:, 0].any()
    again = np.zeros((200, 2))
    boosting.add_boosted_trees(bins.astype(float), *arguments, again)
    assert np.array_equal(out, again)
    for i in range(0, 200, 50):  # a few rows at a time, checked on their way
        single = np.zeros((1, 2))
        _numeric.add_boosted_trees(bins[i : i + 1].astype(float), *arguments, single)
        assert np.array_equal(single[0], out[i])


def test_a_leaf_never_holds_less_than_the_least_hessian():
    (_column, *_, reached), _bins, _rows = grown(_numeric, 0, max_leaves=50, least=20.0)
    _, counts = np.unique(reached, return_counts=True)
    assert len(counts) > 1
    assert counts.min() * 3 >= 20


def test_nonsense_is_refused():
    bins, one = np.zeros((4, 2), np.uint8), np.ones(4)
    with pytest.raises((ValueError, IndexError)):
        _numeric.grow_boosted_tree(bins, one, one, np.array([2]), np.arange(4), np.array([1, 1]), 3, 1.0, 1.0)
    with pytest.raises((ValueError, IndexError)):
        _numeric.grow_boosted_tree(bins, one, one, np.array([0]), np.array([4]), np.array([1, 1]), 3, 1.0, 1.0)
    loop = (np.array([0]), np.array([0]), np.zeros(1), np.array([0]), np.array([0]), np.zeros(1), np.array([0]))
    if _numeric.compiled:
        with pytest.raises(ValueError, match="well formed"):
            _numeric.add_boosted_trees(np.zeros((1, 1)), *loop, np.zeros((1, 1)))
