"""Ridge in the space of the rows against the normal equations: the same losses, gradients and weights."""

import numpy as np
import pytest

from mercer.auto.features.cross_fitted import CrossFitted
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.equations import KernelCache, row_space_loss
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties
from mercer.linear.ridge.row_space import row_basis, row_coordinates

PENALTIES = np.array([3.0, 0.4])


@pytest.fixture(params=["equal rows", "weighted rows"])
def rows(request):
    rng = np.random.default_rng(1)
    X = 3.0 + rng.normal(size=(60, 90))
    Y = X[:, :4] @ rng.normal(size=(4, 2)) + rng.normal(size=(60, 2))
    weight = rng.uniform(0.2, 3.0, 60) if request.param == "weighted rows" else None
    return TrainingRows(X, Y, rng.integers(0, 2**60, 60).astype(np.uint64), weight=weight)


@pytest.fixture
def features(rows):
    pairs = np.column_stack([np.arange(10), np.arange(10, 20)])
    return Features([LinearBlock(90), ProductBlock.fitted(rows.X, pairs)])


@pytest.fixture
def columns(rows, features):
    """The primal equations in float64."""
    Z = features.features(rows.X).astype(np.float64)
    return GramFoldLoss(rows.gram(lambda span: Z[span]), features.block_of_column)


def test_losses_of_a_path_of_penalties_are_those_of_the_columns(rows, features, columns):
    system = row_space_loss(rows, features, None)
    for factor in np.geomspace(1e-3, 1e4, 8):
        mine, theirs = (each.score(factor * PENALTIES) for each in (system, columns))
        assert mine.per_fold == pytest.approx(theirs.per_fold, rel=1e-7)
        assert mine.gradient == pytest.approx(theirs.gradient, rel=1e-6, abs=1e-9 * mine.loss)


def test_the_gradient_is_the_derivative(rows, features):
    system, point = row_space_loss(rows, features, None), np.log(PENALTIES)
    gradient = system.score(np.exp(point)).gradient
    for b in range(2):
        step = 1e-5 * np.eye(2)[b]
        ends = [system.score(np.exp(point + sign * step), gradient=False).loss for sign in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient[b], rel=1e-5, abs=1e-9)


def test_weights_are_those_of_the_columns(rows, features, columns):
    system = row_space_loss(rows, features, None)
    for mine, theirs in [(system.weights(PENALTIES), columns.weights(PENALTIES))] + [
        (system.weights_without(k, PENALTIES), columns.weights_without(k, PENALTIES)) for k in range(5)
    ]:
        assert mine[0] == pytest.approx(theirs[0], rel=1e-6, abs=1e-8)
        assert mine[1] == pytest.approx(theirs[1], rel=1e-7)


def test_predictions_of_the_weights_without_a_fold_give_its_loss(rows, features):
    system, Z = row_space_loss(rows, features, None), features.features(rows.X).astype(np.float64)
    scored = system.score(PENALTIES)
    for k in range(5):
        coef, intercept = system.weights_without(k, PENALTIES)
        rest = (rows.Y - Z @ coef - intercept)[rows.folds == k]
        assert np.sum(rows.counts[rows.folds == k] @ rest**2) == pytest.approx(scored.per_fold[k], rel=1e-8)


def test_scales_and_best_penalties_are_those_of_the_columns(rows, features, columns):
    system = row_space_loss(rows, features, None)
    # In a basis of the 60 rows there are 60 columns of the 90.
    assert system.scale() == pytest.approx(columns.scale() * [90 / 60, 1], rel=1e-9)
    (_, mine), (_, theirs) = (best_penalties(each, max_iter=30) for each in (system, columns))
    assert mine.loss == pytest.approx(theirs.loss, rel=1e-4)


def test_kernels_of_blocks_are_kept_and_those_of_some_rows_are_parts_of_them(rows, features):
    kernels = KernelCache(rows)
    first = kernels.of(features, None)
    second = kernels.of(Features([features.blocks[0], LinearBlock(90)]), None)
    assert second[0] is first[0]
    assert second[1] is not first[1]
    some = np.arange(0, 60, 2)
    part = [kernel.rows(some) for kernel in first]
    mine = row_space_loss(rows.at(some), features, None, part).score(PENALTIES)
    assert mine.per_fold == pytest.approx(row_space_loss(rows.at(some), features, None).score(PENALTIES).per_fold)


def test_row_coordinates_keep_inner_products_and_the_basis_gives_them(rows):
    Z = rows.X - rows.X.mean(axis=0)
    assert row_coordinates(Z) @ row_coordinates(Z).T == pytest.approx(Z @ Z.T, abs=1e-10)
    assert np.abs(row_coordinates(Z)) == pytest.approx(np.abs(Z @ row_basis(Z)), abs=1e-10)
    assert row_basis(Z[:, :20]) is None
    assert row_coordinates(Z[:, :20]).shape == (60, 20)


def test_random_features_that_depend_on_targets_are_scored_out_of_fold(rows):
    rng = np.random.default_rng(0)
    whole, *per_fold = (FourierBlock(0.1 * rng.normal(size=(15, 90))) for _ in range(6))
    folded = Features([LinearBlock(90), CrossFitted(whole, per_fold)])
    scored = row_space_loss(rows, folded, None).score(PENALTIES)
    for k in range(5):
        alone = row_space_loss(rows, Features([LinearBlock(90), per_fold[k]]), None)
        assert scored.per_fold[k] == pytest.approx(alone.score(PENALTIES).per_fold[k], rel=1e-9)
        coef, intercept = row_space_loss(rows, folded, None).weights_without(k, PENALTIES)
        rest = (rows.Y - folded.without_fold(k).features(rows.X) @ coef - intercept)[rows.folds == k]
        assert np.sum(rows.counts[rows.folds == k] @ rest**2) == pytest.approx(scored.per_fold[k], rel=1e-5)
    plain = Features([LinearBlock(90), whole])
    for mine, theirs in zip(
        row_space_loss(rows, folded, None).weights(PENALTIES), row_space_loss(rows, plain, None).weights(PENALTIES),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(mine, theirs)
    assert [type(block) for block in folded.for_new_rows().blocks] == [LinearBlock, FourierBlock]
    some = np.arange(0, 60, 2)
    parts = [kernel.rows(some) for kernel in KernelCache(rows).of(folded, None)]
    part = row_space_loss(rows.at(some), folded, None, parts).score(PENALTIES).per_fold
    assert part == pytest.approx(row_space_loss(rows.at(some), folded, None).score(PENALTIES).per_fold, rel=1e-6)


def test_the_gradient_is_the_derivative_where_every_fold_has_its_own_kernel(rows):
    rng = np.random.default_rng(0)
    whole, *per_fold = (FourierBlock(0.1 * rng.normal(size=(15, 90))) for _ in range(6))
    system = row_space_loss(rows, Features([LinearBlock(90), CrossFitted(whole, per_fold)]), None)
    gradient, point = system.score(PENALTIES).gradient, np.log(PENALTIES)
    for b in range(2):
        step = 1e-5 * np.eye(2)[b]
        ends = [system.score(np.exp(point + sign * step), gradient=False).loss for sign in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient[b], rel=1e-5, abs=1e-9)
