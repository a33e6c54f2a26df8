"""Supervised bins: the exact minimum, and folds without leakage."""

import itertools

import numpy as np
import pytest
from scipy.stats import entropy

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn import SupervisedBins
from mercer.learn.bins.segmentation import Segmentation, entropy_costs, squared_costs
from mercer.linear import RidgeRegressor
from mercer.source import MemorySource


def brute_force(cost, segments):
    """The minimum cost of a number of segments."""
    n = len(cost) - 1
    best = np.inf
    for cuts in itertools.combinations(range(1, n), segments - 1):
        ends = [0, *cuts, n]
        best = min(best, sum(cost[a, b] for a, b in itertools.pairwise(ends)))
    return best


def test_costs_are_deviations_and_likelihoods():
    rng = np.random.default_rng(0)
    groups = [rng.normal(size=(k, 2)) for k in (3, 1, 4, 2)]
    weight = np.array([float(len(g)) for g in groups])
    cost = squared_costs(weight, np.stack([g.sum(0) for g in groups]), np.stack([(g**2).sum(0) for g in groups]))
    joined = np.vstack(groups[1:3])
    assert cost[1, 3] == pytest.approx(((joined - joined.mean(0)) ** 2).sum())
    counts = rng.integers(0, 5, size=(4, 3)).astype(float)
    likelihood = entropy_costs(counts.sum(axis=1), counts)
    both = counts[0] + counts[1]
    assert likelihood[0, 2] == pytest.approx(both.sum() * entropy(both))


@pytest.mark.parametrize("seed", range(5))
def test_segments_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    weight, target = rng.integers(1, 5, 9).astype(float), rng.normal(size=(9, 1))
    cost = squared_costs(weight, target, target**2 / weight[:, None] + rng.random((9, 1)))
    found = Segmentation(cost, 6)
    for segments in range(1, 7):
        assert found.losses[segments - 1] == pytest.approx(brute_force(cost, segments))
        ends = [0, *found.cuts(segments), 9]
        assert len(ends) == segments + 1
        assert sum(cost[a, b] for a, b in itertools.pairwise(ends)) == pytest.approx(found.losses[segments - 1])
    assert found.number(0.0) == 6
    assert found.number(1e9) == 1


@pytest.mark.parametrize("classes", [False, True])
def test_steps_are_found(classes):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 2))
    mean = np.select([X[:, 0] < 0.2, X[:, 0] < 0.7], [0.1, 0.9], 0.4)
    y = np.where(rng.random(4000) < mean, "yes", "no") if classes else mean + 0.1 * rng.normal(size=4000)
    bins = SupervisedBins().fit(X, y).bins_
    inner = bins[0][1:-1]
    assert all(np.abs(inner - step).min() < 0.01 for step in (0.2, 0.7))
    assert all(min(abs(edge - 0.2), abs(edge - 0.7)) < 0.02 for edge in inner)  # a steep piece may stand at a step
    assert len(bins[1]) == 2  # an uninformative column is one segment


def test_each_row_is_encoded_by_edges_learned_without_its_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=500)
    map_ = SupervisedBins(n_bins=6, n_folds=4)
    Z = map_.fit_transform(X, y)
    assert Z.shape[1] == map_.transform(X).shape[1] == len(map_.get_feature_names_out())
    fold = fold_of(Block(X).ids, 4, 0)
    changed = y.copy()
    changed[fold == 2] = rng.permutation(changed[fold == 2]) + 0.01
    again = SupervisedBins(n_bins=6, n_folds=4)
    again.fit(X, changed)
    # the targets of a fold do not move the edges that its rows are encoded by (their number comes from all rows)
    if [len(edges) for edges in again.bins_] == [len(edges) for edges in map_.bins_]:
        np.testing.assert_array_equal(again.fit_transform(X, changed)[fold == 2], Z[fold == 2])


def test_noise_scores_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 8)), rng.normal(size=600)
    Z = SupervisedBins(penalty=0.1).fit_transform(X, y)
    model = RidgeRegressor().fit(Z, y)
    assert model.losses_.min() > 0.97 * y.var()


def test_indicators_are_a_step_function():
    x = np.linspace(0.0, 1.0, 500)[:, None]
    y = np.where(x[:, 0] > 0.5, 1.5, 0.0) + np.sin(1000 * x[:, 0])
    map_ = SupervisedBins(encoding="indicators").fit(x, y)
    Z = map_.transform(x)
    np.testing.assert_array_equal(Z.sum(axis=1), 1.0)
    assert Z.shape[1] == 2


def test_a_source_gives_the_same_out_of_fold_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] ** 2
    expected = SupervisedBins(n_bins=4).fit_transform(X, y)
    mapped = SupervisedBins(n_bins=4).fit_transform(MemorySource(X, y))
    np.testing.assert_array_equal(np.vstack([block.X for block in mapped.blocks()]), expected)


def test_more_targets_and_wrong_parameters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    assert SupervisedBins().fit(X, np.column_stack([X[:, 0] > 0, X[:, 0] + 0.5])).bins_[0].size > 2
    for parameters in ({"n_bins": 0}, {"penalty": -1.0}, {"encoding": "steps"}, {"n_folds": 1}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            SupervisedBins(**parameters).fit(X, X[:, 0])
