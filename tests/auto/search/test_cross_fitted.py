"""What is learned from few rows is judged on each fold as it would be without it."""

import numpy as np
import pytest
from mercer.auto.boosting.boosting import gains_apart
from mercer.auto.boosting.ensemble import Growth
from mercer.auto.boosting.losses import LogLoss, Squares

from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.features.cross_fitted import CrossFitted
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.linear import SelectedBlock
from mercer.auto.search.kernels import kernel_candidates

GROWTH = Growth(n_trees=10, max_leaves=6, least_rows=5)


def table(n=90, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n), np.arange(n) % 5


@pytest.mark.parametrize("classes", [False, True])
def test_gains_without_a_fold_do_not_know_its_targets(classes):
    X, y, folds = table()

    def gains(y):
        loss = LogLoss((y > 0).astype(int), 2) if classes else Squares(y)
        return gains_apart(X, loss, folds, GROWTH)

    changed = np.where(folds == 2, -y - 1.0, y)
    before, after = gains(y), gains(changed)
    assert len(before) == 5
    assert [np.array_equal(one, two) for one, two in zip(before, after, strict=True)] == [
        fold == 2 for fold in range(5)
    ]


def test_gains_that_there_is_no_time_for():
    X, y, folds = table()
    assert gains_apart(X, Squares(y), folds, GROWTH, enough=lambda: True) == []


def test_only_lenses_that_look_at_targets_have_others_beside_them():
    X, y, folds = table()
    apart = gains_apart(X, Squares(y), folds, GROWTH)
    families = kernel_candidates(X, np.sum(apart, axis=0), ("Gaussian",), (0.5, 1.0), True, apart)
    known = {title: lens for family in families for title, lens in family}
    assert {title: len(lens.apart) for title, lens in known.items()} == {
        "Gaussian, 0.5 x median, even columns": 0,
        "Gaussian, 1 x median, even columns": 0,
        "Gaussian, 0.5 x median, columns weighted by the trees": 5,
        "Gaussian, 1 x median, columns weighted by the trees": 5,
        "Gaussian, 0.5 x median, on 3 columns at a time": 5,
        "Gaussian, 1 x median, on 3 columns at a time": 5,
    }
    weighted = known["Gaussian, 1 x median, columns weighted by the trees"]
    waves = weighted.waves(20, 0)
    assert isinstance(waves, CrossFitted)
    assert waves.width == 20
    for fold, lens in enumerate(weighted.apart):
        np.testing.assert_array_equal(waves.without_fold(fold).frequencies, lens.waves(20, 0).frequencies)
    for lens in weighted.apart:
        assert not np.array_equal(lens.root, weighted.root)
    assert type(waves.for_new_rows()) is FourierBlock
    assert len(kernel_candidates(X, np.ones(12), ("Gaussian",), (1.0,), False, [np.zeros(12)] * 5)[1][0][1].apart) == 0


def test_kernels_that_trees_suggest_gain_nothing_on_noise():
    """With weights that had seen the folds, the kernel took a quarter of the loss away."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 300)), rng.normal(size=100)
    tried = MercerRegressor(effort="fast").fit(X, y).model_.predictor.candidates
    without, kernel = (each.loss for each in tried if each.stage == "kernel")
    assert kernel > 0.98 * without


@pytest.mark.parametrize("classes", [False, True])
def test_the_columns_that_matter_are_found_among_many(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(620, 400))
    y = X[:, [7, 30, 200]].sum(axis=1) + 0.3 * rng.normal(size=620)
    y = y > 0 if classes else y
    make = MercerClassifier if classes else MercerRegressor
    model = make(effort="fast").fit(X[:120], y[:120])
    blocks = {block.kind: block for block in model.model_.predictor.features.blocks}
    assert {7, 30, 200} <= set(blocks["selected"].columns.tolist())
    few = make(effort="fast", max_features=402).fit(X[:120], y[:120])  # there is no room for three
    assert all(block.kind != "selected" for block in few.model_.predictor.features.blocks)
    assert model.score(X[120:], y[120:]) > few.score(X[120:], y[120:]) + 0.05
    names = model.model_.get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert "x7, chosen" in names


def test_columns_that_are_chosen_can_be_found_in_another_order():
    X = np.random.default_rng(0).normal(size=(5, 4))
    block = SelectedBlock(np.array([3, 0]))
    places = np.array([3, 1, -1, 2])  # the first column is gone, and there is a new one
    moved = X[:, np.maximum(places, 0)]
    np.testing.assert_array_equal(block.along(places).features(moved), block.features(X) * [1, 0])
    np.testing.assert_array_equal(block.along(places).along(np.array([1, 0, 2, 3])).columns, [1, -1])


def test_a_fitted_model_has_waves_for_new_rows_alone():
    X, y, _ = table(n=120, d=150)
    for model in (MercerRegressor(effort="fast").fit(X, y), MercerClassifier(effort="fast").fit(X, y > 0)):
        assert all(type(block) is not CrossFitted for block in model.model_.predictor.features.blocks)
