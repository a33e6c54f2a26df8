"""The l1 ball: projections, the Lasso's solutions at matching radius, valid gaps; and random sparsification."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mercer.select import L1Constrained, Lasso, sparsify, sparsify_risk
from mercer.select.lasso.l1_ball import QuadraticObjective, frank_wolfe, project_l1

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 12))
X[:, 1:] += 0.7 * X[:, :-1]
Y = X[:, :3] @ [2.0, -1.0, 0.5] + 0.5 * rng.normal(size=80)
LABELS = np.where(Y > 0.2, "yes", "no")


@given(hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5)), st.floats(0.1, 4))
def test_projection_is_the_nearest_point(v, radius):
    w = project_l1(v, radius)
    assert np.abs(w).sum() <= radius * (1 + 1e-12)
    corners = radius * np.vstack([np.eye(len(v)), -np.eye(len(v))])
    assert np.all((corners - w) @ (v - w) <= 1e-9 * (1 + radius) * (1 + np.abs(v).max()))  # obtuse toward every corner


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.01])
def test_the_ball_and_the_penalty_have_the_same_solutions(alpha):
    penalized = Lasso(alpha=alpha, tol=1e-14).fit(X, Y)
    model = L1Constrained(radius=np.abs(penalized.coef_).sum(), tol=1e-13).fit(X, Y)
    np.testing.assert_allclose(model.coef_, penalized.coef_, atol=1e-6)
    assert model.intercept_ == pytest.approx(penalized.intercept_, abs=1e-6)
    assert model.gap_ <= 1e-12


def test_logistic_loss_in_a_ball_is_that_of_a_penalty():
    C = 0.05
    peer = LogisticRegression(C=C, solver="saga", l1_ratio=1.0, tol=1e-10, max_iter=100_000).fit(X, LABELS)
    radius = np.abs(peer.coef_).sum()
    model = L1Constrained(radius, "logistic", tol=1e-12).fit(X, LABELS)

    def loss(scores):
        return np.mean(np.logaddexp(0, np.where(LABELS == "yes", -scores, scores)))

    ours = loss(model.decision_function(X))
    # The intercept of LogisticRegression is free, so its solution is the best in its own ball.
    assert abs(ours - loss(peer.decision_function(X))) <= 1e-7
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-3)
    assert set(model.predict(X)) == {"yes", "no"}


@pytest.mark.parametrize("radius", [0.5, 2.0, 50.0])
def test_hinge_loss_in_a_ball_is_minimal(radius):
    model = L1Constrained(radius, "hinge").fit(X, LABELS)
    sign = np.where(LABELS == "yes", 1.0, -1.0)

    def loss(theta):
        return np.mean(np.maximum(0, 1 - sign * (X @ theta[:-1] + theta[-1])))

    ours = loss(np.r_[model.coef_[0], model.intercept_])
    assert np.abs(model.coef_).sum() <= radius * (1 + 1e-9)
    assert model.gap_ <= 1e-9
    for seed in range(20):  # no other point of the ball is better
        other = np.random.default_rng(seed).normal(size=13)
        other[:-1] = project_l1(model.coef_[0] + 0.1 * other[:-1], radius)
        best = optimize.minimize_scalar(lambda c, other=other: loss(np.r_[other[:-1], c]))
        assert ours <= best.fun + 1e-9


def test_frank_wolfe_stays_below_its_bound_and_is_sparse():
    Z, t = X - X.mean(axis=0), Y - Y.mean()
    objective = QuadraticObjective(Z.T @ Z, Z.T @ t, t @ t, len(t))
    radius = 1.5
    minimum = objective.value(L1Constrained(radius, tol=1e-14).fit(X, Y).coef_)
    C = (2 * radius) ** 2 * np.max(np.sum(Z**2, axis=0)) / len(t)  # ||s - v||_1 <= 2 radius
    for steps in (1, 2, 5, 20, 100):
        w, gaps = frank_wolfe(objective, radius, 12, 0.0, steps)
        assert np.count_nonzero(w) <= steps
        assert -1e-12 <= objective.value(w) - minimum <= 2 * C / (steps + 2)
        assert all(gap >= -1e-12 for gap in gaps)
    model = L1Constrained(radius, solver="frank_wolfe", tol=1e-3).fit(X, Y)
    assert objective.value(model.coef_) - minimum <= model.gap_


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
def test_sparse_and_weighted_data(loss):
    y = Y if loss == "squared" else LABELS
    times = rng.integers(1, 4, 80)
    repeated = L1Constrained(1.0, loss, tol=1e-10).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = L1Constrained(1.0, loss, tol=1e-10).fit(sparse.csr_array(X), y, times.astype(float))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


def test_lack_of_convergence_and_wrong_parameters():
    with pytest.warns(ConvergenceWarning, match="gap"):
        L1Constrained(max_iter=2, tol=1e-12).fit(X, Y)
    for parameters, message in (({"radius": 0}, "radius"), ({"loss": "absolute"}, "loss"), ({"solver": "x"}, "solver")):
        with pytest.raises(ValueError, match=message):
            L1Constrained(**parameters).fit(X, Y)
    with pytest.raises(ValueError, match="binary"):
        L1Constrained(loss="hinge").fit(X, np.arange(80) % 3)


# --- sparsification


def test_rounding_is_unbiased_and_its_risk_is_the_formulas():
    w, k, draws = rng.normal(size=12), 5, 4000
    rounded = np.array([sparsify(w, X, k, random_state=seed) for seed in range(draws)])
    assert np.max(np.count_nonzero(rounded, axis=1)) <= k
    assert np.all(np.abs(np.abs(rounded).sum(axis=1) - np.abs(w).sum()) < 1e-9)
    error = rounded.std(axis=0) / np.sqrt(draws)
    assert np.all(np.abs(rounded.mean(axis=0) - w) <= 5 * error)
    risk = np.mean((rounded @ X.T - Y) ** 2, axis=1)
    expected = np.mean((X @ w - Y) ** 2) + sparsify_risk(w, X, k)
    assert abs(risk.mean() - expected) <= 5 * risk.std() / np.sqrt(draws)
    assert sparsify_risk(w, X, k) <= np.abs(w).sum() ** 2 * np.max(np.sum(X**2, axis=0)) / (80 * k)
    assert sparsify_risk(w, sparse.csr_array(X), k) == pytest.approx(sparsify_risk(w, X, k))


def test_several_draws_come_closer():
    w = rng.normal(size=12)
    one, many = (np.sum((X @ (sparsify(w, X, 4, n_draws=m) - w)) ** 2) for m in (1, 50))
    assert many <= one
    assert not sparsify(np.zeros(12), X, 3).any()
    with pytest.raises(ValueError, match="one finite weight"):
        sparsify(w[:-1], X, 3)
