"""The verdict in words: levels follow the intervals."""

import numpy as np
import pytest

from mercer.auto.diagnostics.split import split_section
from mercer.auto.diagnostics.verdict import short, verdict


def estimate(value, half=0.05):
    return {"value": value, "low": value - half, "high": value + half}


def scores(name, value, mae):
    return {"name": name, **estimate(value), "metrics": {"r2": estimate(value), "mae": estimate(mae, 0.1)}}


def report(gain=0.2, over_naive=0.5, blocks=2):
    model, linear = scores("this model", 0.8, 1234.5), scores("linear model of the columns", 0.6, 2000.0)
    naive = scores("always guessing the mean", 0.0, 4000.0)
    kinds = [
        {"kind": "linear", "title": "the columns themselves", "gain_fraction": 0.3},
        {"kind": "trees", "title": "score of 430 boosting rounds", "gain_fraction": 0.7},
    ]
    return {
        "task": "regression",
        "target": "price",
        "blocks": kinds[:blocks],
        "importance": {"size": 0.7, "age": 0.3, "noise": 0.0},
        "holdout": {
            "metric": "R2", "n": 88, "model": model, "linear": linear, "naive": naive, "gain": estimate(gain),
            "gains": {"linear": {"r2": estimate(gain)}, "naive": {"r2": estimate(over_naive)}},
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gain", "over_naive", "level"),
    [(0.2, 0.5, "gain"), (0.01, 0.5, "linear"), (0.01, 0.01, "no-skill"), (-0.2, 0.5, "linear")],
)
def test_levels(gain, over_naive, level):
    assert verdict(report(gain, over_naive))["level"] == level


def test_the_sentence_has_the_score_and_the_units_of_the_target():
    found = verdict(report())
    assert found["sentence"] == (
        "On 88 rows it has not seen, the model explains 80.0 % of the variance of 'price' (95 % interval 75.0 to "
        "85.0 %) and is off by 1,234 on average; the linear model explains 60.0 % (off by 2,000), always guessing the "
        "mean is off by 4,000."
    )
    assert found["details"][0] == (
        "The gain over guessing is carried 70 % by score of 430 boosting rounds and 30 % by the columns themselves."
    )
    assert "'size' and 'age'" in found["details"][2]
    assert len(found["details"]) <= 5


def test_blocks_that_lower_the_score_are_named():
    found = report()
    found["blocks"] = [
        {"kind": "linear", "title": "the columns", "gain_fraction": 0.93},
        {"kind": "fourier", "title": "random features", "gain_fraction": 0.19},
        {"kind": "trees", "title": "the score of trees", "gain_fraction": -0.12},
    ]
    assert verdict(found)["details"][0] == (
        "The gain over guessing is carried 93 % by the columns and 19 % by random features; the score of trees took "
        "12 % away."
    )


def test_no_skill_is_said():
    assert verdict(report(0.0, 0.0))["sentence"].endswith(
        "That is not clearly better than guessing: no skill was found."
    )


def test_without_a_holdout():
    without = {name: value for name, value in report().items() if name != "holdout"}
    found = verdict(without)
    assert found["level"] == "unknown"
    assert found["sentence"].startswith("No rows were held out")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234.5, "1,234"), (98765.0, "98,760"), (0.5, "0.5"), (1e12, "1e+12"), (-2500.0, "-2,500")],
)
def test_short_numbers(value, text):
    assert short(value) == text


def test_the_split_in_words():
    found = split_section(100, 20, 0.2, True, True, np.array([1, 2, 2, 3], dtype=np.uint64))
    assert (found["n_train"], found["n_holdout"], found["n_duplicates"]) == (80, 20, 1)
    assert "1 row repeats another; equal rows are on the same side" in found["sentence"]
    assert "position" in split_section(100, 20, 0.2, False, False, None)["sentence"]


def test_a_model_of_the_columns_alone_is_linear():
    assert verdict(report(blocks=1))["level"] == "linear"


def test_better_probabilities_are_a_gain():
    def scored(name, value, log_loss):
        found = scores(name, value, 0.0)
        return found | {"metrics": {"accuracy": estimate(value), "log_loss": estimate(log_loss)}}

    found = report()
    found["task"] = "classification"
    found["holdout"] |= {
        "model": scored("this model", 0.9, 0.2),
        "linear": scored("linear model of the columns", 0.9, 0.4),
        "naive": scored("always guessing 'a'", 0.5, 0.7),
        "gain": estimate(0.0),
        "gains": {
            "linear": {"accuracy": estimate(0.0), "log_loss": estimate(0.2)},
            "naive": {"accuracy": estimate(0.4), "log_loss": estimate(0.5)},
        },
    }
    assert verdict(found)["level"] == "gain"
    assert verdict(found)["sentence"] == (
        "On 88 rows it has not seen, the model predicts 'price' right for 90.0 % (95 % interval 85.0 to 95.0 %); the "
        "linear model reaches 90.0 %, always guessing 'a' 50.0 %. Its probabilities are clearly better than those of "
        "the linear model (log-loss 0.200, not 0.400)."
    )


def test_texts_name_their_heaviest_terms():
    def terms(*words):
        return [{"term": word, "weight": 1.0} for word in words]

    found = report(blocks=1)
    found["terms"] = [
        {"column": "mail", "output": "spam", "positive": terms("win", "free"), "negative": []},
        {"column": "mail", "output": "ham", "positive": terms("lunch"), "negative": []},
    ]
    assert "Heaviest terms of 'mail': 'win', 'free' for 'spam'; 'lunch' for 'ham'." in verdict(found)["details"]
