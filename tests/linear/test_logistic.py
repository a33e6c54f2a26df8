"""Logistic regression: scikit-learn's solution from passes over any source, and penalties chosen on held-out folds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.linear import LogisticClassifier
from mercer.linear.optimize import curvature, search
from mercer.source import StreamSource

LABELS = np.array(["ant", "bee", "cat", "dog"])


def problem(n=400, d=6, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.3, 3.0, d) + 2.0
    scores = (X - 2.0) @ rng.normal(size=(d, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, LABELS[scores.argmax(axis=1)]


def theirs(X, y, alpha, weight=None):
    model = LogisticRegression(C=1 / (2 * alpha), solver="newton-cholesky", tol=1e-12, max_iter=1000)
    return model.fit(X, y, sample_weight=weight)


def assert_same_model(ours, theirs, rtol=1e-6):
    assert ours.converged_
    rounding = 1e-12  # where the solution is zero, weights are what rounding leaves
    atol = max(rtol * np.abs(theirs.coef_).max(), rounding)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=10 * rtol, atol=10 * rtol)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 300.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_it_is_scikit_learns_logistic_regression(n_classes, alpha, weighted, form):
    X, y = problem(n_classes=n_classes)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=len(X)) if weighted else None
    ours = LogisticClassifier(alpha).fit(form(X), y, sample_weight=weight)
    other = theirs(X, y, alpha, weight)
    assert_same_model(ours, other)
    np.testing.assert_allclose(ours.predict_proba(form(X)), other.predict_proba(X), rtol=1e-5, atol=1e-9)
    assert np.array_equal(ours.predict(form(X)), other.predict(X))


def test_hard_shapes():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 90))
    plain, y = problem(200, 3)
    rare = np.where(np.arange(200) < 3, "rare", "usual")
    separable = np.where(plain[:, 0] > 2.0, 1, 0)
    for X, labels, alpha in [
        (wide, wide[:, 0] > 0, 0.01),
        (np.hstack([plain, plain]), y, 1.0),
        (plain, rare, 1.0),
        (plain, separable, 1e-4),
    ]:
        assert_same_model(LogisticClassifier(alpha).fit(X, labels), theirs(X, labels, alpha))


def test_many_classes_in_many_columns_take_quasi_newton_steps():
    """Beyond 512 entries the Hessian is not formed: blocks of it stand in."""
    X, y = problem(600, 150, n_classes=4)
    assert_same_model(LogisticClassifier(1.0, tol=1e-10).fit(X, y), theirs(X, y, 1.0))


def test_many_columns_take_the_diagonal(monkeypatch):
    monkeypatch.setattr("mercer.linear.logistic.MAX_COLUMNS", 4)
    X, y = problem()
    assert_same_model(LogisticClassifier(1.0).fit(sparse.csr_matrix(X), y), theirs(X, y, 1.0))


def test_a_sample_of_the_rows_is_enough_curvature(monkeypatch):
    monkeypatch.setattr(curvature, "_SAMPLE_ROWS", 60)
    monkeypatch.setattr(curvature, "_ROWS_PER_COLUMN", 10)
    X, y = problem(2000)
    assert_same_model(LogisticClassifier(1.0).fit(X, y), theirs(X, y, 1.0))
    copies = np.repeat(X[:3], 400, axis=0)  # the sample may hold none of three distinct rows
    labels = np.arange(len(copies)) % 2
    assert_same_model(LogisticClassifier(1.0).fit(copies, labels), theirs(copies, labels, 1.0))


def test_float32_rows_give_the_same_model_to_their_precision():
    X, y = problem(3000, 20)
    X = X.astype(np.float32)
    assert_same_model(LogisticClassifier(1.0).fit(X, y), theirs(X.astype(float), y, 1.0), rtol=1e-4)


def test_an_offset_costs_nothing():
    X, y = problem()
    near, far = LogisticClassifier().fit(X, y), LogisticClassifier().fit(X + 1e6, y)
    np.testing.assert_allclose(near.decision_function(X), far.decision_function(X + 1e6), atol=1e-6)


def test_blocks_and_streams_are_passes_over_the_same_rows():
    X, y = problem(9000, n_classes=3)
    whole = LogisticClassifier().fit(X, y)
    stream = StreamSource(lambda: (Block(X[i : i + 1000], y[i : i + 1000]) for i in range(0, 9000, 1000)))
    assert np.array_equal(LogisticClassifier().fit(stream).coef_, whole.coef_)
    assert_same_model(whole, theirs(X, y, 1.0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_losses_equal_direct_cross_validation(n_classes):
    X, y = problem(n_classes=n_classes)
    alphas = [0.1, 10.0, 1000.0]
    model = LogisticClassifier(alphas, n_folds=4).fit(X, y)
    fold = _numeric.buckets(_numeric.splitmix64(Block(X).ids, 0), 4)
    for alpha, loss in zip(alphas, model.losses_, strict=True):
        total = 0.0
        for k in range(4):
            direct = theirs(X[fold != k], y[fold != k], alpha)
            total += log_loss(y[fold == k], direct.predict_proba(X[fold == k]), normalize=False, labels=model.classes_)
        np.testing.assert_allclose(loss, total / len(X), rtol=1e-3)  # the search stops early
    assert model.alpha_ == alphas[int(np.argmin(model.losses_))]
    assert_same_model(model, theirs(X, y, model.alpha_))


def test_the_path_holds_noise_down():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 40)), rng.integers(0, 2, size=300)
    model = LogisticClassifier("path").fit(X, y)
    assert len(model.alphas_) == 12
    assert model.losses_.min() <= np.log(2) * 1.02
    assert np.abs(model.coef_).max() < 0.05


def test_probabilities_add_up_and_logarithms_do_not_underflow():
    X, y = problem(n_classes=3)
    for labels in (y, y == "ant"):
        model = LogisticClassifier(0.1).fit(X, labels)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
        assert np.isfinite(model.predict_log_proba(1e4 * X)).all()


def test_too_few_steps_are_said():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="stopped after 2 steps with a relative gradient"):
        model = LogisticClassifier(1e-3, max_iter=2).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_wrong_use_is_explained():
    X, y = problem()
    with pytest.raises(ValueError, match="only one class"):
        LogisticClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="finite and positive"):
        LogisticClassifier(0.0).fit(X, y)
    with pytest.raises(ValueError, match="'path'"):
        LogisticClassifier("cv").fit(X, y)
    with pytest.raises(AttributeError, match="several passes over the rows"):
        LogisticClassifier().partial_fit(X, y)


def test_calibration_mends_overconfidence():
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(300, 60)), rng.normal(size=(5000, 60))
    w = rng.normal(size=60) / 8
    y, truth = (Z @ w + rng.logistic(size=len(Z)) > 0 for Z in (X, fresh))
    plain = LogisticClassifier(1e-3).fit(X, y)
    mended = LogisticClassifier(1e-3, calibrate=True).fit(X, y)
    assert mended.temperature_ > 1.2
    assert np.array_equal(plain.coef_, mended.coef_)
    assert np.array_equal(plain.predict(fresh), mended.predict(fresh))
    assert log_loss(truth, mended.predict_proba(fresh)) < log_loss(truth, plain.predict_proba(fresh))
    np.testing.assert_allclose(mended.predict_log_proba(fresh), np.log(mended.predict_proba(fresh)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_measured_from_the_origin_once_give_the_same_model(monkeypatch, n_classes, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, size=(3001, 7)).astype(np.float32)
    y = rng.integers(0, n_classes, 3001)
    weight = rng.uniform(0.5, 2.0, 3001) if weighted else None
    few = LogisticClassifier().fit(X, y, weight)
    monkeypatch.setattr(search, "_MAX_COPIED_BYTES", 0)
    many = LogisticClassifier().fit(X, y, weight)
    assert np.array_equal(few.coef_, many.coef_)
    assert np.array_equal(few.intercept_, many.intercept_)
