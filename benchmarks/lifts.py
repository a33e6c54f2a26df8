"""PolynomialLift against scikit-learn's PolynomialFeatures: the same columns, dense and CSR."""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures

from benchmarks.harness import measure, show, size
from mercer.expand import PolynomialLift

PEER = "scikit-learn PolynomialFeatures"
REPEATS = int(os.environ.get("MERCER_BENCH_REPEATS", "3"))


def run() -> None:
    rng = np.random.default_rng(0)
    dense("dense float32, 2,000 x 784, degree 2", rng.normal(size=size((2000, 784), (20, 30))).astype(np.float32), 2)
    dense("dense float64, 20,000 x 20, degree 3", rng.normal(size=size((20_000, 20), (50, 5))), 3)
    sparse("CSR, 20,000 x 1,000 at 1 %, degree 2", size((20_000, 1000), (50, 40)), 0.01, 2)
    sparse("CSR, 2,000 x 200 at 5 %, degree 3", size((2000, 200), (50, 20)), 0.05, 3)
    sparse("CSR, 200 x 12 at 5 %, degree 4", size((200, 12), (20, 6)), 0.05, 4, repeats=1)
    wide()


def dense(title, X, degree) -> None:
    compare(title, X, degree, REPEATS)


def sparse(title, shape, density, degree, repeats=REPEATS) -> None:
    compare(title, sp.random(*shape, density, format="csr", random_state=0), degree, repeats)


def compare(title, X, degree, repeats) -> None:
    ours, peer = PolynomialLift(degree).fit(X), PolynomialFeatures(degree).fit(X)
    rows = measure({PEER: lambda: peer.transform(X), "PolynomialLift": lambda: ours.transform(X)}, PEER, repeats)
    show(title, rows, check(ours, peer, X[:100]))


def check(ours, peer, X) -> str:
    """The same values, up to the order in which the factors were multiplied, under the same names."""
    a, b = ours.transform(X), peer.transform(X)
    if sp.issparse(a):
        a, b = a.toarray(), b.toarray()
    np.testing.assert_allclose(a, b, rtol=4 * ours.degree * np.finfo(a.dtype).eps)
    assert list(ours.get_feature_names_out()) == list(peer.get_feature_names_out())
    error = np.abs(a - b).max() / np.abs(b).max()
    return f"the same names; largest difference {error:.0e} of the largest value"


def wide() -> None:
    """100,000 columns: five billion products, of which a row stores only the nonzero ones."""
    X = sp.random(*size((2000, 100_000), (20, 2000)), 0.0005, format="csr", random_state=0)
    lift = PolynomialLift(2).fit(X)
    rows = measure({"PolynomialLift": lambda: lift.transform(X)}, "PolynomialLift", REPEATS)
    show(f"CSR, 2,000 x 100,000 at 0.05 %, degree 2: {lift.n_output_features_:,} columns", rows, wide_is_right(lift, X))


def wide_is_right(lift, X) -> str:
    """Products of the stored entries of some rows, one by one; scikit-learn would index five billion columns."""
    Z = lift.transform(X[:20])
    for i in range(20):
        x = X[[i]].toarray().ravel()
        x = x[np.flatnonzero(x)]
        i_, j_ = np.triu_indices(len(x))
        expected = np.sort(np.concatenate([[1.0], x, x[i_] * x[j_]]))
        np.testing.assert_allclose(np.sort(Z[[i]].data), expected, rtol=1e-12)
    return "20 rows: the products of their stored entries"
