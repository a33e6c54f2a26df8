"""What every loss of `mercer.fit` promises: targets it takes, predictions, scores on the holdout, files, ONNX."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer._runtime.errors import MercerError
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.options import Objective
from mercer.auto.options.losses import LOSSES

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 3))
MEAN = np.exp(0.7 * X[:, 0] + np.sin(2 * X[:, 1]))
COUNTS = RNG.poisson(MEAN)
SKEWED = {"gamma": RNG.gamma(3.0, MEAN / 3.0), "quantile": MEAN + (0.2 + np.abs(X[:, 2])) * RNG.normal(size=N)}
#: The metric of each loss on the holdout.
METRICS = {"absolute": "mae", "huber": "huber", "quantile": "pinball"} | dict.fromkeys(
    ("poisson", "gamma", "tweedie"), "deviance"
)


def target(loss):
    return SKEWED.get(loss, COUNTS)


@pytest.fixture(scope="module", params=METRICS)
def fitted(request):
    loss = request.param
    return loss, mercer.fit(X, target(loss), loss=loss, effort="fast", report=False)


def test_a_loss_means_regression_and_beats_the_naive_guess(fitted):
    loss, model = fitted
    report = model.report()
    assert (report["task"], report["loss"]) == ("regression", loss)
    values = [report["holdout"][key]["metrics"][METRICS[loss]]["value"] for key in ("model", "linear", "naive")]
    assert values[0] < values[2]
    assert values[1] < values[2]
    assert set(report["holdout"]["metrics"]) >= {"r2", "rmse", "mae", METRICS[loss]}


def test_predictions_have_the_range_of_the_target(fitted):
    loss, model = fitted
    predictions = model.predict(X)
    assert predictions.shape == (N,)
    if loss in ("poisson", "gamma", "tweedie"):
        assert np.all(predictions > 0)
        assert abs(np.average(predictions) / np.average(target(loss)) - 1) < 0.1


def test_files_onnx_and_intervals(fitted, tmp_path):
    _, model = fitted
    model.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict(X), model.predict(X))
    model.to_onnx()  # compares the graph with the model
    ends = model.predict_interval(X[:5])
    assert np.all(ends[:, 0] <= ends[:, 1])
    explained = model.explain(X[:1])
    assert explained.prediction == pytest.approx(explained.baseline + sum(explained.contributions.values()))


def test_quantiles_do_not_cross_and_cover():
    y, levels = SKEWED["quantile"], (0.1, 0.25, 0.5, 0.9)
    model = mercer.fit(X[:300], y[:300], loss="quantile", quantiles=levels, effort="fast", holdout=0)
    found = model.predict_quantiles(X)
    assert found.shape == (N, 4)
    assert model.quantiles == levels
    assert np.all(np.diff(found, axis=1) >= 0)
    assert np.array_equal(found[:, 2], model.predict(X))
    held_out = np.mean(y[300:, None] <= found[300:], axis=0)
    tau = np.array(levels)  # by chance, and by the noise of the fit, about as large
    assert np.all(np.abs(held_out - tau) < 4 * np.sqrt(2 * tau * (1 - tau) / 100))


def test_the_estimator_takes_the_same_options():
    estimator = mercer.MercerRegressor(effort="fast", loss="quantile", quantiles=[0.2, 0.8])
    made = clone(estimator).fit(X[:200], SKEWED["quantile"][:200])
    quantiles = made.predict_quantiles(X[:50])
    assert np.all(quantiles[:, 0] <= quantiles[:, 1])
    assert np.array_equal(made.predict(X[:50]), quantiles[:, 0])  # of two equally near the median, the first


BAD_OPTIONS = {
    "unknown loss": ({"loss": "cauchy"}, "must be one of squared, absolute"),
    "quantiles without the loss": ({"quantiles": [0.5]}, "are for loss='quantile'"),
    "quantile of one": ({"loss": "quantile", "quantiles": [0.5, 1.0]}, "between 0 and 1"),
    "quantile in words": ({"loss": "quantile", "quantiles": ["half"]}, "between 0 and 1"),
    "unsorted": ({"loss": "quantile", "quantiles": [0.9, 0.1]}, "must increase"),
    "twice": ({"loss": "quantile", "quantiles": [0.5, 0.5]}, "must increase"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_are_refused(case):
    given, message = BAD_OPTIONS[case]
    with pytest.raises(MercerError, match=message):
        Objective(**given)


BAD_TARGETS = {
    "negative counts": ("poisson", -COUNTS, "at row"),
    "gamma of zero": ("gamma", COUNTS, "are positive"),
    "negative amounts": ("tweedie", X[:, 0], "at least zero"),
    "text": ("absolute", np.array(["a", "b"])[COUNTS % 2], "not a number"),
    "two targets": ("huber", X[:, :2], "is for one"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_targets_that_a_loss_is_not_defined_for_are_refused(case):
    loss, y, message = BAD_TARGETS[case]
    with pytest.raises(MercerError, match=message):
        mercer.fit(X, y, loss=loss, effort="fast")


def test_contradictions_are_refused():
    with pytest.raises(MercerError, match="is for regression"):
        mercer.fit(X, COUNTS, loss="poisson", task="classification")
    with pytest.raises(MercerError, match="exclude each other"):
        mercer.fit(X, COUNTS, loss="poisson", explainable=True)
    with pytest.raises(MercerError, match="no quantiles"):
        mercer.fit(X, MEAN, effort="fast", holdout=0, report=False).predict_quantiles(X)


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_a_constant_target_is_predicted(loss):
    model = mercer.fit(X[:60], np.full(60, 3.0), loss=loss, effort="fast", report=False)
    np.testing.assert_allclose(model.predict(X[:5]), 3.0)


def test_zeros_alone_are_predicted_as_nearly_zero():
    assert np.all(mercer.fit(X[:60], np.zeros(60), loss="poisson", effort="fast", report=False).predict(X) < 1e-6)


def test_trees_of_a_logarithmic_link_take_shorter_steps_and_finer_bins(fitted):
    loss, model = fitted
    params, squared = model.predictor.result.trees.params, EFFORTS["fast"].tree_params[0]
    log_link = loss in ("poisson", "gamma", "tweedie")
    assert params.learning_rate == squared.learning_rate / (2 if log_link else 1)
    assert (params.max_bins >= 2 * squared.max_bins) == log_link
