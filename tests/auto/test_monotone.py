"""Monotone columns: no prediction falls, to the last bit, for regression, classes and other losses."""

import numpy as np
import pytest

import mercer
from estimates import LONG
from mercer._runtime.errors import MercerError
from mercer.auto.options import ModelShape
from mercer.tables.monotone import MonotoneClipped

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 4))
Y = np.sin(3 * X[:, 0]) + X[:, 0] - X[:, 1] ** 3 / 3 + X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=N)
SIGNS = {"x0": 1, "x1": -1}
CASES = {
    "regression": (Y, {}, "normal"),
    "classes": (Y > 0, {}, "fast"),
    "median": (Y, {"loss": "absolute"}, "fast"),
    "several quantiles": (Y, {"loss": "quantile"}, "fast"),
}
MOVES = 10**6 if LONG else 10**4


def moved_rows(n, seed=1):
    """Rows, and the same rows with one of the monotone columns moved up: by a bit, by a little, or far."""
    rng = np.random.default_rng(seed)
    rows = 2 * rng.normal(size=(n, 4))
    sizes = rng.choice([0.0, 1e-15, 1e-9, 1e-3, 0.3, 5.0], size=n)
    column, other = rng.integers(0, 2, n), rows.copy()
    index = np.arange(n)
    other[index, column] = np.nextafter(rows[index, column] + sizes, np.inf)
    return rows, other, np.where(column == 0, 1, -1)


def violations(values, n=MOVES):
    rows, other, sign = moved_rows(n)
    before, after = (np.reshape(values(each), (n, -1)).astype(np.float64) for each in (rows, other))
    change = after - before
    return int(np.sum(sign[:, None] * change < 0))


@pytest.mark.parametrize("case", CASES)
def test_no_move_violates(case, tmp_path):
    y, options, effort = CASES[case]
    model = mercer.fit(X, y, monotone=SIGNS, effort=effort, report=False, **options)
    names = ["x0", "x1", "x2", "x3"]
    scores = lambda rows: model.map_encoded(dict(zip(names, rows.T, strict=True)), model.predictor.scores)  # noqa: E731
    assert violations(scores) == 0
    assert np.ptp(scores(X)) > 0.5
    assert model.report()["monotone"] == SIGNS
    model.save(tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert violations(again.predict, 2000) == 0
    if not options:
        pipeline = model.to_pipeline()
        assert violations(pipeline.decision_function if case == "classes" else pipeline.predict, 2000) == 0


def test_the_model_learns_what_signs_allow():
    model = mercer.fit(X, Y, monotone={"x0": 1}, effort="fast", report=False)
    assert model.report()["holdout"]["model"]["value"] > 0.6


def test_missing_and_unseen_values_are_predicted():
    rows = {"a": X[:, 0], "c": np.array(["u", "v"])[(X[:, 1] > 0).astype(int)]}
    rows["a"] = np.where(RNG.random(N) < 0.2, np.nan, rows["a"])
    model = mercer.fit(rows, X[:, 0] + (X[:, 1] > 0), monotone={"a": 1}, effort="fast", report=False)
    assert np.isfinite(model.predict({"a": [np.nan, 1e300], "c": ["w", "u"]})).all()


@pytest.mark.parametrize("classes", [False, True])
def test_no_move_violates_beside_gaps_and_categories(classes):
    rng = np.random.default_rng(3)
    gap = lambda n: rng.random(n) < 0.1  # noqa: E731
    rows = {"a": np.where(gap(N), np.nan, X[:, 0]), "b": X[:, 1], "c": np.where(gap(N), np.nan, X[:, 2])}
    rows["d"] = np.where(gap(N), None, rng.choice(["u", "v"], N))
    y = Y + 2 * (rows["d"] == "u")
    model = mercer.fit(rows, y > 0 if classes else y, monotone={"a": 1, "b": -1}, effort="fast", report=False)
    n = MOVES // 2
    before, after, sign = moved_rows(n, seed=4)
    others = {"c": np.where(gap(n), np.nan, before[:, 2]), "d": rng.choice(["u", "v", "unseen", None], n)}
    scores = [
        model.map_encoded({"a": each[:, 0], "b": each[:, 1], **others}, model.predictor.scores)[:, 0].astype(float)
        for each in (before, after)
    ]
    change = sign * (scores[1] - scores[0])
    assert np.all(change >= 0)
    assert np.mean(change > 0) > 0.1


def test_onnx_is_the_model_up_to_single_precision():
    mercer.fit(X, Y, monotone=SIGNS, effort="fast", report=False).to_onnx()  # compares both


def test_the_encoding_keeps_the_order_of_numbers():
    encode = MonotoneClipped.batched([MonotoneClipped("a", 0.3, 0.7)])
    rng = np.random.default_rng(2)
    x = np.sort(np.concatenate([rng.normal(size=20_000), 10 ** rng.uniform(-300, 300, 2000), [0.0, -0.0, 1e308]]))
    x = np.sort(np.concatenate([x, np.nextafter(x, np.inf)]))

    class Values:
        def numbers(self, names):
            return x[:, None]

    z = encode(Values(), None, 0)[:, 0]
    assert np.all(np.diff(z) >= 0)
    assert abs(z).max() <= 3.0


BAD = {
    "unknown column": ({"zz": 1}, "must be one of the columns"),
    "a category": ({"c": 1}, "must be on numbers"),
    "a sign of two": ({"a": 2}, r"must be \+1 or -1"),
    "a list": (["a"], "must be a dict"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_signs_are_refused(case):
    monotone, message = BAD[case]
    rows = {"a": X[:, 0], "c": np.array(["u", "v"])[(X[:, 1] > 0).astype(int)]}
    with pytest.raises(MercerError, match=message):
        mercer.fit(rows, Y, monotone=monotone, effort="fast")


def test_several_classes_and_other_roles_are_refused():
    with pytest.raises(MercerError, match="two classes"):
        mercer.fit(X, np.digitize(Y, [-1, 1]), monotone={"x0": 1}, effort="fast")
    with pytest.raises(MercerError, match="role 'category'"):
        mercer.fit(X, Y, monotone={"x0": 1}, roles={"x0": "category"}, effort="fast")
    with pytest.raises(MercerError, match="exclude each other"):
        ModelShape({"a": 1}, explainable=True)
