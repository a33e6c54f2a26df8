"""What every fitted estimator promises of its file: the same bits after loading, the same bytes when saved again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from contracts import test_estimator_contract as estimators
from contracts import test_machine_contract as machines
from contracts.test_normalize_contract import MAPS
from mercer.auto import MercerClassifier, MercerRegressor, fit
from mercer.io import load, save
from mercer.kernels import Precomputed
from mercer.tables import TableEncoder
from mercer.text import TextFeatures

TABLE = [*estimators.TABLE, *estimators.ITERATED, *MAPS]
OUTPUTS = ("transform", "predict", "predict_proba", "decision_function")


def dense(out):
    return out.toarray() if hasattr(out, "toarray") else np.asarray(out)


def outputs(estimator, X):
    return {name: dense(getattr(estimator, name)(X)).tobytes() for name in OUTPUTS if hasattr(estimator, name)}


def survives(model, X, folder):
    first, second = folder / "first.mercer", folder / "second.mercer"
    save(model, first)
    loaded = load(first)
    save(loaded, second)
    assert outputs(loaded, X) == outputs(model, X)
    assert first.read_bytes() == second.read_bytes()
    assert repr(loaded) == repr(model)
    return loaded


@pytest.mark.parametrize("estimator", TABLE, ids=str)
def test_an_estimator_survives_its_file(estimator, tmp_path):
    X, y = estimators.problem()
    X = np.abs(X)
    model = clone(estimator).fit(X, estimators.target(estimator, y))
    loaded = survives(model, X[:50], tmp_path)
    if hasattr(model, "merge") and vars(model).get("_accumulator") is not None:
        with pytest.raises(ValueError, match="loaded from a file"):
            loaded.merge(model)
        with pytest.raises(ValueError, match="loaded from a file"):
            loaded.partial_fit(X, estimators.target(estimator, y))
        assert outputs(loaded.fit(X, estimators.target(estimator, y)), X) == outputs(model, X)


@pytest.mark.parametrize("machine", machines.TABLE, ids=str)
def test_a_machine_survives_its_file(machine, tmp_path):
    X, y = machines.problem(machine)
    if isinstance(machine.kernel, Precomputed):
        X = X @ X.T
    survives(clone(machine).fit(X, y), X, tmp_path)


WORDS = ["the quick brown fox", "jumps over", "the lazy dog", "the end"] * 10
TEXTS = [
    TextFeatures(),
    TextFeatures(ngram_range=(1, 3), analyzer="char_wb", weighting="log", max_features=40),
    TextFeatures(n_buckets=64, nonzeros=2, stop_words="english", stem="english"),
    TextFeatures(weighting="binary", min_df=2, stop_words=["the"]),
]


def table(n=120):
    """Every kind of column, with gaps."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    size[::9] = np.nan
    return {
        "size": size,
        "rooms": rng.integers(1, 6, n),
        "town": [None if i % 11 == 0 else town for i, town in enumerate(rng.choice(["Bern", "Oslo", "Rome"], n))],
        "shop": [f"shop {k}" for k in rng.integers(0, 20, n)],
        "day": np.datetime64("2020-01-01") + rng.integers(0, 900, n),
        "note": [f"{a} words about {b}" for a, b in rng.choice(["few", "many", "no"], (n, 2))],
        "gene": ["".join(rng.choice(list("ACGT"), 12)) for _ in range(n)],
        "sold": rng.random(n) < 0.5,
        "planet": ["Earth"] * n,
    }


ROLES = {"shop": "high-cardinality", "note": "text", "gene": "sequence"}


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_text_features_survive_their_file(text, tmp_path):
    survives(clone(text).fit(WORDS), WORDS[:5], tmp_path)


@pytest.mark.parametrize("kind", ["number", "two", "several"])
def test_the_encoder_of_a_table_survives_its_file(kind, tmp_path):
    columns = table()
    y = {"number": columns["rooms"] * 1.5, "two": columns["sold"], "several": columns["rooms"] % 3}[kind]
    loaded = survives(TableEncoder(roles=ROLES).fit(columns, y), columns, tmp_path)
    assert {block.kind for block in loaded.blocks_} >= {"number", "onehot", "target", "frequency", "missing", "date"}


@pytest.mark.parametrize("task", ["regress", "classify"])
def test_a_fitted_model_survives_its_file(task, tmp_path):
    columns = {name: values for name, values in table().items() if name not in ("note", "gene")}
    y = np.nan_to_num(columns["size"]) * 2 + columns["rooms"]
    y = y if task == "regress" else np.array(["low", "fair", "high"])[np.digitize(y, [2, 4])]
    model = fit(columns, y, effort="fast", roles={"shop": "high-cardinality"}, max_features=60)
    first, second = tmp_path / "first.mercer", tmp_path / "second.mercer"
    model.save(first)
    loaded = load(first)
    loaded.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert loaded.report() == model.report()
    row = {name: values[:1] for name, values in columns.items()}
    assert loaded.explain(row) == model.explain(row)
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    names = ["predict", "transform"] + ["predict_proba"] * (task == "classify")
    for name in names:
        assert np.array_equal(getattr(loaded, name)(columns), getattr(model, name)(columns))


@pytest.mark.parametrize("estimator", [MercerRegressor(effort="fast"), MercerClassifier(effort="fast")], ids=str)
def test_the_search_as_an_estimator_survives_its_file(estimator, tmp_path):
    X, y = estimators.problem()
    survives(clone(estimator).fit(X, estimators.target(estimator, y)), X[:20], tmp_path)
