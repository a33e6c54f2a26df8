"""Block-hash projections of rows: the definition's bits, for CSR and dense rows, any layout."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer import _numeric
from mercer._numeric.sketch import projection
from naive import hashed_index

IMPLEMENTATIONS = {"definition": projection} | ({"compiled": _numeric} if _numeric.compiled else {})
every_implementation = pytest.mark.parametrize("name", IMPLEMENTATIONS)
every_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_map = pytest.mark.parametrize(("nonzeros", "m", "with_signs"), [(1, 7, True), (4, 64, True), (8, 8, False)])


def rows(n, d, dtype, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < density)).astype(dtype)
    X.flags.writeable = False
    return X


def project(functions, X, seed, nonzeros, with_signs, m):
    out = np.full((X.shape[0], m), np.nan, X.dtype)
    if sparse.issparse(X):
        functions.sketch_csr(X.data, X.indices, X.indptr, seed, nonzeros, with_signs, out)
    else:
        functions.sketch_dense(X, seed, nonzeros, with_signs, out)
    return out


@every_dtype
@every_map
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_all_ways_give_the_same_bits(dtype, nonzeros, m, with_signs, index):
    X = rows(70, 300, dtype)
    csr = sparse.csr_matrix(X)
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    how = (2**64 - 3, nonzeros, with_signs, m)
    results = [project(f, table, *how) for f in IMPLEMENTATIONS.values() for table in (X, csr, np.asfortranarray(X))]
    assert len({result.tobytes() for result in results}) == 1


@every_implementation
@every_map
def test_it_is_the_formula(name, nonzeros, m, with_signs):
    d, width = 40, m // nonzeros
    matrix = np.zeros((m, d))
    for j in range(d):
        key = _numeric.splitmix64([j], 5)
        for i in range(nonzeros):
            index, sign = hashed_index(key, i, width)
            matrix[i * width + index, j] = (sign if with_signs else 1) / np.sqrt(nonzeros)
    X = rows(9, d, np.float64)
    np.testing.assert_allclose(project(IMPLEMENTATIONS[name], X, 5, nonzeros, with_signs, m), X @ matrix.T, atol=1e-14)


@every_implementation
def test_places_of_huge_columns_and_long_rows(name):
    columns = np.array([0, 1, 2**31 + 5, 2**62], np.int64)
    out = np.empty((1, 16))
    IMPLEMENTATIONS[name].sketch_csr(np.ones(4), columns, np.array([0, 4], np.int64), 0, 2, True, out)
    indices, signs = projection.key_buckets(_numeric.splitmix64(columns, 0), 2, 16)
    expected = np.bincount(indices.ravel(), signs.ravel() / np.sqrt(2), minlength=16)
    np.testing.assert_allclose(out[0], expected, atol=1e-15)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_row_is_the_same_bits_in_every_split(data):
    n, d = data.draw(st.tuples(st.integers(1, 80), st.integers(1, 300)))
    X = rows(n, d, np.float32)
    csr = sparse.csr_matrix(X)
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=4))), n]
    whole = project(_numeric, X, 1, 4, True, 32)
    split = np.full_like(whole, np.nan)
    for first, last in pairwise(cuts):
        _numeric.sketch_csr(csr.data, csr.indices, csr.indptr[first : last + 1], 1, 4, True, split[first:last])
    assert whole.tobytes() == split.tobytes()


@every_implementation
def test_misfits_are_explained(name):
    functions, X = IMPLEMENTATIONS[name], rows(3, 5, np.float64)
    with pytest.raises(ValueError, match="out has 10 columns, which 4 nonzeros per column do not divide"):
        functions.sketch_dense(X, 0, 4, True, np.empty((3, 10)))
    with pytest.raises(ValueError, match="X has 3 rows but out has 2"):
        functions.sketch_dense(X, 0, 4, True, np.empty((2, 8)))
    csr = sparse.csr_matrix(X)
    with pytest.raises(ValueError, match="indptr must have 3 entries"):
        functions.sketch_csr(csr.data, csr.indices, csr.indptr, 0, 4, True, np.empty((2, 8)))
    with pytest.raises(ValueError, match="indptr must rise within"):
        functions.sketch_csr(csr.data, csr.indices, csr.indptr + 9, 0, 4, True, np.empty((3, 8)))
    with pytest.raises(ValueError, match="data and indices must be of one length"):
        functions.sketch_csr(csr.data[:-1], csr.indices, csr.indptr, 0, 4, True, np.empty((3, 8)))


LEVELS = ["v2", "v3", "v4"]


@pytest.mark.parametrize("level", LEVELS[: LEVELS.index(_numeric.isa())] if _numeric.isa() in LEVELS else [])
def test_lower_instruction_sets_pass_all_this(level):
    command = [sys.executable, "-m", "pytest", __file__, "-q", "-k", "not instruction_sets", "-p", "no:cacheprovider"]
    done = subprocess.run(command, env={**os.environ, "MERCER_ISA": level}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
