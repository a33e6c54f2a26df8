"""Counts of levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer._numeric.block import Block
from mercer.stats import Counts, LabelCounts
from mercer.stats import counts as counts_module
from mercer.stats.target_tables import _joined

levels = st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b", "1"]), st.just(None), st.just(float("nan")))


def objects(items):
    column = np.empty((len(items), 1), dtype=object)
    column[:, 0] = items
    return column


def read(result):
    return [(levels.levels.tolist(), levels.counts.tolist()) for levels in result]


@given(items=st.lists(levels, min_size=1, max_size=30), cut=st.integers(0, 30))
def test_counts_are_those_of_a_loop_for_any_cut(items, cut):
    block = Block(objects(items))
    whole = Counts().of(block)
    parts = Counts().of(block.rows(slice(0, cut))).merge(Counts().of(block.rows(slice(cut, None))))
    assert read(whole.finish()) == read(parts.finish())
    ((found, counts),) = read(whole.finish())
    clean = [None if item is None or item != item else item for item in items]
    assert dict(zip(found, counts, strict=True)) == {level: clean.count(level) for level in set(clean)}


def test_numbers_strings_and_missing_in_order():
    ((found, _),) = read(Counts().of(Block(objects(["b", 2, None, "a", 1.5]))).finish())
    assert found == [1.5, 2, "a", "b", None]
    result = Counts().of(Block(np.array([[2.0], [np.nan], [-0.0], [0.0]]))).finish()
    assert read(result) == [([0.0, 2.0, None], [2, 1, 1])]
    assert not np.signbit(result[0].levels[0])


def test_weights_and_labels():
    result = LabelCounts().of(Block(np.ones((3, 1)), y=np.array([1, 0, 1]), weight=np.array([1.0, 2.0, 4.0]))).finish()
    assert (result.levels.tolist(), result.counts.tolist()) == ([0, 1], [2.0, 5.0])


def test_dates():
    days = np.array(["2024-01-02", "NaT", "2024-01-01"], dtype="datetime64[D]")[:, None]
    ((found, counts),) = read(Counts().of(Block(days)).finish())
    assert found == [np.datetime64("2024-01-01"), np.datetime64("2024-01-02"), None]
    assert counts == [1, 1, 1]


def test_too_many_levels_are_no_category(monkeypatch):
    monkeypatch.setattr(counts_module, "MOST_LEVELS", 3)
    one, two = (Counts().of(Block(np.arange(a, a + 2.0)[:, None])) for a in (0, 5))
    with pytest.raises(ValueError, match="Column 0 has more than 3 levels"):
        one.merge(two)


@given(
    hnp.arrays(
        st.sampled_from([np.int8, np.uint8, np.int32, np.int64, np.uint64]),
        st.integers(0, 30),
        elements=st.integers(0, 5),
    ),
    st.sampled_from(["as it is", "lowest", "highest", "both"]),
)
def test_whole_numbers_are_told_apart_as_by_unique(column, where):
    ends = np.iinfo(column.dtype)
    if where == "lowest":
        column = ends.min + column
    elif where == "highest":
        column = ends.max - column
    elif where == "both" and len(column):
        column[0], column[-1] = ends.min, ends.max
    values, codes = np.unique(column, return_inverse=True)
    levels, found = counts_module.distinct(column)
    assert levels == values.tolist()
    assert np.array_equal(found, codes)


def test_tables_of_too_many_levels_are_refused(monkeypatch):
    monkeypatch.setattr("mercer.stats.target_tables.MOST_LEVELS", 3)
    known, other = ({level: i for i, level in enumerate(levels)} for levels in ("ab", "bcd"))
    first, second = (known, np.ones((2, 1, 1))), (other, np.ones((3, 1, 1)))
    with pytest.raises(ValueError, match="Column 5 has more than 3 levels"):
        _joined(first, second, 5)
    monkeypatch.setattr("mercer.stats.target_tables.MOST_LEVELS", 4)
    index, sums = _joined(first, second, 5)
    assert index == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert sums.ravel().tolist() == [1, 2, 1, 1]
