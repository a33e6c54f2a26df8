"""Ratios and deviations within categories: screening, noise, the whole fit, refit, explanation and export."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.auto.features.base import Refit
from mercer.auto.features.derived import DerivedBlock
from mercer.auto.features.derived_terms import GroupTerm, PairTerm
from mercer.auto.rows.encoding import encoded_rows
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.derived import association, best_terms, derived_candidates
from mercer.io import read_table
from mercer.tables import TableEncoder


def flats(n, seed=0, n_cities=12):
    """Prices that matter relative to their city alone."""
    rng = np.random.default_rng(seed)
    city = rng.integers(0, n_cities, n)
    level = np.random.default_rng(9).normal(0, 3, n_cities)
    width = np.exp(np.random.default_rng(8).normal(0, 0.7, n_cities))
    relative = rng.normal(size=n)
    frame = pd.DataFrame({"city": [f"c{k:02}" for k in city], "price": level[city] + width[city] * relative})
    frame["area"], frame["rooms"] = np.exp(rng.normal(size=n)), np.exp(rng.normal(size=n))
    return frame, np.sin(2 * relative) + 0.3 * rng.normal(size=n)


def training_rows(frame, y):
    encoder = TableEncoder(roles={"city": "category"})
    found = encoded_rows(encoder, read_table(frame, y), learn=True)
    Y = ((found.y - found.y.mean()) / found.y.std())[:, None]
    return encoder, TrainingRows(found.X, Y, found.ids, categories=found.categories, numbers=found.numbers)


def test_candidates_are_ratios_differences_and_deviations_of_numbers():
    encoder, rows = training_rows(*flats(300))
    names = encoder.get_feature_names_out().tolist()
    found = {term.name(names) for term in derived_candidates(rows, np.ones(rows.X.shape[1]))}
    pairs = {"area / rooms", "rooms / area", "area - rooms", "area / price", "price / area", "price - area"}
    assert found >= {"area / rooms", "rooms / area", "area - rooms", "price - mean by city", "rooms - mean by city"}
    assert len(found) == 6 + 3 + 3
    assert len(found & pairs) >= 5


def test_terms_decode_the_numbers_of_the_table():
    frame, y = flats(300)
    encoder, rows = training_rows(frame, y)
    names = encoder.get_feature_names_out().tolist()
    terms = {term.name(names): term for term in derived_candidates(rows, np.ones(rows.X.shape[1]))}
    np.testing.assert_allclose(terms["area / rooms"].values(rows.X), frame["area"] / frame["rooms"], rtol=1e-9)
    encoded = pd.Series(rows.X[:, names.index("price")]).groupby(frame["city"])
    expected = (encoded.transform(lambda z: z) - encoded.transform("mean")) / encoded.transform("std", ddof=0)
    np.testing.assert_allclose(terms["price - mean by city"].values(rows.X), expected, rtol=1e-7, atol=1e-9)


def test_screening_finds_the_number_behind_the_residual():
    encoder, rows = training_rows(*flats(1500))
    candidates = derived_candidates(rows, np.ones(rows.X.shape[1]))
    (first, *_) = best_terms(rows, rows.Y, candidates, 8)
    assert first.name(encoder.get_feature_names_out().tolist()) == "price - mean by city"


@pytest.mark.parametrize("seed", range(10))
def test_noise_passes_no_screening(seed):
    frame, _ = flats(1500, seed)
    _, rows = training_rows(frame, np.random.default_rng(100 + seed).normal(size=1500))
    assert best_terms(rows, rows.Y, derived_candidates(rows, np.ones(rows.X.shape[1])), 8) == []


def test_association_is_that_of_its_formula():
    rng = np.random.default_rng(0)
    x, r, w = rng.normal(size=800), rng.normal(size=(800, 1)), rng.integers(1, 4, 800).astype(float)
    r -= np.average(r, axis=0, weights=w)
    bins = np.argsort(np.argsort(x)) * 8 // 800
    parts = [np.sum(w[bins == b] * r[bins == b, 0]) ** 2 / np.sum(w[bins == b] ** 2) for b in range(8)]
    assert association(x, r, w) == pytest.approx(sum(parts) / np.average(r[:, 0] ** 2, weights=w), rel=1e-12)
    assert association(np.zeros(800), r, w) == 0.0


def test_a_category_that_carries_the_target_is_found_by_fit(tmp_path):
    train, y = flats(1500)
    test, truth = flats(1500, seed=1)
    model = mercer.fit(train, y, roles={"city": "category"})
    block = next(block for block in model.predictor.features.blocks if block.kind == "derived")
    names = model.encoder.get_feature_names_out().tolist()
    assert "price - mean by city" in [term.name(names) for term in block.transformer.terms]
    predicted = model.predict(test)
    assert 1 - np.mean((predicted - truth) ** 2) / np.var(truth) > 0.7
    np.testing.assert_array_equal(model.predict(test[3:4]), predicted[3:4])
    model.save(tmp_path / "flats.mercer")
    loaded = mercer.load(tmp_path / "flats.mercer")
    np.testing.assert_array_equal(loaded.predict(test), predicted)
    np.testing.assert_allclose(model.to_pipeline().predict(test[:50]), predicted[:50], rtol=1e-4, atol=1e-4)
    model.to_onnx(check=test[:100])
    explained = model.explain(test[:1])
    assert set(explained.contributions) >= {"city", "price"}


def test_noise_keeps_no_derived_numbers():
    frame, _ = flats(800)
    model = mercer.fit(frame, np.random.default_rng(3).normal(size=800))
    assert "derived" not in [block.kind for block in model.predictor.features.blocks]


def test_no_derived_numbers_in_a_fast_search():
    model = mercer.fit(*flats(800), effort="fast")
    assert "derived" not in [block.kind for block in model.predictor.features.blocks]


def test_a_refit_follows_columns_and_learns_new_categories():
    _, few = training_rows(*flats(300, n_cities=3))
    encoder, more = training_rows(*flats(900, n_cities=4))
    names = encoder.get_feature_names_out().tolist()
    old = [name for name in names if name != "city=c03"]
    terms = [
        PairTerm("ratio", np.array([old.index("area"), old.index("rooms")]), *(few.numbers[1], few.numbers[2])),
        GroupTerm.learned(few.X, few.counts, np.arange(3, 6), old.index("price")),
    ]
    positions = np.array([old.index(name) if name in old else -1 for name in names])
    again = DerivedBlock.fitted(few.X, terms).refit(Refit(more, positions, None))
    assert [term.name(names) for term in again.transformer.terms] == ["area / rooms", "price - mean by city"]
    assert len(again.transformer.terms[1].columns) == 4 + 1
    gone = np.where(np.isin(names, ["area", "price"]), -1, positions)
    assert DerivedBlock.fitted(few.X, terms).refit(Refit(more, gone, None)) is None


def test_rows_of_no_category_are_compared_with_all():
    X = np.column_stack([np.eye(2)[np.arange(40) % 2], np.arange(40.0)])
    term = GroupTerm.learned(X, np.ones(40), np.array([0, 1]), 2)
    found = term.values(np.array([[0.0, 0.0, 19.5], [1.0, 0.0, 19.0], [0.0, 1.0, 20.0]]))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
