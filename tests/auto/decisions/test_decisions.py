"""Decision rules, weights of classes and scorers."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer, roc_auc_score

import mercer
from mercer._runtime.errors import MercerError
from mercer.auto.decisions.choosing import ClassDecisions, f1_of
from mercer.auto.decisions.rule import DecisionRule, OutOfFold
from mercer.auto.decisions.scorers import scorer_estimates
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.holdout.scores import ModelPredictions, class_scores, regression_scores
from mercer.auto.options import Objective
from mercer.io import read_table

RNG = np.random.default_rng(0)


def _probabilities(n, k):
    p = RNG.dirichlet(np.ones(k), size=n)
    codes = np.array([RNG.choice(k, p=row) for row in p])
    return p, codes


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_rule_of_costs_is_the_bayes_decision(k):
    p, _ = _probabilities(200, k)
    costs = RNG.uniform(0.5, 3, size=(k, k)) * (1 - np.eye(k))
    expected = np.argmin(p @ costs, axis=1)
    assert np.array_equal(DecisionRule(-costs).choose(p), expected)


def test_two_costs_are_a_threshold():
    costs = Objective(costs={"false_positive": 1, "false_negative": 4}).cost_matrix(2)
    rule = DecisionRule(-costs)
    assert rule.threshold == pytest.approx(0.2)
    p = np.linspace(0.0, 1.0, 11)
    chosen = rule.choose(np.column_stack([1 - p, p]))
    assert np.array_equal(chosen, p >= 0.2 - 1e-12)
    assert DecisionRule.of_threshold(0.3).threshold == pytest.approx(0.3)


def test_f1_is_that_of_scikit_learn():
    for k in (2, 4):
        codes, predicted = RNG.integers(0, k, 300), RNG.integers(0, k, 300)
        weight = RNG.uniform(0.5, 2, 300)
        average = "binary" if k == 2 else "macro"
        expected = f1_score(codes, predicted, average=average, sample_weight=weight)
        assert f1_of(codes, predicted, weight, k) == pytest.approx(expected)


def _predictor(k, known):
    outputs = 1 if k == 2 else k
    features = Features([LinearBlock(1)])
    made = Predictor(features, np.zeros((1, outputs)), np.zeros(outputs), np.arange(k), np.ones(1), temperature=2.0)
    made.out_of_fold = known
    return made


def _decisions(source, k=2, **options):
    return ClassDecisions.of(Objective(**options), source, k, seed=0)


def _source(y):
    return read_table({"x": np.arange(len(y), dtype=float)}, y)


def test_rare_classes_get_a_lower_threshold_for_f1_and_balanced_accuracy():
    p1 = RNG.beta(1, 9, size=4000)
    codes = (RNG.random(4000) < p1).astype(int)
    known = OutOfFold(np.column_stack([1 - p1, p1]), codes)
    source = _source(codes)
    for metric in ("f1", "balanced_accuracy"):
        made = _decisions(source, metric=metric).applied(_predictor(2, known))
        assert made.decision.threshold < 0.35
        assert "out-of-fold" in made.decision.plain("out-of-fold", made.classes)["why"]
    prior = codes.mean()
    assert made.decision.threshold == pytest.approx(prior)


def test_thresholds_stay_where_nothing_is_gained():
    p1 = RNG.uniform(size=2000)
    codes = (RNG.random(2000) < p1).astype(int)
    known = OutOfFold(np.column_stack([1 - p1, p1]), codes)
    accuracy = make_scorer(lambda y, predicted: float(np.mean(y == predicted)))
    assert _decisions(_source(codes), metric=accuracy).applied(_predictor(2, known)).decision is None
    assert _decisions(_source(codes), metric="auc") is None


@pytest.mark.parametrize("k", [2, 3])
def test_class_weights_are_taken_back_from_probabilities(k):
    """q_c ~ w_c p_c, so p_c ~ q_c / w_c: shifted intercepts give the probabilities of the data."""
    y = RNG.integers(0, k, 300)
    decisions = _decisions(_source(y), k, class_weight={0: 5.0, "1": 2.0})
    weights = np.array([5.0, 2.0, 1.0])[:k]
    raw = _predictor(k, None)
    made = decisions.applied(raw)
    X = np.zeros((1, 1))
    q = raw.probabilities(X)[0]
    assert np.allclose(made.probabilities(X)[0], (q / weights) / np.sum(q / weights))
    assert made.predict(X)[0] == np.argmax(weights * made.probabilities(X)[0]) or k == 2
    block = next(decisions.weighted(_source(y)).blocks())
    assert np.array_equal(block.weight, weights[y])


def test_balanced_weights_are_those_of_scikit_learn():
    y = np.array(["a"] * 30 + ["b"] * 10)
    found = _decisions(_source(y), class_weight="balanced").weights
    assert np.allclose(found.of_labels(np.array(["a", "b"])), [40 / 60, 40 / 20])
    with pytest.raises(MercerError, match="must name one of the classes 'a', 'b'"):
        _decisions(_source(y), class_weight={"c": 2.0})


def test_costs_of_another_shape_are_refused():
    with pytest.raises(MercerError, match=r"shape \(3, 3\)"):
        _decisions(_source(np.arange(30) % 3), 3, costs=[[0, 1], [1, 0]])


def test_groups_widen_the_intervals_of_scores():
    """Rows that repeat 20 times tell as much as one of them: the interval of 50 groups is that of 50 rows."""
    values, codes = RNG.normal(size=50), RNG.integers(0, 2, 50)
    p = RNG.uniform(size=50)
    groups = np.repeat(np.arange(50), 20)
    model = [ModelPredictions("m", np.zeros(50))]
    many = [ModelPredictions("m", np.zeros(1000))]
    one, grouped, plain = (
        regression_scores(np.repeat(values, each), models, groups=g).metrics[0]["rmse"]
        for each, models, g in ((1, model, None), (20, many, groups), (20, many, None))
    )
    assert grouped.high - grouped.low == pytest.approx(one.high - one.low, rel=0.15)
    assert plain.high - plain.low < 0.4 * (one.high - one.low)

    def made(repeats, g):
        both = np.repeat(np.column_stack([1 - p, p]), repeats, axis=0)
        labels = np.repeat(codes, repeats)
        return class_scores(labels, np.arange(2), [ModelPredictions("m", both.argmax(axis=1), both)], groups=g)

    for name in ("auc", "log_loss", "accuracy"):
        once, again = made(1, np.arange(50)).metrics[0][name], made(20, groups).metrics[0][name]
        assert again.high - again.low == pytest.approx(once.high - once.low, rel=0.2)


def test_scorers_of_scikit_learn_have_intervals():
    p, codes = _probabilities(400, 2)
    models = [
        ModelPredictions("m", p.argmax(axis=1), p),
        ModelPredictions("n", np.zeros(400, int), np.tile([1, 0], (400, 1))),
    ]
    values, gains = scorer_estimates("roc_auc", codes, models, np.arange(2))
    assert values[0].value == pytest.approx(roc_auc_score(codes, p[:, 1]))
    assert values[0].low < values[0].value < values[0].high
    assert gains[0].low > 0
    with pytest.raises(MercerError, match="cannot be computed"):
        scorer_estimates("precision", np.array(["a", "b"])[codes], models, np.array(["a", "b"]))


def test_costs_and_pinball_are_metrics():
    y = np.array([0, 0, 1, 1])
    model = [ModelPredictions("m", np.array([0, 1, 1, 0]), np.full((4, 2), 0.5))]
    found = class_scores(y, np.arange(2), model, costs=np.array([[0.0, 1.0], [5.0, 0.0]])).metrics[0]
    assert found["cost"].value == pytest.approx(6 / 4)
    found = regression_scores(np.array([1.0, 3.0]), [ModelPredictions("m", np.array([2.0, 1.0]))], quantile=0.9)
    assert found.metrics[0]["pinball"].value == pytest.approx((0.1 * 1 + 0.9 * 2) / 2)


@pytest.fixture(scope="module")
def rare():
    """Few rows of the second class."""
    X = RNG.normal(size=(500, 3))
    p = 1 / (1 + np.exp(-(2 * X[:, 0] - 2.5)))
    return X, np.array(["no", "yes"])[(RNG.random(500) < p).astype(int)]


def test_decisions_move_predictions_and_no_probabilities(rare, tmp_path):
    X, y = rare
    plain = mercer.fit(X, y, effort="fast", report=False)
    model = mercer.fit(X, y, effort="fast", report=False, costs={"false_positive": 1, "false_negative": 9})
    assert np.array_equal(plain.predict_proba(X), model.predict_proba(X))
    p = model.predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X) == "yes", p >= 0.1)
    holdout = model.report()["holdout"]
    assert holdout["metric"] == "cost"
    assert holdout["model"]["metrics"]["cost"]["value"] <= holdout["naive"]["metrics"]["cost"]["value"]
    assert "0.1 on" in model.report()["decision"]["sentence"]
    model.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(model.to_pipeline().predict(X), model.predict(X))
    model.to_onnx(check={f"x{j}": X[:, j] for j in range(3)})


def test_class_weights_keep_probabilities_calibrated(rare):
    X, y = rare
    model = mercer.MercerClassifier(effort="fast", class_weight="balanced").fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(np.mean(y == "yes"), abs=0.05)
    assert np.mean(model.predict(X) == "yes") > np.mean(y == "yes") + 0.05
