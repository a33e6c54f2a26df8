"""Calibration, confusion and thresholds against simulated probabilities and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_score, recall_score

from auto.diagnostics.held_out_cases import fitted, linear_rows, mixed_table
from mercer.auto.diagnostics.sections import calibration, confusion, thresholds
from mercer.auto.diagnostics.sections.calibration import calibration_bins
from mercer.auto.diagnostics.sections.thresholds import threshold_point


def test_intervals_of_calibrated_probabilities_cover_them():
    rng, covered, total = np.random.default_rng(0), 0, 0
    for _ in range(200):
        p = rng.beta(1, 2, size=400)
        bins = calibration_bins(p, rng.random(400) < p, np.ones(400))
        covered += sum(each["low"] <= each["predicted"] <= each["high"] for each in bins)
        total += len(bins)
        assert sum(each["n"] for each in bins) == 400
    assert 0.93 < covered / total < 0.985


def test_overconfident_probabilities_are_off():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 1))
    y = rng.random(2000) < 1 / (1 + np.exp(-X[:, 0]))
    right, wrong = (
        calibration.section(linear_rows(X, y, [1.35 * times], classes=[False, True]))["error"] for times in (1, 4)
    )
    assert right < 0.05 < 0.1 < wrong


def test_equal_probabilities_are_in_one_bin():
    bins = calibration_bins(np.repeat([0.2, 0.7], 50), np.arange(100) % 2 == 0, np.ones(100))
    assert [(each["predicted"], each["n"], each["observed"]) for each in bins] == [
        (pytest.approx(0.2), 50, 0.5),
        (pytest.approx(0.7), 50, 0.5),
    ]


def test_several_classes_are_calibrated_by_the_most_probable():
    rng = np.random.default_rng(2)
    table, signal = mixed_table(400, rng)
    rows, _ = fitted(table, np.digitize(signal, [0.5, 1.5]), True)
    found = calibration.section(rows)
    assert found["output"] is None
    n = [each["n"] for each in found["bins"]]
    top = rows.probabilities.max(axis=1)
    assert np.average([each["predicted"] for each in found["bins"]], weights=n) == pytest.approx(top.mean())
    right = rows.predictor.predict(rows.X) == rows.y
    assert np.average([each["observed"] for each in found["bins"]], weights=n) == pytest.approx(right.mean())


def test_counts_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    table, signal = mixed_table(400, rng)
    for classes in (np.digitize(signal, [0.5, 1.5]), signal > 1):
        rows, _ = fitted(table, classes, True)
        found = confusion.section(rows)
        assert found["classes"] == [str(each) for each in rows.classes.tolist()]
        assert found["counts"] == confusion_matrix(rows.y, rows.predictor.predict(rows.X)).tolist()


def test_the_rarer_of_many_classes_are_pooled():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 1))
    codes = np.minimum(rng.geometric(0.1, size=600), 30)
    classes = np.arange(1, 31)
    rows = linear_rows(X, codes, rng.normal(size=(1, 30)), classes=classes)
    found = confusion.section(rows)
    assert len(found["classes"]) == 15
    assert found["classes"][-1] == "(other classes)"
    full = confusion_matrix(rows.y, rows.predictor.predict(rows.X), labels=classes)
    kept = [int(name) - 1 for name in found["classes"][:-1]]
    counts = np.array(found["counts"])
    assert np.array_equal(counts[:-1, :-1], full[np.ix_(kept, kept)])
    assert counts.sum() == 600


@pytest.mark.parametrize("weighted", [False, True])
def test_thresholds_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(5)
    p = rng.random(300)
    positive = rng.random(300) < p
    weight = rng.exponential(size=300) if weighted else np.ones(300)
    for threshold in (0.05, 0.5, 0.9):
        point = threshold_point(p, positive, weight / weight.sum(), threshold)
        predicted = p >= threshold
        options = {"sample_weight": weight}
        assert point["precision"] == pytest.approx(precision_score(positive, predicted, **options))
        assert point["recall"] == pytest.approx(recall_score(positive, predicted, **options))
        assert point["f1"] == pytest.approx(f1_score(positive, predicted, **options))
        assert point["accuracy"] == pytest.approx(accuracy_score(positive, predicted, **options))
        assert point["selected"] == pytest.approx(np.average(predicted, weights=weight))
    assert threshold_point(p, positive, weight, 2.0)["precision"] is None


def test_costs_choose_the_threshold_of_true_probabilities():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20_000, 1))
    y = rng.random(20_000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    rows = linear_rows(X, y, [2.7], classes=[False, True])  # encoded numbers are divided by their IQR of 1.35
    found = thresholds.section(rows)
    p = rows.probabilities[:, 1]
    for each in found["costs"]:
        false_positive, false_negative = each["false_positive"], each["false_negative"]
        assert each["threshold"] == pytest.approx(false_positive / (false_positive + false_negative), abs=0.1)
        wrong, missed = (p >= each["threshold"]) & ~y, (p < each["threshold"]) & y
        assert each["cost"] == pytest.approx(np.mean(false_positive * wrong + false_negative * missed))
        assert each["cost"] <= each["cost_at_half"]
    selected = [point["selected"] for point in found["points"]]
    assert selected == sorted(selected, reverse=True)
    assert found["output"] == "True"
