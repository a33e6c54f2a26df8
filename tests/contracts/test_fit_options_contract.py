"""The contract of options of a fit: over a table of options and tasks, every model scores, predicts, and is saved."""

import json

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

import mercer
from mercer._runtime.errors import MercerError

N = 160
RNG = np.random.default_rng(0)
GROUP = RNG.integers(0, 60, N)
DAY = np.datetime64("2024-01-01") + (np.arange(N) // 2).astype("timedelta64[D]")
X = RNG.normal(size=(N, 3))
SCORE = X[:, 0] + 0.5 * X[:, 1] + 0.5 * RNG.normal(size=60)[GROUP] + 0.2 * RNG.normal(size=N)
TARGETS = {
    "regression": SCORE,
    "two classes": np.where(SCORE > 0.6, "yes", "no"),
    "three classes": np.digitize(SCORE, [-0.5, 0.5]),
}
DATA = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "customer": [f"c{g}" for g in GROUP], "day": DAY}
SPLITS = {
    "groups": {"groups": "customer"},
    "few groups in an array": {"groups": GROUP % 6},
    "time": {"time": "day"},
    "time with a gap": {"time": "day", "gap": "3d"},
    "splitter and groups": {"cv": GroupKFold(3), "groups": "customer"},
    "splitter in order": {"cv": TimeSeriesSplit(3)},
    "splitter and time": {"cv": KFold(3), "time": np.arange(N)},
    "number of folds": {"cv": 3},
}
TASKS = {"groups": "three classes", "time with a gap": "two classes", "splitter in order": "two classes"}
DECISIONS = {
    "f1": ("two classes", {"metric": "f1"}),
    "balanced accuracy": ("three classes", {"metric": "balanced_accuracy"}),
    "scorer": ("two classes", {"metric": "roc_auc"}),
    "costs": ("three classes", {"costs": [[0, 1, 2], [5, 0, 1], [9, 3, 0]]}),
    "weights": ("three classes", {"class_weight": "balanced", "groups": "customer"}),
    "pinball": ("regression", {"metric": "pinball", "time": "day"}),
}


def _fitted(target, **options):
    return mercer.fit(DATA, TARGETS[target], effort="fast", report=False, **options)


def _check(model, tmp_path):
    holdout = model.report()["holdout"]
    json.dumps(model.report(), allow_nan=False)
    for key in ("model", "linear", "naive"):
        for found in holdout[key]["metrics"].values():
            assert found["low"] <= found["value"] <= found["high"]
    assert holdout["metrics"] == holdout["model"]["metrics"]
    model.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(again.predict(DATA), model.predict(DATA))
    return holdout


@pytest.mark.parametrize("name", SPLITS)
def test_models_of_every_split(name, tmp_path):
    model = _fitted(TASKS.get(name, "regression"), **SPLITS[name])
    _check(model, tmp_path)
    named = [value for value in SPLITS[name].values() if isinstance(value, str) and value in DATA]
    assert not set(named) & set(model.schema)
    rows = {column: values for column, values in DATA.items() if column not in named}
    assert np.array_equal(model.predict(rows), model.predict(DATA))


@pytest.mark.parametrize("name", DECISIONS)
def test_models_of_every_decision(name, tmp_path):
    target, options = DECISIONS[name]
    holdout = _check(_fitted(target, **options), tmp_path)
    main = options.get("metric") or ("cost" if "costs" in options else "accuracy")
    assert holdout["metric"] == main
    assert holdout["model"]["value"] == holdout["metrics"][main]["value"]


@pytest.mark.parametrize("option", [{"groups": "customer"}, {"time": "day"}])
@pytest.mark.parametrize("target", ["regression", "two classes"])
def test_noise_stays_noise(option, target):
    """A target that only depends on the group, or on the day, says nothing about new ones."""
    level = np.random.default_rng(7).normal(size=100)[GROUP if "groups" in option else np.arange(N) // 2]
    y = level if target == "regression" else np.where(level > 0, "yes", "no")
    model = mercer.fit(DATA, y, effort="fast", report=False, **option)
    assert model.report()["verdict"]["level"] == "no-skill"


def test_a_column_with_a_role_stays_a_feature():
    model = _fitted("regression", groups="customer", roles={"customer": "category"})
    assert "customer" in model.schema


def test_estimators_take_the_options_and_arrays():
    named = mercer.MercerRegressor(effort="fast", groups="customer").fit(_frame(), SCORE)
    given = mercer.MercerRegressor(effort="fast").fit(_frame(), SCORE, groups=np.array(DATA["customer"]))
    assert "customer" not in named.model_.schema
    assert "customer" in given.model_.schema
    assert len(named.predict(_frame())) == N
    rows = np.column_stack([GROUP, X])
    by_name = mercer.MercerRegressor(effort="fast", groups="x0").fit(rows, SCORE)
    by_array = mercer.MercerRegressor(effort="fast").fit(X, SCORE, groups=GROUP)
    assert np.allclose(by_name.predict(rows), by_array.predict(X), rtol=1e-5, atol=1e-5)  # rows in another order


def _frame():
    import pandas as pd

    return pd.DataFrame(DATA)


BAD = {
    "a group is missing": ({"groups": [None] + ["a"] * (N - 1)}, "groups is missing in row 0"),
    "a time is missing": ({"time": np.r_[np.arange(N - 1.0), np.nan]}, f"time is missing in row {N - 1}"),
    "times in words": ({"time": "customer"}, "no order in time"),
    "unknown column": ({"groups": "custmer"}, "Did you mean 'customer'"),
    "values of other rows": ({"groups": [1, 2]}, "one value for each of the 160 rows"),
    "one group": ({"groups": np.zeros(N)}, "one group only"),
    "duration between numbers": ({"time": np.arange(N), "gap": "7d"}, "give the gap as a number of rows"),
    "gap that leaves nothing": ({"time": "day", "gap": "900d"}, "must leave rows to learn from"),
    "equal times": ({"time": np.zeros(N)}, "All rows have the same time"),
    "metric of probabilities": ({"metric": "log_loss"}, "for regression"),
    "scorer of classes": ({"metric": "roc_auc"}, "for regression"),
    "costs of a regression": ({"costs": [[0, 1], [1, 0]]}, "is for classification"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_are_refused(name):
    options, message = BAD[name]
    with pytest.raises(MercerError, match=message):
        _fitted("regression", **options)
