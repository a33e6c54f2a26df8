"""The contract of every transformer of `mercer.normalize`, over a table with default and edge parameters."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer._numeric.block import Block
from mercer.normalize import Center, Clip, Impute, Log, OneHot, Quantile, Sigmoid, Standardize, UnitRange
from mercer.source import MemorySource, StreamSource

MAPS = [
    Center(),
    UnitRange(),
    UnitRange(clip=True),
    Standardize(),
    Standardize(with_mean=False),
    Clip(),
    Clip(bound=0.5),
    Sigmoid(),
    Sigmoid(slope=30.0),
    Log(),
    Log(offset=1e-3),
    Quantile(),
    Quantile(n_quantiles=2, output="normal"),
    Quantile(sample_size=7),
    OneHot(),
    OneHot(max_levels=1),
    OneHot(sparse_output=False, max_levels=2),
    Impute(),
    Impute(strategy="mean", indicators="all"),
    Impute(strategy="constant", fill=-1.0, indicators=False),
]
NUMERIC = [m for m in MAPS if not isinstance(m, OneHot)]
SPARSE = [m for m in NUMERIC if isinstance(m, UnitRange | Clip | Log | Impute) or not getattr(m, "with_mean", True)]
REFUSE_SPARSE = [Center(), Standardize(), Sigmoid(), Quantile(), OneHot()]
INVERTIBLE = [Center(), UnitRange(), Standardize(), Standardize(with_mean=False), Log(), Log(offset=1e-3)]


@parametrize_with_checks(MAPS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def table(n=200, seed=0):
    """Columns that are ordinary, tied, constant, heavy-tailed, far from zero, and mostly zero."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.normal(size=n),
        rng.integers(0, 4, n),
        np.full(n, 7.0),
        rng.standard_cauchy(n),
        1e15 + rng.integers(0, 9, n),
        np.where(rng.random(n) < 0.9, 0.0, rng.exponential(size=n)),
    ]
    return np.stack(columns, axis=1)


def dense(Z):
    return Z.toarray() if sparse.issparse(Z) else np.asarray(Z)


def assert_same(a, b, X):
    """Fitted estimators that agree to the last bit: on every learned attribute and on X."""
    for name in vars(a):
        if name.endswith("_") and not name.startswith("_"):
            one, two = getattr(a, name), getattr(b, name)
            if isinstance(one, list):
                assert len(one) == len(two)
                assert all(np.array_equal(x, y) for x, y in zip(one, two, strict=True)), name
            else:
                np.testing.assert_array_equal(one, two, err_msg=name)
    np.testing.assert_array_equal(dense(a.transform(X)), dense(b.transform(X)))


def by_name(estimator):
    return repr(estimator)


every_map = pytest.mark.parametrize("estimator", MAPS, ids=by_name)
every_numeric = pytest.mark.parametrize("estimator", NUMERIC, ids=by_name)


@every_map
@settings(max_examples=8, deadline=None)
@given(cuts=st.lists(st.integers(0, 60), max_size=6))
def test_any_pieces_give_the_bits_of_one_fit(estimator, cuts):
    X = table(60)
    edges = [0, *sorted(cuts), 60]
    pieces = [X[a:b] for a, b in pairwise(edges) if b > a]
    whole = clone(estimator).fit(X)
    streamed, merged = clone(estimator), None
    for piece in pieces:
        streamed.partial_fit(piece)
        part = clone(estimator).fit(piece)
        merged = part if merged is None else merged.merge(part)
    stream = clone(estimator).fit(StreamSource(lambda: (Block(piece) for piece in pieces)))
    for other in (streamed, merged, stream):
        assert_same(whole, other, X)


@pytest.mark.parametrize("estimator", [Standardize(), Quantile(), Clip(), UnitRange(), OneHot(), Impute()], ids=by_name)
@pytest.mark.parametrize("cut", [1, 8191, 8192, 12_345])
def test_pieces_across_the_edges_of_blocks(estimator, cut):
    X = table(20_000)[:, 1:] if isinstance(estimator, OneHot) else table(20_000)
    X = np.round(X, 1)
    whole = clone(estimator).fit(X)
    halves = clone(estimator).fit(X[:cut]).merge(clone(estimator).fit(X[cut:]))
    streamed = clone(estimator).partial_fit(X[:cut]).partial_fit(X[cut:])
    for other in (halves, streamed, clone(estimator).fit(MemorySource(X))):
        assert_same(whole, other, X[:100])


@every_map
def test_merge_is_commutative(estimator):
    X = table(60)
    one, two = (clone(estimator).fit(X[:25]).merge(clone(estimator).fit(X[25:])) for _ in range(2))
    back = clone(estimator).fit(X[25:]).merge(clone(estimator).fit(X[:25]))
    assert_same(one, two, X)
    assert_same(one, back, X)


@every_map
def test_a_weight_of_k_is_k_equal_rows(estimator):
    X = table(80)
    weight = np.random.default_rng(1).integers(0, 4, 80)
    weighted = clone(estimator).fit(X, sample_weight=weight)
    repeated = clone(estimator).fit(np.repeat(X, weight, axis=0))
    assert_same(weighted, repeated, X[weight > 0])
    from_source = clone(estimator).fit(MemorySource(X, weight=weight))
    assert_same(weighted, from_source, X[weight > 0])


@every_map
def test_a_source_is_mapped_as_it_is_read(estimator):
    X = np.round(table(20_000)[:, [0, 1, 2]], 1)
    fitted = clone(estimator).fit(X)
    mapped = fitted.transform(MemorySource(X))
    blocks = [dense(block.X) for block in mapped.blocks()]
    assert len(blocks) == 3
    np.testing.assert_array_equal(np.concatenate(blocks), dense(fitted.transform(X)))
    assert mapped.names == list(fitted.get_feature_names_out())


@every_numeric
def test_float32_stays_and_is_the_rounded_result(estimator):
    X = np.delete(table(), 4, axis=1).astype(np.float32)
    Z = clone(estimator).fit(X).transform(X)
    exact = clone(estimator).fit(X.astype(np.float64)).transform(X.astype(np.float64))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, exact, rtol=2 * np.finfo(np.float32).eps, atol=1e-44)


@every_map
@pytest.mark.parametrize("order", ["C", "F"])
def test_input_may_be_read_only_and_is_never_written(estimator, order):
    X = np.asarray(table(), order=order)
    before = X.copy()
    X.flags.writeable = False
    fitted = clone(estimator).fit(X)
    Z = fitted.transform(X)
    if hasattr(fitted, "inverse_transform"):
        fitted.inverse_transform(Z)
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(X, Z if isinstance(Z, np.ndarray) else Z.data)


@every_map
def test_pickle_and_clone(estimator):
    X = table()
    fitted = clone(estimator).fit(X)
    assert_same(fitted, pickle.loads(pickle.dumps(fitted)), X)
    assert_same(fitted, clone(fitted).fit(X), X)


@every_map
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_in_and_out(estimator, kind):
    frames = pytest.importorskip(kind)
    X = table()
    names = ["a", "b", "c", "d", "e", "f"]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    estimator = clone(estimator)
    if isinstance(estimator, OneHot):
        estimator.set_params(sparse_output=False)
    Z = estimator.set_output(transform=kind).fit(frame).transform(frame)
    assert isinstance(Z, frames.DataFrame)
    assert list(Z.columns) == list(estimator.get_feature_names_out())
    plain = clone(estimator).set_output(transform="default").fit(X)
    np.testing.assert_array_equal(Z.to_numpy(), plain.transform(X))


@every_map
def test_inside_a_pipeline(estimator):
    X = table()
    chain = make_pipeline(Impute(), clone(estimator))
    Z = chain.fit_transform(X)
    assert Z.shape == (len(X), len(chain.get_feature_names_out()))


@every_numeric
@pytest.mark.parametrize(
    "column",
    [
        [1e308, -1e308, 0.0],
        [1.7e308, 1.7e308, -1.7e308],
        [1e200, 1.0, -1e-200],
        [5e-324, 0.0, 1e-323],
        [1e15, 1e15 + 0.125, 1e15 + 0.25],
        [3.0, 3.0, 3.0],
        [0.0, 0.0, 0.0],
        [-0.0, 0.0, 5e-324],
        [4.0],
    ],
    ids=str,
)
def test_extreme_columns_give_finite_numbers(estimator, column):
    X = np.array(column)[:, None]
    fitted = clone(estimator).fit(X)
    for rows in (X, np.array([[1.79e308], [-1.79e308], [0.0], [5e-324]])):
        Z = fitted.transform(rows)
        assert np.all(np.isfinite(Z))
        if hasattr(fitted, "inverse_transform"):
            assert np.all(np.isfinite(fitted.inverse_transform(Z)))
        images = Z[np.argsort(rows[:, 0]), 0]
        assert np.all(images[1:] >= images[:-1])  # every one of these maps is monotone


@pytest.mark.parametrize("estimator", INVERTIBLE, ids=by_name)
def test_inverse_transform(estimator):
    X = table()
    fitted = clone(estimator).fit(X)
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_allclose(back, X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("estimator", SPARSE, ids=by_name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_stays_sparse_and_means_the_same(estimator, dtype, container):
    rng = np.random.default_rng(3)
    X = (rng.exponential(size=(300, 5)) * (rng.random((300, 5)) < 0.3)).astype(dtype)
    S = container(X)
    before = S.copy()
    on_sparse, on_dense = clone(estimator).fit(S), clone(estimator).fit(X)
    Z = on_sparse.transform(S)
    assert sparse.issparse(Z)
    assert Z.format == "csr"
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z.toarray(), on_dense.transform(X), rtol=1e-15 if dtype == np.float64 else 1e-6)
    np.testing.assert_array_equal(before.toarray(), S.toarray())
    if hasattr(on_sparse, "inverse_transform"):
        tolerance = 1e-12 if dtype == np.float64 else 1e-5
        if not getattr(estimator, "clip", False):
            np.testing.assert_allclose(on_sparse.inverse_transform(Z).toarray(), X, rtol=tolerance)
    cut = clone(estimator).partial_fit(S.tocsr()[:100]).partial_fit(S.tocsr()[100:])
    assert_same(on_sparse, cut, S)


@pytest.mark.parametrize("estimator", SPARSE, ids=by_name)
def test_entries_stored_in_pieces_are_summed(estimator):
    whole = sparse.csr_matrix(np.array([[3.0, 0.0], [0.0, 2.0]]))
    pieces = sparse.csr_matrix((np.array([1.0, 2.0, 3.0, -1.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 4])))
    np.testing.assert_array_equal(pieces.toarray(), whole.toarray())
    assert_same(clone(estimator).fit(whole), clone(estimator).fit(pieces), whole)
    assert len(pieces.data) == 4


@pytest.mark.parametrize("estimator", REFUSE_SPARSE, ids=by_name)
def test_sparse_is_refused_with_a_remedy(estimator):
    with pytest.raises(TypeError, match=r"(?s)[Ss]parse.*toarray"):
        clone(estimator).fit(sparse.csr_matrix(np.eye(3)))


@pytest.mark.parametrize("estimator", [m for m in NUMERIC if not isinstance(m, Impute)], ids=by_name)
def test_missing_values_are_refused_by_position(estimator):
    X = table()
    fitted = clone(estimator).fit(X)
    X[17, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN: column 3, first at row 17.*Impute"):
        clone(estimator).fit(X)
    with pytest.raises(ValueError, match=r"NaN: column 3, first at row 17"):
        fitted.transform(X)


@pytest.mark.parametrize("estimator", [Center(), UnitRange(), Standardize(), Clip(), Quantile()], ids=by_name)
def test_missing_values_in_a_source_are_refused_by_position(estimator):
    X = np.zeros((9000, 2))
    X[8500, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1, first at row 8500"):
        clone(estimator).fit(MemorySource(X))


@every_map
def test_partial_fit_keeps_the_number_of_columns(estimator):
    fitted = clone(estimator).partial_fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="features"):
        fitted.partial_fit(np.ones((3, 3)))
