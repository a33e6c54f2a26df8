"""What serving rests on: a row alone, in whatever form it comes, is predicted with the bits it has in a batch."""

import functools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mercer
from mercer import _numeric
from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.kernel_score import fitted_score
from mercer.auto.features.landmarks import LandmarksBlock
from mercer.auto.features.linear import LinearBlock, SelectedBlock
from mercer.auto.features.piecewise import PiecewiseBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.trees import TreeScoreBlock
from mercer.auto.features.union import Features
from mercer.auto.rows import encoding
from mercer.auto.rows.training import TrainingRows
from mercer.kernels import Gaussian, Laplace
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.losses import SquaredTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score import EnsembleScore
from mercer.learn.trees.tree_features import TreeFeatures
from mercer.source import base

N, NEW = 400, 70  # NEW rows are more than go the short way at once
WORDS = ["red", "green", "blue", "small", "large", "old", "new", "fast", "slow", "warm", "cold"]


def frame(n, seed):
    """Columns of every kind, with missing values; some categories of new rows were not seen in fit."""
    rng = np.random.default_rng(seed)
    columns = {
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(80, 20, n)),
        "weight": rng.normal(size=n).astype(np.float32),
        "rooms": rng.integers(1, 400, n),
        "floors": rng.integers(1, 4, n),
        "garden": rng.random(n) < 0.5,
        "city": rng.choice(["Bern", "Oslo", "Rome", "Zürich"], n).astype(object),
        "street": np.array([f"street {i}" for i in rng.integers(0, 150 + seed, n)], dtype=object),
        "sold": np.datetime64("2019-12-31T00:00", "us") + rng.integers(0, 10**6, n).astype("m8[m]"),
    }
    columns["city"][rng.random(n) < 0.1] = None
    columns["street"][rng.random(n) < 0.05] = None
    columns["sold"][rng.random(n) < 0.05] = np.datetime64("NaT")
    return pd.DataFrame(columns)


def target(table, seed=0):
    rng = np.random.default_rng(seed)
    size = np.nan_to_num(table["size"].to_numpy(), nan=60.0)
    return size / 20 + np.sin(3 * table["weight"]) + 2.0 * (table["city"] == "Oslo") + 0.1 * rng.normal(size=len(table))


def texts(n, seed):
    """So many different words that their columns are sparse."""
    rng = np.random.default_rng(seed)
    return [" ".join([*rng.choice(WORDS, 4), *(f"w{k}" for k in rng.integers(0, 3000, 6))]) for _ in range(n)]


def fit_mixed():
    table = frame(N, 0)
    return mercer.fit(table, target(table), effort="fast", holdout=0.0), frame(NEW, 1), "predict"


def fit_random_features():
    """A function that trees alone cannot approximate, so that no kind of block is left out."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    y = np.sin(2 * X["a"] + X["b"]) + X["c"] * X["d"]
    return mercer.fit(X, y, effort="normal", holdout=0.0), X[:NEW] + 0.1, "predict"


def fit_classes():
    table = frame(N, 2)
    kinds = np.array(["low", "middle", "high"])[np.digitize(target(table), [3.5, 4.5])]
    return mercer.fit(table, kinds, effort="fast", max_features=60, holdout=0.0), frame(NEW, 3), "predict_proba"


def fit_numbers():
    table = frame(N, 4)[["size", "weight", "rooms"]].astype(float)
    return mercer.fit(table, table["size"].isna() + table["weight"], effort="fast", holdout=0.0), table[:NEW], "predict"


def fit_scored():
    table = frame(N, 5).assign(note=texts(N, 0))
    y = target(table) + 2.0 * np.array(["red" in note for note in table["note"]])
    roles = {"note": "text"}
    return mercer.fit(table, y, roles=roles, effort="fast", holdout=0.0), table[:NEW], "predict"


def fit_text():
    table = pd.DataFrame({"note": texts(N, 1)})
    kinds = np.array(["red" in note for note in table["note"]])
    return mercer.fit(table, kinds, roles={"note": "text"}, effort="fast", holdout=0.0), table[:NEW], "predict_proba"


def fit_sequence():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"chain": ["".join(row) for row in rng.choice(["A", "B"], (N, 6))], "x": rng.normal(size=N)})
    y = table["x"] + np.array([text.count("A") for text in table["chain"]])
    return mercer.fit(table, y, roles={"chain": "sequence"}, effort="fast", holdout=0.0), table[:NEW], "predict"


def fit_regressor():
    table = frame(N, 6)
    return MercerRegressor(effort="fast").fit(table, target(table)), frame(NEW, 7), "predict"


def fit_classifier():
    table = frame(N, 8)
    return (
        MercerClassifier(effort="fast", max_features=60).fit(table, target(table) > 4),
        frame(NEW, 9),
        "predict_proba",
    )


TABLE = {
    "mixed": fit_mixed,
    "random features": fit_random_features,
    "three classes": fit_classes,
    "numbers": fit_numbers,
    "text among columns": fit_scored,
    "text alone": fit_text,
    "sequence": fit_sequence,
    "MercerRegressor": fit_regressor,
    "MercerClassifier": fit_classifier,
}


@functools.cache
def fitted(name):
    model, rows, method = TABLE[name]()
    return getattr(model, method), rows, getattr(model, method)(rows)


def listed(rows):
    """Columns as lists of plain values, None where missing."""
    return {name: [None if value is pd.NaT or value != value else value for value in rows[name]] for name in rows}


def as_array(rows):
    if all(kind.kind == "f" for kind in rows.dtypes):
        return rows.to_numpy()
    return np.array(list(listed(rows).values()), dtype=object).T


FORMS = {
    "pandas": lambda rows: rows,
    "polars": lambda rows: pl.DataFrame(listed(rows)),
    "pyarrow": lambda rows: pa.table(listed(rows)),
    "dict of lists": listed,
    "dicts": lambda rows: [dict(zip(rows, row, strict=True)) for row in zip(*listed(rows).values(), strict=True)],
    "array": as_array,
}


def agree(found, expected):
    if _numeric.compiled:
        np.testing.assert_array_equal(found, expected)
    else:  # products of BLAS in float32 depend on the number of rows
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


#: Where fit was given names, scikit-learn warns of arrays.
CASES = [(name, form) for name in TABLE for form in FORMS if form != "array" or not name.startswith("Mercer")]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_rows_alone_are_rows_of_a_batch(name, form):
    predict, rows, expected = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size, stop in ((1, 20), (5, 20), (20, 60), (NEW, NEW)):
            for start in range(0, stop, size):
                some = rows.iloc[start : start + size]
                if form != "array" or size < NEW or name == "numbers":  # else a table whose columns have no names
                    agree(predict(FORMS[form](some)), expected[start : start + size])


def make_blocks_small(monkeypatch):
    for module in (encoding, base):
        monkeypatch.setattr(module, "BLOCK_ROWS", 40)


@pytest.mark.parametrize("name", TABLE)
def test_rows_of_several_blocks_are_rows_of_one(name, monkeypatch):
    predict, rows, expected = fitted(name)
    make_blocks_small(monkeypatch)
    agree(predict(rows), expected)


@pytest.mark.parametrize("name", ["mixed", "numbers", "MercerRegressor"])
def test_a_wrong_row_of_a_later_block_is_named(name, monkeypatch):
    predict, rows, _ = fitted(name)
    make_blocks_small(monkeypatch)
    rows = rows.reset_index(drop=True)
    rows.loc[60, "size"] = np.inf
    with pytest.raises(ValueError, match="row 60"):
        predict(rows)


@pytest.mark.parametrize("name", TABLE)
def test_a_dict_of_values_is_a_row(name):
    predict, rows, expected = fitted(name)
    for i, row in enumerate(FORMS["dicts"](rows)[:5]):
        agree(predict(row), expected[i : i + 1])


def test_every_block_gives_a_row_its_own_features():
    """Whatever a search may have left out is made by hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(NEW, 5))
    loss, params = SquaredTreeLoss(X[:, 0] * X[:, 1]), TreeParams(n_estimators=10, min_samples_leaf=2.0)
    ensembles = boost(X, loss, np.arange(NEW) % 2, params).ensembles[:1]
    made = EnsembleScore(ensembles, TreeColumns.of(5), np.ones(1))
    score = TreeScoreBlock(TreeFeatures.from_score(made, None))
    products = ProductBlock.fitted(X, np.array([[0, 1], [2, 2]]))
    waves, chosen = FourierBlock(rng.normal(size=(40, 5))), SelectedBlock(np.array([3, 1]), 5)
    near = LandmarksBlock.fitted(Gaussian(2.0), rng.normal(size=(5, 3)), X[:40])
    rows = TrainingRows(X, X[:, :1], np.arange(NEW, dtype=np.uint64))
    ridge = fitted_score(rows, Laplace(bandwidth=2.0), np.ones(5), 0.1, NEW)
    blocks = [LinearBlock(5), PiecewiseBlock.fitted(X, 8), products, waves, near, chosen, score, ridge]
    dictionary = Features(blocks)
    whole = dictionary.features(X)
    for size in (1, 9):
        parts = [dictionary.features(X[i : i + size]) for i in range(0, NEW, size)]
        agree(np.concatenate(parts), whole)


def test_every_encoding_is_here():
    encoded = {block.kind for name in TABLE if name[0] != "M" for block in _encoder(name).blocks_}
    assert encoded == {"number", "onehot", "date", "frequency", "target", "missing", "text", "sequence"}


def _encoder(name):
    encoder = fitted(name)[0].__self__.encoder
    return getattr(encoder, "table", encoder)
