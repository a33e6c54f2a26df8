"""Standard errors of points against simulation and exact refits of the weights, and the section of the report."""

import json

import numpy as np
import pytest

import mercer
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.glass.errors import FoldTerms, models_without_folds
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.linear import RidgeRegressor

TRUTH = (lambda x: np.sin(6 * x), lambda x: 2 * np.abs(x - 0.5), lambda x: 1.0 * (x > 0.6), lambda x: 0 * x)


def simulated(seed, task, n=800):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    score = sum(part(x) for part, x in zip(TRUTH, X.T, strict=True))
    if task == "regression":
        return X, score + 0.5 * rng.normal(size=n)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-2 * (score - score.mean()))), "yes", "no")


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_bands_of_two_errors_contain_most_of_the_true_curve(task):
    covered, squares = [], []
    for seed in range(3):
        X, y = simulated(seed, task)
        model = mercer.fit(X, y, explainable=True, effort="fast", holdout=0, report=False, max_pairs=1)
        card, unit = model.scorecard(), 1.0 if task == "regression" else 2.0
        for j, part in enumerate(TRUTH):
            shown = card[card.feature == f"x{j}"]
            x = (shown.lower.clip(lower=0).to_numpy() + shown.upper.clip(upper=1).to_numpy()) / 2
            truth = unit * part(x)
            rest = shown.points.to_numpy() - truth + np.average(truth, weights=shown.rows)
            covered.append(np.average(np.abs(rest) <= 2 * shown.error.to_numpy(), weights=shown.rows))
            squares.append([np.average(each**2, weights=shown.rows) for each in (rest, shown.error.to_numpy())])
    assert np.mean(covered) > 0.75
    actual, stated = np.sqrt(np.mean(squares, axis=0))
    assert 0.6 < stated / actual < 1.6


@pytest.mark.parametrize("n", [60, 400])
def test_weights_without_a_fold_are_near_those_of_a_fit_without_it(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3 if n > 100 else 80))
    y = X[:, 0] + 0.5 * rng.normal(size=n)
    target, alpha = NumericTarget.of(y, False), 30.0
    rows = TrainingRows(X, target.numbers(y), np.arange(n, dtype=np.uint64))
    fitted = RidgeRegressor(alpha=alpha).fit(X, y)
    features = Features([LinearBlock(X.shape[1])])
    intercept = np.atleast_1d(fitted.intercept_)
    predictor = Predictor(features, fitted.coef_.reshape(-1, 1), intercept, None, np.array([alpha]))
    folds = np.arange(n) % 5
    models = models_without_folds(predictor, rows, target, None, FoldTerms(folds, [], None))
    exact = [RidgeRegressor(alpha=alpha).fit(X[folds != k], y[folds != k]).coef_.ravel() for k in range(5)]
    change = np.array(exact) - fitted.coef_.ravel()
    found = np.array([model.coef[:, 0] for model in models]) - fitted.coef_.ravel()
    assert np.linalg.norm(found - change) < 0.1 * np.linalg.norm(change)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_report_has_curves_pairs_and_terms(task, tmp_path):
    rng = np.random.default_rng(0)
    n = 500
    table = {
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(size=n)),
        "city": rng.choice(["<b>Bern</b>", "Oslo"], n),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 300, n),
    }
    score = 3 * np.nan_to_num(table["size"]) * np.where(table["city"] == "Oslo", 1, -1) + 0.1 * rng.normal(size=n)
    table["y"] = score if task == "regression" else np.where(score > 0, "yes", "no")
    model = mercer.fit(table, "y", explainable=True, effort="fast", max_pairs=2)
    card = model.report()["scorecard"]
    assert card["unit"] == ("prediction" if task == "regression" else "log-odds")
    strengths = [each["strength"] for each in card["terms"]]
    assert strengths == sorted(strengths, reverse=True)
    curves = {each["column"]: each for each in card["curves"]}
    assert curves["size"]["missing"] is not None
    assert set(curves["city"]["x"]) == {"<b>Bern</b>", "Oslo"}
    for each in card["curves"]:
        assert all(low <= mean <= high for low, mean, high in zip(each["low"], each["mean"], each["high"], strict=True))
    pair = next(each for each in card["pairs"] if set(each["columns"]) == {"size", "city"})
    assert (len(pair["remainder"]), len(pair["remainder"][0])) == (len(pair["y"]), len(pair["x"]))
    json.dumps(card, allow_nan=False)
    page = model.report_html()
    assert 'id="scorecard"' in page
    assert "Points of the pairs" in page
    assert "<b>Bern</b>" not in page
    model.save(tmp_path / "m.mercer")
    assert mercer.load(tmp_path / "m.mercer").report()["scorecard"] == card


def test_other_models_have_no_section():
    X, y = simulated(0, "regression", 200)
    assert "scorecard" not in mercer.fit(X, y, effort="fast", report=False).report()
