"""Greedy selection for more than two classes: all indicators at once, or one class against the rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

from mercer._numeric.block import Block
from mercer.select import AdaBoost, BestSubset, GreedySelector, L1Constrained, Lasso
from mercer.select.greedy.refits import fit_weights
from mercer.select.greedy.risks import RISKS
from mercer.source import StreamSource


def problem(n=180, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = np.column_stack([X[:, 1] + X[:, 4], X[:, 1] - X[:, 4], -2 * X[:, 2]])
    labels = np.array(["a", "b", "c"])[np.argmax(scores + 0.3 * rng.normal(size=(n, 3)), axis=1)]
    return X, labels


def squares_left(Z, T):
    A = np.column_stack([np.ones(len(Z)), Z])
    return np.sum((T - A @ np.linalg.lstsq(A, T, rcond=None)[0]) ** 2)


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_squares_of_all_indicators_fall_as_far_as_one_more_column_can(solver):
    X, y = problem()
    T = (y[:, None] == np.unique(y)).astype(float)
    model = GreedySelector(k=4, target="classes", solver=solver).fit(X, y)
    chosen: list[int] = []
    for step in model.path_:
        left = {j: squares_left(X[:, [*chosen, j]], T) for j in range(X.shape[1]) if j not in chosen}
        best = min(left, key=left.get)
        assert step.feature == best
        assert step.risk == pytest.approx(left[best] / len(y), rel=1e-9)
        chosen.append(best)
    A = np.column_stack([np.ones(len(X)), X[:, model.support_]])
    fitted = A @ np.linalg.lstsq(A, T, rcond=None)[0]
    np.testing.assert_allclose(model.decision_function(X), fitted, atol=1e-9)
    assert model.predict(X).tolist() == np.unique(y)[fitted.argmax(axis=1)].tolist()
    assert set(model.path_.feature[:3]) == {1, 2, 4}


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_two_classes_are_a_fit_of_signs(solver):
    X, y = problem()
    y = np.where(y == "a", "yes", "no")
    classes = GreedySelector(k=3, target="classes", solver=solver, stop="folds", n_folds=3).fit(X, y)
    signs = GreedySelector(k=3, solver=solver, stop="folds", n_folds=3).fit(X, np.where(y == "yes", 1.0, -1.0))
    assert classes.path_.feature.tolist() == signs.path_.feature.tolist()
    np.testing.assert_allclose(classes.path_.risk, signs.path_.risk / 2, rtol=1e-9)
    np.testing.assert_allclose(classes.coef_, signs.coef_[None], atol=1e-9)
    np.testing.assert_allclose(classes.decision_function(X), signs.predict(X), atol=1e-9)
    assert classes.n_steps_ == signs.n_steps_


def test_streams_and_partial_fits_learn_the_same_classes():
    X, y = problem(200)
    order = np.argsort(y, kind="stable")  # pieces with one class each
    X, y = X[order], y[order]
    whole = GreedySelector(k=3, target="classes", stop="folds").fit(X, y)
    pieces = GreedySelector(k=3, target="classes", stop="folds")
    for start in range(0, 200, 45):
        pieces.partial_fit(X[start : start + 45], y[start : start + 45])
    stream = StreamSource(lambda: (Block(X[i : i + 60], y[i : i + 60]) for i in range(0, 200, 60)))
    for other in (pieces, GreedySelector(k=3, target="classes", stop="folds").fit(stream)):
        assert np.array_equal(other.coef_, whole.coef_)
        assert np.array_equal(other.path_, whole.path_)
    rows = GreedySelector(k=3, target="classes", stop="folds", solver="rows").fit(X, y)
    np.testing.assert_allclose(rows.path_.score, whole.path_.score, rtol=1e-6)
    np.testing.assert_allclose(rows.coef_, whole.coef_, rtol=1e-6, atol=1e-9)


def test_without_refits_groups_and_sparse_rows():
    X, y = problem()
    stepwise = GreedySelector(k=6, target="classes", step="line", refit=False).fit(X, y)
    assert np.all(np.diff(stepwise.path_.risk) <= 1e-12)
    groups = GreedySelector(k=2, target="classes", groups=[0, 1, 2, 0, 1, 3, 3]).fit(X, y)
    assert groups.groups_[groups.path_.feature].tolist() == [1, 2]
    thin = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    dense = GreedySelector(k=3, target="classes", solver="rows").fit(thin.toarray(), y)
    assert GreedySelector(k=3, target="classes", solver="rows").fit(thin, y).path_.feature.tolist() == (
        dense.path_.feature.tolist()
    )
    many_columns = np.column_stack([X, np.random.default_rng(1).normal(size=(len(X), 2100))])
    prefetched = GreedySelector(k=5, target="classes").fit(many_columns, y)
    assert set(prefetched.path_.feature[:3]) == {1, 2, 4}


@pytest.mark.parametrize("loss", ["logistic", "hinge", "exponential"])
@pytest.mark.parametrize("step", ["refit", "line", "gradient"])
def test_losses_of_one_class_against_the_rest_add_up(loss, step):
    X, y = problem(120, 5)
    model = GreedySelector(k=3, loss=loss, step=step).fit(X, y)
    assert set(model.path_.feature) == {1, 2, 4}
    assert model.coef_.shape == (3, 5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    fits = []
    for label in "abc":
        sign = np.where(y == label, 1.0, -1.0)
        fits.append(fit_weights(RISKS[loss](), Z[:, [1, 2, 4]], sign, np.ones(len(y)), 1e-3, True).objective)
    assert model.path_.risk[-1] == pytest.approx(sum(fits), rel=1e-5)
    assert model.decision_function(X).shape == (120, 3)
    assert model.score(X, y) > 0.8


def test_the_first_refit_is_the_best_of_all_columns():
    X, y = problem(120, 5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    total = np.zeros(5)
    for label in "abc":
        sign = np.where(y == label, 1.0, -1.0)
        fits = [fit_weights(RISKS["logistic"](), Z[:, [j]], sign, np.ones(120), 1e-3, True) for j in range(5)]
        total += [fit.objective for fit in fits]
    model = GreedySelector(k=1, loss="logistic").fit(X, y)
    assert model.path_.feature[0] == np.argmin(total)
    assert model.path_.risk[0] == pytest.approx(total.min(), rel=1e-8)


def test_folds_and_criteria_of_many_classes():
    X, y = load_wine(return_X_y=True)
    for selector in (
        GreedySelector(k=8, target="classes", stop="bic"),
        GreedySelector(k=6, loss="logistic", step="gradient", stop="folds", n_folds=3),
        GreedySelector(k=6, loss="logistic", step="gradient", stop="bic"),
    ):
        assert selector.fit(X, y).score(X, y) > 0.9
    X, y = load_iris(return_X_y=True)
    assert GreedySelector(k=2, loss="logistic", step="gradient").fit(X, y).score(X, y) > 0.9


def test_regressors_refuse_labels_with_a_remedy():
    X, y = problem()
    with pytest.raises(ValueError, match="Set target='classes'"):
        GreedySelector().fit(X, y)
    for regressor in (Lasso(), L1Constrained(), BestSubset(2)):
        with pytest.raises(ValueError, match="predicts numbers, but the target holds labels"):
            regressor.fit(X, y)
    for classifier in (L1Constrained(loss="logistic"), AdaBoost()):
        with pytest.raises(ValueError, match="OneVsRestClassifier"):
            classifier.fit(X, y)
    with pytest.raises(ValueError, match="losses are for classes"):
        GreedySelector(loss="logistic", target="numbers").fit(X, y)
