"""All metrics equal those of scikit-learn, weighted or not; intervals cover."""

import numpy as np
import pytest
from sklearn import metrics

from mercer.auto.holdout.auc import auc_estimate
from mercer.auto.holdout.scores import ModelPredictions, class_scores, regression_scores


def simulated_classes(rng, n, n_classes, labels=None):
    codes = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes)) + 1.5 * (codes[:, None] == np.arange(n_classes))
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    labels = np.arange(n_classes) if labels is None else np.array(labels)
    return labels[codes], labels, p


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True], ["a", "b", "c", "d"], list(range(30))])
@pytest.mark.parametrize("n", [60, 2500])
def test_metrics_of_classes_are_those_of_scikit_learn(labels, weighted, n):
    rng = np.random.default_rng(len(labels) + n)
    y, classes, p = simulated_classes(rng, n, len(labels), labels)
    w = rng.uniform(0.5, 2.0, n) if weighted else None
    predicted = classes[p.argmax(axis=1)]
    found = class_scores(y, classes, [ModelPredictions("m", predicted, p)], w).metrics[0]
    two = len(classes) == 2
    one_hot = (y[:, None] == classes).astype(float)
    per_row = np.sum((p - one_hot) ** 2, axis=1) / (2 if two else 1)
    average = {"average": "binary", "pos_label": classes[1]} if two else {"average": "macro"}
    present = np.unique(y)
    f1 = metrics.f1_score(
        y,
        predicted,
        labels=None if two else np.union1d(present, predicted),
        sample_weight=w,
        zero_division=0,
        **average,
    )
    expected = {
        "accuracy": metrics.accuracy_score(y, predicted, sample_weight=w),
        "balanced_accuracy": np.mean([np.average(predicted[y == c] == c, weights=None if w is None else w[y == c])
                                      for c in present]),
        "log_loss": metrics.log_loss(y, p, labels=classes, sample_weight=w),
        "brier": np.average(per_row, weights=w),
        "f1": f1,
    }  # fmt: skip
    if len(present) == len(classes):
        score = p[:, 1] if two else p
        expected["auc"] = metrics.roc_auc_score(y, score, multi_class="ovr", sample_weight=w)
    for name, value in expected.items():
        assert np.isclose(found[name].value, value, rtol=1e-9), name
        assert found[name].low <= found[name].value <= found[name].high, name


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_of_regression_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    y = 100 + rng.normal(size=301)
    w = rng.uniform(0.5, 2.0, len(y)) if weighted else None
    predicted = y + 0.5 * rng.normal(size=len(y))
    found = regression_scores(y, [ModelPredictions("m", predicted)], w).metrics[0]
    assert np.isclose(found["r2"].value, metrics.r2_score(y, predicted, sample_weight=w))
    assert np.isclose(found["mae"].value, metrics.mean_absolute_error(y, predicted, sample_weight=w))
    assert np.isclose(found["rmse"].value, metrics.root_mean_squared_error(y, predicted, sample_weight=w))
    assert np.isclose(
        found["median_absolute_error"].value, metrics.median_absolute_error(y, predicted, sample_weight=w), rtol=0.02
    )


def test_several_targets_are_averaged():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(80, 3))
    predicted = y + 0.3 * rng.normal(size=y.shape)
    found = regression_scores(y, [ModelPredictions("m", predicted)]).metrics[0]
    assert np.isclose(found["mae"].value, np.mean(np.abs(y - predicted)))
    assert np.isclose(found["rmse"].value, np.sqrt(np.mean((y - predicted) ** 2)))
    total = np.sum((y - y.mean(axis=0)) ** 2)
    assert np.isclose(found["r2"].value, 1 - np.sum((y - predicted) ** 2) / total)


def test_a_class_of_the_holdout_alone_has_probability_zero():
    y = np.array(["a", "b", "c", "a"])
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.7, 0.3]])
    found = class_scores(y, np.array(["a", "b"]), [ModelPredictions("m", np.array(["a", "b", "a", "a"]), p)]).metrics[0]
    assert found["accuracy"].value == 0.75
    assert np.isclose(found["balanced_accuracy"].value, 2 / 3)
    assert found["log_loss"].value > 8


def test_gains_are_positive_where_the_first_model_is_better():
    rng = np.random.default_rng(2)
    y = rng.normal(size=400)
    good, bad = y + 0.1 * rng.normal(size=400), y + rng.normal(size=400)
    found = regression_scores(y, [ModelPredictions("good", good), ModelPredictions("bad", bad)])
    (gains,) = found.gains
    assert all(gains[name].low > 0 for name in ("r2", "rmse", "mae"))
    labels, classes, p = simulated_classes(rng, 400, 2)
    flat = np.full_like(p, 0.5)
    models = [ModelPredictions("good", p.argmax(axis=1), p), ModelPredictions("flat", np.zeros(400, dtype=int), flat)]
    (gains,) = class_scores(labels, classes, models).gains
    assert all(gains[name].low > 0 for name in ("accuracy", "log_loss", "brier"))


def coverage(runs, covers):
    hits = sum(bool(covers(np.random.default_rng(seed))) for seed in range(runs))
    return hits / runs, 5 * np.sqrt(0.95 * 0.05 / runs)


def test_the_interval_of_the_auc_covers_the_truth():
    """Two normal populations one standard deviation apart: AUC = Phi(1 / sqrt 2)."""
    truth = 0.7602499389065233

    def covers(rng):
        codes = rng.random(150) < 0.3
        score = rng.normal(size=150) + codes
        p = np.column_stack([-score, score])
        found = auc_estimate(codes.astype(int), p)
        return found.low <= truth <= found.high

    rate, margin = coverage(400, covers)
    assert rate > 0.95 - margin


def test_the_interval_of_the_median_error_covers_the_truth():
    truth = 0.6744897501960817  # of |N(0, 1)|

    def covers(rng):
        error = rng.normal(size=101)
        found = regression_scores(error, [ModelPredictions("m", np.zeros(101))]).metrics[0]["median_absolute_error"]
        return found.low <= truth <= found.high

    rate, margin = coverage(200, covers)
    assert rate > 0.95 - margin


def test_a_perfect_order_has_an_interval():
    found = auc_estimate(np.array([0] * 20 + [1] * 10), np.column_stack([np.zeros(30), np.arange(30.0)]))
    assert found.value == found.high == 1.0
    assert 0.5 < found.low < 1.0


def test_one_class_has_no_auc():
    p = np.column_stack([np.full(5, 0.4), np.full(5, 0.6)])
    found = class_scores(np.ones(5, dtype=int), np.array([0, 1]), [ModelPredictions("m", np.ones(5, dtype=int), p)])
    assert (found.metrics[0]["auc"].value, found.metrics[0]["auc"].low, found.metrics[0]["auc"].high) == (0.5, 0.0, 1.0)
