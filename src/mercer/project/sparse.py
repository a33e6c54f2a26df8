"""Projections with a few hashed nonzeros per column."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _numeric
from mercer.project.base import Projection, _whole

_SEED_BITS = (1 << 64) - 1
_BLOCK_BYTES = 1 << 22  # of output per call: rows are finished one by one, so few calls serve best


class SparseProjection(Projection):
    """A x with exactly s nonzeros +-1/sqrt(s) per column, found by hashing: nothing is stored, nothing is fitted.

    The m outputs come in s blocks of m/s; column j has one nonzero in each block i, at h_i(j) with sign sigma_i(j):

        y[i (m/s) + h_i(j)] += sigma_i(j) x_j / sqrt(s),   i = 0 .. s - 1

    (Kane and Nelson, "Sparser Johnson-Lindenstrauss transforms", J. ACM 2014). h and sigma are bits of a 64-bit hash
    of (j, i, seed), computed when they are needed. So d may be 10^9, and the cost is s additions per stored entry.

    For every x, E||Ax||^2 = ||x||^2 and Var||Ax||^2 = (2/m)(||x||_2^4 - ||x||_4^4) whatever s is; s acts on the tails:
    the kurtosis of ||Av||^2 for v = (e_1 + e_2)/sqrt(2) is m/s^2 + 3(1 - 1/s). s = 1 is feature hashing (Weinberger et
    al. 2009); s = 8 is close to Gaussian for most data, s = Theta(log(1/delta)/eps) is what the theory asks for.

    Without signs (nonzeros are then 1/sqrt(s)) the map is biased,

        E<Ax, Ax'> = <x, x'> + (s/m) (sum_i x_i sum_j x'_j - <x, x'>),

    so it is of use only for non-negative data, where outputs that stay non-negative are worth the bias.

    Use it for sparse rows and for any number of columns, as nothing is stored; a row costs s operations per stored
    entry. For dense rows of thousands of columns prefer `HadamardProjection`. Rows of few heavy entries need a larger
    s.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of output columns m, a multiple of `nonzeros`. "auto" is the dimension a Gaussian projection needs
        (`mercer.bounds.jl_dimension`), rounded up; it counts the rows in one pass, a number needs no pass. The tails
        are a little heavier than Gaussian ones: `certificate` measures what was reached.
    nonzeros : int, default=8
        Nonzeros per column s. There cannot be more than n_components: for fewer components than this, all are
        used (a dense matrix of signs).
    signed : bool, default=True
    eps, delta : float, default=0.1, 0.01
        What "auto" keeps to: accuracy, and probability of failure.
    random_state : int, RandomState or None, default=0
        The same seed gives the same map on any machine.

    Attributes
    ----------
    n_components_ : int, the m used
    nonzeros_ : int, the s used

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from mercer.project import SparseProjection
    >>> ids = np.array([3, 999_999_999, 12_345])
    >>> X = sparse.csr_matrix((np.ones(3), ids, [0, 2, 3]), shape=(2, 10**9))
    >>> Y = SparseProjection(n_components=64).fit_transform(X)
    >>> Y.shape, int((Y[1] != 0).sum())
    ((2, 64), 8)
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        nonzeros: int = 8,
        signed: bool = True,
        eps: float = 0.1,
        delta: float = 0.01,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.nonzeros = nonzeros
        self.signed = signed
        self.eps = eps
        self.delta = delta
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_nonzeros(self.nonzeros, None if isinstance(self.n_components, str) else self.n_components)

    def _possible(self, m: int) -> int:
        return -(-m // self.nonzeros) * self.nonzeros

    def _finish(self, learned: Any) -> None:
        super()._finish(learned)
        self.nonzeros_ = min(int(self.nonzeros), self.n_components_)
        self._with_signs = bool(self.signed)

    def _rows_per_block(self, itemsize: int) -> int:
        return max(1, _BLOCK_BYTES // (itemsize * self.n_components_))

    def _write(self, X: Any, rows: Any, out: np.ndarray) -> None:
        how = (self._seed & _SEED_BITS, self.nonzeros_, self._with_signs, out)
        if hasattr(X, "tocsr"):
            _numeric.sketch_csr(X.data, X.indices, X.indptr[rows.start : rows.stop + 1], *how)
        else:
            _numeric.sketch_dense(X[rows], *how)


def check_nonzeros(nonzeros: Any, n_components: int | None) -> None:
    """Refuse a number of nonzeros that does not divide the number of components."""
    if not _whole(nonzeros) or nonzeros < 1:
        raise ValueError(f"nonzeros must be a whole number of at least 1, not {nonzeros!r}.")
    if n_components is None or n_components < nonzeros or n_components % nonzeros == 0:
        return
    below = n_components // nonzeros * nonzeros
    raise ValueError(
        f"n_components={n_components} cannot be cut into nonzeros={nonzeros} blocks of equal length: "
        f"use n_components={below} or {below + nonzeros}, or another number of nonzeros."
    )
