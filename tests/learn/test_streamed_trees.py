"""Trees from histograms of a source are those of the booster in memory, on any engine, bit for bit."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from bits import bits
from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn import TreeFeatures
from mercer.learn.trees import encoded_rows, streamed_boosting, tree_features
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.losses import loss_of_target
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.streamed_boosting import boost_streamed, encoder_of
from mercer.learn.trees.training_data import TrainingData
from mercer.source import MemorySource, StreamSource, accumulator, base

N, N_FOLDS = 1500, 3
PARTS = ("base", "roots", "output", "column", "threshold", "left", "right", "value", "ranks")
PARAMS = TreeParams(4, 12, 0.1, 20.0, 1.0, 1.0, None, 64)


@pytest.fixture
def _small_blocks(monkeypatch):
    for module in (accumulator, base):
        monkeypatch.setattr(module, "BLOCK_ROWS", 128)
        monkeypatch.setattr(module, "PART_ROWS", 256)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


def rows(n_classes=0, weighted=False, category=False, n=N):
    """Rows whose targets have exact sums, so that the initial scores do not depend on the order of summation."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 7)).round(2)
    if category:
        X[:, 3:6] = np.eye(4)[rng.integers(0, 4, n), 1:]
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3:] @ [0.5, -0.7, 1.0, 0.1] + 0.2 * rng.normal(size=n)
    y = np.digitize(f, np.linspace(-1, 1, n_classes - 1)) if n_classes else np.round(64 * f) / 64
    return X, y, rng.integers(1, 4, n).astype(float) if weighted else None


def streamed(source, classes, categories=(), params=PARAMS):
    columns = TreeColumns.of(7, categories)
    encoder, totals = encoder_of(source, columns, classes, N_FOLDS, 0, params.max_bins)
    return boost_streamed(source, encoder, totals, params)


def same(one, other):
    return all(bits(getattr(a, p)) == bits(getattr(b, p)) for a, b in zip(one, other, strict=True) for p in PARTS)


CASES = {
    "regression": {},
    "weights": {"weighted": True},
    "two classes": {"n_classes": 2},
    "three classes and a category": {"n_classes": 3, "category": True},
    "category": {"category": True},
}


@pytest.mark.parametrize("case", CASES)
def test_trees_are_those_of_the_booster_in_memory(case):
    X, y, weight = rows(**CASES[case])
    classes = np.unique(y) if "n_classes" in CASES[case] else None
    categories = [slice(3, 6)] if "category" in CASES[case] else []
    columns = TreeColumns.of(7, categories)
    folds = fold_of(Block(X).ids, N_FOLDS, 0)
    loss = loss_of_target(y, weight, classes)
    expected = boost(TrainingData(columns(X), columns.codes), loss, folds, PARAMS)
    found = streamed(MemorySource(X, y, weight), classes, categories)
    assert same(found.ensembles, expected.ensembles)
    assert max(np.max(each.sizes) for each in found.ensembles) == 2 * PARAMS.max_leaf_nodes - 1
    np.testing.assert_allclose(found.losses, expected.losses[: len(found.losses)], rtol=1e-12)


def test_early_stopping_is_that_of_the_booster_in_memory():
    X, _, _ = rows()
    y = np.round(64 * np.random.default_rng(1).normal(size=N)) / 64 + 0.5 * (X[:, 0] > 0)
    params = TreeParams(30, 6, 0.3, 20.0, 1.0, 1.0, 5, 64)
    folds = fold_of(Block(X).ids, N_FOLDS, 0)
    expected = boost(X, loss_of_target(y, None, None), folds, params)
    found = streamed(MemorySource(X, y), None, params=params)
    assert found.n_rounds == expected.n_rounds < 30
    assert same(found.ensembles, expected.ensembles)


@pytest.mark.usefixtures("_small_blocks")
def test_blocks_engines_and_kept_rows_do_not_matter(processes, monkeypatch):
    X, y, weight = rows(3, weighted=True, category=True)
    task = np.unique(y), [slice(3, 6)]
    whole = streamed(MemorySource(X, y, weight), *task)
    there = streamed(MemorySource(X, y, weight).on(processes), *task)
    assert same(whole.ensembles, there.ensembles)
    assert bits(whole.losses) == bits(there.losses)
    monkeypatch.setattr(encoded_rows, "MAX_KEPT_BYTES", 0)
    monkeypatch.setattr(streamed_boosting, "_MAX_CELLS", 300)
    again = streamed(MemorySource(X, y, weight), *task)
    assert same(whole.ensembles, again.ensembles)
    assert again.n_passes > 2 * whole.n_passes
    for module in (accumulator, base):  # sums of weights are exact, so even the initial scores are the same
        monkeypatch.setattr(module, "BLOCK_ROWS", 700)
    assert same(whole.ensembles, streamed(MemorySource(X, y, weight), *task).ensembles)


def test_nothing_is_kept_after_the_fit():
    X, y, _ = rows(n=300)
    TreeFeatures(n_estimators=1, max_rows=None, task="regression").fit(X, y)
    streamed(MemorySource(X, y), None)
    assert not encoded_rows._kept._rows


@pytest.mark.parametrize("encoding", ["leaves", "score"])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_features_of_all_rows(encoding, n_classes, monkeypatch):
    X, y, _ = rows(n_classes)
    estimator = TreeFeatures(encoding, n_estimators=6, max_leaf_nodes=6, max_rows=None, standardize=True)
    in_memory = estimator.fit_transform(X, y)
    monkeypatch.setattr(tree_features, "SAMPLE_ROWS", N - 1)
    pieces = [Block(X[:700], y[:700]), Block(X[700:], y[700:])]
    passes = estimator.fit_transform(StreamSource(lambda: iter(pieces))).collect().X
    dense = (each.toarray() if encoding == "leaves" else each for each in (passes, in_memory))
    np.testing.assert_allclose(*dense, rtol=1e-10)
    assert bits(estimator.fit_transform(X, y)) == bits(passes)


def test_all_rows_need_two_folds(monkeypatch):
    monkeypatch.setattr(tree_features, "SAMPLE_ROWS", 10)
    with pytest.raises(ValueError, match=r"n_samples=20.*more distinct rows"):
        TreeFeatures(max_rows=None, task="regression").fit(np.ones((20, 2)), np.arange(20.0))
