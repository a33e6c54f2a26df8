"""Rows that come and go: the linear part of all rows, classes by their expansion, hashes, and models left untouched."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer._runtime.errors import MercerError
from mercer.auto.rows.training import TrainingRows
from mercer.auto.updates.features import features_of
from mercer.auto.updates.keys import NEW_ROW, UpdateKeys, row_keys
from mercer.linear.losses import LogLoss
from mercer.linear.ridge.fold_loss import GramFoldLoss
from mercer.linear.ridge.penalties import best_penalties

RNG = np.random.default_rng(0)
N, OLD = 700, 500
TABLE = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc"))
TABLE["g"] = RNG.choice(list("uvw"), N)
NOISE = 0.3 * RNG.normal(size=N)
TABLE["y"] = np.tanh(2 * TABLE.a) + np.sin(2 * TABLE.b) + (TABLE.g == "u") + NOISE
CLASSES = TABLE.drop(columns="y").assign(y=np.where(TABLE.y + NOISE > 0.3, "yes", "no"))
OPTIONS = {"effort": "fast", "report": False}


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "regression.mercer"
    mercer.fit(TABLE[:OLD], "y", **OPTIONS).save(path)
    return path


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "classes.mercer"
    mercer.fit(CLASSES[:OLD], "y", **OPTIONS).save(path)
    return path


def refitted(model, table, keys):
    """Ridge regression on the rows of a table, as the model's features have them, with penalties chosen by folds."""
    state, features = model.state, model.predictor.features
    source = mercer.io.read_table(table, "y")
    block = source.collect()
    X = np.asarray(model.encoder.transform(block.X), dtype=np.float64)
    _, folds = keys.minus(row_keys(block.ids, block.y, None))
    Z = features_of(features, X, folds)
    rows = TrainingRows(X, state.statistics.numbers(block.y), block.ids, state.seed)
    equations = GramFoldLoss(rows.gram(lambda span: Z[span]), features.block_of_column)
    penalties, _ = best_penalties(equations, state.statistics.start, restart=False)
    coef, intercept = equations.weights(penalties)
    scale = state.statistics.scale
    return coef * scale, intercept * scale + state.statistics.mean


def test_update_is_a_refit_of_the_linear_part(regression):
    model = mercer.load(regression)
    assert model.update(TABLE[OLD:]) is model
    coef, intercept = refitted(model, TABLE, model.state.keys)
    size = np.abs(coef).max()
    np.testing.assert_allclose(model.predictor.coef / size, coef / size, atol=1e-9)
    np.testing.assert_allclose(model.predictor.intercept, intercept, atol=1e-9 * size)


def test_forget_is_a_refit_without_the_rows(regression):
    model = mercer.load(regression)
    before = model.state.keys
    model.forget(TABLE[:100])
    coef, _ = refitted(model, TABLE[100:OLD], before)
    # Products of float32 rows round differently in other blocks: by about 1e-7 of a row, over weights of small penalty.
    assert np.abs(model.predictor.coef - coef).max() < 1e-4 * np.abs(coef).max()
    updates = model.report()["updates"]
    assert (updates["rows"], updates["added"], updates["forgotten"]) == (OLD - 100, 0, 100)


def test_rows_that_come_and_go_leave_no_trace(regression):
    model, other = mercer.load(regression), mercer.load(regression)
    model.update(TABLE[OLD:600]).update(TABLE[600:]).forget(TABLE[OLD:650]).forget(TABLE[650:]).forget(TABLE[:1])
    other.forget(TABLE[:1])
    np.testing.assert_allclose(model.predict(TABLE), other.predict(TABLE), atol=1e-5)
    assert np.array_equal(model.state.keys.keys, other.state.keys.keys)


def test_a_saved_model_goes_on(regression, tmp_path):
    model = mercer.load(regression).update(TABLE[OLD:])
    model.save(tmp_path / "again.mercer")
    again = mercer.load(tmp_path / "again.mercer")
    assert np.array_equal(again.predict(TABLE), model.predict(TABLE))
    assert again.report()["updates"] == model.report()["updates"]
    assert any("200 rows were added" in note for note in again.report()["notes"])
    again.forget(TABLE[OLD:])


def test_new_rows_of_classes_are_learned(classes):
    model = mercer.load(classes)
    rows, y = CLASSES[OLD:], (CLASSES.y[OLD:] == "yes").to_numpy().astype(int)

    def loss(of):
        return float(np.mean(LogLoss().value(y, np.log(of[:, 1:] / of[:, :1]))))

    before = loss(model.predict_proba(rows))
    weights = model.predictor.coef.copy()
    model.update(rows)
    assert loss(model.predict_proba(rows)) < before
    model.forget(rows)  # taken away at the weights of the update, where they were expanded
    np.testing.assert_allclose(model.predictor.coef, weights, atol=1e-4 * np.abs(weights).max())


def test_monotone_models_stay_monotone():
    model = mercer.fit(TABLE[:OLD], "y", monotone={"a": 1}, **OPTIONS).update(TABLE[OLD:])
    rows = TABLE.drop(columns="y")
    assert np.all(model.predict(rows.assign(a=rows.a + 0.3)) >= model.predict(rows))


BAD = {
    "another column": (lambda rows: rows.assign(z=1.0), "does not know"),
    "a missing column": (lambda rows: rows.drop(columns="b"), "'b' is missing"),
    "no target": (lambda rows: rows.drop(columns="y"), "y"),
    "a missing target": (lambda rows: rows.assign(y=np.nan), "target"),
    "text for numbers": (lambda rows: rows.assign(a="many"), "a"),
}


@pytest.mark.parametrize("verb", ["update", "forget"])
@pytest.mark.parametrize("case", BAD)
def test_bad_rows_leave_the_model_untouched(case, verb, regression):
    model = mercer.load(regression)
    spoiled, message = BAD[case]
    before = model.predict(TABLE[:50])
    with pytest.raises((MercerError, ValueError), match=message):
        getattr(model, verb)(spoiled(TABLE[:20]))
    assert np.array_equal(model.predict(TABLE[:50]), before)
    assert "updates" not in model.report()


def test_rows_never_seen_and_classes_never_seen_are_refused(regression, classes):
    model = mercer.load(regression)
    with pytest.raises(MercerError, match="row 2 "):
        model.forget(pd.concat([TABLE[:2], TABLE[OLD : OLD + 3]]))
    with pytest.raises(MercerError, match="row 1 "):
        model.forget(TABLE.iloc[[0, 0]])  # it was there once
    with pytest.raises(MercerError, match="row 0 "):
        model.forget(TABLE[:1].assign(y=0.0))
    with pytest.raises(MercerError, match="'maybe' was never seen"):
        mercer.load(classes).update(CLASSES[:3].assign(y="maybe"))
    with pytest.raises(MercerError, match="too few"):
        model.forget(TABLE[: OLD - 3])


def test_what_cannot_be_updated_says_why():
    rows = TABLE[:200]
    for options, message in (
        ({"updatable": False}, "updatable=False"),
        ({"loss": "huber"}, "huber loss"),
        ({"explainable": True}, "explainable"),
    ):
        model = mercer.fit(rows, "y", **OPTIONS, **options)
        with pytest.raises(MercerError, match=message):
            model.update(rows)
    without = mercer.fit(rows, "y", keep_hashes=False, **OPTIONS)
    without.update(TABLE[OLD:])
    with pytest.raises(MercerError, match="keep_hashes=False"):
        without.forget(rows)
    with pytest.raises(MercerError, match="updatable"):
        mercer.fit(rows, "y", updatable="yes")


def test_arrays_need_their_targets():
    X, y = TABLE[["a", "b"]].to_numpy(), TABLE.y.to_numpy()
    model = mercer.fit(X[:OLD], y[:OLD], **OPTIONS)
    model.update(X[OLD:], y[OLD:]).forget(X[:10], y[:10])
    with pytest.raises(MercerError, match="array of targets"):
        model.update(X[OLD:])
    with pytest.raises(MercerError, match="1 columns"):
        model.update(X[:, :1], y)


def test_keys_tell_rows_targets_and_weights_apart():
    ids = np.array([5, 5, 9], dtype=np.uint64)
    keys = row_keys(ids, np.array([1.0, 2.0, 1.0]), None)
    assert len(set(keys.tolist())) == 3
    assert not np.any(row_keys(ids, np.ones(3), np.ones(3)) == row_keys(ids, np.ones(3), np.full(3, 2.0)))
    known = UpdateKeys.of(keys, np.array([0, 3, NEW_ROW]))
    left, folds = known.minus(keys[[2, 0]])
    assert folds.tolist() == [NEW_ROW, 0]
    assert len(left.keys) == 1
