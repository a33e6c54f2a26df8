"""Both hinge machines against an accurate solver of their own problems."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer import _numeric
from mercer._numeric.solvers import dual
from mercer.kernels import Custom, Gaussian, Polynomial
from mercer.machines import KernelHinge, KernelPerceptron
from naive import squared_features


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


def reference(Q, y, upper, alpha):
    """The dual value by L-BFGS-B from several starts' best, to about 1e-9."""
    M = (Q * np.outer(y, y)) / (4 * alpha)
    found = minimize(
        lambda b: (b @ M @ b - b.sum(), 2 * M @ b - 1),
        upper / 2,
        jac=True,
        bounds=[(0, u) for u in upper],
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 50},
    )
    return -found.fun


def objective(machine, K, y, w):
    a = np.zeros(len(y))
    a[machine.support_] = machine.dual_coef_[0]
    size = a @ K @ a if machine.penalty == "function" else a @ (a / w)
    return np.sum(w * np.maximum(0, 1 - y * (K @ a))) + machine.alpha * size


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_penalty_reaches_its_own_optimum(penalty, alpha, weighted):
    X, y = data()
    w = np.random.default_rng(1).uniform(0.2, 2.0, len(y)) if weighted else np.ones(len(y))
    K = Gaussian(1.0)(X)
    machine = KernelHinge(Gaussian(1.0), alpha=alpha, penalty=penalty, tol=1e-8).fit(X, y, w)
    best = reference(K if penalty == "function" else (K * w) @ K, y, w, alpha)
    value = objective(machine, K, y, w)
    assert value == pytest.approx(machine.objective_[0], rel=1e-9)
    assert value == pytest.approx(best, rel=1e-6)
    assert -1e-9 <= machine.dual_gap_[0] <= 1e-8 * value


def test_the_two_problems_are_different():
    X, y = data()
    K, w = Gaussian(1.0)(X), np.ones(60)
    by_function, by_coefficients = (
        KernelHinge(Gaussian(1.0), alpha=0.1, penalty=p, tol=1e-8).fit(X, y) for p in ("function", "coefficients")
    )
    other = KernelHinge(Gaussian(1.0), alpha=0.1, penalty="coefficients", tol=1e-8).fit(X, y)
    other.support_, other.dual_coef_ = by_function.support_, by_function.dual_coef_
    assert objective(other, K, y, w) > 1.01 * by_coefficients.objective_[0]


def test_conditions_of_optimality():
    X, y = data()
    machine = KernelHinge(Gaussian(1.0), alpha=0.5, tol=1e-10).fit(X, y)
    margins = y * machine.decision_function(X)
    beta = np.zeros(60)
    beta[machine.support_] = (2 * 0.5 * machine.dual_coef_[0]) * y[machine.support_]
    assert beta.min() >= 0
    assert beta.max() <= 1 + 1e-12
    assert np.all(margins[beta == 0] >= 1 - 1e-6)
    assert np.all(margins[beta > 1 - 1e-12] <= 1 + 1e-6)
    free = (beta > 1e-9) & (beta < 1 - 1e-9)
    np.testing.assert_allclose(margins[free], 1.0, atol=1e-6)


def test_the_special_update_goes_to_the_optimum_of_the_function_penalty():
    """a <- (1 - 2 eta alpha) a + eta y_k [y_k f(x_k) < 1] e_k (Pegasos): shrinking a is the RKHS penalty."""
    X, y = data()
    K, alpha = Gaussian(1.0)(X), 0.5
    best = KernelHinge(Gaussian(1.0), alpha=alpha, tol=1e-10).fit(X, y).objective_[0]
    a, mean, rng = np.zeros(60), np.zeros(60), np.random.default_rng(0)
    steps = 60_000
    for t in range(1, steps + 1):
        k = rng.integers(60)
        eta = 1 / (2 * alpha * t) * 1.0
        wrong = y[k] * (K[k] @ a) < 1
        a *= 1 - 2 * eta * alpha
        a[k] += 60 * eta * y[k] * wrong
        mean += a / steps if t > steps // 2 else 0
    mean *= 2
    value = np.sum(np.maximum(0, 1 - y * (K @ mean))) + alpha * mean @ K @ mean
    assert best - 1e-9 <= value <= best * (1 + 5e-3)


def test_ordinary_and_special_updates_predict_alike():
    """A perceptron pass on explicit features and one on similarities: the same scores after every update."""
    X, y = data(40)
    A, K = squared_features(X), Polynomial(2)(X)
    w, a = np.zeros(A.shape[1]), np.zeros(40)
    for _ in range(5):
        for k in range(40):
            assert A[k] @ w == pytest.approx(K[k] @ a, abs=1e-9)
            if y[k] * (K[k] @ a) <= 0:
                w += y[k] * A[k]
                a[k] += y[k]
    machine = KernelPerceptron(Polynomial(2), n_epochs=5).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), A @ w, atol=1e-9)


def test_any_similarity_suits_the_coefficient_penalty():
    X, y = data()

    def lopsided(x, z):
        return float(np.tanh(x @ z - 1) + 0.3 * x[0])

    K = np.array([[lopsided(x, z) for z in X] for x in X])
    machine = KernelHinge(Custom(lopsided), alpha=0.1, penalty="coefficients", tol=1e-8).fit(X, y)
    assert objective(machine, K, y, np.ones(60)) == pytest.approx(reference(K @ K.T, y, np.ones(60), 0.1), rel=1e-6)
    np.testing.assert_allclose(machine.decision_function(X), K[:, machine.support_] @ machine.dual_coef_[0], atol=1e-9)


def test_several_classes_are_one_versus_rest():
    X, _ = data(90)
    y = np.array(["near", "middle", "far"])[np.digitize((X**2).sum(axis=1), [0.7, 2.0])]
    machine = KernelHinge(Gaussian(0.8), alpha=0.1).fit(X, y)
    assert machine.decision_function(X).shape == (90, 3)
    assert machine.score(X, y) > 0.9
    for k, label in enumerate(machine.classes_):
        alone = KernelHinge(Gaussian(0.8), alpha=0.1).fit(X, y == label)
        np.testing.assert_allclose(machine.decision_function(X)[:, k], alone.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 9, 300])
def test_the_compiled_ascent_is_that_of_the_definition(dtype, n):
    X, y = data(n)
    Q = Gaussian(1.0)(X).astype(dtype)
    upper = np.random.default_rng(0).uniform(0.5, 1.5, n)
    results = []
    for ascend in (_numeric.hinge_ascent, dual.hinge_ascent):
        beta, f = np.zeros(n), np.zeros(n)
        steps, gap = ascend(Q, y, upper, 0.3, beta, f, 1e-10, 10**6)
        assert steps >= 1
        assert gap <= 1e-9 * n
        np.testing.assert_allclose(f, Q.astype(float) @ (beta * y) / 0.6, atol=1e-9)
        results.append(f)
    np.testing.assert_allclose(*results, atol=1e-3)


def test_too_few_steps_warn():
    from sklearn.exceptions import ConvergenceWarning

    X, y = data(200)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        KernelHinge(Gaussian(0.5), alpha=1e-4, max_iter=1, tol=1e-10).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"alpha": 0.0}, "alpha must be"), ({"penalty": "l1"}, "penalty must be"), ({"max_iter": 0}, "max_iter must be")],
)
def test_parameters_that_make_no_sense(parameters, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        KernelHinge(**parameters).fit(X, y)
