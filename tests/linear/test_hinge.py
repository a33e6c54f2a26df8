"""The hinge loss: the quadratic program's optimum, proven by the duality gap."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mercer import base as mercer_base
from mercer.linear import HingeClassifier, hinge
from mercer.linear.optimize.dual import best_intercept
from mercer.source import MemorySource


def problem(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.5, 2.0, d) + 3.0
    y = np.where((X - 3.0) @ rng.normal(size=d) + rng.normal(size=n) > 0.5, "yes", "no")
    return X, y


def objective(coef, intercept, X, sign, alpha, weight):
    return weight @ np.maximum(0.0, 1.0 - sign * (X @ coef + intercept)) + alpha * coef @ coef


@pytest.mark.parametrize("alpha", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sparse.csr_matrix])
def test_the_objective_is_that_of_the_quadratic_program(alpha, weighted, form):
    X, y = problem()
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X)) if weighted else np.ones(len(X))
    sign = np.where(y == "yes", 1.0, -1.0)
    ours = HingeClassifier(alpha).fit(form(X), y, sample_weight=weight)
    theirs = SVC(kernel="linear", C=1 / (2 * alpha), tol=1e-8).fit(X, y, sample_weight=weight)
    best = objective(theirs.coef_[0], theirs.intercept_[0], X, sign, alpha, weight)
    reached = objective(ours.coef_[0], ours.intercept_[0], X, sign, alpha, weight)
    assert reached <= best * (1 + 1e-4)
    np.testing.assert_allclose(ours.objective_[0], reached, rtol=1e-9)
    # The gap is a proof: no answer can be better than the objective less the gap.
    assert best >= ours.objective_[0] - ours.dual_gap_[0] - 1e-9 * best
    assert 0 <= ours.dual_gap_[0] <= 1e-4 * reached


@pytest.mark.parametrize("alpha", [0.1, 100.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_passes_reach_the_optimum_of_the_sweeps(alpha, form):
    X, y = problem(n=600)
    y = np.where(X[:, 0] > 4.0, "perhaps", y)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X))
    passes, sweeps = (
        HingeClassifier(alpha, solver=solver).fit(form(X), y, sample_weight=weight) for solver in ("newton", "dual")
    )
    assert passes.converged_
    assert passes.dual_coef_ is None
    assert passes.n_iter_ < 300
    for k, label in enumerate(passes.classes_):
        sign = np.where(y == label, 1.0, -1.0)
        reached = objective(passes.coef_[k], passes.intercept_[k], X, sign, alpha, weight)
        np.testing.assert_allclose(passes.objective_[k], reached, rtol=1e-9)
    assert np.all(passes.dual_gap_ <= 1e-4 * passes.objective_)
    # Each gap bounds the objective of the other from below.
    assert np.all(passes.objective_ - passes.dual_gap_ <= sweeps.objective_ * (1 + 1e-12))
    assert np.all(sweeps.objective_ - sweeps.dual_gap_ <= passes.objective_ * (1 + 1e-12))


def test_large_sources_of_dense_rows_are_fitted_by_passes(monkeypatch):
    X, y = problem()
    monkeypatch.setattr(mercer_base, "MAX_COLLECTED_ENTRIES", X.size - 1)
    assert HingeClassifier().fit(MemorySource(X, y)).dual_coef_ is None
    assert HingeClassifier().fit(X, y).dual_coef_ is not None
    assert HingeClassifier().fit(MemorySource(sparse.csr_matrix(X), y)).dual_coef_ is not None
    with pytest.warns(ConvergenceWarning, match="after 2 passes"):
        HingeClassifier(1e-3, max_iter=2, tol=1e-12).fit(MemorySource(X, y))
    monkeypatch.setattr(hinge, "_MAX_COLUMNS", 4)
    assert HingeClassifier().fit(MemorySource(X, y)).dual_coef_ is not None
    with pytest.raises(ValueError, match=r"5 columns.*solver='dual'"):
        HingeClassifier(solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="solver must be one of"):
        HingeClassifier(solver="primal").fit(X, y)


def test_dual_variables_satisfy_their_constraints():
    X, y = problem()
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X))
    model = HingeClassifier(0.5).fit(X, y, sample_weight=weight)
    beta, sign = model.dual_coef_[0], np.where(y == "yes", 1.0, -1.0)
    assert np.all((beta >= 0) & (beta <= weight * (1 + 1e-12)))
    np.testing.assert_allclose(beta @ sign, 0.0, atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], X.T @ (beta * sign) / (2 * 0.5), rtol=1e-7, atol=1e-9)


def test_few_of_one_class_are_outvoted():
    """With a strong penalty no weights pay, and the intercept sides with the many."""
    X, _ = problem()
    y = np.arange(len(X)) < 5
    model = HingeClassifier(1e6).fit(X, y)
    assert not model.predict(X).any()
    np.testing.assert_allclose(model.objective_, 10.0, rtol=1e-4)


def test_more_columns_than_rows_and_duplicates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 100))
    y = X[:, 0] > 0
    wide = HingeClassifier(0.5).fit(X, y)
    assert wide.converged_
    assert wide.score(X, y) == 1.0
    twice = HingeClassifier(1.0, tol=1e-8).fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(twice.decision_function(X), wide.decision_function(X), atol=1e-3)


def test_classes_are_told_from_the_rest():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, size=300)
    X = rng.normal(size=(300, 4)) + 3.0 * np.eye(4)[code]
    labels = np.array(["x", "y", "z"])[code]
    model = HingeClassifier().fit(X, labels)
    assert model.coef_.shape == (3, 4)
    assert model.dual_gap_.shape == (3,)
    for k in range(3):
        alone = HingeClassifier().fit(X, code == k)
        np.testing.assert_allclose(alone.objective_[0], model.objective_[k], rtol=1e-4)
    assert model.score(X, labels) > 0.9


def test_the_best_intercept_is_that_of_a_fine_grid():
    rng = np.random.default_rng(0)
    for n in (2, 5, 30):
        scores, weight = rng.normal(size=n), rng.uniform(0.5, 2.0, size=n)
        sign = np.where(np.arange(n) % 2, 1.0, -1.0)
        grid = np.concatenate([np.linspace(-5, 5, 2001), sign - scores])
        losses = np.maximum(0.0, 1.0 - sign * (scores + grid[:, None])) @ weight
        b = best_intercept(scores, sign, weight)
        np.testing.assert_allclose(weight @ np.maximum(0.0, 1.0 - sign * (scores + b)), losses.min(), rtol=1e-12)


def test_too_few_sweeps_are_said():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        model = HingeClassifier(1e-3, max_iter=2, tol=1e-12).fit(X, y)
    assert not model.converged_


def test_wrong_use_is_explained():
    X, y = problem()
    with pytest.raises(ValueError, match="positive number"):
        HingeClassifier(0.0).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        HingeClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(AttributeError, match="several passes"):
        HingeClassifier().partial_fit(X, y)
