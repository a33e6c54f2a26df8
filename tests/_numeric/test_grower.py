"""Compiled trees are the trees of the definition, and those of scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from mercer import _numeric
from mercer._numeric.trees import grower, prediction

DEFINITION = SimpleNamespace(
    grow_tree=grower.grow_tree, tree_leaves=prediction.tree_leaves, add_trees=prediction.add_trees
)
BOTH = pytest.mark.parametrize("module", [DEFINITION, _numeric], ids=["definition", "twin"])


def binned(n=300, d=5, c=1, seed=0, n_bins=40):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_bins, size=(n, d)).astype(np.uint8)
    gradient = np.sin(bins[:, :c] / 5.0) + rng.normal(size=(n, c))
    return bins, gradient, rng.integers(1, 4, n).astype(float)


def grown(
    module, bins, gradient, hessian, max_leaf_nodes, min_hessian=0.0, l2=0.0, rows=None, columns=None, short=False
):
    n, d = bins.shape
    rows = np.arange(n) if rows is None else rows
    columns = np.arange(d) if columns is None else columns
    widths = np.full(d, int(bins.max()) + 1)
    return module.grow_tree(bins, gradient, hessian, rows, columns, widths, max_leaf_nodes, min_hessian, l2, short)


@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize(("min_hessian", "l2"), [(0.0, 0.0), (12.0, 0.0), (0.0, 1.0), (7.0, 2.5)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("short", [False, True])
def test_compiled_trees_are_those_of_the_definition(c, min_hessian, l2, seed, short):
    bins, gradient, hessian = binned(c=c, seed=seed)
    rng = np.random.default_rng(seed)
    part = {"rows": np.sort(rng.choice(300, 220, replace=False)), "columns": np.array([0, 2, 3])}
    for subset in ({}, part):
        for h in (hessian, rng.uniform(0.01, 0.25, 300), np.where(hessian > 2, 0.0, hessian)):
            ours, theirs = (
                grown(m, bins, gradient, h, 16, min_hessian, l2, short=short, **subset) for m in (_numeric, DEFINITION)
            )
            for k, (mine, defined) in enumerate(zip(ours, theirs, strict=True)):
                assert mine.dtype == defined.dtype
                if k in (4, 5):  # values and gains: quotients, each rounded once more or less
                    np.testing.assert_allclose(mine, defined, rtol=1e-9, atol=1e-9)
                else:
                    np.testing.assert_array_equal(mine, defined)


@BOTH
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_small_gradients_and_hessians_are_not_lost_beside_a_large_one(module, scale):
    """One row outweighs all others by far: short sums do not do, and are not taken."""
    bins, gradient, hessian = binned()
    bins[0], hessian[0], gradient[0] = 0, 1e6, 1e7
    one, two = (grown(module, bins, scale * gradient, hessian, 8, 1.0, short=short) for short in (False, True))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


@BOTH
def test_short_sums_change_values_by_little(module):
    bins, gradient, hessian = binned()
    one, two = (grown(module, bins, gradient, hessian, 8, 1.0, 1.0, short=short) for short in (False, True))
    np.testing.assert_array_equal(one[0], two[0])
    assert not np.array_equal(one[4], two[4])
    # 300 values of 22 bits each: half a unit at most, of the largest gradient
    np.testing.assert_allclose(one[4], two[4], rtol=0, atol=2.0**-22 * np.abs(gradient).max())


def test_leaves_have_the_minimum_hessian_and_the_values_of_newton():
    bins, gradient, hessian = binned(c=2)
    rows = np.arange(0, 300, 2)
    column, _, _, _, value, gain, leaf = grown(_numeric, bins, gradient, hessian, 12, 11.0, 1.5, rows)
    leaves = np.flatnonzero(column < 0)
    assert 2 < len(leaves) <= 12
    assert np.all((gain > 0) == (column >= 0))
    for node in leaves:
        inside = rows[leaf[rows] == node]
        assert hessian[inside].sum() >= 11.0
        np.testing.assert_allclose(
            value[node], -gradient[inside].sum(axis=0) / (hessian[inside].sum() + 1.5), atol=1e-7
        )


@BOTH
def test_leaves_are_found_again_also_those_of_rows_that_were_not_learned_from(module):
    bins, gradient, hessian = binned()
    rows = np.arange(0, 300, 3)
    *nodes, value, _, leaf = grown(module, bins, gradient, hessian, 9, 1.0, 0.0, rows)
    again = module.tree_leaves(bins, *nodes, np.array([0, 0], dtype=np.int32))
    np.testing.assert_array_equal(again, np.column_stack([leaf, leaf]))
    assert again.dtype == np.int32
    column, cut, left, right = (part.astype(np.int64) for part in nodes)
    arguments = (np.array([0]), column, cut.astype(float), left, right, value[:, 0], np.array([1]))
    out = np.zeros((300, 2))
    module.add_trees(bins.astype(float), *arguments, out)
    np.testing.assert_array_equal(out, np.column_stack([np.zeros(300), value[leaf, 0]]))
    for i in range(0, 300, 50):  # a few rows at a time, checked on their way
        single = np.zeros((1, 2))
        module.add_trees(bins[i : i + 1].astype(float), *arguments, single)
        assert np.array_equal(single[0], out[i])


@BOTH
@pytest.mark.parametrize("short", [False, True])
def test_the_order_of_rows_does_not_matter(module, short):
    bins, gradient, hessian = binned()
    order = np.random.default_rng(2).permutation(300)
    one = grown(module, bins, gradient, hessian, 12, 5.0, 1.0, short=short)
    two = grown(module, bins[order], gradient[order], hessian[order], 12, 5.0, 1.0, short=short)
    for first, second in zip(one[:-1], two[:-1], strict=True):
        np.testing.assert_array_equal(first, second)


@BOTH
def test_neither_the_order_of_rows_nor_repeated_rows_matter(module):
    bins, gradient, _ = binned()
    weight = np.random.default_rng(1).integers(1, 4, 300)
    order = np.random.default_rng(2).permutation(300)
    one = grown(module, bins, gradient * weight[:, None], weight.astype(float), 12, 5.0, 1.0)
    two = grown(module, bins[order], (gradient * weight[:, None])[order], weight[order].astype(float), 12, 5.0, 1.0)
    for first, second in zip(one[:-1], two[:-1], strict=True):
        np.testing.assert_array_equal(first, second)
    again = (np.repeat(each, weight, axis=0) for each in (bins, gradient, np.ones(300)))
    for first, second in zip(one[:4], grown(module, *again, 12, 5.0, 1.0)[:4], strict=True):
        np.testing.assert_array_equal(first, second)


@BOTH
def test_of_equal_cuts_the_first_is_taken_and_none_in_empty_bins(module):
    bins = np.repeat(np.array([[3, 9, 3], [7, 2, 7]], dtype=np.uint8), 5, axis=0)
    gradient = 0.1 * np.repeat([[1.0], [-1.0]], 5, axis=0)
    column, cut, *_ = grown(module, bins, gradient, np.ones(10), 5)
    assert column.tolist() == [0, -1, -1]
    assert cut[0] == 3


@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_that_of_the_best_first_tree_of_scikit_learn(seed):
    bins, gradient, _ = binned(seed=seed)
    peer = DecisionTreeRegressor(max_leaf_nodes=10, random_state=0).fit(bins, gradient[:, 0])
    *_, leaf = grown(_numeric, bins, gradient, np.ones(len(bins)), 10, 1.0)
    means = np.bincount(leaf, gradient[:, 0]) / np.maximum(np.bincount(leaf), 1)
    ours = np.sum((gradient[:, 0] - means[leaf]) ** 2)
    theirs = np.sum((gradient[:, 0] - peer.predict(bins)) ** 2)
    assert ours == pytest.approx(theirs, rel=1e-9)


@BOTH
def test_nothing_to_cut(module):
    bins = np.zeros((7, 2), dtype=np.uint8)
    for gradient in (np.ones((7, 1)), np.zeros((7, 1)), np.full((7, 1), 1e-310)):
        column, *_, leaf = grown(module, bins, gradient, np.ones(7), 4, 1.0)
        assert column.tolist() == [-1]
        assert leaf.tolist() == [0] * 7
    column, *_, value, _, _ = grown(module, bins, np.zeros((7, 1)), np.zeros(7), 4)
    assert column.tolist() == [-1]
    assert value.tolist() == [[0.0]]


@BOTH
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.zeros(0, dtype=int)}, "rows"),
        ({"gradient": np.ones((3, 1))}, "as many rows"),
        ({"columns": np.zeros(0, dtype=int)}, "columns"),
        ({"gradient": np.full((4, 1), np.nan)}, "finite"),
        ({"hessian": -np.ones(4)}, "not negative"),
        ({"columns": np.array([2])}, None),
        ({"rows": np.array([4])}, None),
    ],
)
def test_invalid_arguments_are_rejected(module, change, message):
    given = {"bins": np.zeros((4, 2), np.uint8), "gradient": np.ones((4, 1)), "hessian": np.ones(4)} | change
    with pytest.raises((ValueError, IndexError), match=message):
        grown(module, max_leaf_nodes=3, **given)


def test_a_tree_that_would_never_end_is_refused():
    loop = (np.array([0]), np.array([0]), np.zeros(1), np.array([0]), np.array([0]), np.zeros(1), np.array([0]))
    if not _numeric.compiled:
        pytest.skip("the definition trusts its input")
    with pytest.raises(ValueError, match="well formed"):
        _numeric.add_trees(np.zeros((1, 1)), *loop, np.zeros((1, 1)))


@BOTH
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(3))
def test_values_follow_the_signs_of_columns(module, sign, seed):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 20, size=(400, 2)).astype(np.uint8)
    gradient = -(np.sin(bins[:, :1] / 2.0) + 0.1 * bins[:, 1:] + rng.normal(size=(400, 1)))
    given = bins, gradient, np.ones(400), np.arange(400), np.arange(2), np.full(2, 20), 16, 5.0, 1.0, False
    column, *_, value, _, leaf = module.grow_tree(*given, np.array([sign, 0]))
    assert (column >= 0).sum() > 3
    grid = value[leaf, 0]
    for other in range(20):  # rows that differ in the first column only
        chosen = bins[:, 1] == other
        ordered = grid[chosen][np.argsort(bins[chosen, 0], kind="stable")]
        assert np.all(sign * np.diff(ordered) >= 0)
    free = module.grow_tree(*given, np.array([0, 0]))
    for mine, plain in zip(free, module.grow_tree(*given), strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_compiled_monotone_trees_are_those_of_the_definition(sign):
    bins, gradient, hessian = binned(d=3)
    given = bins, gradient, hessian, np.arange(300), np.arange(3), np.full(3, 40), 12, 3.0, 0.5, False
    ours, theirs = (module.grow_tree(*given, np.array([sign, 0, -sign])) for module in (_numeric, DEFINITION))
    for mine, defined in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, defined, rtol=1e-9, atol=1e-9)


REFUSED = {
    "rows out of order": {"rows": np.array([0, 2, 1])},
    "rows that repeat": {"rows": np.array([0, 1, 1])},
    "no rows": {"rows": np.array([], dtype=np.int64)},
    "no columns": {"columns": np.array([], dtype=np.int64)},
}


@BOTH
@pytest.mark.parametrize("name", REFUSED)
def test_rows_and_columns_that_make_no_tree_are_refused(module, name):
    with pytest.raises(ValueError, match=r"rows|columns"):
        grown(module, *binned(), 8, **REFUSED[name])


@BOTH
def test_negative_hessians_are_refused(module):
    bins, gradient, hessian = binned()
    hessian[7] = -1.0
    with pytest.raises(ValueError, match="hessian"):
        grown(module, bins, gradient, hessian, 8)
