"""Losses of one score: gradients are derivatives, curvatures bound them, constants minimize, and deviances agree."""

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss, mean_tweedie_deviance

from mercer.linear.regression_losses import BernoulliLoss, HuberLoss, PinballLoss, TweedieLoss

LOSSES = {
    "huber": HuberLoss(0.7),
    "smooth pinball": PinballLoss(0.3, 0.2),
    "poisson": TweedieLoss(1.0),
    "tweedie": TweedieLoss(1.5),
    "gamma": TweedieLoss(2.0),
    "bernoulli": BernoulliLoss(),
}
RNG = np.random.default_rng(0)
Y = {"bernoulli": RNG.integers(0, 2, 200).astype(float), "huber": RNG.normal(size=200)}
POSITIVE = RNG.gamma(2.0, 1.0, 200)


def targets(name):
    return Y.get(name, POSITIVE)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_and_curvatures_are_derivatives(name):
    loss, y = LOSSES[name], targets(name)
    score, h = np.linspace(-2, 2, len(y)), 1e-5
    slope = (loss.value(y, score + h) - loss.value(y, score - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, score), slope, atol=1e-8)
    second = (loss.gradient(y, score + h) - loss.gradient(y, score - h)) / (2 * h)
    if name == "huber":  # a majorizer
        assert np.all(loss.curvature(y, score) >= second - 1e-6)
    else:
        np.testing.assert_allclose(loss.curvature(y, score), second, atol=1e-6)


@pytest.mark.parametrize("name", [*LOSSES, "pinball"])
def test_the_constant_minimizes_the_sum(name):
    loss = LOSSES.get(name, PinballLoss(0.3))
    y, weight = targets(name), np.random.default_rng(1).integers(1, 4, 200).astype(float)
    if name == "smooth pinball":
        loss = PinballLoss(0.3)
    best = loss.constant(y, weight)

    def total(constant):
        return float(weight @ loss.value(y, np.full(len(y), constant)))

    assert total(best) <= min(total(best + 1e-4), total(best - 1e-4)) + 1e-9


def test_values_are_those_of_scikit_learn():
    mean = np.exp(np.linspace(-1, 1, 200))
    counts = np.random.default_rng(2).poisson(2.0, 200).astype(float)
    for power, y in ((1.0, counts), (1.5, counts), (2.0, POSITIVE)):
        assert np.mean(TweedieLoss(power).deviance(y, mean)) == pytest.approx(
            mean_tweedie_deviance(y, mean, power=power)
        )
    assert np.mean(PinballLoss(0.8).value(POSITIVE, mean)) == pytest.approx(
        mean_pinball_loss(POSITIVE, mean, alpha=0.8)
    )


def test_smoothing_tends_to_the_pinball_loss():
    r = np.linspace(-3, 3, 100)
    for bandwidth in (1e-1, 1e-3):
        off = PinballLoss(0.3, bandwidth).value(r, np.zeros(100)) - PinballLoss(0.3).value(r, np.zeros(100))
        assert np.all((off >= -1e-12) & (off <= np.log(2) * bandwidth + 1e-12))
