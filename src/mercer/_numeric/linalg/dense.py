"""Dense factorizations and solvers: the one door to the linear algebra of NumPy, SciPy, LAPACK and ARPACK.

Every call holds BLAS to one thread, so its bits do not depend on the number of cores, and no thread spins while another
has lost its core. Large products and Cholesky factors use all cores through the pool, in tiles that depend on shapes
only. A test keeps direct calls of `numpy.linalg` and `scipy.linalg` out of the rest of the package.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from mercer._runtime.blas import on_one_blas_thread
from mercer._runtime.pool import for_each

#: Multiplications from which on a product is worth being divided among cores, and rows of a part.
_MIN_SHARED, _PART_ROWS = 2**26, 512


@on_one_blas_thread
def eigh(A: np.ndarray, **options: Any) -> Any:
    """Eigenvalues in ascending order and eigenvectors of a symmetric matrix, or of each of a stack.

    Options such as `subset_by_index` are those of `scipy.linalg.eigh`.
    """
    if not options:
        return np.linalg.eigh(A)
    subset = options.get("subset_by_index")
    values, vectors = _scipy("eigh")(A, **options)
    if subset is not None and len(values) < subset[1] - subset[0] + 1:
        # LAPACK's bisection finds none of the eigenvalues of I - 11'/n, for example: equal ones at the end of a range.
        values, vectors = np.linalg.eigh(A)
        return values[subset[0] : subset[1] + 1], vectors[:, subset[0] : subset[1] + 1]
    return values, vectors


@on_one_blas_thread
def eigvalsh(A: np.ndarray) -> np.ndarray:
    """Eigenvalues of a symmetric matrix, ascending."""
    return np.linalg.eigvalsh(A)


@on_one_blas_thread
def eigsh(A: Any, k: int, **options: Any) -> Any:
    """Compute k extreme eigenvalues by the Lanczos iteration of ARPACK, with the options of SciPy's function."""
    return _scipy("eigsh", "scipy.sparse.linalg")(A, k, **options)


def qr(A: np.ndarray, mode: Any = "reduced") -> Any:
    """Q and R, or R alone with mode="r"; those of a stack of matrices are computed on all cores."""
    if A.ndim < 3 or mode != "reduced" or A.size < _PART_ROWS**2:
        return _qr(A, mode)
    m, n = A.shape[-2:]
    stack = A.reshape(-1, m, n)
    Q = np.empty((len(stack), m, min(m, n)), dtype=A.dtype)
    R = np.empty((len(stack), min(m, n), n), dtype=A.dtype)

    def factor(i: int) -> None:
        Q[i], R[i] = _qr(stack[i], mode)

    for_each(factor, range(len(stack)))
    return Q.reshape(*A.shape[:-2], *Q.shape[1:]), R.reshape(*A.shape[:-2], *R.shape[1:])


@on_one_blas_thread
def _qr(A: np.ndarray, mode: Any) -> Any:
    return np.linalg.qr(A, mode)


@on_one_blas_thread
def pivoted_qr(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reduced Q and R with the columns in an order of falling pivots, and that order."""
    return _scipy("qr")(A, mode="economic", pivoting=True, check_finite=False)


@on_one_blas_thread
def svd(A: np.ndarray, **options: Any) -> Any:
    """Singular value decomposition, with the options of `numpy.linalg.svd`."""
    return np.linalg.svd(A, **options)


@on_one_blas_thread
def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve A X = B by LU factors, for one matrix or each of a stack."""
    return np.linalg.solve(A, B)


@on_one_blas_thread
def inv(A: np.ndarray) -> np.ndarray:
    """Invert a square matrix."""
    return np.linalg.inv(A)


@on_one_blas_thread
def pinv(A: np.ndarray, **options: Any) -> np.ndarray:
    """Pseudo-inverse, with the options of `numpy.linalg.pinv`."""
    return np.linalg.pinv(A, **options)


@on_one_blas_thread
def lstsq(A: np.ndarray, B: np.ndarray, rcond: float | None = None, **options: Any) -> np.ndarray:
    """Minimum-norm solution of least squares; with options, that of `scipy.linalg.lstsq`."""
    return _scipy("lstsq")(A, B, **options)[0] if options else np.linalg.lstsq(A, B, rcond=rcond)[0]


@on_one_blas_thread
def norm(A: np.ndarray, **options: Any) -> Any:
    """Euclidean or Frobenius norm, with the options of `numpy.linalg.norm`."""
    return np.linalg.norm(A, **options)


@on_one_blas_thread
def cholesky(A: np.ndarray, **options: Any) -> np.ndarray:
    """Cholesky factor, upper unless `lower`; LinAlgError if A is not positive definite."""
    return _scipy("cholesky")(A, **options)


@on_one_blas_thread
def cho_factor(A: np.ndarray, **options: Any) -> tuple[np.ndarray, bool]:
    """Cholesky factor for `cho_solve`, with the options of SciPy's function."""
    return _scipy("cho_factor")(A, **options)


@on_one_blas_thread
def cho_solve(factor: tuple[np.ndarray, bool], B: np.ndarray, **options: Any) -> np.ndarray:
    """Solve A X = B by a Cholesky factor of A."""
    return _scipy("cho_solve")(factor, B, **options)


@on_one_blas_thread
def solve_triangular(T: np.ndarray, B: np.ndarray, **options: Any) -> np.ndarray:
    """Solve T X = B for a triangular matrix, with the options of SciPy's function."""
    return _scipy("solve_triangular")(T, B, **options)


@on_one_blas_thread
def lapack(name: str, *args: Any, **options: Any) -> Any:
    """Call a function of LAPACK by its name, such as "dpotrf", as `scipy.linalg.lapack` wraps it."""
    return _scipy(name, "scipy.linalg.lapack")(*args, **options)


@on_one_blas_thread
def blas(name: str, *args: Any, **options: Any) -> Any:
    """Call a function of BLAS by its name, such as "dtrsm", as `scipy.linalg.blas` wraps it."""
    return _scipy(name, "scipy.linalg.blas")(*args, **options)


def prefix(dtype: Any) -> str:
    """The first letter of the names of LAPACK for a precision."""
    return "s" if np.dtype(dtype) == np.float32 else "d"


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B on all cores, in parts of rows of A that depend on shapes only."""
    if A.shape[0] <= _PART_ROWS or A.size * B.shape[1] < _MIN_SHARED:
        return _matmul(A, B)
    out = np.empty((A.shape[0], B.shape[1]), dtype=np.result_type(A, B))
    for_each(partial(_fill_rows, A, B, out), range(0, len(A), _PART_ROWS))
    return out


def _fill_rows(A: np.ndarray, B: np.ndarray, out: np.ndarray, start: int) -> None:
    rows = slice(start, start + _PART_ROWS)
    np.matmul(A[rows], B, out=out[rows])


@on_one_blas_thread
def _matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B


@cache
def _scipy(name: str, module: str = "scipy.linalg") -> Any:
    # SciPy is imported at the first call: `import mercer` stays cheap.
    return getattr(import_module(module), name)
