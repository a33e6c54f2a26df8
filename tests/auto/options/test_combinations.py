"""Options of `mercer.fit` together: splits with losses, shapes and decisions, predictions finite, errors in words."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer._runtime.errors import MercerError

N = 240
SPLITS = {
    "hashes": {},
    "groups": {"groups": "g"},
    "time": {"time": "t"},
    "folds": {"cv": 3},
}
REGRESSION = {
    "quantiles": {"loss": "quantile", "quantiles": [0.1, 0.5, 0.9]},
    "poisson": {"loss": "poisson"},
    "monotone": {"monotone": {"b": 1}},
    "explainable": {"explainable": True},
}
CLASSES = {
    "balanced": {"class_weight": "balanced"},
    "monotone with costs": {"monotone": {"b": 1}, "costs": {"false_positive": 1, "false_negative": 5}},
    "explainable and balanced": {"explainable": True, "class_weight": "balanced"},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=N), "b": rng.uniform(0, 5, N), "g": rng.integers(0, 40, N).astype(str)})
    frame["t"] = pd.date_range("2020-01-01", periods=N, freq="D")
    frame["y"] = frame.a + np.sqrt(frame.b) + 0.3 * rng.normal(size=N) + 5
    return frame


def fitted(table, options):
    return mercer.fit(table, "y", effort="fast", report=False, **options)


def pairs(options):
    return pytest.mark.parametrize(
        "options",
        [one | other for one in SPLITS.values() for other in options.values()],
        ids=[f"{one}, {other}" for one in SPLITS for other in options],
    )


@pairs(REGRESSION)
def test_losses_and_shapes_under_every_split(table, options):
    model = fitted(table, options)
    rows = table[:7].drop(columns="y")
    assert np.isfinite(model.predict(rows)).all()
    ends = model.predict_interval(rows)
    assert np.all(ends[:, 0] <= ends[:, 1])
    assert model.report()["holdout"]["n"] > 0
    if "quantiles" in options:
        assert np.all(np.diff(model.predict_quantiles(rows), axis=1) >= 0)
    if "monotone" in options:
        higher = rows.assign(b=rows.b + 1)
        assert np.all(model.predict(higher) >= model.predict(rows))


@pairs(CLASSES)
def test_decisions_and_shapes_under_every_split(table, options):
    model = fitted(table.assign(y=np.where(table.y > 7.2, "high", "low")), options)
    rows = table[:7].drop(columns="y")
    assert set(model.predict(rows)) <= {"high", "low"}
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1)
    assert model.predict_set(rows).any(axis=1).all()


@pytest.mark.parametrize(
    "options", [SPLITS["groups"], SPLITS["time"], REGRESSION["poisson"], REGRESSION["explainable"]]
)
def test_an_update_that_is_not_possible_says_why(table, options):
    model = fitted(table, options)
    before = model.predict(table[:5].drop(columns="y"))
    with pytest.raises(MercerError, match="cannot be updated"):
        model.update(table[:20])
    np.testing.assert_array_equal(model.predict(table[:5].drop(columns="y")), before)
