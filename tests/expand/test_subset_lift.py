"""SubsetLift: every subset once, in the stated order, with the all-subsets kernel as inner product."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.expand import SubsetLift


def rows(n=8, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < 0.3, 0, rng.normal(size=(n, d)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("d", [1, 2, 5, 10])
def test_inner_products_are_products_over_columns(form, d):
    X, Y = rows(d=d), rows(4, d, 1)
    lift = SubsetLift().fit(form(X))
    Z, W = lift.transform(form(X)), lift.transform(form(Y))
    assert Z.shape == (8, 2**d)
    exact = np.prod(1 + X[:, None] * Y[None], axis=2)
    inner = (Z @ W.T).toarray() if sp.issparse(Z) else Z @ W.T
    scale = np.prod(1 + np.abs(X[:, None] * Y[None]), axis=2)
    assert np.all(np.abs(inner - exact) <= 1e-12 * scale)


@pytest.mark.parametrize("max_size", [0, 1, 3, 5, 9, None])
def test_order_and_names(max_size):
    X = rows()
    lift = SubsetLift(max_size).fit(X)
    subsets = [s for k in range(min(max_size if max_size is not None else 5, 5) + 1)
               for s in itertools.combinations(range(5), k)]  # fmt: skip
    expected = np.stack([np.prod(X[:, list(s)], axis=1) for s in subsets], axis=1)
    np.testing.assert_allclose(lift.transform(X), expected, rtol=1e-14)
    assert [lift.columns_of(j) for j in range(len(subsets))] == subsets
    assert lift.get_feature_names_out().tolist() == [" ".join(f"x{j}" for j in s) or "1" for s in subsets]
    np.testing.assert_array_equal(lift.powers_, [[j in s for j in range(5)] for s in subsets])


def test_sparse_rows_of_many_columns():
    X = sp.random_array((20, 60), density=0.05, format="csr", rng=np.random.default_rng(0))
    Z = SubsetLift().fit_transform(X)
    assert Z.shape == (20, 2**60)
    assert np.diff(Z.indptr).tolist() == [2 ** int(m) for m in np.diff(X.indptr)]
    dense = X.toarray()
    np.testing.assert_allclose(
        [row.data.sum() for row in (Z[[i]] for i in range(20))], np.prod(1 + dense, axis=1), rtol=1e-13
    )
    wide = sp.random_array((5, 50_000), density=1e-4, format="csr", rng=np.random.default_rng(1))
    assert SubsetLift(3).fit_transform(wide).shape[1] == sum(math.comb(50_000, k) for k in range(4))


def test_too_many_subsets():
    with pytest.raises(ValueError, match=r"63 columns have 2\^63 subsets.*max_size"):
        SubsetLift().fit(np.ones((1, 63)))
    with pytest.raises(MemoryError, match="1,099,511,627,776 columns x 8 bytes"):
        SubsetLift().fit_transform(np.ones((1, 40)))
    with pytest.raises(ValueError, match="max_size must be a whole number"):
        SubsetLift(-1).fit(np.ones((1, 3)))
