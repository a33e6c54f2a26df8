"""What every statistic promises: a monoid with a pure finish. Adding a statistic is adding a row to the table."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer._numeric.block import Block
from mercer.expand.landmarks.rows import CollectedRows, RowSample
from mercer.kernels import Gaussian
from mercer.learn.trees.best_first import GradientGrid
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.encoded_rows import BinTree, BoostedModel, TreeRowEncoder
from mercer.learn.trees.fold_totals import FoldTotals
from mercer.learn.trees.level_histograms import GridGuess, LevelHistograms, TreeTask
from mercer.linear.losses import Hinge, Logistic, LogLoss, Squared
from mercer.linear.optimize.hinge_passes import HingePoint, HingesAt
from mercer.linear.optimize.softmax import SoftmaxHessianAt
from mercer.linear.ridge.factor import Spectral
from mercer.linear.ridge.loo import LeaveOneOut
from mercer.machines.falkon import CenterProducts
from mercer.select.boosting.rounds import StumpHistograms
from mercer.select.filters.cross_moments import ContingencyTables, CrossMoments
from mercer.select.filters.histograms import BinEdges, JointHistogram
from mercer.select.filters.pair_information import PairTables
from mercer.stats import Counts, Gram, LabelCounts, LabelGram, LossAt, LossesAt, Moments, Sample, Together
from mercer.stats.target_tables import TargetTables
from mercer.stats.triangle import FactoredGram

N, D = 90, 4
LABELS = np.array(["ant", "bee", "cat"])
COEF = np.array([0.3, -1.0, 0.5, 0.2])

POINTS = np.linspace(-1.0, 1.0, 2 * (D + 1) * 3).reshape(2, D + 1, 3)
ORIGIN = np.array([0.5, 0.0, -0.5, 1.0])
HINGE_POINTS = (HingePoint(np.array([0.3, -1.0, 0.5, 0.2, 0.1]), 0.5), HingePoint(np.ones(5), 2.0, -np.ones(5)))
CUTS = [np.array([-0.5, 0.05, 0.5])] * D
TREE_COLUMNS = TreeColumns.of(D)
ENCODER = TreeRowEncoder("contract", TREE_COLUMNS, CUTS, [[], []], [{}, {}], None, 2, 0, np.arange(2))
STUMP = BinTree(*(np.array([each, -1, -1], dtype=np.int32) for each in (1, 0, 1, 2)), np.array([0.0, -1.0, 1.0]))
MODEL = BoostedModel(np.array([[1.0], [-2.0]]), ([[STUMP], [STUMP]],))
GRIDS = GridGuess(GradientGrid(20, 20), GradientGrid(38, 38), False)  # so fine that rounding does not count
TREE_TASKS = tuple(TreeTask(k, 0, GRIDS, STUMP, np.array([-1, 0, 1], dtype=np.int32), 2) for k in range(2))
FACTOR = Spectral(ORIGIN, np.zeros(1), 1000.0, np.eye(1), np.arange(1.0, 5.0), np.eye(D), np.ones((D, 1)))

# name -> (empty statistic, what y is, whether merging is exact to the last bit, whether CSR is accepted)
TABLE = {
    "moments": (Moments(), "none", True, True),
    "gram": (Gram(3), "number", False, True),
    "gram without y": (Gram(2), "none", False, True),
    "gram of two targets": (Gram(3), "two numbers", False, True),
    "gram and triangle": (FactoredGram(3), "number", False, True),
    "label gram": (LabelGram(3), "label", False, True),
    "counts": (Counts(), "none", True, False),
    "label counts": (LabelCounts(), "label", True, True),
    "sample of all": (Sample(), "number", True, True),
    "small sample": (Sample(7), "number", True, True),
    "sample of rows": (RowSample(7), "none", True, True),
    "every row": (CollectedRows(), "none", True, True),
    "squared loss": (LossAt(Squared(), COEF, 0.1, curvature=True), "number", False, True),
    "logistic loss": (LossAt(Logistic(), COEF, 0.1, curvature=True), "sign", False, True),
    "hinge loss": (LossAt(Hinge(), COEF, 0.1), "sign", False, True),
    "losses of models": (LossesAt(LogLoss(), POINTS, ORIGIN, np.array([0, 1]), 2), "code", False, True),
    "softmax hessian": (SoftmaxHessianAt(POINTS[0], ORIGIN), "code", False, True),
    "leave one out": (LeaveOneOut(FACTOR, np.array([0.1, 1.0]), ORIGIN, np.zeros(1)), "number", False, True),
    "target tables": (TargetTables(3), "number", False, False),
    "target tables of two targets": (TargetTables(2), "two numbers", False, False),
    "cross moments": (CrossMoments(), "number", False, True),
    "cross moments of labels": (CrossMoments(), "label", False, True),
    "contingency tables": (ContingencyTables((0, 2)), "number", False, True),
    "contingency tables of labels": (ContingencyTables((0, 2)), "label", False, True),
    "joint histogram": (JointHistogram([BinEdges(np.array([-0.5, 0.5]), False)] * D, 3), "code", False, True),
    "pair tables": (PairTables((BinEdges(np.array([-0.5, 0.5]), False),) * D, 3, 1, 3), "code", False, True),
    "fold totals": (FoldTotals(TREE_COLUMNS, None, 2, 0), "two numbers", False, False),
    "level histograms": (LevelHistograms(ENCODER, MODEL, TREE_TASKS, False), "number", False, False),
    "smoothed hinges": (HingesAt((0, 2), HINGE_POINTS, ORIGIN), "code", False, True),
    "products with centers": (CenterProducts(Gaussian(2.0), np.eye(D)), "two numbers", False, True),
    "normal products": (CenterProducts(Gaussian(2.0), np.eye(D), np.ones((D, 1))), "number", False, True),
    "stump histograms": (
        StumpHistograms(tuple(CUTS), np.ones((D, 256)), 0.5, 6.0, False, 1),
        "code",
        False,
        True,
    ),
    "together": (Together(moments=Moments(), sample=Sample(5)), "number", True, True),
}

every_statistic = pytest.mark.parametrize("name", TABLE)


def targets(kind, X):
    sign = np.where(X[:, 0] > 0, 1.0, -1.0)
    return {
        "none": None,
        "number": X[:, 0] * 2 + 1e3,
        "two numbers": X[:, :2] + 5.0,
        "label": LABELS[(np.abs(X[:, 1]) * 10).astype(int) % 3],
        "sign": sign,
        "code": (np.abs(X[:, 1]) * 10).astype(int) % 3,
    }[kind]


def data(name, seed=0, offset=0.0, weighted=False, n=N):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, D)), 1) + offset
    weight = rng.integers(1, 4, size=n).astype(float) if weighted else None
    return Block(X, targets(TABLE[name][1], X), weight)


def plain(value):
    """A finished result as nested lists of arrays, so that any two can be compared."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.toarray() if hasattr(value, "toarray") else value


def assert_same(a, b, exact):
    a, b = plain(a), plain(b)
    _compare(a, b, exact, "result")


def _compare(a, b, exact, where):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            if key != "error":  # an estimate of rounding, itself made of rounding
                _compare(a[key], b[key], exact, f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b)
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            _compare(left, right, exact, f"{where}[{i}]")
    elif exact or a is None or np.asarray(a).dtype.kind not in "fc":
        np.testing.assert_array_equal(a, b, err_msg=where)
    else:
        scale = max(np.max(np.abs(a), initial=0.0), 1.0)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * scale, err_msg=where)


def comparable(statistic):
    """The finished result; a Gram is measured from its own origin, so it is compared by what does not depend on it."""
    result = statistic.finish()
    if not isinstance(statistic, Gram):
        return result
    origin = np.zeros_like(result.z_origin) - result.z_origin, np.zeros_like(result.y_origin) - result.y_origin
    about = [normal.about(*origin) for normal in [*result.folds, result.total]]
    compared = {"n": result.n, "labels": result.labels, "weights": [fold.weight for fold in result.folds]}
    if result.triangle is not None:
        R = result.triangle.R.copy()
        R[:, 1:] += np.outer(R[:, 0], np.concatenate([result.z_origin, result.y_origin]))
        about.append(R.T @ R)
    return compared | {"about zero": about}


def pieces(block, cuts):
    bounds = [0, *sorted(cuts), len(block)]
    return [block.rows(slice(a, b)) for a, b in itertools.pairwise(bounds)]


@every_statistic
def test_empty_is_the_identity_on_both_sides(name):
    empty, exact = TABLE[name][0], True
    some = empty.of(data(name))
    assert_same(comparable(empty.merge(some)), comparable(some), exact)
    assert_same(comparable(some.merge(empty)), comparable(some), exact)
    assert empty.merge(empty).n == 0


@every_statistic
def test_empty_blocks_change_nothing(name):
    empty = TABLE[name][0]
    block = data(name)
    nothing = block.rows(slice(0, 0))
    assert empty.of(nothing).n == 0
    assert_same(comparable(empty.of(nothing).merge(empty.of(block))), comparable(empty.of(block)), True)
    assert_same(comparable(empty.of(block).absorb(nothing)), comparable(empty.of(block)), True)


@every_statistic
@pytest.mark.parametrize("weighted", [False, True])
def test_merging_is_associative(name, weighted):
    empty, _, exact, _ = TABLE[name]
    a, b, c = (empty.of(piece) for piece in pieces(data(name, weighted=weighted), [20, 55]))
    assert_same(comparable(a.merge(b).merge(c)), comparable(a.merge(b.merge(c))), exact)


@every_statistic
@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, N), max_size=6), weighted=st.booleans())
def test_any_split_equals_the_whole(name, cuts, weighted):
    empty, _, exact, _ = TABLE[name]
    block = data(name, weighted=weighted)
    merged = absorbed = empty
    for piece in pieces(block, cuts):
        merged = merged.merge(empty.of(piece))
        absorbed = absorbed.fresh().absorb(piece)
    whole = empty.of(block)
    assert merged.n == absorbed.n == whole.n == N
    assert_same(comparable(merged), comparable(whole), exact)
    assert_same(comparable(absorbed), comparable(whole), exact)


@every_statistic
def test_huge_offsets_cost_no_accuracy(name):
    if "loss" in name:  # a score of 1e8 is a different loss, not an offset
        return
    empty, _, exact, _ = TABLE[name]
    block = data(name, offset=1e8)
    parts = [empty.of(piece) for piece in pieces(block, [31, 60])]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    if isinstance(merged, Gram):
        result, X = merged.finish(), block.X
        G, _, _ = result.total.about(*result.total.means())
        centered = X - X.mean(axis=0)
        np.testing.assert_allclose(G, centered.T @ centered, rtol=1e-6, atol=1e-6)
        if result.triangle is not None:
            R = result.triangle.R[1:, 1 : 1 + D]
            np.testing.assert_allclose(R.T @ R, centered.T @ centered, rtol=1e-6, atol=1e-6)
    else:
        assert_same(comparable(merged), comparable(empty.of(block)), exact)


@every_statistic
def test_finishing_twice_says_the_same_and_inputs_stay_untouched(name):
    empty = TABLE[name][0]
    block = data(name, weighted=True)
    for array in (block.X, block.weight, block.y):
        if array is not None:
            array.setflags(write=False)
    first, second = (empty.of(piece) for piece in pieces(block, [40]))
    before = pickle.dumps((first, second))
    merged = first.merge(second)
    assert_same(comparable(merged), comparable(merged), True)
    assert_same(merged.finish(), merged.finish(), True)
    assert pickle.dumps((first, second)) == before


@every_statistic
def test_fresh_protects_what_it_was_made_from(name):
    empty = TABLE[name][0]
    first, second = pieces(data(name), [40])
    kept = empty.of(first)
    before = pickle.dumps(kept)
    kept.fresh().absorb(second)
    assert pickle.dumps(kept) == before


@every_statistic
def test_integer_weights_are_repeated_rows(name):
    empty, _, _, _ = TABLE[name]
    block = data(name, weighted=True)
    repeated = block.rows(np.repeat(np.arange(N), block.weight.astype(int)))
    repeated.weight = None
    weighted, unweighted = comparable(empty.of(block)), comparable(empty.of(repeated))
    for result in (weighted, unweighted):
        _drop_row_counts(result)
    assert_same(_without_n(weighted), _without_n(unweighted), False)


def _drop_row_counts(result):
    if isinstance(result, dict):
        result.pop("n", None)


def _without_n(result):
    tree = plain(result)
    if isinstance(tree, dict):
        tree.pop("n", None)
        for value in tree.values():
            if isinstance(value, dict):
                value.pop("n", None)
    return tree


@every_statistic
def test_sparse_rows_count_like_dense_ones(name):
    empty, _, exact, accepts_sparse = TABLE[name]
    if not accepts_sparse:
        return
    block = data(name, weighted=True)
    block.X[np.abs(block.X) < 0.7] = 0.0
    dense = Block(block.X, block.y, block.weight)
    thin = Block(sparse.csr_matrix(block.X), block.y, block.weight)
    assert_same(comparable(empty.of(thin)), comparable(empty.of(dense)), exact)
