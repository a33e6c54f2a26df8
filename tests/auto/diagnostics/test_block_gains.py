"""The parts of the gain that blocks carry."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.auto.diagnostics.block_gains import block_gains
from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.features.linear import LinearBlock, SelectedBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.linear.losses import LogLoss


def rows_of(X, y, coef, classes=None, temperature=1.0):
    features = Features([LinearBlock(2), SelectedBlock(np.array([2]), 3)])
    features.blocks[0] = SelectedBlock(np.array([0, 1]), 3)
    predictor = Predictor(features, coef, np.zeros(coef.shape[1]), classes, np.ones(2), temperature=temperature)
    return HeldOutRows(None, X, y, np.arange(len(X)), None, predictor, X.mean(axis=0))


def squared_gains(rows):
    """mean of (f_b - mean)(2 (y - c) - (f - c))."""
    f = rows.scores[:, 0]
    parts = [rows.X[:, :2] @ rows.predictor.coef[:2, 0], rows.X[:, 2] * rows.predictor.coef[2, 0]]
    c = f.mean()
    return np.array([np.mean((part - part.mean()) * (2 * (rows.y - c) - (f - c))) for part in parts])


def test_gains_of_the_squared_error_are_its_formula():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).astype(np.float32).astype(float)
    y = X @ [1.0, -1.0, 0.5] + 0.1 * rng.normal(size=500)
    rows = rows_of(X, y, np.array([[0.9], [-1.1], [0.4]]))
    expected = squared_gains(rows)
    assert np.allclose(block_gains(rows), expected / expected.sum(), rtol=1e-6)


def test_a_block_that_does_nothing_carries_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    rows = rows_of(X, X[:, 0], np.array([[1.0], [0.0], [0.0]]))
    assert np.allclose(block_gains(rows), [1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gains_of_classes_add_up_to_the_gain_in_log_loss(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 3)).astype(np.float32).astype(float)
    n_outputs = 1 if n_classes == 2 else n_classes
    coef = rng.normal(size=(3, n_outputs))
    scores = X @ coef
    p = LogLoss().class_probabilities(scores)
    y = np.array([rng.choice(n_classes, p=each) for each in p])
    rows = rows_of(X, y, coef, np.arange(n_classes), temperature=1.3)
    fractions = np.array(block_gains(rows))
    assert np.isclose(fractions.sum(), 1.0)
    alone = [block_gains(rows_of(X * mask, y, coef, np.arange(n_classes), 1.3)) for mask in ([1, 1, 0], [0, 0, 1])]
    assert np.allclose(alone, [[1.0, 0.0], [0.0, 1.0]], atol=1e-9)


def test_no_gain_is_not_divided():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    assert block_gains(rows_of(X, -X[:, 0], np.array([[1.0], [0.0], [0.0]]))) is None


def test_weights_count_as_copies():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60)
    weight = rng.integers(1, 4, size=60).astype(float)
    index = np.repeat(np.arange(60), weight.astype(int))
    coef = np.array([[0.5], [0.2], [0.3]])
    weighted = replace(rows_of(X, y, coef), weight=weight)
    assert np.allclose(block_gains(weighted), block_gains(rows_of(X[index], y[index], coef)))
