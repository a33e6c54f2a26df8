"""Products of entries: twins equal bit for bit, with the values and column indices of the definition."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.sketch import monomials as definition
from mercer._numeric.sketch.monomials import n_products

MODULES = pytest.mark.parametrize("module", [_numeric, definition], ids=["compiled", "definition"])
cases = st.tuples(
    st.integers(0, 2**32), st.integers(1, 6), st.integers(0, 4), st.integers(0, 4), st.booleans(), st.booleans()
)


def combinations(d, low, high, repeat):
    choose = itertools.combinations_with_replacement if repeat else itertools.combinations
    return [c for k in range(low, high + 1) for c in choose(range(d), k)]


def factors(high, kernel):
    degree = np.linspace(0.5, 2.0, high + 1) if kernel else np.ones(high + 1)
    run = np.array([1.0] + [1 / math.sqrt(t) if kernel else 1.0 for t in range(1, high + 1)])
    return degree, run


def ends(d, low, high, repeat):
    sizes = [n_products(d, k, repeat) if k >= low else 0 for k in range(high + 1)]
    return np.cumsum(sizes).astype(np.int64)


def by_definition(X, low, high, repeat, degree, run):
    columns = []
    for chosen in combinations(X.shape[1], low, high, repeat):
        weight = degree[len(chosen)] * math.prod(run[chosen[: i + 1].count(j)] for i, j in enumerate(chosen))
        columns.append(weight * np.prod(X[:, list(chosen)], axis=1))
    return np.stack(columns, axis=1) if columns else np.empty((len(X), 0))


def dense(module, X, low, high, repeat, degree, run):
    out = np.full((len(X), len(combinations(X.shape[1], low, high, repeat))), np.nan, dtype=X.dtype)
    module.dense_monomials(X, low, high, repeat, degree, run, out)
    return out


def sparse(module, X, low, high, repeat, degree, run, index=np.int32, out_index=np.int64):
    width = len(combinations(X.shape[1], low, high, repeat))
    sizes = [sum(n_products(int(m), k, repeat) for k in range(low, high + 1)) for m in np.diff(X.indptr)]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    data, indices = np.empty(indptr[-1], X.dtype), np.full(indptr[-1], -1, out_index)
    rows = X.data, X.indices.astype(index), X.indptr.astype(index)
    last = ends(X.shape[1], low, high, repeat)
    module.csr_monomials(*rows, X.shape[1], low, high, repeat, degree, run, last, data, indices)
    return sp.csr_array((data, indices, indptr), shape=(X.shape[0], width))


@settings(deadline=None, max_examples=60)
@given(cases, st.sampled_from([np.float32, np.float64]))
def test_values_and_columns(case, dtype):
    seed, d, low, extra, repeat, kernel = case
    high = low + extra if low + extra <= 5 else 5
    low = min(low, high)
    X = np.random.default_rng(seed).normal(size=(5, d)).astype(dtype)
    X[np.random.default_rng(seed + 1).random(X.shape) < 0.4] = 0
    degree, run = factors(high, kernel)
    expected = by_definition(X.astype(float), low, high, repeat, degree, run)
    csr = sp.csr_array(X)
    outcomes = []
    for module in (_numeric, definition):
        outcomes.append(dense(module, X, low, high, repeat, degree, run))
        lifted = sparse(module, csr, low, high, repeat, degree, run)
        assert lifted.has_canonical_format
        assert lifted.nnz == np.count_nonzero(
            by_definition((X != 0).astype(float), low, high, repeat, *factors(high, False))
        )
        outcomes.append(lifted.toarray())
    for outcome in outcomes:
        np.testing.assert_array_equal(outcome, outcomes[0])
    # every product takes at most 3 * high roundings
    tolerance = 3 * (high + 1) * np.finfo(dtype).eps
    np.testing.assert_allclose(outcomes[0], expected, rtol=tolerance, atol=0)


@MODULES
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("out_index", [np.int32, np.int64])
def test_index_types(module, index, out_index):
    X = sp.random_array((20, 9), density=0.4, format="csr", rng=np.random.default_rng(0))
    lifted = sparse(module, X, 1, 3, True, *factors(3, False), index, out_index)
    np.testing.assert_array_equal(lifted.toarray(), dense(module, X.toarray(), 1, 3, True, *factors(3, False)))


@MODULES
@pytest.mark.parametrize("repeat", [True, False])
def test_column_numbers_beyond_32_bits(module, repeat):
    d = 3_000_000
    columns = np.array([0, 1, 1_500_000, d - 2, d - 1], np.int32)
    X = sp.csr_array((np.arange(1.0, 6.0), columns, np.array([0, 5], np.int32)), shape=(1, d))
    sizes = sum(n_products(5, k, repeat) for k in range(3))
    data, indices = np.empty(sizes), np.empty(sizes, np.int64)
    last = ends(d, 0, 2, repeat)
    module.csr_monomials(X.data, X.indices, X.indptr, d, 0, 2, repeat, *factors(2, False), last, data, indices)
    expected = [0] + [1 + int(j) for j in columns]
    for a, b in combinations(5, 2, 2, repeat):
        i, j = int(columns[a]), int(columns[b])  # pairs before row i of the triangle, then along the row
        before = i * d - i * (i - 1) // 2 if repeat else i * (d - 1) - i * (i - 1) // 2
        expected.append(1 + d + before + j - i - (not repeat))
    assert indices.tolist() == expected


@MODULES
def test_nearly_all_columns_chosen_needs_no_more_room_than_the_result(module):
    X = np.random.default_rng(0).uniform(0.5, 2.0, size=(2, 64))
    out = dense(module, X, 62, 62, False, *factors(62, False))
    assert out.shape == (2, 2016)
    np.testing.assert_allclose(out[:, 0], np.prod(X[:, :62], axis=1), rtol=1e-13)
    np.testing.assert_allclose(out[:, -1], np.prod(X[:, 2:], axis=1), rtol=1e-13)
    np.testing.assert_array_equal(sparse(module, sp.csr_array(X), 62, 62, False, *factors(62, False)).toarray(), out)


@MODULES
def test_wrong_shapes_and_rows_out_of_order(module):
    X = np.ones((2, 3))
    with pytest.raises(ValueError, match=r"shape \(2, 10\)"):
        module.dense_monomials(X, 0, 2, True, np.ones(3), np.ones(3), np.empty((2, 9)))
    unsorted = np.array([2, 0], np.int32)
    with pytest.raises(ValueError, match="canonical"):
        module.csr_monomials(
            np.ones(2), unsorted, np.array([0, 2], np.int32), 3, 0, 2, True,
            np.ones(3), np.ones(3), np.array([1, 4, 10]), np.empty(6), np.empty(6, np.int64),
        )  # fmt: skip
    with pytest.raises(ValueError, match="6 entries"):
        module.csr_monomials(
            np.ones(2), unsorted[::-1].copy(), np.array([0, 2], np.int32), 3, 0, 2, True,
            np.ones(3), np.ones(3), np.array([1, 4, 10]), np.empty(5), np.empty(5, np.int64),
        )  # fmt: skip
