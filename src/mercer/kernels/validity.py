"""Check whether a similarity is a Mercer kernel, with a witness, and repair a matrix that is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense
from mercer._runtime.blas import on_one_blas_thread
from mercer.kernels.base import Kernel
from mercer.kernels.custom import Custom

LARGE = 2000  # rows up to which all eigenvalues are computed
SHORT_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32)


@dataclass(frozen=True, eq=False)
class MercerReport:
    """Result of :func:`check_mercer`; ``print`` shows it as text.

    Attributes
    ----------
    symmetric : bool
        k(x, z) = k(z, x) within `tolerance`.
    positive : bool
        k(x, x) >= 0 for every row.
    psd : bool
        The symmetric part of the matrix has no eigenvalue below -`tolerance`.
    min_eigenvalue : float
    witness : array or None
        A unit vector c with c'Kc < 0 when there is one, with as few non-zero entries as could be found.
    witness_value : float or None
        c'Kc.
    asymmetry : float
        The largest |k(x, z) - k(z, x)|, found at the rows `asymmetric_pair`.
    smallest_diagonal : float
    tolerance : float
        n * machine epsilon * the largest magnitude of an eigenvalue, unless the caller set it.
    rows : array or None
        The rows that were checked when not all were.
    """

    symmetric: bool
    positive: bool
    psd: bool
    min_eigenvalue: float
    witness: np.ndarray | None
    witness_value: float | None
    asymmetry: float
    asymmetric_pair: tuple[int, int]
    smallest_diagonal: float
    tolerance: float
    n_rows: int
    rows: np.ndarray | None = None

    @property
    def valid(self) -> bool:
        """Whether no condition of a Mercer kernel is violated."""
        return self.symmetric and self.positive and self.psd

    def __str__(self) -> str:
        lines = [f"{'A valid' if self.valid else 'Not a'} Mercer kernel on these {self.n_rows} rows."]
        if self.rows is not None:
            lines[0] += f" Only a random sample of {len(self.rows)} of them was checked."
        if not self.symmetric:
            i, j = self.asymmetric_pair
            lines.append(f"Not symmetric: k(row {i}, row {j}) and k(row {j}, row {i}) differ by {self.asymmetry:.3g}.")
        if not self.positive:
            lines.append(f"Not positive: some k(x, x) is {self.smallest_diagonal:.3g}.")
        lines.append(f"Smallest eigenvalue {self.min_eigenvalue:.3g} (tolerance {self.tolerance:.1g}).")
        if self.witness is not None:
            lines.append(_in_words(self.witness, self.witness_value))
        return "\n".join(lines)


@on_one_blas_thread
def check_mercer(kernel_or_matrix: Any, X: Any = None, tolerance: float | None = None) -> MercerReport:
    """Check symmetry, k(x, x) >= 0 and positive semidefiniteness on the rows of X.

    A finite sample can refute a kernel, never prove one: a clean report means that no violation was found
    on these rows.

    Use it for similarities from elsewhere, before a kernel machine. Kernels of this library are kernels by proof and
    need no check. It costs the eigenvalues of a matrix of at most 2,000 rows, n^3 operations.

    Parameters
    ----------
    kernel_or_matrix : Kernel, function of two objects, or square matrix
    X : rows, needed unless a matrix is given
        More than 2,000 rows are sampled (from a fixed seed), and the report says so: by interlacing, a
        negative eigenvalue of a sample is one of the whole. For a matrix of that size the smallest
        eigenvalue comes from Lanczos iteration, or from a sample of its rows should that not converge.
    tolerance : float, optional
        How far below 0 an eigenvalue counts as 0, and how large an asymmetry is rounding; by default
        n * machine epsilon * the largest magnitude of an eigenvalue.

    Returns
    -------
    MercerReport

    >>> from mercer.kernels import check_mercer
    >>> print(check_mercer([[1.0, 1.5], [1.5, 1.0]]))
    Not a Mercer kernel on these 2 rows.
    Smallest eigenvalue -0.5 (tolerance 1e-15).
    Rows 0 and 1 with weights +0.707 and -0.707: the combination has c'Kc = -0.5 < 0.
    """
    K, n, rows = _similarities(kernel_or_matrix, X)
    asymmetry, pair = _asymmetry(K)
    epsilon = np.finfo(K.dtype).eps
    S = _symmetric_part(K)
    low, high, vector = _extremes(S)
    if tolerance is None:
        tolerance = float(len(S) * epsilon * max(abs(low), abs(high)))
    witness, value = (None, None) if low >= -tolerance else _short_witness(S, vector, tolerance)
    if rows is not None:
        pair = int(rows[pair[0]]), int(rows[pair[1]])
        if witness is not None:
            full = np.zeros(n)
            full[rows] = witness
            witness = full
    smallest = float(K.diagonal().min())
    return MercerReport(
        symmetric=asymmetry <= tolerance,
        positive=smallest >= 0,
        psd=low >= -tolerance,
        min_eigenvalue=low,
        witness=witness,
        witness_value=value,
        asymmetry=asymmetry,
        asymmetric_pair=pair,
        smallest_diagonal=smallest,
        tolerance=tolerance,
        n_rows=n,
        rows=rows,
    )


@on_one_blas_thread
def repair(K: Any, how: str = "clip") -> np.ndarray:
    """The nearest use of an indefinite similarity matrix: its symmetric part, made positive semidefinite.

    Only these rows are repaired: the similarities of new rows to them are not.
    Chen, Garcia, Gupta, Rahimi and Cazzanti, Similarity-based classification, JMLR 2009.

    Use it for a matrix that `check_mercer` refutes if only its own rows are of interest, as in clustering. For
    predictions of new rows use a similarity that is a kernel, or the similarities as columns of a linear model.

    Parameters
    ----------
    K : square matrix
    how : {"clip", "flip", "shift"}
        What happens to the negative eigenvalues. "clip" sets them to 0, which is the nearest positive
        semidefinite matrix in Frobenius norm (Higham 1988): negative parts are noise. "flip" takes
        absolute values: negative parts carry information. "shift" adds the same number to all
        eigenvalues, K - min_eigenvalue I: only self-similarities change.

    >>> from mercer.kernels import repair
    >>> repair([[1.0, 3.0], [3.0, 1.0]], how="clip")
    array([[2., 2.],
           [2., 2.]])
    """
    if how not in ("clip", "flip", "shift"):
        raise ValueError(f"how must be 'clip', 'flip' or 'shift', got {how!r}")
    K = _square(K)
    S = _symmetric_part(K)
    values, vectors = dense.eigh(S)
    if values.size and values[0] < 0:
        if how == "shift":
            S = S + np.diag(np.full(len(S), -values[0]))
        else:
            # change what is negative only, so that the rest keeps its digits
            negative = values < 0
            part = vectors[:, negative]
            S = S + (1 if how == "clip" else 2) * (part * -values[negative]) @ part.T
            S = (S + S.T) / 2
    return S.astype(K.dtype, copy=False)


def _similarities(kernel_or_matrix: Any, X: Any) -> tuple[np.ndarray, int, np.ndarray | None]:
    """The matrix to check, the number of rows it stands for, and which of them if it is a sample."""
    kernel = kernel_or_matrix
    if not isinstance(kernel, Kernel) and callable(kernel):
        kernel = Custom(kernel)
    if not isinstance(kernel, Kernel):
        if X is not None:
            raise ValueError("check_mercer: X goes with a kernel or a function; a matrix is checked alone")
        K = _square(kernel)
        return K, len(K), None
    if X is None:
        raise ValueError(f"check_mercer: {kernel} needs rows X to be checked on")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n <= LARGE:
        return _square(kernel(X)), n, None
    rows = np.sort(np.random.default_rng(0).choice(n, LARGE, replace=False))
    return _square(kernel(_take(X, rows))), n, rows


def _take(X: Any, rows: np.ndarray) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def _square(K: Any) -> np.ndarray:
    K = np.asarray(K.toarray() if hasattr(K, "toarray") else K)
    if K.dtype not in (np.float32, np.float64):
        K = K.astype(float)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.size == 0:
        raise ValueError(f"a square matrix of similarities is needed, got shape {K.shape}")
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"the similarity of rows {i} and {j} is {K[i, j]}: it must be finite")
    return K


def _symmetric_part(K: np.ndarray) -> np.ndarray:
    S = K.astype(float)
    return S / 2 + S.T / 2


def _asymmetry(K: np.ndarray) -> tuple[float, tuple[int, int]]:
    difference = np.abs(K - K.T)
    i, j = np.unravel_index(int(np.argmax(difference)), K.shape)
    return float(difference[i, j]), (int(i), int(j))


def _extremes(S: np.ndarray) -> tuple[float, float, np.ndarray | None]:
    """The smallest and the largest eigenvalue, and the vector of the smallest if it came for free."""
    if len(S) > LARGE:
        return _lanczos(S)
    values = dense.eigvalsh(S)
    return float(values[0]), float(values[-1]), None


def _smallest_vector(S: np.ndarray) -> np.ndarray:
    return dense.eigh(S, subset_by_index=[0, 0])[1][:, 0]


def _lanczos(S: np.ndarray) -> tuple[float, float, np.ndarray]:
    from scipy.sparse.linalg import ArpackNoConvergence

    rng = np.random.default_rng(0)
    start = rng.standard_normal(len(S))
    high = float(dense.eigsh(S, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0])
    try:
        # an iterate's value is never below the smallest eigenvalue, so a negative one is a proof
        values, vectors = dense.eigsh(S, k=1, which="SA", v0=start, tol=1e-4, ncv=40, maxiter=8)
        return float(values[0]), high, vectors[:, 0]
    except ArpackNoConvergence:  # the smallest eigenvalues of a valid kernel crowd at 0
        rows = np.sort(rng.choice(len(S), LARGE, replace=False))
        vector = np.zeros(len(S))
        vector[rows] = _smallest_vector(S[np.ix_(rows, rows)])
        return float(vector @ S @ vector), high, vector


def _short_witness(S: np.ndarray, vector: np.ndarray | None, tolerance: float) -> tuple[np.ndarray, float]:
    """A unit c with c'Sc < 0 on as few rows as possible, tried on the largest entries of an eigenvector."""
    vector = _smallest_vector(S) if vector is None else vector
    order = np.argsort(-np.abs(vector), kind="stable")
    for size in SHORT_SIZES:
        chosen = np.sort(order[:size])
        values, vectors = dense.eigh(S[np.ix_(chosen, chosen)])
        if values[0] < -tolerance:
            c = np.zeros(len(S))
            c[chosen] = vectors[:, 0] * (1 if vectors[0, 0] >= 0 else -1)
            return c, float(values[0])
    return vector.copy(), float(vector @ S @ vector)


def _in_words(c: np.ndarray, value: float | None) -> str:
    shown = np.sort(np.argsort(-np.abs(c), kind="stable")[:4])
    shown = shown[c[shown] != 0]
    rest = np.count_nonzero(c) - len(shown)
    rows = _list([str(i) for i in shown])
    weights = _list([f"{c[i]:+.3f}" for i in shown])
    more = f" (and smaller weights on {rest} more)" if rest else ""
    noun, weight = ("Row", "weight") if len(shown) == 1 else ("Rows", "weights")
    return f"{noun} {rows} with {weight} {weights}{more}: the combination has c'Kc = {value:.3g} < 0."


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
