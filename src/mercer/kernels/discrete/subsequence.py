"""The gap-weighted subsequence kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer import _numeric
from mercer.kernels.base import Kernel
from mercer.kernels.discrete.letters import (
    NAMED,
    AnyAlphabet,
    Segments,
    alphabet_of,
    match_probabilities,
    with_opposite_rows,
)
from mercer.kernels.discrete.pairs import pair_gram
from mercer.kernels.discrete.strings import LENGTH, check_strands, read_segments
from mercer.kernels.parameters import FLAG, Need
from mercer.kernels.rows import KernelInput


@dataclass
class Subsequence(Kernel):
    """k(x, z) = sum over words w of k letters, over positions i of w in x and j of w in z, of decay^(l(i) + l(j)).

    Positions increase but need not be adjacent: w is a subsequence. l(i) is the number of letters from the first to the
    last of the positions i, so gaps are penalized (Lodhi et al., "Text classification using string kernels", 2002).
    Rows are text, bytes or lists of hashable tokens. Longer rows have more subsequences; use ``.normalized()`` to
    compare rows of different lengths. Time is k |x| |z| per pair.

    Use it for short texts and names with gaps and typing errors. Its time is a product of lengths: prefer `Spectrum`
    for rows of thousands of letters.

    Parameters
    ----------
    k : int
        Letters per subsequence.
    decay : float in (0, 1]
        Factor for each letter of length.
    alphabet : {"dna", "protein"}, text of distinct letters, or None
        See `Spectrum`. An ambiguous letter is each of those it can stand for with equal probability, independently of
        the others: two letters match with the probability that they are the same.
    reverse_complement : bool
        Read both strands of DNA, as `Mismatch` does: k0(x, z) + k0(x, reverse complement of z).

    >>> from mercer.kernels import Subsequence
    >>> Subsequence(2, decay=0.5)(["cat"], ["cat", "car", "bat", "dog"])
    array([[0.140625, 0.0625  , 0.0625  , 0.      ]])
    >>> Subsequence(2, alphabet="dna")(["AC"], ["AC", "AY", "NN", "GT"])
    array([[0.0625    , 0.03125   , 0.00390625, 0.        ]])
    >>> Subsequence(2, reverse_complement=True)(["AC"], ["AC", "GT"])
    array([[0.0625, 0.0625]])
    """

    k: int = 3
    decay: float = 0.5
    alphabet: str | None = None
    reverse_complement: bool = False

    _needs = {"k": LENGTH, "decay": Need(high=1), "alphabet": AnyAlphabet(), "reverse_complement": FLAG}

    def _validate(self) -> None:
        super()._validate()
        check_strands(self)

    @property
    def letters(self) -> str | None:
        """The alphabet that rows are read in."""
        return "dna" if self.reverse_complement else self.alphabet

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        segments = read_segments(X, Y, self.letters)
        sizes = np.diff(segments.starts)
        return pair_gram(self._compare(segments), sizes, len(X), None if Y is X else len(Y))

    def _diag(self, X: KernelInput) -> np.ndarray:
        segments = read_segments(X, X, self.letters)
        indices = np.arange(len(X))
        return self._compare(segments)(indices, indices)

    def _compare(self, segments: Segments) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        k, decay, codes, starts = int(self.k), float(self.decay), segments.codes, segments.starts
        alike, n = match_probabilities(segments, alphabet_of(self.letters)), len(segments.rows)
        if not self.reverse_complement:
            return lambda left, right: _numeric.subsequence_pairs(codes, starts, left, right, k, decay, alike)
        codes, starts = with_opposite_rows(segments, NAMED["dna"])

        def both(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            one, other = (
                _numeric.subsequence_pairs(codes, starts, left, strand, k, decay, alike)
                for strand in (right, right + n)
            )
            return one + other

        return both
