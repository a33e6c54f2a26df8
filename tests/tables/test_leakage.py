"""Errors left by knowing the category, per category, against their definition per row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.tables.leakage import _misclassified, _squared_error

ROWS = st.integers(2, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 5), min_size=n, max_size=n), st.lists(st.integers(0, 3), min_size=n, max_size=n)
    )
)


def others_of(codes, i):
    """The other rows of the category of row i, or all others if there are none."""
    rest = np.arange(len(codes)) != i
    same = rest & (codes == codes[i])
    return same if same.any() else rest


@given(ROWS)
def test_squared_error(rows):
    codes, t = np.array(rows[0]), np.array(rows[1], dtype=float) ** 1.5
    away = [t[i] - t[others_of(codes, i)].mean() for i in range(len(t))]
    assert _squared_error(codes, t) == pytest.approx(np.sum(np.square(away)), abs=1e-9)


@given(ROWS)
def test_rows_of_another_class(rows):
    codes, labels = map(np.array, rows)
    most = [np.bincount(labels[others_of(codes, i)], minlength=4).argmax() for i in range(len(labels))]
    assert _misclassified(codes, labels) == np.sum(most != labels)
