"""One-hot encoding."""

import datetime

import numpy as np
import pytest
from scipy import sparse

from mercer._numeric.block import Block
from mercer.normalize import OneHot
from mercer.source import MemorySource, StreamSource

MIXED = np.array([["b", 2], ["a", None], [None, 1.5], ["b", "x"], [np.nan, 2]], dtype=object)


def test_categories_are_sorted_with_missing_last():
    fitted = OneHot().fit(MIXED)
    assert [each.tolist() for each in fitted.categories_] == [["a", "b", None], [1.5, 2, "x", None]]
    Z = fitted.transform(MIXED)
    assert sparse.issparse(Z)
    expected = [[0, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0, 0]]
    np.testing.assert_array_equal(Z.toarray()[:3], expected)
    np.testing.assert_array_equal(Z.sum(axis=1), np.full((5, 1), 2.0))


def test_inverse_transform():
    back = OneHot().fit(MIXED).inverse_transform(OneHot().fit_transform(MIXED))
    expected = MIXED.copy()
    expected[4, 0] = None
    assert back.tolist() == expected.tolist()
    numbers = np.random.default_rng(0).integers(0, 5, (50, 3)).astype(float)
    np.testing.assert_array_equal(OneHot().fit(numbers).inverse_transform(OneHot().fit_transform(numbers)), numbers)


def test_unseen_categories():
    X = np.array([["a"], ["b"]])
    Z = OneHot().fit(X).transform([["b"], ["c"]])
    np.testing.assert_array_equal(Z.toarray(), [[0, 1], [0, 0]])
    assert OneHot().fit(X).inverse_transform(Z).tolist() == [["b"], [None]]
    with pytest.raises(ValueError, match=r"Column 'x0' has the category 'c' at row 1.*unseen='zeros'"):
        OneHot(unseen="error").fit(X).transform([["b"], ["c"]])


def test_rare_categories_are_merged():
    X = np.array(["a"] * 3 + ["b"] * 2 + ["c"] * 2 + ["d"])[:, None]
    fitted = OneHot(max_levels=2).fit(X)
    assert fitted.get_feature_names_out().tolist() == ["x0=a", "x0=b", "x0=other"]  # b before c, a tie
    assert fitted.others_[0].tolist() == ["c", "d"]
    Z = fitted.transform([["a"], ["c"], ["d"], ["unseen"]])
    np.testing.assert_array_equal(Z.toarray(), [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert fitted.inverse_transform(Z)[:, 0].tolist() == ["a", "other", "other", None]
    assert OneHot(max_levels=4).fit(X).get_feature_names_out().tolist() == ["x0=a", "x0=b", "x0=c", "x0=d"]
    weighted = OneHot(max_levels=1).fit(X, sample_weight=[1] * 7 + [9])
    assert weighted.categories_[0].tolist() == ["d"]


def test_later_blocks_add_categories():
    fitted = OneHot().partial_fit([["b"]]).partial_fit([[3]]).partial_fit([["a"]])
    assert fitted.categories_[0].tolist() == [3, "a", "b"]


def test_names_that_would_be_equal_are_quoted():
    X = np.array([[1], ["1"], ["missing"], [None], ["plain"]], dtype=object)
    names = OneHot().fit(X).get_feature_names_out(["c"]).tolist()
    assert names == ["c=1", "c='1'", "c='missing'", "c=plain", "c=missing"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_the_types_of_their_columns(kind):
    frames = pytest.importorskip(kind)
    frame = frames.DataFrame(
        {
            "number": [1, 2**60 + 1, 1],
            "gaps": [1, None, 1],
            "share": [0.5, None, 0.5],
            "color": ["red", None, "blue"],
            "flag": [True, False, True],
            "day": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), None],
        }
    )
    fitted = OneHot().fit(frame)
    names = fitted.get_feature_names_out().tolist()
    # pandas itself holds integers with gaps as floats
    assert [names.pop(2), names.pop(2)] == ["gaps=1.0" if kind == "pandas" else "gaps=1", "gaps=missing"]
    assert names[:2] == ["number=1", f"number={2**60 + 1}"]
    assert names[2:9] == [
        "share=0.5",
        "share=missing",
        "color=blue",
        "color=red",
        "color=missing",
        "flag=False",
        "flag=True",
    ]
    assert names[-1] == "day=missing"
    assert fitted.transform(frame).sum() == 18
    assert fitted.transform(MemorySource(frame)).names == fitted.get_feature_names_out().tolist()


def test_pyarrow_tables():
    pa = pytest.importorskip("pyarrow")
    fitted = OneHot().fit(pa.table({"a": [2**60 + 1, None, 1], "b": ["u", "v", None]}))
    expected = ["a=1", f"a={2**60 + 1}", "a=missing", "b=u", "b=v", "b=missing"]
    assert fitted.get_feature_names_out().tolist() == expected


def test_pandas_categories_and_nullable_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "a": pd.Categorical(["x", None, "y"]),
            "b": pd.array([1, None, 2], dtype="Int64"),
            "c": pd.array(["u", None, "v"], dtype="string"),
        }
    )
    names = OneHot().fit(frame).get_feature_names_out().tolist()
    assert names == ["a=x", "a=y", "a=missing", "b=1", "b=2", "b=missing", "c=u", "c=v", "c=missing"]


def test_a_stream_of_objects():
    stream = StreamSource(lambda: (Block(MIXED[i : i + 2]) for i in range(0, 5, 2)))
    fitted = OneHot().fit(stream)
    assert [each.tolist() for each in fitted.categories_] == [["a", "b", None], [1.5, 2, "x", None]]
    (block,) = fitted.transform(stream).blocks()
    np.testing.assert_array_equal(block.X.toarray(), fitted.transform(MIXED).toarray())


def test_invalid_categories_and_parameters():
    X = np.empty((1, 1), dtype=object)
    X[0, 0] = {"a": 1}
    with pytest.raises(TypeError, match="hashable, not a dict"):
        OneHot().fit(X)
    for bad in ({"max_levels": 0}, {"unseen": "guess"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            OneHot(**bad).fit([["a"]])


def test_dense_output_for_set_output():
    frames = pytest.importorskip("pandas")
    Z = OneHot(sparse_output=False).set_output(transform="pandas").fit_transform([["a"], ["b"]])
    assert isinstance(Z, frames.DataFrame)
    assert Z.columns.tolist() == ["x0=a", "x0=b"]
