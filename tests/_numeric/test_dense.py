"""The door to dense linear algebra: results of NumPy and SciPy, one BLAS thread, and no way around it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

import mercer
from mercer._numeric.linalg import dense
from mercer._runtime.blas import limit_methods, on_one_blas_thread, single_threaded_blas

SOURCE = Path(mercer.__file__).parent
#: The door, and the module that loads SciPy's BLAS before it lists the libraries.
ALLOWED = {"_numeric/linalg/dense.py", "_runtime/blas.py"}
#: Functions that the interactive page shows as code to copy; its server holds BLAS to one thread.
SHOWN = "explore/topics/"
LIBRARIES = ("numpy.linalg", "scipy.linalg", "scipy.sparse.linalg")
#: Exceptions are no calls.
EXCEPTIONS = {"LinAlgError", "ArpackNoConvergence"}


def direct_uses(tree):
    """(line, name) of each use of the linear algebra of NumPy and SciPy in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(LIBRARIES):
            yield from ((node.lineno, each.name) for each in node.names if each.name not in EXCEPTIONS)
        elif isinstance(node, ast.ImportFrom) and node.module in ("numpy", "scipy", "scipy.sparse"):
            yield from ((node.lineno, each.name) for each in node.names if each.name == "linalg")
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names if each.name.startswith(LIBRARIES))
        elif isinstance(node, ast.Attribute) and getattr(node.value, "attr", None) == "linalg":
            yield from [] if node.attr in EXCEPTIONS else [(node.lineno, node.attr)]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("np.linalg.qr(A)", ["qr"]),
        ("from scipy.linalg import eigh", ["eigh"]),
        ("from scipy.sparse.linalg import ArpackNoConvergence, eigsh", ["eigsh"]),
        ("import scipy.linalg as la", ["scipy.linalg"]),
        ("from scipy import linalg, sparse", ["linalg"]),
        ("try:\n    pass\nexcept np.linalg.LinAlgError:\n    pass", []),
        ("from mercer._numeric.linalg import dense\ndense.qr(A)", []),
    ],
)
def test_direct_uses_are_found(code, found):
    assert [name for _, name in direct_uses(ast.parse(code))] == found


def test_linear_algebra_goes_through_the_door():
    found = [
        f"{name}:{line} {used}"
        for path in sorted(SOURCE.rglob("*.py"))
        if (name := path.relative_to(SOURCE).as_posix()) not in ALLOWED and not name.startswith(SHOWN)
        for line, used in direct_uses(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "call mercer._numeric.linalg.dense instead"


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def symmetric(n=60):
    A = np.random.default_rng(0).normal(size=(n, n))
    return A @ A.T + np.eye(n)


def test_results_are_those_of_the_libraries():
    A, B = symmetric(), np.random.default_rng(1).normal(size=(60, 3))
    factor = dense.cho_factor(A, lower=True)
    eps = 60 * np.finfo(float).eps * np.linalg.cond(A)
    for solution in (
        dense.solve(A, B),
        dense.lstsq(A, B),
        dense.lstsq(A, B, lapack_driver="gelsy"),
        dense.inv(A) @ B,
        dense.pinv(A) @ B,
        dense.cho_solve(factor, B),
        dense.solve_triangular(dense.cholesky(A), dense.solve_triangular(dense.cholesky(A), B, trans=1)),
        dense.lapack("dposv", A, B)[1],
    ):
        np.testing.assert_allclose(A @ solution, B, rtol=0, atol=eps * np.abs(B).max())
    values, vectors = dense.eigh(A)
    np.testing.assert_allclose(A @ vectors, vectors * values, rtol=0, atol=eps)
    np.testing.assert_array_equal(dense.eigvalsh(A), np.linalg.eigvalsh(A))
    assert dense.eigh(A, subset_by_index=[59, 59])[0] == pytest.approx(values[-1:])
    assert dense.eigsh(A, 1, return_eigenvectors=False) == pytest.approx(values[-1:])
    assert dense.norm(A) == pytest.approx(scipy.linalg.norm(A))
    np.testing.assert_allclose(dense.svd(A, compute_uv=False), values[::-1], rtol=eps)
    Q, R, order = dense.pivoted_qr(A)
    np.testing.assert_allclose(Q @ R, A[:, order], rtol=0, atol=eps)


@pytest.mark.parametrize("shape", [(7, 5), (3, 4, 4), (20, 200, 200), (2, 3, 150, 120)])
def test_factors_of_a_stack_are_those_of_its_matrices(shape):
    A = np.random.default_rng(0).normal(size=shape)
    Q, R = dense.qr(A)
    for index in np.ndindex(shape[:-2]):
        q, r = np.linalg.qr(A[index])
        np.testing.assert_allclose(Q[index] @ R[index], q @ r, atol=1e-12)
        np.testing.assert_allclose(Q[index].T @ Q[index], np.eye(Q.shape[-1]), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_have_the_same_bits_on_any_number_of_threads(monkeypatch, dtype):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(1700, 300)).astype(dtype), rng.normal(size=(300, 400)).astype(dtype)
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setenv("MERCER_THREADS", str(threads))
        with threadpool_limits(threads, user_api="blas"):
            found.append(dense.product(A, B))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    np.testing.assert_allclose(found[0], A.astype(float) @ B, rtol=0, atol=300 * np.finfo(dtype).eps * 30)


def test_the_limit_is_lifted_afterwards_also_after_an_error():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(np.linalg.LinAlgError):
            dense.cholesky(-np.eye(3))
        assert blas_threads() == {2}
        with single_threaded_blas():
            dense.solve(symmetric(), np.ones(60))
            assert blas_threads() == {1}
        assert blas_threads() == {2}


def test_methods_are_decorated_once_where_a_class_defines_them():
    class Base:
        def fit(self):
            return blas_threads()

        def other(self):
            return blas_threads()

    limit_methods(Base, ["fit", "predict"])
    with threadpool_limits(2, user_api="blas"):
        assert (Base().fit(), Base().other()) == ({1}, {2})
        assert on_one_blas_thread(blas_threads)() == {1}
    assert not hasattr(Base, "predict")


@pytest.mark.parametrize(("dtype", "letter"), [(np.float32, "s"), (np.float64, "d"), ("float32", "s")])
def test_functions_of_lapack_have_the_letter_of_their_precision(dtype, letter):
    assert dense.prefix(dtype) == letter
    factor, info = dense.lapack(f"{dense.prefix(dtype)}potrf", np.array([[4.0]], dtype=dtype))
    assert (factor.dtype, factor[0, 0], info) == (np.dtype(dtype), 2.0, 0)
