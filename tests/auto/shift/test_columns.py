"""Lengths and numbers of texts, compared with Python's own; wide rows in parts; references in little time."""

import numpy as np
import pyarrow as pa
import pytest

import mercer
from mercer.auto.budget.clock import Clock
from mercer.auto.shift import reference
from mercer.auto.shift.cells import ColumnCells
from mercer.auto.shift.columns import codes_of, lengths_of
from mercer.auto.shift.reference import RowFeatures, training_reference
from mercer.source import Columns

TEXTS = ["red", None, "", "é€😀", "red", "blue", "a\0b", None, "Red"] * 3


@pytest.fixture(params=["string", "large_string"])
def table(request):
    column = pa.chunked_array([pa.array(TEXTS[:11], request.param), pa.array(TEXTS[11:], request.param)])
    return Columns.of(pa.table({"w": column}))


def test_lengths_of_texts(table):
    expected = [len(text) if text else np.nan for text in TEXTS]
    np.testing.assert_array_equal(lengths_of(table, "w"), expected)


def test_lengths_of_texts_without_missing_ones():
    table = Columns.of(pa.table({"w": ["a", "", "abc"]}))
    np.testing.assert_array_equal(lengths_of(table, "w"), [1, np.nan, 3])


def test_numbers_of_texts(table):
    codes, texts = codes_of(table, "w")
    assert sorted(texts) == sorted({text or "" for text in TEXTS})
    assert [texts[k] for k in codes] == [text or "" for text in TEXTS]


def test_cells_of_categories(table):
    cells = ColumnCells.of(table, "w", "category")
    assert cells.categories == ("red",)  # six rows; all others have three
    assert cells.count(table).tolist() == [9, 6, 12]


def test_wide_rows_are_encoded_in_parts(table, monkeypatch):
    features = RowFeatures.of(table, {"w": "text"})
    whole = features.features(table)
    monkeypatch.setattr(reference, "_MAX_ENTRIES", 4 * len(features.left))
    np.testing.assert_allclose(features.features(table), whole, atol=1e-12)


def test_a_reference_of_a_spent_budget_has_few_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30))
    model = mercer.fit(X, X[:, 0] + rng.normal(size=3000), effort="fast", report=False)
    source = mercer.io.read_table(X, X[:, 0])
    found = [
        training_reference(model.encoder, source, 0, Clock(budget, now=iter([0.0] + [late] * 9).__next__))
        for budget, late in ((None, 0.0), (10.0, 0.0), (1e-3, 1.0))
    ]
    assert found[0].n == found[1].n == 3000
    assert 398 <= found[2].n <= 602  # 500 are chosen by chance: five standard deviations are 102
