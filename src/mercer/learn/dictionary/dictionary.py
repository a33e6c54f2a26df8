"""Dictionary learning: online epochs, then updates from sums over all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer._numeric.linalg.gram import aligned_empty
from mercer.learn.dictionary.coding import Coder
from mercer.linear.ridge.overflow import refuse_overflow
from mercer.source import Source
from mercer.stats import Sample
from mercer.stats.base import Statistic

#: Rows between two updates of the dictionary, counted from the first row of the data.
BATCH_ROWS = 1024
#: After t batches, earlier sums are multiplied by (1 - 1/t)^FORGETTING.
FORGETTING = 10.0
#: Sweeps over the atoms after a pass over all rows.
_SWEEPS = 3
#: Number of rows kept for the replacement of atoms.
_WORST = 64
#: Atoms whose cosine is at least this are duplicates.
_DUPLICATE_COSINE = 0.95


@dataclass(frozen=True)
class CodeSums(Statistic):
    """Sums over coded rows for a dictionary D: A = sum of c c', B = sum of c x', the sum of ||x - D'c||^2.

    `used` counts the rows that use each atom; `worst` holds the rows with the largest errors, the largest first.
    """

    coder: Any = None
    dictionary: Any = None
    n: int = 0
    A: Any = None
    B: Any = None
    error: float = 0.0
    used: Any = None
    worst: Any = None
    worst_errors: Any = None

    def of(self, block: Block) -> CodeSums:
        X = aligned(block.X)
        codes = self.coder.encode(X)
        residual = (X.toarray() if hasattr(X, "tocsr") else X) - codes @ self.dictionary.astype(X.dtype)
        errors = np.einsum("ij,ij->i", residual, residual, dtype=np.float64)
        double = codes.astype(np.float64)
        last = np.argsort(-errors, kind="stable")[:_WORST]
        rows = X[last].toarray() if hasattr(X, "tocsr") else X[last]
        product = double.T @ X.astype(np.float64)
        return replace(
            self,
            n=len(block),
            A=(double.T @ double).toarray(),
            B=product.toarray() if hasattr(product, "toarray") else product,
            error=float(errors.sum()),
            used=np.bincount(codes.indices, minlength=codes.shape[1]),
            worst=rows.astype(np.float64),
            worst_errors=errors[last],
        )

    def _merge(self, other: CodeSums) -> CodeSums:
        errors = np.concatenate([self.worst_errors, other.worst_errors])
        last = np.argsort(-errors, kind="stable")[:_WORST]
        return replace(
            self,
            n=self.n + other.n,
            A=self.A + other.A,
            B=self.B + other.B,
            error=self.error + other.error,
            used=self.used + other.used,
            worst=np.concatenate([self.worst, other.worst])[last],
            worst_errors=errors[last],
        )

    def finish(self) -> CodeSums:
        refuse_overflow(np.append(self.A.diagonal(), self.error))
        return self


def learn_dictionary(
    source: Source,
    dictionary: np.ndarray,
    coder_of: Callable[[np.ndarray], Coder],
    n_epochs: int,
    n_refits: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The dictionary after online epochs and full passes, and the mean squared error of each pass."""
    errors = []
    fading = _FadingSums(len(dictionary), dictionary.shape[1])
    for _ in range(n_epochs):
        dictionary, epoch = _online(source, dictionary, coder_of, fading)
        errors.append(epoch.error / epoch.n)
        dictionary = _without_dead(dictionary, epoch, fading)
    for i in range(n_refits):
        sums = source.fold(CodeSums(coder_of(dictionary), dictionary)).finish()
        errors.append(sums.error / sums.n)
        dictionary = updated(dictionary, sums.A, sums.B, _SWEEPS)
        if i + 1 < n_refits:
            dictionary = _without_dead(dictionary, sums, None)
    return dictionary, np.array(errors)


class _FadingSums:
    """Sums A and B over the batches so far, with decreasing weights of earlier ones."""

    def __init__(self, n_atoms: int, d: int):
        self.A, self.B, self.t = np.zeros((n_atoms, n_atoms)), np.zeros((n_atoms, d)), 0

    def add(self, sums: CodeSums) -> None:
        self.t += 1
        kept = (1.0 - 1.0 / self.t) ** FORGETTING
        self.A, self.B = kept * self.A + sums.A, kept * self.B + sums.B

    def forget(self, atom: int) -> None:
        self.A[atom] = self.A[:, atom] = self.B[atom] = 0.0


def _online(
    source: Source, dictionary: np.ndarray, coder_of: Callable[[np.ndarray], Coder], fading: _FadingSums
) -> tuple[np.ndarray, CodeSums]:
    """One epoch of Mairal et al. (2009): code a batch, add to A and B, update the atoms."""
    epoch = CodeSums()
    for block in source.blocks():
        for start in range(0, len(block), BATCH_ROWS):
            batch = block.rows(slice(start, start + BATCH_ROWS))
            sums = CodeSums(coder_of(dictionary), dictionary).of(batch).finish()
            fading.add(sums)
            dictionary = updated(dictionary, fading.A, fading.B, 1)
            epoch = epoch.merge(sums)
    return dictionary, epoch


def updated(dictionary: np.ndarray, A: np.ndarray, B: np.ndarray, n_sweeps: int) -> np.ndarray:
    """The dictionary after sweeps over its atoms, each set to the best direction given the codes and the others.

    d_j <- b_j - sum over l != j of A_jl d_l, to length 1: the step of K-SVD for an atom with its coefficients held, and
    of block coordinate descent in online learning. Atoms that no code uses stay.
    """
    D = dictionary.copy()
    used = np.flatnonzero(A.diagonal() > 1e-10 * A.diagonal().max(initial=0.0))
    for _ in range(n_sweeps):
        for j in used:
            atom = D[j] * A[j, j] + B[j] - A[j] @ D
            length = dense.norm(atom)
            if length > 0:
                D[j] = atom / length
    return D


def _without_dead(dictionary: np.ndarray, sums: CodeSums, fading: _FadingSums | None) -> np.ndarray:
    """The dictionary with unused and duplicate atoms replaced by the rows with the largest errors."""
    D = dictionary.copy()
    cosines = np.abs(np.triu(D @ D.T, 1))
    dead = np.flatnonzero((sums.used == 0) | (cosines.max(axis=0) >= _DUPLICATE_COSINE))
    lengths = dense.norm(sums.worst, axis=1)
    rounding = 1e-12 * max(float((lengths**2).max(initial=0.0)), np.finfo(float).tiny)
    candidates = np.flatnonzero(sums.worst_errors > rounding)
    for atom, row in zip(dead, candidates, strict=False):
        D[atom] = sums.worst[row] / lengths[row]
        if fading is not None:
            fading.forget(int(atom))
    return D


def initial_atoms(source: Source, n_atoms: int, n_features: int, seed: int) -> np.ndarray:
    """Distinct rows of a uniform sample, scaled to length 1; random directions where there are too few."""
    sample = source.fold(Sample(2 * n_atoms, seed)).finish().X
    rows = (sample.toarray() if hasattr(sample, "toarray") else sample).astype(np.float64)
    top = np.abs(rows).max(axis=1, initial=0.0)
    rows = rows[top > 0] / top[top > 0, None]  # squares neither overflow nor underflow
    rows = (rows / dense.norm(rows, axis=1, keepdims=True))[:n_atoms]
    others = np.random.default_rng([seed, 5]).normal(size=(n_atoms - len(rows), n_features))
    return np.vstack([rows, others / dense.norm(others, axis=1, keepdims=True)])


def aligned(X: Any) -> Any:
    """Rows in aligned memory and C order, so that products of equal rows have equal bits; sparse rows as they are."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    out = aligned_empty(X.shape, X.dtype)
    out[:] = X
    return out
