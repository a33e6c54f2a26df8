"""TableEncoder: the numbers each column becomes, the same however rows arrive, honest about targets and new rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer._numeric.block import Block
from mercer.io import read_table
from mercer.linear import RidgeClassifier, RidgeRegressor
from mercer.source import Columns, StreamSource, split_holdout
from mercer.tables import TableEncoder

N = 3000


@parametrize_with_checks([TableEncoder(), TableEncoder(max_onehot=3, random_state=1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) * 100),
        "n": rng.integers(0, 9, n),
        "sex": rng.choice(["f", "m"], n).astype(object),
        "city": np.array([f"c{i}" for i in rng.integers(0, 300, n)], dtype=object),
        "when": np.datetime64("2020-01-01T00:00", "us") + rng.integers(0, 10**6, n).astype("m8[m]"),
        "flag": rng.random(n) < 0.3,
        "row": np.arange(n),
    }


def target(kind, n=N, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return {"number": y, "binary": np.where(y > 0, "yes", "no"), "three": np.digitize(y, [-0.5, 0.5])}[kind]


def blocks(encoder, name):
    return {block.kind: slice(block.start, block.stop) for block in encoder.blocks_ if block.column == name}


def whole(source):
    return np.concatenate([block.X for block in source.blocks()])


def test_numbers_are_clipped_smoothly_and_missing_values_flagged():
    data = table()
    encoder = TableEncoder()
    Z = encoder.fit_transform(data, target("number"))
    x, at = data["x"], blocks(encoder, "x")
    quartiles = np.nanquantile(x, [0.25, 0.5, 0.75], method="averaged_inverted_cdf")
    z = (x - quartiles[1]) / (quartiles[2] - quartiles[0])
    expected = np.where(np.isnan(x), 0, z / np.sqrt(1 + (z / 3) ** 2))
    np.testing.assert_allclose(Z[:, at["number"]].ravel(), expected, rtol=1e-12, atol=1e-15)
    assert np.array_equal(Z[:, at["missing"]].ravel(), np.isnan(x))
    assert "missing" not in blocks(encoder, "n")
    assert np.abs(Z[:, at["number"]]).max() < 3


def test_numbers_of_any_size():
    column = np.array([1e308, -1e308, 0.0, 1.0, 1e-300] * 20)
    mostly = np.array([0.0] * 99 + [8.0])
    encoder = TableEncoder(roles={"zero": "number"})
    Z = encoder.fit_transform({"wild": column, "mostly": mostly, "zero": np.zeros(100)})
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() <= 3
    expected = 2 / np.sqrt(1 + 4 / 9)  # half the range is the scale
    np.testing.assert_allclose(Z[-1, 1], expected)
    assert not Z[:, 2].any()
    with pytest.raises(ValueError, match="'wild' contains infinity, first at row 3"):
        encoder.transform({"wild": [0, 1, 2, np.inf], "mostly": [0.0] * 4, "zero": [0.0] * 4})


def test_categories_are_indicators():
    data = table()
    data["sex"][5] = None
    encoder = TableEncoder()
    Z = encoder.fit_transform(data)
    at = blocks(encoder, "sex")
    names = encoder.get_feature_names_out()
    assert names[at["onehot"]].tolist() == ["sex=f", "sex=m"]
    assert np.array_equal(Z[:, at["onehot"]], np.stack([data["sex"] == "f", data["sex"] == "m"], axis=1))
    new = {name: column[:2].copy() for name, column in data.items()}
    new["sex"][:] = ["x", None]
    assert not encoder.transform(new)[:, at["onehot"]].any()  # neither is known
    assert encoder.transform(new)[:, at["missing"]].ravel().tolist() == [0, 1]
    assert names[blocks(encoder, "flag")["onehot"]].tolist() == ["flag=False", "flag=True"]


def test_rare_categories_share_an_indicator():
    levels = np.array(["a"] * 6000 + ["b"] * 5000 + ["c", "d"] * 3)
    encoder = TableEncoder()
    Z = encoder.fit_transform({"l": levels})
    assert encoder.get_feature_names_out().tolist() == ["l=a", "l=b", "l=other"]
    assert Z[-6:].tolist() == [[0, 0, 1]] * 6
    assert TableEncoder(roles={"l": "category"}, max_onehot=2).fit({"l": list("aabbcd")}).transform(
        {"l": ["c", "e"]}
    ).tolist() == [[0, 0, 1], [0, 0, 0]]


def test_dates_are_time_and_cycles():
    moments = np.array(["2020-01-01T06:00", "2020-07-01T18:00", "NaT"], dtype="M8[us]")
    encoder = TableEncoder()
    Z = encoder.fit_transform({"t": moments})
    names = encoder.get_feature_names_out().tolist()
    assert names[0] == "t:time"
    assert names[-1] == "t=missing"
    assert Z[:, 0].tolist() == [-1, 1, 0]
    hour = Z[:, names.index("t:hour-sin")]
    np.testing.assert_allclose(hour, [1, -1, 0], atol=1e-15)
    assert not Z[2, :-1].any()
    assert Z[2, -1] == 1
    days = TableEncoder().fit({"t": ["2020-01-01", "2020-01-08"]})  # text that says dates, Wednesdays both
    assert days.get_feature_names_out().tolist() == ["t:time", "t:month-sin", "t:month-cos"]


def test_ids_and_constants_are_left_out_and_noted():
    encoder = TableEncoder().fit({**table(), "same": ["x"] * N})
    assert not blocks(encoder, "row")
    assert not blocks(encoder, "same")
    assert [note.split()[0] for note in encoder.notes_] == ["'row'", "'same'"]
    with pytest.raises(ValueError, match="No column is left"):
        TableEncoder().fit({"same": ["x"] * 50})


@pytest.mark.parametrize("kind", ["number", "binary", "three"])
def test_target_means_are_out_of_fold(kind):
    """A row's own target must not enter its features: change one target, and its own features stay."""
    data, y = table(), target(kind)
    encoder = TableEncoder()
    before = encoder.fit_transform(data, y)
    at = blocks(encoder, "city")["target"]
    other = y.copy()
    other[7] = y[np.flatnonzero(y != y[7])[0]]
    after = clone(encoder).fit_transform(data, other)
    assert np.array_equal(after[7], before[7])
    assert not np.array_equal(after[:, at], before[:, at])
    assert not np.array_equal(encoder.transform(data)[:, at], before[:, at])
    assert at.stop - at.start == {"number": 1, "binary": 1, "three": 3}[kind]


def test_noise_teaches_nothing():
    """Levels of a handful of rows and a target of noise: R2 out of fold within 4 sqrt(2/n) of nothing or below."""
    rng = np.random.default_rng(3)
    n = 8000
    data, y = {"city": [f"c{i}" for i in rng.integers(0, 2000, n)], "x": rng.normal(size=n)}, rng.normal(size=n)
    learn, judge = split_holdout(read_table(data, target=y))
    encoder = TableEncoder()
    model = RidgeRegressor().fit(encoder.fit_transform(learn))
    rows = list(encoder.transform(judge).blocks())
    truth = np.concatenate([block.y for block in rows])
    guess = np.concatenate([model.predict(block.X) for block in rows])
    r2 = 1 - np.mean((truth - guess) ** 2) / np.var(truth)
    assert r2 < 4 * np.sqrt(2 / len(truth))


def test_informative_categories_are_learned():
    rng = np.random.default_rng(4)
    n = 8000
    code = rng.integers(0, 400, n)
    y = rng.normal(size=400)[code] + 0.3 * rng.normal(size=n)
    source = read_table({"city": [f"c{i}" for i in code], "x": rng.normal(size=n)}, target=y)
    encoder = TableEncoder()
    Z = encoder.fit_transform(source)
    model = RidgeRegressor().fit(Z)
    guess = np.concatenate([model.predict(block.X) for block in Z.blocks()])
    assert np.corrcoef(guess, y)[0, 1] > 0.9


def test_without_a_target_categories_have_a_frequency():
    encoder = TableEncoder()
    Z = encoder.fit_transform(table())
    assert list(blocks(encoder, "city")) == ["frequency"]
    share = np.unique(table()["city"], return_counts=True)[1]
    at = blocks(encoder, "city")["frequency"]
    np.testing.assert_allclose(np.unique(Z[:, at]), np.unique(1 - np.log(share) / np.log(N)), rtol=1e-12)


@pytest.mark.parametrize("kind", ["number", "three"])
def test_the_same_bits_however_rows_arrive(kind, tmp_path):
    n = 17_000  # three blocks
    data, y = table(n), target(kind, n)
    reference = TableEncoder().fit(data, y)
    expected = reference.transform(data), TableEncoder().fit_transform(data, y)
    pq.write_table(pa.table({**data, "y": y}), tmp_path / "rows.parquet", row_group_size=3001)
    columns = Columns.of(data)
    pieces = StreamSource(lambda: (Block(columns[i : i + 777], y[i : i + 777]) for i in range(0, n, 777)))
    for source in (read_table(tmp_path / "rows.parquet", target="y"), read_table(data, target=y), pieces):
        encoder = TableEncoder()
        folded = encoder.fit_transform(source)
        assert np.array_equal(whole(folded), expected[1])
        assert np.array_equal(whole(encoder.transform(source)), expected[0])
        assert folded.names == list(reference.get_feature_names_out())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library(make):
    data, y = table(), target("binary")
    expected = TableEncoder().fit_transform(data, y)
    encoder = TableEncoder()
    assert np.array_equal(encoder.fit_transform(make(data), y), expected)
    assert np.array_equal(encoder.transform(make(data)), encoder.transform(data))
    assert encoder.feature_names_in_.tolist() == list(data)


def test_weights_are_repetitions():
    data, y = table(), target("number")
    weight = np.random.default_rng(0).integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    ours = TableEncoder().fit(data, y, sample_weight=weight)
    theirs = TableEncoder().fit({name: column[rows] for name, column in data.items()}, y[rows])
    at = slice(0, 2)  # both numbers
    np.testing.assert_allclose(ours.transform(data)[:, at], theirs.transform(data)[:, at], rtol=1e-12)


def test_new_rows_are_checked():
    data = table()
    encoder = TableEncoder().fit(read_table(data))
    few = {name: column[:3] for name, column in data.items()}
    expected = encoder.transform(few)
    turned = dict(reversed(few.items()))
    assert np.array_equal(whole(encoder.transform(read_table(turned))), expected)
    with pytest.warns(UserWarning, match="A column that fit has not seen is ignored: 'extra'"):
        assert np.array_equal(encoder.transform({**few, "extra": [1, 2, 3]}), expected)
    with pytest.raises(ValueError, match="column 'sex' is missing"):
        encoder.transform({name: column for name, column in few.items() if name != "sex"})
    with pytest.raises(ValueError, match="'x' was number in fit, but row 1 holds 'tall'"):
        encoder.transform({**few, "x": ["1", "tall", "3"]})
    with pytest.raises(ValueError, match="'when' was date in fit, but row 0 holds 5"):
        encoder.transform({**few, "when": [5, 6, 7]})
    assert np.isfinite(encoder.transform({**few, "x": [None] * 3, "n": ["1", "2", "3"]})).all()


def test_frames_with_more_columns_or_another_order():
    frame = pd.DataFrame(table())
    encoder = TableEncoder().fit(frame)
    with pytest.warns(UserWarning, match="'extra'"):
        assert np.array_equal(encoder.transform(frame.assign(extra=1)), encoder.transform(frame))
    with pytest.raises(ValueError, match="same order"):
        encoder.transform(frame[frame.columns[::-1]])


def test_arrays_have_columns_by_position():
    X = np.random.default_rng(0).normal(size=(50, 3))
    encoder = TableEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    stream = StreamSource(lambda: (Block(X[i : i + 7]) for i in range(0, 50, 7)))
    assert np.array_equal(whole(TableEncoder().fit_transform(stream)), encoder.transform(X))


def test_text_and_sequences_are_sparse():
    rng = np.random.default_rng(5)
    n = 300
    spam = rng.random(n) < 0.5
    vocabulary = np.array([f"word{i}" for i in range(200)])
    texts = [" ".join([*rng.choice(vocabulary, 8), "winner" if s else "meeting"]) for s in spam]
    dna = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(n)]
    encoder = TableEncoder()
    Z = encoder.fit_transform({"mail": texts, "dna": dna, "x": rng.normal(size=n)}, spam)
    assert sparse.issparse(Z)
    assert Z.shape == (n, len(encoder.get_feature_names_out()))
    assert [block.kind for block in encoder.blocks_] == ["number", "text", "sequence", "sequence"]
    assert {"mail:winner", "dna:acg", "dna:19=T"} <= set(encoder.get_feature_names_out())
    mail = Z[:, 1 : encoder.blocks_[1].stop]
    gaps = np.asarray(mail[spam].mean(axis=0) - mail[~spam].mean(axis=0)).ravel()
    telling = np.argsort(-np.abs(gaps))[:2]  # the words that differ
    scores = mail[:, telling] @ gaps[telling]
    assert np.array_equal(scores > 0, spam)


def test_in_a_pipeline_and_through_pickle():
    data, y = pd.DataFrame(table()), target("binary")
    model = make_pipeline(TableEncoder(), RidgeClassifier()).fit(data, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(data), model.predict(data))


def test_a_source_cannot_be_contradicted():
    with pytest.raises(ValueError, match="brings its own"):
        TableEncoder().fit(read_table(table()), target("number"))


def test_many_rows_are_written_where_they_are_to_stay():
    data = {**table(), "gap": np.where(np.arange(N) % 7 == 0, np.nan, 1.0 + np.arange(N) % 3)}
    encoder = TableEncoder().fit(data, np.arange(float(N)))
    rows = Columns.of(data).select(list(encoder.schema_))
    expected = np.concatenate(encoder._plan.parts(rows), axis=1)
    assert {block.kind for block in encoder.blocks_} >= {"number", "onehot", "target", "missing"}
    np.testing.assert_array_equal(encoder._plan.dense(rows), expected)
    np.testing.assert_array_equal(encoder._plan.dense(rows[:1]), expected[:1])


def test_a_column_of_many_categories_has_a_mean_for_each_of_several_targets():
    rng = np.random.default_rng(0)
    shop = np.array([f"shop {k}" for k in rng.integers(120, size=600)], dtype=object)
    Y = rng.normal(size=(600, 3))
    encoder = TableEncoder(roles={"shop": "high-cardinality"})
    encoded = encoder.fit_transform({"shop": shop}, Y)
    names = [f"shop:target={k}" for k in range(3)]
    assert encoder.get_feature_names_out().tolist() == ["shop:frequency", *names]
    assert encoded.shape == (600, 4)
    alone = [TableEncoder(roles={"shop": "high-cardinality"}).fit({"shop": shop}, y) for y in Y.T]
    whole = encoder.transform({"shop": shop})
    for k, each in enumerate(alone):
        assert np.allclose(whole[:, 1 + k], each.transform({"shop": shop})[:, 1])
