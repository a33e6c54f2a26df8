"""Penalized sums of losses: minima beside scikit-learn's, bounds on signs, and quadratic programs beside SciPy's."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from sklearn.linear_model import GammaRegressor, PoissonRegressor

from mercer.linear.optimize.generalized import RowProblem, minimize_loss
from mercer.linear.regression_losses import BernoulliLoss, HuberLoss, PinballLoss, TweedieLoss
from mercer.linear.ridge.bounded import BoundedQuadratic, nonnegative_minimum


def rows(seed=0, n=400, d=6):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)).astype(np.float32)
    eta = Z[:, 0] - 0.5 * Z[:, 1] + 0.3
    return Z, eta, rng


@pytest.mark.parametrize(("power", "estimator"), [(1.0, PoissonRegressor), (2.0, GammaRegressor)])
def test_weights_are_those_of_scikit_learn(power, estimator):
    Z, eta, rng = rows()
    y = rng.poisson(np.exp(eta)) + (power == 2.0)
    found = minimize_loss(RowProblem(Z, y.astype(float)), TweedieLoss(power), np.full(6, 2.0), tol=1e-12)
    peer = estimator(alpha=2 * 2.0 / len(y), tol=1e-9, max_iter=1000).fit(Z.astype(np.float64), y)
    np.testing.assert_allclose(found.coef, peer.coef_, atol=1e-5)
    assert found.intercept == pytest.approx(peer.intercept_, abs=1e-5)


LOSSES = {
    "huber": HuberLoss(0.5),
    "pinball": PinballLoss(0.8, 0.1),
    "poisson": TweedieLoss(1.0),
    "tweedie": TweedieLoss(1.5),
    "bernoulli": BernoulliLoss(),
}


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_the_minimum_is_that_of_a_general_optimizer(name, bounded):
    Z, eta, rng = rows(1)
    y = {"bernoulli": (eta > rng.logistic(size=len(eta))).astype(float)}.get(
        name, rng.poisson(np.exp(eta)).astype(float)
    )
    weight, penalties = rng.integers(1, 3, len(y)).astype(float), np.full(6, 0.5)
    signs = np.array([-1, -1, 1, 0, 0, 1]) if bounded else None
    problem = RowProblem(Z, y, weight, signs)
    found = minimize_loss(problem, LOSSES[name], penalties, tol=1e-12)

    def objective(point):
        s = Z.astype(np.float64) @ point[:-1] + point[-1]
        r = weight * LOSSES[name].gradient(y, s)
        value = weight @ LOSSES[name].value(y, s) + penalties @ point[:-1] ** 2
        return value, np.append(Z.astype(np.float64).T @ r + 2 * penalties * point[:-1], r.sum())

    limits = [(0 if s > 0 else None, 0 if s < 0 else None) for s in ([0] * 6 if signs is None else signs)]
    start = np.append(np.zeros(6), problem.start(LOSSES[name]).intercept)
    peer = minimize(
        objective, start, jac=True, bounds=[*limits, (None, None)], options={"maxiter": 2000, "ftol": 1e-14}
    )
    mine = objective(np.append(found.coef, found.intercept))[0]
    assert mine <= peer.fun + 1e-6 * abs(peer.fun)
    if signs is not None:
        assert np.all(signs * found.coef >= 0)
        assert np.any(found.coef[signs != 0] == 0)


def test_quadratic_programs_are_solved_exactly():
    rng = np.random.default_rng(3)
    for n in (1, 3, 12):
        A, b = rng.normal(size=(3 * n, n)), rng.normal(size=3 * n)
        np.testing.assert_allclose(nonnegative_minimum(A.T @ A, A.T @ b), nnls(A, b)[0], atol=1e-8)
    A, b = rng.normal(size=(60, 9)), rng.normal(size=60)
    signs = np.array([1, 0, -1, 0, 1, 1, -1, 0, 0])
    M, q = A.T @ A + np.eye(9), A.T @ b
    w = BoundedQuadratic(M, signs).minimum(q)
    gradient = M @ w - q
    assert np.all(signs * w >= 0)
    assert np.all(np.abs(gradient[(signs == 0) | (w != 0)]) < 1e-9)
    assert np.all(signs * gradient >= -1e-9)  # at a bound, the loss falls only beyond it
