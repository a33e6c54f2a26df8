"""Columns that are named: found, or refused with the names that may have been meant."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer._runtime.errors import DataError, MercerError
from mercer.io import read_table
from mercer.io.columns import choose_features, refuse_text, require_column
from mercer.io.table import as_name


def names(n):
    return [f"c{j}" for j in range(n)]


@pytest.mark.parametrize(
    ("name", "available", "hint"),
    [
        ("knd", ["kind", "b"], "Did you mean 'kind'?"),
        ("KIND", ["b", "kind"], "Did you mean 'kind'?"),
        ("aab", ["aac", "aad", "x"], "Did you mean 'aad' or 'aac'?"),
        ("price", names(2), "It has 'c0', 'c1'."),
        ("price", names(12), "It has 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10', 'c11'."),
        ("price", names(13), "'c10', 'c11', ...."),
        ("b", ["a;b"], "All of it is one column, 'a;b': set the delimiter if that is wrong."),
        ("price", ["a"], "It has 'a'."),
        ("price", ["a;b", "c"], "It has 'a;b', 'c'."),
    ],
)
def test_a_name_that_is_not_there(name, available, hint):
    with pytest.raises(DataError) as found:
        require_column(name, available, "target", "rows.csv", " More.")
    assert str(found.value).startswith(f"rows.csv: no column named {name!r} (given as target).")
    assert str(found.value).endswith(f"{hint} More.")
    assert (found.value.column, found.value.parameter, found.value.value) == (name, "target", name)
    require_column(available[0], available, "target", "rows.csv")


def test_features_are_those_named_or_all_others():
    assert choose_features(["a", "b", "y"], ["y"], None, "rows.csv") == ["a", "b"]
    assert choose_features(["a", "b", "y"], ["y"], ["b", "a"], "rows.csv") == ["b", "a"]
    assert choose_features(["a", "b", "y"], iter(["y"]), iter(["b"]), "rows.csv") == ["b"]
    with pytest.raises(MercerError, match=r"columns must be a list of names: write columns=\['a'\]"):
        choose_features(["a"], [], "a", "rows.csv")
    with pytest.raises(DataError, match="'y' cannot be a feature and the target or weight at once"):
        choose_features(["a", "y"], ["y"], ["a", "y"], "rows.csv")
    with pytest.raises(DataError, match=r"no feature columns are left; it has 'y'\."):
        choose_features(["y"], ["y"], None, "rows.csv")
    with pytest.raises(DataError, match=r"no feature columns are left; it has none\."):
        choose_features([], [], None, "rows.csv")


def test_columns_that_are_no_numbers_are_listed():
    refuse_text({}, "rows.csv")
    with pytest.raises(DataError, match=r"8 of the .*'c0' \(text\), .*'c7' \(text\)\.") as found:
        refuse_text(dict.fromkeys(names(8), "text"), "rows.csv")
    assert found.value.column == "c0"
    with pytest.raises(DataError, match=r"10 of the .*'c7' \(text\) and 2 more\."):
        refuse_text(dict.fromkeys(names(10), "text"), "rows.csv")


FRAME = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=[0, 1, ("a", "b")])


def test_names_of_frames_may_be_numbers_and_tuples():
    assert as_name(1, FRAME) == "1"
    assert as_name(("a", "b"), FRAME) == "('a', 'b')"
    assert as_name("x", FRAME) == "x"
    assert as_name(None, FRAME) is None
    assert read_table(FRAME, 1).names == ["0", "('a', 'b')"]
    assert list(read_table(FRAME, 1).collect().y) == [1.0, 4.0, 7.0, 10.0]


def test_values_are_no_names():
    for given in ([0, 1, 0, 1], np.arange(4), [0.5, 0.5], pd.Series([1, 2, 3, 4]), []):
        assert as_name(given, FRAME) is given
    assert as_name([0, 1, 0, 1], FRAME.iloc[:, :2]) == [0, 1, 0, 1]  # as many as rows


@pytest.mark.parametrize("given", [[0], [1, 0], (1, 0)])
def test_a_list_of_names_is_refused(given):
    with pytest.raises(DataError, match=rf"are names of columns\. One is named as {given[0]}; .*data\[\[\.\.\.\]\]"):
        read_table(FRAME, given)


def test_columns_of_arrays_are_positions():
    X = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(mercer.read(X, columns=[2, 0, -3]).collect().X, X[:, [2, 0, 0]])
    for wrong in (3, -4, "a", 1.5):
        with pytest.raises(DataError, match=rf"No column {wrong!r}: an array of 3 columns is addressed by 0 to 2"):
            mercer.read(X, columns=[0, wrong])
