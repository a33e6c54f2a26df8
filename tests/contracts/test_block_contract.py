"""What every kind of feature block promises, over a table of all kinds. Adding a kind is adding a row."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.auto.budget.effort import EFFORTS, sized
from mercer.auto.explain.perturb import Perturbations
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.auto.features.cross_fitted import CrossFitted
from mercer.auto.features.derived import DerivedBlock
from mercer.auto.features.derived_terms import GroupTerm, PairTerm
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.kernel_score import fitted_score
from mercer.auto.features.landmarks import LandmarksBlock
from mercer.auto.features.linear import LinearBlock, SelectedBlock
from mercer.auto.features.piecewise import PiecewiseBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.terms import TermDetails, TermsBlock
from mercer.auto.features.trees import TreeScoreBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import N_FOLDS, TrainingRows
from mercer.auto.search.trees import grow_score
from mercer.io import onnx
from mercer.io.pack import pack, unpack
from mercer.kernels import ExponentialPower, Gaussian, Laplace, Matern
from mercer.learn import AdditiveTerms
from mercer.learn.additive.axes import Axis
from mercer.learn.additive.tables import AdditiveTables, PairTable
from mercer.normalize import Quantile
from mercer.tables.columns import SmoothClipped

N, D = 120, 12
EPS = float(np.finfo(np.float32).eps)
#: Columns that change together: numbers one by one, and the indicators of a category.
GROUPS = [*(np.array([j]) for j in range(9)), np.arange(9, 12)]


def training_rows(categories=()):
    """Nine numbers and the three indicators of a category, with a target of both."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    X[:, 9:] = np.eye(3)[rng.integers(3, size=N)]
    y = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 9] + 0.1 * rng.normal(size=N)
    ids = rng.integers(0, 2**60, N).astype(np.uint64)
    return TrainingRows(X, ((y - y.mean()) / y.std())[:, None], ids, categories=categories)


def trees(n_classes=0, categories=()):
    rows = training_rows(categories)
    cuts = np.quantile(rows.Y, np.arange(1, n_classes) / max(n_classes, 1))
    labels = np.digitize(rows.Y[:, 0], cuts) if n_classes else None
    effort = sized(EFFORTS["fast"], N, n_classes if n_classes > 2 else 1)
    return TreeScoreBlock(grow_score(rows, labels, effort, 0).transformer)


def selected(*columns):
    return SelectedBlock(np.array(columns), D)


def fourier(seed=0):
    return FourierBlock(np.random.default_rng(seed).normal(size=(6, D)), "Gaussian")


def landmarks(kernel, full=False):
    """Some training rows as landmarks, in a metric that reads all columns but one, or in a full metric of rank four."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(D, 4)) if full else np.append(rng.uniform(0.5, 1.5, D - 1), 0.0)
    return LandmarksBlock.fitted(kernel, root, training_rows().X[:20])


def kernel_score(n_outputs=1, full=False):
    """The score of kernel ridge regression of one output or two, in a metric of rank four or of all columns but one."""
    rng, rows = np.random.default_rng(4), training_rows()
    root = rng.normal(size=(D, 4)) if full else np.append(rng.uniform(0.5, 1.5, D - 1), 0.0)
    if n_outputs > 1:
        rows = replace(rows, Y=np.hstack([rows.Y, rows.Y[::-1]]))
    return fitted_score(rows, Laplace(bandwidth=4.0), root, 0.1, 100)


def terms(n_outputs):
    """Points of two numbers, one of them with missing values, of a category, and of two pairs."""
    rng, X = np.random.default_rng(5), training_rows().X
    axes = [Axis.of_number(X, 0, -1, 9), Axis.of_number(X, 3, 10, 5), Axis.of_category(np.arange(9, 12))]
    sizes = [axis.n_levels for axis in axes]
    levels = [np.arange(sizes[0]) // 3, *(np.arange(size) for size in sizes[1:])]
    mains = [rng.normal(size=(size, n_outputs)) for size in sizes]
    pairs = [
        PairTable(j, k, levels[j], levels[k], rng.normal(size=(levels[j].max() + 1, sizes[k], n_outputs)))
        for j, k in ((0, 1), (0, 2))
    ]
    classes = None if n_outputs == 1 else np.arange(n_outputs)
    made = AdditiveTerms.from_tables(AdditiveTables(axes, mains, pairs), D, classes)
    errors = [np.abs(each) for each in (*mains, *(pair.values for pair in pairs))]
    return TermsBlock(made, TermDetails(["x0", "x3", "x9"], [np.ones(each.shape[:-1]) for each in errors], errors))


def derived():
    """A ratio, a difference, and a number within the three categories."""
    numbers = SmoothClipped("a", 5.0, 2.0), SmoothClipped("b", 4.0, 1.0)
    pairs = [PairTerm(name, np.array([1, 4]), *numbers) for name in ("ratio", "difference")]
    within = GroupTerm.learned(ROWS.X, ROWS.counts, np.arange(9, 12), 0)
    return DerivedBlock.fitted(ROWS.X, [*pairs, within])


ROWS = training_rows()
UNSUPERVISED = {
    "linear": LinearBlock(D),
    "selected": selected(7, 0, 10),
    "piecewise": PiecewiseBlock.fitted(ROWS.X, 4),
    "products": ProductBlock.fitted(ROWS.X, [(0, 1), (4, 4), (2, 9)]),
    "derived": derived(),
    "fourier": fourier(),
    "landmarks": landmarks(Gaussian(4.0)),
    "landmarks in a full metric": landmarks(Laplace(bandwidth=4.0), full=True),
    "landmarks of an exponential power": landmarks(ExponentialPower(4.0, q=1.4)),
    "landmarks of a Matern kernel": landmarks(Matern(4.0)),
    "terms": terms(1),
    "terms of three classes": terms(3),
    "any transformer": FeatureBlock(Quantile().fit(ROWS.X)),
}
TREES = {
    "trees": trees(),
    "trees of two classes": trees(2),
    "trees of three classes": trees(3),
    "trees with a category": trees(categories=(slice(9, 12),)),
    "trees of three classes with a category": trees(3, categories=(slice(9, 12),)),
}
SCORES = {
    "kernel score": kernel_score(),
    "kernel score in a full metric": kernel_score(full=True),
    "kernel score of two outputs": kernel_score(2),
}
CROSS_FITTED = {
    "cross-fitted columns": CrossFitted(selected(2, 3), [selected(k, 3) for k in range(4, 4 + N_FOLDS)]),
    "cross-fitted fourier": CrossFitted(fourier(), [fourier(k) for k in range(1, 1 + N_FOLDS)]),
}
TABLE = UNSUPERVISED | TREES | SCORES | CROSS_FITTED
COLUMNS = [f"x{j}" for j in range(D)]

every_block = pytest.mark.parametrize("block", TABLE.values(), ids=TABLE.keys())


def new_rows(n=30, seed=7):
    rng = np.random.default_rng(seed)
    X = 1.5 * rng.normal(size=(n, D))
    X[:, 9:] = np.eye(3)[rng.integers(3, size=n)]
    X.flags.writeable = False
    return X


def weights(block):
    return np.random.default_rng(1).normal(size=(block.width, 2))


@every_block
def test_features_are_float32_of_the_stated_width(block):
    Z = block.features(new_rows())
    assert Z.dtype == np.float32
    assert Z.shape == (30, block.width)
    assert np.isfinite(Z).all()
    assert isinstance(block.kind, str)
    assert isinstance(block.note, str)


@every_block
def test_features_of_a_row_do_not_depend_on_other_rows(block):
    X = new_rows()
    np.testing.assert_array_equal(block.features(X[4:5]), block.features(X)[4:5])


@every_block
def test_features_are_written_into_columns_of_a_wider_array(block):
    X = new_rows()
    out = np.full((len(X), block.width + 5), np.nan, dtype=np.float32)
    block.write(X, out[:, 2 : 2 + block.width])
    np.testing.assert_array_equal(out[:, 2 : 2 + block.width], block.features(X))
    assert np.isnan(out[:, :2]).all()
    assert np.isnan(out[:, 2 + block.width :]).all()


@every_block
def test_names_are_unique_and_as_many_as_features(block):
    names = block.names(COLUMNS)
    assert all(type(name) is str for name in names)
    assert len(names) == len(set(names)) == block.width
    if block.kind != "linear":
        assert not set(names) & set(COLUMNS)


@every_block
def test_the_public_transformer_computes_the_features(block):
    X = new_rows()
    np.testing.assert_allclose(block.transformer.transform(X), block.features(X), rtol=2 * EPS, atol=2 * EPS)


@every_block
def test_leading_features_are_some_of_all(block):
    for max_pairs in (1, 3, 100):
        leading = block.leading(max_pairs)
        assert len(np.unique(leading)) == len(leading) > 0
        assert set(leading) <= set(range(block.width))
    np.testing.assert_array_equal(block.leading(100), np.arange(block.width))


@every_block
def test_score_changes_are_those_of_changed_rows(block):
    X, other, coef = new_rows(), new_rows(seed=8), weights(block)
    changes, before = block.score_changes(X, coef), block.features(X) @ coef
    for columns in (*GROUPS, np.array([0, 5, 9]), np.arange(D)):
        changed = X.copy()
        changed[:, columns] = other[:, columns]
        expected = block.features(changed) @ coef - before
        np.testing.assert_allclose(changes.changed(columns, other[:, columns]), expected, rtol=0, atol=3e-5)


@pytest.mark.parametrize("kind", ["linear", "piecewise"])
def test_additive_changes_add_up(kind):
    block = UNSUPERVISED[kind]
    X, other, coef = new_rows(), new_rows(seed=8), weights(block)
    changes = block.score_changes(X, coef)
    assert changes.additive
    total = changes.changed(np.arange(D), other)
    parts = sum(changes.changed(columns, other[:, columns]) for columns in GROUPS)
    np.testing.assert_allclose(parts, total, rtol=0, atol=3e-5)


@every_block
def test_the_mean_path_credits_each_group_with_its_changes(block):
    start, x, coef = new_rows(1), new_rows(1, seed=8)[0], weights(block)
    rng = np.random.default_rng(2)
    orders = [rng.permutation(len(GROUPS)) for _ in range(3)]
    found = Perturbations(Features([block]), coef, start).mean_path(x, GROUPS, orders)
    expected = np.zeros_like(found)
    for order in orders:
        row = start.copy()
        for k in order:
            before = block.features(row) @ coef
            row[:, GROUPS[k]] = x[GROUPS[k]]
            expected[k] += (block.features(row) @ coef - before)[0] / len(orders)
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-5)
    np.testing.assert_allclose(
        found.sum(axis=0), ((block.features(x[None]) - block.features(start)) @ coef)[0], rtol=0, atol=1e-4
    )


@every_block
def test_versions_without_a_fold_and_for_new_rows_keep_the_width(block):
    X = new_rows()
    for fold in range(N_FOLDS):
        without = block.without_fold(fold)
        assert without.kind == block.kind
        assert without.features(X).shape == (len(X), block.width)
    final = block.for_new_rows()
    assert (final.kind, final.width, final.note) == (block.kind, block.width, block.note)
    assert not isinstance(final, CrossFitted)
    np.testing.assert_array_equal(final.features(X), block.features(X))


@pytest.mark.parametrize("block", UNSUPERVISED.values(), ids=UNSUPERVISED.keys())
def test_an_unsupervised_block_refitted_to_the_same_rows_is_the_same(block):
    again = block.refit(Refit(ROWS, None, None))
    assert type(again) is type(block)
    assert again.kind == block.kind
    np.testing.assert_array_equal(again.features(new_rows()), block.features(new_rows()))


@pytest.mark.parametrize("kind", ["selected", "products", "fourier", "landmarks", "landmarks in a full metric"])
def test_a_refit_follows_columns_that_have_moved(kind):
    X, positions = new_rows(), np.array([4, 11, -1, 0, 1, 2, 9, 10, 3, 5, 6, 7, 8])  # one column is new
    moved = np.where(positions < 0, 1.0, X[:, positions])
    again = UNSUPERVISED[kind].refit(Refit(None, positions, None))
    np.testing.assert_allclose(again.features(moved), UNSUPERVISED[kind].features(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("block", TREES.values(), ids=TREES.keys())
def test_trees_are_refitted_by_boosting_again(block):
    other = trees()
    assert block.refit(Refit(ROWS, None, lambda: (other, np.zeros((N, 1))))) is other


def test_a_kernel_score_is_fitted_again_to_the_same_rows_wherever_their_columns_are():
    block, X, positions = SCORES["kernel score"], new_rows(), np.array([4, 11, -1, 0, 1, 2, 9, 10, 3, 5, 6, 7, 8])
    again = block.refit(Refit(ROWS, None, None))
    np.testing.assert_array_equal(again.features(X), block.features(X))
    np.testing.assert_array_equal(again.out_of_fold, block.out_of_fold)

    def moved(A):
        return np.where(positions < 0, 1.0, A[:, positions])

    elsewhere = block.refit(Refit(replace(ROWS, X=moved(ROWS.X)), positions, None))
    np.testing.assert_allclose(elsewhere.features(moved(X)), block.features(X), rtol=0, atol=1e-5)


def test_known_scores_replace_those_that_blocks_compute():
    """Side by side, in the order of the blocks; scores of the trees alone leave the others to their blocks."""
    trees, kernel, X = TREES["trees"], SCORES["kernel score"], new_rows()
    both, of_trees = Features([trees, LinearBlock(D), kernel]), np.full((len(X), 1), 2.0)
    known = both.features(X, np.hstack([of_trees, np.full((len(X), 1), 3.0)]))
    np.testing.assert_array_equal(known[:, :1], trees.from_scores(of_trees))
    np.testing.assert_array_equal(known[:, -1], 3.0)
    np.testing.assert_array_equal(both.features(X, of_trees)[:, -1:], kernel.features(X))


@every_block
def test_a_saved_block_computes_the_same_bits(block):
    final = block.for_new_rows()
    loaded = unpack(*pack(final))
    assert type(loaded) is type(final)
    assert loaded.names(COLUMNS) == block.names(COLUMNS)
    np.testing.assert_array_equal(loaded.features(new_rows()), block.features(new_rows()))


@pytest.mark.parametrize("name", [name for name in TABLE if name != "any transformer"])
def test_onnx_nodes_compute_the_features_up_to_rounding(name):
    final, X = TABLE[name].for_new_rows(), new_rows()
    graph = onnx.Graph()
    x = graph.concat([graph.input(name) for name in COLUMNS])
    graph.output("features", final.onnx_nodes(graph, x), np.float32, ("rows", final.width))
    found = onnx.run(graph.model("features"), {name: X[:, [j]] for j, name in enumerate(COLUMNS)})["features"]
    expected = final.features(X)
    bound = EPS * (4 * np.abs(expected) + final.onnx_rounding(X, np.abs(expected), np.eye(final.width)))
    assert found.dtype == np.float32
    assert np.all(np.abs(found - expected) <= bound)


def test_a_block_without_onnx_nodes_names_its_kind():
    with pytest.raises(ValueError, match="block of kind 'features', which has no translation to ONNX"):
        UNSUPERVISED["any transformer"].onnx_nodes(onnx.Graph(), "x")
