"""The kernel perceptron is the perceptron on explicit features; budgets hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._numeric.block import Block
from mercer.kernels import Gaussian, Polynomial
from mercer.machines import KernelPerceptron
from mercer.machines.budget import POLICIES
from mercer.source import StreamSource
from naive import naive_perceptron, squared_features, squared_weights


def integers(n, d, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, size=(n, d))
    scores = squared_features(X, root=False) @ rng.integers(-3, 4, size=(1 + 2 * d + d * (d - 1) // 2, n_classes))
    return X, (scores - np.median(scores, axis=0)).argmax(axis=1)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 400), st.integers(1, 4), st.integers(2, 4), st.integers(0, 10**6), st.integers(1, 4))
def test_primal_and_dual_make_the_same_mistakes_and_the_same_integer_scores(n, d, n_classes, seed, n_epochs):
    """Both sides are exact integers: (1 + <x, z>)^2 against monomials with the squares of the roots as weights."""
    X, y = integers(n, d, n_classes, seed)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        return
    machine = KernelPerceptron(Polynomial(2), n_epochs=n_epochs).fit(X, y)
    A = squared_features(X, root=False)
    mistakes, W, _ = naive_perceptron(A, codes, len(classes), n_epochs, squared_weights(d))
    assert machine.mistake_rows_.tolist() == mistakes
    scores = A @ (squared_weights(d) * W).T
    scores = scores[:, 1] if len(classes) == 2 else scores
    np.testing.assert_array_equal(machine.decision_function(X), scores)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_average_is_that_of_the_primal_weights(n_classes):
    X, y = integers(300, 2, n_classes, seed=3)
    _, codes = np.unique(y, return_inverse=True)
    machine = KernelPerceptron(Polynomial(2), n_epochs=2, average=True).fit(X, y)
    A = squared_features(X, root=False)
    _, _, total = naive_perceptron(A, codes, n_classes, 2, squared_weights(2))
    visits = 300 * machine.n_iter_
    scores = A @ (squared_weights(2) * total).T / visits
    scores = scores[:, 1] if n_classes == 2 else scores
    np.testing.assert_allclose(machine.decision_function(X), scores, rtol=1e-12, atol=1e-9)


def test_mistakes_stay_within_the_bound_on_separable_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    u = np.array([0.3, 1.0, -1.0, 0.5, -0.5, 2.0])
    u /= np.linalg.norm(u)
    margins = squared_features(X) @ u
    kept = np.abs(margins) > 0.3
    X, y = X[kept], np.sign(margins[kept])
    machine = KernelPerceptron(Polynomial(2), n_epochs=1000).fit(X, y)
    radius = Polynomial(2).diag(X).max()
    assert machine.converged_
    assert machine.mistakes_[-1] == 0
    assert machine.mistakes_.sum() <= np.floor(radius / np.abs(margins[kept]).min() ** 2)
    assert machine.score(X, y) == 1.0


def test_the_rule_without_the_sign_of_the_target_is_another_rule():
    """A printed rule updates when d_k <= 0 whatever y_k is; on separable data it goes on making errors."""
    X, y = integers(200, 2, 2, seed=5)
    K, signs = Polynomial(2)(X.astype(float)), np.where(y == 1, 1.0, -1.0)
    a = np.zeros(200)
    for _ in range(20):
        for k in range(200):
            if K[k] @ a <= 0:
                a[k] += signs[k]
    machine = KernelPerceptron(Polynomial(2), n_epochs=20).fit(X, y)
    assert np.mean((K @ a > 0) != (y == 1)) > 0.1
    assert not np.array_equal(machine.decision_function(X), K @ a)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 600), min_size=1, max_size=6), st.sampled_from([None, *POLICIES]))
def test_pieces_of_any_length_are_one_pass(lengths, policy):
    cuts = np.cumsum([0, *lengths])
    X, y = integers(int(cuts[-1]) + 2, 2, 2, seed=1)
    if policy in ("projectron", "forgetron"):  # coefficients are not integers: rounding would decide scores of zero
        X = X + np.random.default_rng(2).uniform(-0.5, 0.5, X.shape)
    y[:2] = [0, 1]
    settings_ = {} if policy is None else {"budget": 10, "policy": policy}
    whole = KernelPerceptron(Polynomial(2), n_epochs=1, **settings_).fit(X, y)
    pieces = KernelPerceptron(Polynomial(2), **settings_).partial_fit(X[:2], y[:2])
    for a, b in zip(cuts[:-1] + 2, cuts[1:] + 2, strict=True):
        pieces.partial_fit(X[a:b], y[a:b])
    np.testing.assert_array_equal(pieces.mistake_rows_, whole.mistake_rows_)
    np.testing.assert_array_equal(pieces.support_, whole.support_)
    np.testing.assert_allclose(pieces.dual_coef_, whole.dual_coef_, rtol=1e-6, atol=1e-9)


def test_a_stream_is_visited_in_epochs():
    X, y = integers(700, 2, 3, seed=2)
    X = X.astype(float)
    stream = StreamSource(lambda: (Block(X[i : i + 99], y[i : i + 99]) for i in range(0, 700, 99)))
    one, other = (KernelPerceptron(Polynomial(2), n_epochs=3) for _ in range(2))
    np.testing.assert_array_equal(one.fit(stream).dual_coef_, other.fit(X, y).dual_coef_)
    assert one.n_iter_ > 1


@pytest.mark.parametrize("policy", ["projectron", "forgetron", "oldest"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("budget", [1, 7, 40])
def test_never_more_than_the_budget(policy, n_classes, budget):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = np.digitize(X[:, 0] ** 2 + 0.1 * rng.normal(size=900), [0.5, 1.5][: n_classes - 1])
    machine = KernelPerceptron(Gaussian(0.7), n_epochs=2, budget=budget, policy=policy)
    for start in range(0, 900, 50):
        rows = slice(start, start + 50)
        machine.partial_fit(X[rows], y[rows], classes=np.arange(n_classes))
        assert len(machine.support_) <= budget
    machine.fit(X, y)
    assert len(machine.support_) == machine.dual_coef_.shape[1] == min(budget, machine.mistakes_.sum())
    if budget == 40 and n_classes == 2:
        free = KernelPerceptron(Gaussian(0.7), n_epochs=2).fit(X, y)
        assert len(free.support_) > 40
        assert machine.score(X, y) > {"projectron": 0.85, "forgetron": 0.7, "oldest": 0.6}[policy]


@pytest.mark.parametrize("policy", ["projectron", "forgetron", "oldest"])
def test_a_budget_that_is_never_reached_changes_nothing(policy):
    X, y = integers(300, 2, 3, seed=4)
    free = KernelPerceptron(Polynomial(2), n_epochs=1).fit(X, y)
    roomy = KernelPerceptron(Polynomial(2), n_epochs=1, budget=300, policy=policy).fit(X, y)
    np.testing.assert_array_equal(roomy.mistake_rows_, free.mistake_rows_)
    np.testing.assert_array_equal(roomy.decision_function(X), free.decision_function(X))


def test_a_projection_onto_the_whole_space_loses_nothing():
    """The features of (1 + <x, z>)^2 in the plane are six: with six rows in the support every row is in their span."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] * X[:, 1] + 0.2 * X[:, 0] > 0.1
    machine = KernelPerceptron(Polynomial(2), n_epochs=20, budget=6).fit(X, y)
    assert machine.score(X, y) > 0.97


def test_classes_may_come_later():
    X, y = integers(300, 2, 3, seed=6)
    pair = y < 2
    machine = KernelPerceptron(Polynomial(2)).partial_fit(X[pair], y[pair]).partial_fit(X, y)
    assert machine.classes_.tolist() == [0, 1, 2]
    assert machine.decision_function(X).shape == (300, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_epochs": 0}, "n_epochs must be"),
        ({"budget": 0}, "budget must be"),
        ({"policy": "random"}, "policy must be"),
        ({"budget": 5, "policy": "oldest", "average": True}, "has removed"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    X, y = integers(30, 2, 2, seed=0)
    with pytest.raises(ValueError, match=message):
        KernelPerceptron(**parameters).fit(X, y)
