"""Two examples in which ridge regression fails on raw features and works on normalized ones."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from mercer.linear import RidgeRegressor
from mercer.normalize import Clip, Log, Standardize, UnitRange

M = 4000


def signs(rng, n=M):
    """Exactly as many +1 as -1, so that the moments below are exact."""
    return rng.permutation(np.repeat([-1.0, 1.0], n // 2))


def squared_error(model, X, y):
    return np.mean((model.predict(X) - y) ** 2)


def scale_mismatch():
    """x1 = y + noise/2, x2 = y/10000 with y, noise = +-1: the small one is perfect, the large one is not."""
    rng = np.random.default_rng(0)
    y, noise = signs(rng), signs(rng)
    return np.stack([y + noise / 2, 1e-4 * y], axis=1), y


@pytest.mark.parametrize("strength", [1e-4, 1e-2])
@pytest.mark.parametrize("normalize", [Standardize(), UnitRange()], ids=repr)
def test_features_of_different_scale(strength, normalize):
    # In (1/m) ||Xw - y||^2 + strength ||w||^2 = sum of losses + m strength ||w||^2, the weight 10,000 of the
    # perfect feature costs 1e8 strength. So x2 is dropped: w1 = E x1 y / E x1^2 = 1/1.25 = 0.8, and the error
    # is 0.2.
    X, y = scale_mismatch()
    ridge = RidgeRegressor(alpha=strength * M)
    before = squared_error(ridge.fit(X, y), X, y)
    after = squared_error(make_pipeline(normalize, ridge).fit(X, y), X, y)
    assert before == pytest.approx(0.2, abs=0.01)
    # Alone, a standardized perfect feature has the error (strength / (1 + strength))^2, one in [0, 1]
    # (variance 1/4) (4 strength / (1 + 4 strength))^2. The other feature can only help the objective, so the
    # error is below the objective there: strength / (1 + strength) and 4 strength / (1 + 4 strength).
    assert after < 4 * strength


@pytest.mark.parametrize("a", [50, 1000])
def test_a_heavy_tail(a):
    # x = y with probability 1 - 1/a, a y with probability 1/a. The best weight is (2a - 1)/(a^2 + a - 1),
    # about 2/a, with the error 1 - E[xy]^2 / E[x^2] -> 1, that of predicting nothing; clipped at 1 the error
    # is 0.
    n = 8 * a
    y = np.tile([-1.0, 1.0], n // 2)
    x = np.where(np.arange(n) < n // a, a * y, y)[:, None]
    ridge = RidgeRegressor(alpha=1e-3 * n)
    raw = ridge.fit(x, y)
    assert raw.coef_[0] == pytest.approx((2 * a - 1) / (a * a + a - 1), rel=1e-2)
    assert squared_error(raw, x, y) == pytest.approx(1 - (2 - 1 / a) ** 2 / (a + 1 - 1 / a), rel=1e-2)
    # With one feature of second moment 1 the penalty leaves w = 1/(1 + 1e-3).
    clipped = make_pipeline(Clip(bound=1.0), ridge).fit(x, y)
    assert squared_error(clipped, x, y) == pytest.approx((1e-3 / 1.001) ** 2, rel=1e-6)
    # Without knowing the right bound: not perfect, but most of it. The error is 1 - E|z|^2 / E z^2 by
    # symmetry.
    for tame in (Clip(), Log()):
        z = np.abs(tame.fit_transform(x))
        error = squared_error(make_pipeline(tame, ridge).fit(x, y), x, y)
        assert error == pytest.approx(1 - z.mean() ** 2 / np.mean(z**2), rel=1e-2)
        assert error < 0.3
