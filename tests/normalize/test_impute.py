"""Imputation and missingness indicators."""

import numpy as np
import pytest
from scipy import sparse

from mercer._numeric.block import Block
from mercer.normalize import Impute
from mercer.source import StreamSource

NAN = np.nan
X = np.array([[1.0, NAN, 5.0, NAN], [2.0, NAN, 6.0, 8.0], [9.0, NAN, 7.0, 4.0], [NAN, NAN, 8.0, 3.0]])


@pytest.mark.parametrize(
    ("strategy", "fill"),
    [("median", [2.0, -1.0, 6.5, 4.0]), ("mean", [4.0, -1.0, 6.5, 5.0]), ("constant", [-1.0] * 4)],
)
def test_strategies(strategy, fill):
    impute = Impute(strategy=strategy, fill=-1.0).fit(X)
    np.testing.assert_array_equal(impute.fill_, fill)
    np.testing.assert_array_equal(impute.indicated_, [0, 1, 3])
    Z = impute.transform(X)
    gaps = np.isnan(X)
    np.testing.assert_array_equal(Z[:, :4], np.where(gaps, fill, X))
    np.testing.assert_array_equal(Z[:, 4:], gaps[:, [0, 1, 3]])
    assert impute.get_feature_names_out(["a", "b", "c", "d"])[4:].tolist() == [
        "a=missing",
        "b=missing",
        "d=missing",
    ]


def test_the_mean_of_present_entries_is_exact():
    f = np.array([1e200, NAN, 1.0, -1e200, 2.0, NAN])[:, None]
    assert Impute(strategy="mean").fit(f).fill_ == 0.75
    assert Impute(strategy="mean").fit(f, sample_weight=[1, 5, 3, 1, 1, 1]).fill_ == 5 / 6


def test_nothing_is_imputed_silently():
    impute = Impute().fit(X)
    new = np.ones((3, 4))
    new[2, 2] = NAN
    with pytest.raises(ValueError, match=r"Column 'x2' is missing at row 2.*indicators='all'"):
        impute.transform(new)
    with pytest.raises(ValueError, match=r"Column 'x2' is missing at row 2"):
        Impute().fit(sparse.csr_matrix(X)).transform(sparse.csr_matrix(new))
    Z = Impute(indicators="all").fit(X).transform(new)
    np.testing.assert_array_equal(Z[2], [1, 1, 6.5, 1, 0, 0, 1, 0])
    assert Impute(indicators=False).fit(X).transform(new).shape == (3, 4)


def test_none_and_frames():
    assert Impute().fit_transform([[1.0], [None], [3.0]]).tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, None]})
    Z = Impute().set_output(transform="pandas").fit_transform(frame)
    assert Z.columns.tolist() == ["a", "b", "a=missing", "b=missing"]
    np.testing.assert_array_equal(Z["a"], [1.0, 2.0, 3.0])


def test_infinity_is_not_missing():
    with pytest.raises(ValueError, match=r"infinity: column 1, first at row 0"):
        Impute().fit([[NAN, np.inf]])


def test_sparse_zeros_are_values():
    S = sparse.csr_matrix(np.array([[0.0, NAN], [0.0, 2.0], [3.0, 0.0]]))
    impute = Impute(strategy="mean").fit(S)
    np.testing.assert_array_equal(impute.fill_, [1.0, 1.0])
    Z = impute.transform(S)
    assert sparse.issparse(Z)
    np.testing.assert_array_equal(Z.toarray(), [[0, 1, 1], [0, 2, 0], [3, 0, 0]])
    np.testing.assert_array_equal(Impute().fit(S).fill_, [0.0, 1.0])


def test_the_median_of_a_long_stream():
    # The median of n(0, 1) within the bound on its rank: the sample has about 8000 present entries per
    # column.
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(10_000, 2)) for _ in range(6)]
    for block in blocks:
        block[rng.random(block.shape) < 0.5] = NAN
    fitted = Impute().fit(StreamSource(lambda: (Block(block) for block in blocks)))
    rank_error = np.sqrt(np.log(4 / 1e-6) / (2 * 7500))
    assert np.all(np.abs(fitted.fill_) < rank_error * np.sqrt(2 * np.pi) * 1.01)


def test_a_column_missing_in_the_sample_is_filled_with_its_mean():
    big = np.full((40_000, 2), NAN)
    big[:, 0] = np.arange(40_000)
    keys = Block(big).ids.argsort()
    big[keys[-50:], 1] = 3.0
    fitted = Impute().fit(big)
    assert fitted.fill_[1] == 3.0


def test_parameters_are_checked():
    for bad in ({"strategy": "mode"}, {"fill": NAN}, {"indicators": "some"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Impute(**bad).fit(X)
