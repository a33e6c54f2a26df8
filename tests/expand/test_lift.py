"""lift(kernel): for every finite kernel and composition, inner products of features are kernel values."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from mercer._numeric.block import Block
from mercer.expand import lift
from mercer.kernels import (
    AllSubsets,
    Anova,
    Constant,
    Custom,
    Gaussian,
    Laplace,
    Linear,
    Overlap,
    Polynomial,
    Precomputed,
    Sinc,
)
from mercer.source import MemorySource, StreamSource

KERNELS = [
    Constant(2.5),
    Constant(0.0),
    Linear(),
    Polynomial(0),
    Polynomial(1, offset=0.5),
    Polynomial(2),
    Polynomial(3, offset=0.0, scale=0.5),
    Polynomial(4, offset=2.0, scale=0.25),
    AllSubsets(),
    AllSubsets(scale=0.3),
    Anova(0),
    Anova(1),
    Anova(3),
    Anova(5),
    Overlap(),
    0.5 * Linear(),
    0 * Linear(),
    Linear() + Linear(),
    Linear() + 1 + Polynomial(2),
    Linear() * Linear(),
    Polynomial(2) * (Linear() + 0.5 * AllSubsets()),
    Linear() * Linear() * Overlap(),
    Linear().on([0, 2]),
    Linear().on(1) * Polynomial(2).on(slice(1, None)),
    AllSubsets().on([True, False, True, True, False]),
    Polynomial(2).normalized(),
    Linear().normalized() + Linear().on([3]),
    2 * (Linear() + Anova(2).normalized()).normalized(),
]
TABLE = pytest.mark.parametrize("kernel", KERNELS, ids=str)
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix], ids=["dense", "array", "matrix"])


def rows(n=9, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 5)) < 0.4, 0, rng.normal(size=(n, 5))).astype(dtype)
    X[n // 2] = 0  # a row with nothing in it
    return X


def inner(A, B):
    product = A @ B.T
    return product.toarray() if sp.issparse(product) else product


@TABLE
@FORMS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inner_products_are_kernel_values(kernel, form, dtype):
    X, new = rows(dtype=dtype), rows(4, dtype, seed=1)
    phi = lift(kernel).fit(form(X))
    Z, W = phi.transform(form(X)), phi.transform(form(new))
    assert type(Z) is type(form(X))
    assert Z.dtype == dtype
    assert Z.shape == (9, phi.n_output_features_)
    # relative to the kernel of the absolute values: signs only cancel
    size = max(1.0, float(np.abs(kernel(np.abs(X.astype(float)))).max()))
    tolerance = (1e-10 if dtype == np.float64 else 64 * np.finfo(np.float32).eps) * size
    np.testing.assert_allclose(inner(Z, Z), kernel(X.astype(float)), rtol=0, atol=tolerance)
    np.testing.assert_allclose(inner(W, Z), kernel(new.astype(float), X.astype(float)), rtol=0, atol=tolerance)


@TABLE
def test_names_copies_and_sources(kernel):
    X = rows()
    phi = lift(kernel).fit(X)
    names = phi.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == phi.n_output_features_
    Z = phi.transform(X)
    for other in (clone(phi).fit(X), pickle.loads(pickle.dumps(phi)), clone(phi).fit(MemorySource(X))):
        np.testing.assert_array_equal(other.transform(X), Z)
    (block,) = phi.transform(MemorySource(X)).blocks()
    np.testing.assert_array_equal(block.X, Z)
    before = X.copy()
    phi.transform(X)[:] = 7
    np.testing.assert_array_equal(X, before)


def test_names_say_what_the_columns_are():
    X = rows()[:, :2]
    assert lift(Linear() + Linear()).fit(X).get_feature_names_out().tolist() == ["0: x0", "0: x1", "1: x0", "1: x1"]
    frame = pd.DataFrame(X, columns=["a", "b"])
    product = lift(Linear().on("a") * Polynomial(2).on(["b"])).fit(frame)
    assert product.get_feature_names_out().tolist() == ["a * 1", "a * b", "a * b^2"]
    np.testing.assert_allclose(product.transform(frame), X[:, :1] * [1, 2**0.5, 1] * X[:, 1:] ** [0, 1, 2])


SETS = [["red", "round", "red"], ("square",), {"round"}, [], {"blue", "square"}]
LATER = [{"red", "green"}, {"green"}, {"square", "round"}]


def column_of(items):
    column = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        column[i] = item
    return column


SET_KERNELS = [
    Overlap(),
    2 * Overlap() + 1,
    Overlap().normalized(),
    Overlap() * Overlap(),
    (Overlap() * (2 * Overlap() + 1) + Overlap().normalized()).normalized(),
]


@pytest.mark.parametrize("kernel", SET_KERNELS, ids=str)
@pytest.mark.parametrize("form", [list, column_of, lambda items: column_of(items)[:, None]])
def test_sets_of_tokens(kernel, form):
    phi = lift(kernel).fit(form(SETS))
    Z, W = phi.transform(form(SETS)), phi.transform(form(LATER))
    assert sp.issparse(Z)
    np.testing.assert_allclose(inner(Z, Z), kernel(SETS), atol=1e-12)
    np.testing.assert_allclose(inner(W, Z), kernel(LATER, SETS), atol=1e-12)
    assert len(set(phi.get_feature_names_out())) == Z.shape[1]


def test_the_vocabulary_is_the_same_however_the_rows_arrive():
    whole = lift(Overlap()).fit(SETS)
    assert whole.get_feature_names_out().tolist() == ["has 'blue'", "has 'red'", "has 'round'", "has 'square'"]
    pieces = lift(Overlap())
    for item in SETS:
        pieces.partial_fit([item])
    column = column_of(SETS)
    stream = lift(Overlap()).fit(StreamSource(lambda: (Block(column[i : i + 2]) for i in range(0, 5, 2))))
    merged = lift(Overlap()).fit(SETS[:2]).merge(lift(Overlap()).fit(SETS[2:]))
    copied = pickle.loads(pickle.dumps(whole))
    for other in (pieces, stream, merged, copied):
        assert (other.transform(SETS) != whole.transform(SETS)).nnz == 0
    with pytest.raises(ValueError, match="must hold sets, as in fit"):
        whole.transform(np.ones((2, 1)))


def test_tables_of_sets_and_numbers():
    frame = pd.DataFrame({"tags": SETS, "age": [1.0, 2.0, 3.0, 4.0, 5.0], "size": [0.5, 0.0, 1.0, 2.0, 1.0]})
    kernel = Overlap().on("tags") * Linear().on(["age", "size"]) + Polynomial(2).on(["age"])
    phi = lift(kernel).fit(frame)
    Z = phi.transform(frame)
    np.testing.assert_allclose(inner(Z, Z), kernel(frame), rtol=1e-10)
    assert len(set(phi.get_feature_names_out())) == Z.shape[1] == 4 * 2 + 3
    listed = [[tags, age] for tags, age in zip(frame["tags"], frame["age"], strict=True)]
    by_place = Overlap().on(0) + Linear().on([1])
    Z = lift(by_place).fit_transform(listed)
    np.testing.assert_allclose(inner(Z, Z), by_place(listed), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(2.0), r"Gaussian\(bandwidth=2.0\) has no finite lift.*full rank.*RandomFeatures.*Landmarks"),
        (Laplace(norm="l1") * Linear(), "Laplace.*no finite lift"),
        (Linear() + 2 * Sinc().on([0]), "Sinc.*no finite lift"),
        (Custom(max), "cannot see into a function.*Landmarks"),
        (Precomputed().normalized(), "Precomputed"),
        (Polynomial(-1), "degree must be"),
    ],
)
def test_kernels_without_a_finite_lift_are_refused_at_once(kernel, message):
    with pytest.raises(ValueError, match=message):
        lift(kernel)


def test_what_is_not_a_kernel():
    with pytest.raises(TypeError, match=r"one of mercer\.kernels"):
        lift(np.dot)


def test_sizes_are_known_before_anything_is_computed(monkeypatch):
    X = np.ones((100, 2000))
    with pytest.raises(ValueError, match="64-bit column numbers"):
        lift(Polynomial(3) * Polynomial(4)).fit(X)
    monkeypatch.setattr("mercer._runtime.memory.available_memory", lambda: 10**8)
    with pytest.raises(MemoryError, match=r"100 rows x 4,000,000 columns x 8 bytes = 3.2 GB"):
        lift(Linear() * Linear()).fit_transform(X)
    with pytest.raises(MemoryError, match=r"400,000,000 stored entries"):
        lift(Linear() * Linear()).fit_transform(sp.csr_array(X))


def test_wide_sparse_rows():
    X = sp.random_array((20, 100_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    kernel = Polynomial(2) + Linear() * Linear() + Linear()
    Z = lift(kernel).fit_transform(X)
    assert Z.shape[1] > 2**33
    assert Z.has_canonical_format
    _, used = np.unique(Z.indices, return_inverse=True)  # SciPy's own product would allocate for every column
    Z = sp.csr_array((Z.data, used, Z.indptr))
    np.testing.assert_allclose(inner(Z, Z), kernel(X), rtol=1e-10, atol=1e-12)


def test_a_kernel_by_name():
    assert lift("all-subsets").kernel == AllSubsets()
    with pytest.raises(ValueError, match="Did you mean 'polynomial'"):
        lift("poly")
