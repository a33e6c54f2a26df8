"""The perceptron: its rule to the letter, its bound on mistakes, and what it says when there is no hyperplane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer._numeric.block import Block
from mercer.linear import Perceptron
from mercer.source import MemorySource, StreamSource


def separable(n=200, d=3, margin=0.1, seed=0):
    """Rows with labels of a hyperplane through unit vector u, none closer to it than `margin`."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d + 1)
    u /= np.linalg.norm(u)
    X = rng.uniform(-1, 1, size=(20 * n, d))
    score = X @ u[:-1] + u[-1]
    kept = np.flatnonzero(np.abs(score) >= margin)[:n]
    return X[kept], np.where(score[kept] > 0, "up", "down"), u


def by_the_book(X, y, n_epochs):
    """The rule as it is written, with Python's integers."""
    w, b, mistakes = [0] * X.shape[1], 0, []
    for _ in range(n_epochs):
        before = len(mistakes)
        for i, (x, sign) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            if sign * (sum(wj * xj for wj, xj in zip(w, x, strict=True)) + b) <= 0:
                w, b = [wj + sign * xj for wj, xj in zip(w, x, strict=True)], b + sign
                mistakes.append(i)
        if len(mistakes) == before:
            break
    return w, b, mistakes


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 4))
def test_integer_rows_give_the_very_mistakes_and_weights_of_the_rule(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, size=(n, d))
    y = np.where(rng.integers(0, 2, size=n), 1, -1)
    y[:2] = [1, -1]
    w, b, mistakes = by_the_book(X, y, 7)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [Perceptron(n_epochs=7).fit(form(X.astype(float)), y) for form in (np.asarray, sparse.csr_matrix)]
    for model in models:
        assert model.mistakes_.tolist() == mistakes
        assert model.coef_[0].tolist() == w
        assert model.intercept_[0] == b


def test_mistakes_stay_under_the_bound():
    X, y, u = separable()
    lifted = np.column_stack([X, np.ones(len(X))])
    margin = np.abs(lifted @ u).min()
    model = Perceptron(n_epochs=10_000).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert len(model.mistakes_) <= np.max(np.sum(lifted**2, axis=1)) / margin**2
    assert model.epoch_mistakes_[-1] == 0
    assert sum(model.epoch_mistakes_) == len(model.mistakes_)


def test_a_score_of_zero_is_a_mistake():
    model = Perceptron(n_epochs=1, average=True).fit([[0.0], [0.0]], [0, 1])
    assert model.mistakes_.tolist() == [0, 1]


def test_online_is_one_epoch():
    X, y, _ = separable()
    online = Perceptron()
    for rows in np.array_split(np.arange(len(X)), 9):
        online.partial_fit(X[rows], y[rows], classes=["down", "up"])
    with pytest.warns(ConvergenceWarning):
        batch = Perceptron(n_epochs=1).fit(X, y)
    assert np.array_equal(online.coef_, batch.coef_)
    assert np.array_equal(online.mistakes_, batch.mistakes_)


def test_the_average_is_over_all_visits():
    X, y, _ = separable(50)
    online, states = Perceptron(), []
    for _ in range(3):
        for i in range(len(X)):
            online.partial_fit(X[i : i + 1], y[i : i + 1], classes=["down", "up"])
            states.append(np.append(online.coef_, online.intercept_))
    averaged = Perceptron(n_epochs=3, average=True).fit(X, y)
    np.testing.assert_allclose(
        np.append(averaged.coef_, averaged.intercept_), np.mean(states[: averaged.n_iter_ * 50], axis=0), rtol=1e-9
    )


def test_several_classes():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 4, size=400)
    X = rng.normal(size=(400, 4)) + 12.0 * np.eye(4)[code]
    model = Perceptron(n_epochs=100).fit(X, np.array(list("abcd"))[code])
    assert model.converged_
    assert model.score(X, np.array(list("abcd"))[code]) == 1.0
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)  # what one class gains another pays


def test_no_hyperplane_is_said_with_what_to_do():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match="no hyperplane separates the classes"):
        model = Perceptron(n_epochs=5).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 5


@pytest.mark.parametrize("shuffle", [False, True])
def test_blocks_do_not_matter(shuffle):
    X, y, _ = separable(9000, margin=0.02)
    whole = Perceptron(n_epochs=3, average=True, shuffle=shuffle).fit(X, y)
    stream = StreamSource(lambda: (Block(X[i : i + 700], y[i : i + 700]) for i in range(0, len(X), 700)))
    other = Perceptron(n_epochs=3, average=True, shuffle=shuffle).fit(stream)
    assert np.array_equal(whole.coef_, other.coef_)
    assert np.array_equal(whole.mistakes_, other.mistakes_)


def test_shuffling_changes_the_order_of_visits():
    X, y, _ = separable()
    a, b = (Perceptron(average=True, shuffle=True, random_state=seed).fit(X, y) for seed in (0, 1))
    assert a.mistakes_.tolist() != b.mistakes_.tolist()


def test_wrong_use_is_explained():
    X, y, _ = separable()
    with pytest.raises(ValueError, match="takes no weights"):
        Perceptron().fit(MemorySource(X, y, np.ones(len(X))))
    with pytest.raises(ValueError, match="name all classes"):
        Perceptron().partial_fit(X, y).partial_fit(X, np.full(len(X), "sideways"))
    with pytest.raises(ValueError, match="n_epochs"):
        Perceptron(n_epochs=0).fit(X, y)
    with pytest.raises(AttributeError, match="no merge"):
        Perceptron().merge  # noqa: B018
