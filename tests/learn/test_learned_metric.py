"""The learned metric: gradients from the Gram matrix alone, planted structure recovered, noise left alone."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer._numeric.block import Block
from mercer.expand import RandomFeatures
from mercer.kernels import Cauchy, Gaussian, Laplace, Linear
from mercer.learn import LearnedMetric
from mercer.learn.metric.gradients import gradient_outer_product, smoothed
from mercer.learn.metric.metric import root_of
from mercer.linear import RidgeRegressor
from mercer.source import MemorySource, StreamSource


def model(n=60, d=4, m=8, c=2, seed=0):
    """Rows, frequencies, weights of cosines and sines for c outputs."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=(2 * m, c))


def features(X, frequencies):
    return np.hstack([np.cos(X @ frequencies.T), np.sin(X @ frequencies.T)])


def from_gram(X, frequencies, coef, weight=None):
    Z = features(X, frequencies)
    weight = np.ones(len(X)) if weight is None else weight
    return gradient_outer_product(Z.T @ (weight[:, None] * Z), coef, frequencies, weight.sum())


def outer(gradients, weight):
    """The mean of g g' over rows, summed over outputs; gradients : (outputs, rows, d)."""
    return np.einsum("cni,cnj,n->ij", gradients, gradients, weight) / weight.sum()


def test_gradients_from_the_gram_matrix_are_the_gradients():
    X, frequencies, coef = model()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    m = len(frequencies)
    cosines, sines = np.split(features(X, frequencies), 2, axis=1)
    direct = np.stack([(-sines * a[:m] + cosines * a[m:]) @ frequencies for a in coef.T])
    expected = outer(direct, weight)
    np.testing.assert_allclose(from_gram(X, frequencies, coef, weight), expected, atol=1e-10 * np.abs(expected).max())


def test_gradients_from_the_gram_matrix_are_finite_differences():
    X, frequencies, coef = model()
    h = 1e-5
    steps = h * np.eye(X.shape[1])
    gradients = [(features(X + e, frequencies) - features(X - e, frequencies)) @ coef / (2 * h) for e in steps]
    expected = outer(np.stack(gradients, axis=-1).swapaxes(0, 1), np.ones(len(X)))
    np.testing.assert_allclose(from_gram(X, frequencies, coef), expected, atol=1e-6 * np.abs(expected).max())


def test_smoothed_gradients_are_those_of_the_convolved_predictor():
    X, frequencies, coef = model(n=1)
    h, m = 0.7, len(frequencies)
    damped = smoothed(frequencies, np.linalg.norm(frequencies, axis=1), h)
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    grid = np.stack(np.meshgrid(*[nodes] * 2), axis=-1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / (2 * np.pi)
    flat = frequencies.copy()
    flat[:, 2:] = 0.0  # a function of two columns, so that quadrature in two dimensions is exact
    damped = smoothed(flat, np.linalg.norm(flat, axis=1), h)
    moved = X + h * np.hstack([grid, np.zeros((len(grid), 2))])
    cosines, sines = np.split(features(moved, flat), 2, axis=1)
    convolved = mass @ ((-sines * coef[:m, 0] + cosines * coef[m:, 0]) @ flat)
    cosines, sines = np.split(features(X, flat), 2, axis=1)
    ours = (-sines * coef[:m, 0] + cosines * coef[m:, 0]) @ damped
    np.testing.assert_allclose(ours[0], convolved, atol=1e-8)


def planted(n=600, d=6, seed=0):
    """A target along one direction, and the direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    direction = np.array([2.0, -1.0, 1.0, *[0.0] * (d - 3)]) / np.sqrt(6.0)
    return X, np.sin(2.0 * X @ direction) + 0.1 * rng.normal(size=n), direction


@pytest.mark.parametrize("kernel", [None, Laplace("median"), Cauchy(2.0)], ids=str)
def test_a_planted_direction_is_recovered(kernel):
    X, y, direction = planted()
    learned = LearnedMetric(kernel, n_components=128).fit(X, y)
    values, vectors = np.linalg.eigh(learned.metric_)
    assert abs(vectors[:, -1] @ direction) > 0.98
    assert values[-1] > 0.8 * values.sum()
    assert learned.loss_ < 0.7 * learned.history_["loss"][learned.history_["round"] == 0].min()


def test_the_diagonal_finds_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 10))
    y = np.sin(3 * X[:, 2]) * X[:, 7]
    learned = LearnedMetric(mode="diagonal", n_components=256).fit(X, y)
    assert np.count_nonzero(learned.metric_ - np.diag(np.diag(learned.metric_))) == 0
    assert sorted(np.argsort(-np.diag(learned.metric_))[:2]) == [2, 7]
    assert np.diag(learned.metric_)[[2, 7]].sum() > 8.0  # of the trace, 10


def test_masked_features_draw_the_columns_that_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 10))
    y = np.sin(3 * X[:, 2]) + np.cos(2 * X[:, 7]) + np.abs(X[:, 4])
    learned = LearnedMetric(mode="masked", n_components=256).fit(X, y)
    probabilities = np.array(learned.kernel_.kernel.probabilities)
    assert sorted(np.argsort(-probabilities)[:3]) == [2, 4, 7]
    assert probabilities[[2, 4, 7]].sum() > 0.6
    assert np.array_equal(learned.metric_, np.eye(10))
    assert learned.loss_ < 0.8 * learned.history_["loss"][learned.history_["round"] == 0].min()


def test_classes_of_any_kind_and_several_outputs():
    X, y, direction = planted()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.3, 0.3])]
    for target in (labels, y > 0, np.column_stack([y, -2 * y])):
        learned = LearnedMetric(n_rounds=2, n_components=128).fit(X, target)
        assert abs(np.linalg.eigh(learned.metric_)[1][:, -1] @ direction) > 0.95


def test_noise_keeps_the_plain_metric():
    kept = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        learned = LearnedMetric(n_rounds=2, n_components=64).fit(rng.normal(size=(300, 6)), rng.normal(size=300))
        kept.append(np.array_equal(learned.metric_, np.eye(6)))
        assert learned.loss_ > 0.95
    assert sum(kept) >= 4


def test_the_best_of_what_was_tried_is_kept_and_round_zero_is_the_identity():
    X, y, _ = planted(300)
    learned = LearnedMetric(n_rounds=0, n_components=32).fit(X, y)
    assert np.array_equal(learned.root_, np.eye(6))
    assert set(learned.history_["mode"]) == {"identity"}
    assert learned.loss_ == learned.history_["loss"].min()


def test_metric_root_and_kernel_belong_together():
    X, y, _ = planted(300)
    learned = LearnedMetric(n_components=64).fit(X, y)
    np.testing.assert_allclose(learned.root_ @ learned.root_, learned.metric_, atol=1e-12)
    assert np.trace(learned.metric_) == pytest.approx(6.0)
    Z = learned.transform(X)
    np.testing.assert_allclose(Z, X @ learned.root_, atol=1e-12)
    plain = Gaussian(learned.kernel_.kernel.bandwidth)
    np.testing.assert_allclose(learned.kernel_(X), plain(Z), atol=1e-10)
    ours = RandomFeatures(learned.kernel_, n_components=32).fit_transform(X)
    np.testing.assert_allclose(ours, RandomFeatures(plain, n_components=32).fit_transform(Z), atol=1e-5)


def test_learned_features_beat_plain_ones_of_the_same_size():
    X, y, _ = planted(1200)
    train, test = slice(0, 800), slice(800, None)
    learned = LearnedMetric(n_components=128).fit(X[train], y[train])
    scores = []
    for kernel in (Gaussian("median"), learned.kernel_):
        map_ = RandomFeatures(kernel, n_components=128).fit(X[train])
        scores.append(RidgeRegressor().fit(map_.transform(X[train]), y[train]).score(map_.transform(X[test]), y[test]))
    assert scores[1] > scores[0] + 0.05


def test_rows_in_any_blocks_and_more_than_are_kept():
    X, y, _ = planted(500)
    estimator = LearnedMetric(n_rounds=1, n_components=32, max_rows=200)
    whole = clone(estimator).fit(X, y)
    stream = clone(estimator).fit(
        StreamSource(lambda: (Block(X[i : i + 77], y[i : i + 77]) for i in range(0, 500, 77)))
    )
    assert np.array_equal(whole.root_, stream.root_)
    assert whole.history_.tobytes() == stream.history_.tobytes()
    assert not np.array_equal(whole.root_, clone(estimator).set_params(max_rows=500).fit(X, y).root_)


def test_a_source_is_mapped_as_it_is_read():
    X, y, _ = planted(200)
    learned = LearnedMetric(n_rounds=1, n_components=16).fit(MemorySource(X, y))
    block = next(iter(learned.transform(MemorySource(X, y)).blocks()))
    np.testing.assert_array_equal(block.X, learned.transform(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode": "round"}, "mode must be"),
        ({"n_rounds": -1}, "n_rounds must be"),
        ({"smoothing": -0.5}, "smoothing must be"),
        ({"task": "both"}, "task must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    X, y, _ = planted(50)
    with pytest.raises(ValueError, match=message):
        LearnedMetric(**parameters).fit(X, y)


def test_kernels_without_a_bandwidth_are_refused():
    X, y, _ = planted(50)
    with pytest.raises(TypeError, match="shift-invariant kernel with a bandwidth"):
        LearnedMetric(Linear()).fit(X, y)


def test_roots_of_nothing_and_of_one_direction():
    np.testing.assert_allclose(root_of(np.zeros((3, 3)), "full"), np.eye(3))
    root = root_of(np.diag([1.0, 0.0, 0.0]), "full")
    assert np.trace(root @ root) == pytest.approx(3.0)
    assert np.linalg.eigvalsh(root)[0] > 0
