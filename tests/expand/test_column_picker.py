"""Some of the columns, in a given order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer.expand import ColumnPicker
from mercer.source import MemorySource

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([2, 0], [2, 0]),
        ([-1], [3]),
        (1, [1]),
        (slice(1, 3), [1, 2]),
        ([True, False, False, True], [0, 3]),
        ([1, 1], [1, 1]),
    ],
)
def test_columns_by_index(columns, expected):
    picker = ColumnPicker(columns).fit(X)
    np.testing.assert_array_equal(picker.transform(X), X[:, expected])
    assert picker.columns_.tolist() == expected
    assert picker.transform(X).flags.c_contiguous
    assert picker.transform(X.astype(np.float32)).dtype == np.float32
    picked = picker.transform(sparse.csr_array(X))
    assert sparse.issparse(picked)
    np.testing.assert_array_equal(picked.toarray(), X[:, expected])
    assert picker.get_feature_names_out().tolist() == [f"x{j}" for j in expected]


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=list("abcd"))
    picker = ColumnPicker(["d", "a"]).fit(frame)
    np.testing.assert_array_equal(picker.transform(frame), X[:, [3, 0]])
    assert picker.get_feature_names_out().tolist() == ["d", "a"]
    assert picker.transform(MemorySource(frame)).names == ["d", "a"]
    with pytest.raises(ValueError, match="no column 'z'"):
        ColumnPicker(["z"]).fit(frame)


def test_missing_values_pass():
    gaps = np.where(X == 5, np.nan, X)
    np.testing.assert_array_equal(ColumnPicker([1]).fit_transform(gaps), gaps[:, [1]])


def test_wrong_columns_are_refused():
    with pytest.raises(ValueError, match="column 4 does not exist"):
        ColumnPicker([4]).fit(X)
    with pytest.raises(ValueError, match="picks no column"):
        ColumnPicker([]).fit(X)
