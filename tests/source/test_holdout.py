"""The holdout: fixed by the values of a row alone."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from mercer import RandomFeatures, RidgeRegressor, Standardize, _numeric
from mercer._numeric.block import Block
from mercer.source import MemorySource, in_holdout, split_holdout


def rows(source):
    return np.vstack([block.X for block in source.blocks()])


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(0, 200), max_size=5), order=st.randoms())
def test_same_side_for_any_cut_map_or_order(seed, cuts, order):
    X = np.random.default_rng(0).integers(0, 9, size=(200, 2)).astype(float)
    whole = in_holdout(Block(X), 0.3, seed)
    bounds = sorted({0, 200, *cuts})
    pieces = [in_holdout(Block(X[a:b] * 7.0, raw=X[a:b]), 0.3, seed) for a, b in pairwise(bounds)]
    assert np.array_equal(np.concatenate(pieces), whole)
    permutation = order.sample(range(200), 200)
    assert np.array_equal(in_holdout(Block(X[permutation]), 0.3, seed), whole[permutation])


def test_duplicates_stay_together_and_nothing_is_lost():
    X = np.random.default_rng(1).integers(0, 5, size=(20_000, 3)).astype(float)
    learn, judge = split_holdout(MemorySource(X), 0.25, seed=3)
    learn, judge = rows(learn), rows(judge)
    assert len(learn) + len(judge) == len(X)
    assert not {*map(tuple, learn)} & {*map(tuple, judge)}


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
def test_fraction_of_distinct_rows(fraction):
    n = 40_000
    held = in_holdout(Block(np.arange(float(n))[:, None]), fraction).mean()
    assert abs(held - fraction) < 5 * np.sqrt(fraction * (1 - fraction) / n)  # five standard deviations of a binomial


def test_folds_of_the_training_rows_stay_even():
    """A holdout that used the hash of the folds would take whole folds away."""
    n, folds = 40_000, 5
    block = Block(np.arange(float(n))[:, None])
    kept = block.rows(~in_holdout(block, 0.2, seed=0))
    sizes = np.bincount(_numeric.buckets(_numeric.splitmix64(kept.ids, 0), folds), minlength=folds)
    expected = len(kept) / folds
    assert np.all(np.abs(sizes - expected) < 5 * np.sqrt(expected))


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, 2])
def test_invalid_fractions(fraction):
    with pytest.raises(ValueError, match="between 0 and 1"):
        in_holdout(Block(np.ones((2, 1))), fraction)


def test_estimators_take_blocks_that_a_filter_left_empty():
    """8,193 rows: the second block is one row, kept or not; the first may be dropped whole."""
    X = np.arange(8193.0)[:, None]
    for keep in (slice(0, 8192), slice(8192, 8193), slice(100, 200)):
        source = MemorySource(X, X[:, 0]).where(lambda block, keep=keep: np.isin(block.X[:, 0], X[keep, 0]))
        assert Standardize().fit(source).mean_ == X[keep].mean()


def test_pipelines_of_named_sources_are_quiet_about_names():
    """Names belong to the first step, as in a scikit-learn pipeline; warnings are errors here."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    rows = MemorySource(frame.to_numpy(), frame["a"].to_numpy(), names=list("abc"))
    model = make_pipeline(Standardize(), RandomFeatures(n_components=8), RidgeRegressor()).fit(rows)
    assert list(model[0].feature_names_in_) == list("abc")
    assert len(model.predict(frame)) == 60


def test_hashes_are_taken_once_and_kept_by_chosen_rows(monkeypatch):
    from mercer._numeric.hashing import rows

    block = Block(np.arange(20.0).reshape(10, 2))
    expected, even = block.ids, np.arange(10) % 2 == 0
    monkeypatch.setattr(rows, "hash_rows", lambda _: pytest.fail("hashed again"))
    assert np.array_equal(block.ids, expected)
    for chosen in (even, slice(2, 5), np.array([7, 1])):
        assert np.array_equal(block.rows(chosen).ids, expected[chosen])
    assert np.array_equal(block.rows(even).rows(slice(1, 3)).ids, expected[even][1:3])


def test_a_map_changes_no_hash():
    block = Block(np.arange(20.0).reshape(10, 2))
    assert np.array_equal(block.with_X(np.zeros((10, 1))).rows(slice(3, 6)).ids, block.ids[3:6])
