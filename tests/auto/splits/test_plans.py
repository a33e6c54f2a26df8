"""Plans of folds: who learns from whom under groups, time and splitters."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit

from mercer._numeric.hashing.keys import key_of_hash, keys_in_buckets
from mercer._numeric.hashing.rows import fold_of
from mercer._numeric.hashing.splitmix import splitmix64
from mercer._runtime.errors import MercerError
from mercer.auto.splits.plans import GroupParts, TimeParts, cut_at, held_out_groups, splitter_parts, train_end
from mercer.learn.target_encoding import TargetEncoding
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.row_space import BlockKernel, RowSpaceFoldLoss
from mercer.source import MemorySource
from mercer.stats import Gram
from mercer.stats.folds import FoldPlan

RNG = np.random.default_rng(0)
HASHES = RNG.integers(0, 2**63, 400).astype(np.uint64)


@pytest.mark.parametrize("seed", [0, 7, -3])
def test_keys_are_inverse_to_their_hashes(seed):
    assert np.array_equal(key_of_hash(splitmix64(HASHES, seed), seed), HASHES)


@pytest.mark.parametrize("n_buckets", [1, 2, 5, 6, 64])
def test_keys_fall_into_their_buckets(n_buckets):
    bucket = RNG.integers(0, n_buckets, len(HASHES))
    keys = keys_in_buckets(bucket, n_buckets, HASHES, seed=3)
    assert np.array_equal(fold_of(keys, n_buckets, 3), bucket)
    assert len(np.unique(keys)) == len(np.unique(HASHES))
    again = keys_in_buckets(bucket, n_buckets, HASHES, seed=3)
    assert np.array_equal(keys, again)


@pytest.mark.parametrize("gap", [(0, 0.0), (15, 0.0), (0, 30.0), (90, 0.0)])
def test_time_folds_learn_from_the_past_less_the_gap(gap):
    times = RNG.permutation(400).astype(float)
    parts = TimeParts.of(times, gap)
    part = parts(times, HASHES)
    plan = parts.plan
    folds = np.asarray(plan.fold_of_part)[part]
    assert plan.tested == (False, False, *(True,) * 5)
    assert sorted(np.unique(folds)) == list(range(7))
    for fold in range(2, 7):
        test, train = times[folds == fold], times[np.isin(part, plan.trains[fold])]
        start, distance = test.min(), max(gap[0] + 1, gap[1])
        allowed = times[times <= start - distance]
        assert sorted(train) == sorted(allowed)
        assert 60 <= len(test) <= 70
    halves = [set(np.flatnonzero(np.isin(part, plan.trains[k])).tolist()) for k in (0, 1)]
    assert not halves[0] & halves[1]
    assert halves[0] == set(np.flatnonzero(folds == 1).tolist())


def test_rows_of_equal_times_stay_together():
    times = np.repeat(np.arange(10.0), 40)
    parts = TimeParts.of(times, (0, 0.0))
    folds = np.asarray(parts.plan.fold_of_part)[parts(times, HASHES)]
    assert all(len(np.unique(folds[(times == t) & (folds > 1)])) <= 1 for t in range(10))
    assert cut_at(np.sort(times), 0.8) == 8.0
    assert train_end(np.sort(times), 8.0, (0, 2.0)) == np.nextafter(6.0, np.inf)


def test_few_groups_make_even_parts():
    groups, counts = np.unique(splitmix64(np.arange(7)), return_counts=True)
    counts = np.array([50, 10, 10, 10, 10, 5, 5])
    parts = GroupParts.of(groups, counts, 5, seed=0)
    sizes = np.bincount(parts(groups), counts, 5)
    assert sizes.max() == 50
    assert sizes.min() == 10
    chosen = held_out_groups(groups, counts, 0.2, seed=0)
    assert 0 < counts[np.isin(groups, chosen)].sum() <= 30
    assert len(held_out_groups(groups[:2], counts[:2], 0.2, seed=0)) == 1


def _labels(splitter, n=60, groups=None):
    part, plan = splitter_parts(splitter, np.arange(n), groups, HASHES[:n])
    return part, plan, np.asarray(plan.fold_of_part)[part]


def test_a_partition_of_a_splitter_is_that_of_its_test_sets():
    _part, plan, folds = _labels(KFold(4))
    assert plan.is_partition
    assert plan.n_folds == 4
    assert np.array_equal(folds, np.repeat(np.arange(4), 15))


@pytest.mark.parametrize(
    "splitter", [TimeSeriesSplit(4), TimeSeriesSplit(3, gap=5), TimeSeriesSplit(4, max_train_size=20)]
)
def test_training_sets_of_a_splitter_are_unions_of_parts(splitter):
    part, plan, folds = _labels(splitter)
    splits = list(splitter.split(np.zeros((60, 1))))
    tested = [fold for fold in range(plan.n_folds) if plan.tested[fold]]
    assert len(tested) == len(splits)
    for fold, (train, test) in zip(tested, splits, strict=True):
        assert np.array_equal(np.flatnonzero(folds == fold), test)
        assert np.array_equal(np.flatnonzero(np.isin(part, plan.trains[fold])), train)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ShuffleSplit(3, random_state=0), "test sets overlap"),
        ([(np.arange(30), np.arange(20, 60)), (np.arange(30), np.arange(3))], "learns from rows that it is tested on"),
        ([(np.arange(30), np.arange(30, 60))], "At least two folds"),
        ([(np.arange(30), np.arange(100, 160)), (np.arange(30), np.arange(3))], "pairs of indices"),
        ([1, 2], "pairs of indices"),
    ],
)
def test_splitters_that_cannot_be_used_are_refused(cv, message):
    with pytest.raises(MercerError, match=message):
        _labels(cv)


def test_too_many_parts_are_refused():
    with pytest.raises(MercerError, match="at most 64 parts"):
        _labels(KFold(80), n=400)


def test_groups_reach_the_splitter():
    groups = np.repeat(np.arange(12), 5).astype(np.uint64)
    _, _, folds = _labels(GroupKFold(3), groups=groups)
    assert all(len(np.unique(folds[groups == g])) == 1 for g in range(12))


@pytest.fixture
def ordered():
    """Rows in an order, their plan, and features and targets."""
    n = 240
    times = RNG.permutation(n).astype(float)
    parts = TimeParts.of(times, (10, 0.0))
    ids = keys_in_buckets(parts(times, HASHES[:n]), parts.plan.n_parts, HASHES[:n], seed=0)
    X = RNG.normal(size=(n, 3))
    return parts.plan, ids, X, X @ np.array([1.0, -2.0, 0.5]) + 0.1 * RNG.normal(size=n)


class _Hashes:
    def __init__(self, hashes):
        self.hashes, self.shape = hashes, (len(hashes), 0)

    def __getitem__(self, rows):
        return _Hashes(self.hashes[rows])

    def row_hashes(self):
        return self.hashes


def _gram(plan, ids, X, y):
    from dataclasses import replace

    def known(block):
        return replace(block, raw=_Hashes(ids[block.start : block.start + len(block)]))

    return MemorySource(X, y).map(known).fold(Gram(plan.n_parts, 0, plan=plan)).finish()


def test_losses_of_a_plan_are_those_of_single_fits(ordered):
    plan, ids, X, y = ordered
    folds = plan.rows(ids, 0)
    gram, penalty = _gram(plan, ids, X, y), 2.0
    by_gram = GramFoldLoss(gram, np.zeros(3, dtype=int))
    kernels = [BlockKernel.of(X, None)]
    by_rows = RowSpaceFoldLoss(kernels, np.zeros(3, dtype=int), folds, y[:, None], lambda index, _: X[index])
    errors = []
    for fold in folds.known:
        train, test = folds.outside(fold), folds.inside(fold)
        center, mean = X[train].mean(axis=0), y[train].mean()
        Z = X[train] - center
        w = np.linalg.solve(Z.T @ Z + penalty * np.eye(3), Z.T @ (y[train] - mean))
        coef, intercept = by_gram.weights_without(fold, np.array([penalty]))
        assert np.allclose(coef[:, 0], w, rtol=1e-4)
        assert np.allclose(intercept, mean - center @ w, atol=1e-4)
        if folds.is_tested(fold):
            errors.append(np.sum((y[test] - mean - (X[test] - center) @ w) ** 2))
    for losses in (by_gram, by_rows):
        found = losses.score(np.array([penalty]))
        assert np.allclose(found.per_fold, errors, rtol=1e-4)
        assert np.isclose(found.loss, np.sum(errors) / folds.tested.sum(), rtol=1e-4)


def test_target_encodings_of_a_plan_come_from_its_training_rows(ordered):
    from dataclasses import replace

    plan, ids, _, y = ordered
    X = RNG.integers(0, 5, (len(y), 1))
    source = MemorySource(X, y).map(lambda block: replace(block, raw=_Hashes(ids[block.start :][: len(block)])))
    source.fold_plan = plan
    encoding = TargetEncoding(shrinkage=0.0, task="regression").fit(source)
    folds = plan.rows(ids, 0)
    found = encoding._held_out(X, folds.labels)[:, 0]
    for fold in folds.known:
        train = folds.outside(fold)
        for row in np.flatnonzero(folds.inside(fold))[:5]:
            same = train & (X[:, 0] == X[row, 0])
            expected = y[same].mean() if same.any() else y[train].mean()
            assert np.isclose(found[row], expected)


def test_a_plan_of_complements_is_no_plan():
    plan = FoldPlan.complements(5)
    X, y = RNG.normal(size=(200, 2)), RNG.normal(size=200)
    with_plan = MemorySource(X, y).fold(Gram(5, 0, plan=plan)).finish()
    without = MemorySource(X, y).fold(Gram(5, 0)).finish()
    assert with_plan.planned is None
    assert all(np.array_equal(a.G, b.G) for a, b in zip(with_plan.folds, without.folds, strict=True))
