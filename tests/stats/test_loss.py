"""Losses of many models in one pass are those of the definition, gradients their derivatives."""

import functools

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.linear.losses import LogLoss
from mercer.linear.optimize.softmax import SoftmaxHessianAt
from mercer.stats import LossesAt
from mercer.stats.loss import measured_from

N, D = 150, 4


def rows(outputs, dtype=np.float64, weighted=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(dtype)
    y = rng.integers(0, max(outputs, 2), size=N)
    return Block(X, y, rng.uniform(0.5, 2.0, size=N) if weighted else None)


def points(models, outputs):
    return np.random.default_rng(1).normal(size=(models, D + 1, outputs))


def directly(block, point, origin, learns):
    scores = (block.X - origin) @ point[:-1] + point[-1]
    if point.shape[1] == 1:
        losses = np.log1p(np.exp(np.where(block.y == 1, -1, 1) * scores[:, 0]))
    else:
        losses = logsumexp(scores, axis=1) - scores[np.arange(N), block.y]
    return np.sum((block.weight * losses)[learns])


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_values_and_gradients_of_each_model(outputs, form):
    block, at, origin = rows(outputs), points(3, outputs), np.arange(4.0)
    left_out = np.array([0, 2, -1])
    fold = _numeric.buckets(_numeric.splitmix64(block.ids, 5), 4)
    empty = LossesAt(LogLoss(), at, origin, left_out, 4, 5)
    seen = empty.of(Block(form(block.X), block.y, block.weight, raw=block.X)).finish()
    for k in range(3):
        learns = fold != left_out[k]
        np.testing.assert_allclose(seen.value[k], directly(block, at[k], origin, learns), rtol=1e-12)
        np.testing.assert_allclose(seen.held_out[k], directly(block, at[k], origin, ~learns), rtol=1e-12)
        np.testing.assert_allclose(seen.weight[k], block.weight[learns].sum())
        np.testing.assert_allclose(seen.held_out_weight[k], block.weight[~learns].sum())
        for i in np.ndindex(D + 1, outputs):
            h = np.zeros((D + 1, outputs))
            h[i] = 1e-6
            ahead, behind = (directly(block, at[k] + s * h, origin, learns) for s in (1, -1))
            np.testing.assert_allclose(seen.gradient[k][i], (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-6)


def test_float32_rows_lose_no_more_than_their_rounding():
    block, at, origin = rows(3, np.float32), points(2, 3), np.zeros(D)
    exact = Block(block.X.astype(np.float64), block.y, block.weight)
    single, double = (LossesAt(LogLoss(), at, origin).of(b).finish() for b in (block, exact))
    np.testing.assert_allclose(single.value, double.value, rtol=1e-6)
    np.testing.assert_allclose(single.gradient, double.gradient, rtol=1e-5, atol=1e-5 * N)


def test_the_joint_hessian_is_the_derivative_of_the_gradient():
    block, at, origin = rows(3), points(1, 3)[0], np.arange(4.0)
    H = SoftmaxHessianAt(at, origin).of(block).finish().H
    for row, column in np.ndindex(D + 1, 3):
        h = np.zeros((D + 1, 3))
        h[row, column] = 1e-6
        pair = np.stack([at + h, at - h])
        ahead, behind = LossesAt(LogLoss(), pair, origin).of(block).finish().gradient
        np.testing.assert_allclose(H[:, :, column, row].T, (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-5)


def test_extreme_scores_stay_finite():
    at = np.zeros((1, D + 1, 1))
    at[0, -1] = 1e5
    block = rows(1)
    seen = LossesAt(LogLoss(), at, np.zeros(D)).of(block).finish()
    np.testing.assert_allclose(seen.value[0], 1e5 * block.weight[block.y == 0].sum())
    assert np.isfinite(seen.gradient).all()


def test_no_rows_have_no_loss():
    empty = LossesAt(LogLoss(), points(1, 1), np.zeros(D))
    with pytest.raises(ValueError, match="No rows"):
        empty.finish()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [3, 400])
def test_rows_measured_from_the_origin_before_are_those_measured_in_a_pass(dtype, width):
    """Whole and broken runs of rows: the bits are those of 1,024 rows after the other."""
    rng, n = np.random.default_rng(2), 5001
    X, y, origin = rng.normal(size=(n, width)).astype(dtype), rng.integers(0, 2, n), rng.normal(size=width)
    at = rng.normal(size=(2, width + 1, 1)) / width
    once = LossesAt(LogLoss(), at, origin).of(Block(X, y)).finish()
    before = LossesAt(LogLoss(), at, None).of(Block(measured_from(X, origin), y)).finish()
    ones = LossesAt(LogLoss(), at, origin).of(Block(X, y, np.ones(n))).finish()
    parts = [LossesAt(LogLoss(), at, origin).of(Block(X[i : i + 1024], y[i : i + 1024])) for i in range(0, n, 1024)]
    piecewise = functools.reduce(lambda a, b: a.merge(b), parts).finish()
    np.testing.assert_array_equal(measured_from(X[:, ::-1], origin), X[:, ::-1] - origin.astype(dtype))
    for other in (before, ones, piecewise):
        for name in ("value", "gradient", "weight", "held_out"):
            np.testing.assert_array_equal(getattr(other, name), getattr(once, name))
