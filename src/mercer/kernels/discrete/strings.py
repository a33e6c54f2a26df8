"""Kernels on sequences: text, bytes, DNA, proteins, lists of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mercer.kernels.base import Kernel
from mercer.kernels.discrete.letters import (
    AnyAlphabet,
    Segments,
    alphabet_of,
    read_letters,
    sequences_of,
    with_opposite_strands,
    with_readings,
)
from mercer.kernels.discrete.mismatches import Neighborhood
from mercer.kernels.discrete.windows import Pattern, WordCounts, add_gram, mirror, squared_norms, windows_of
from mercer.kernels.parameters import FLAG, Need
from mercer.kernels.rows import KernelInput

LENGTH = Need(low=1, low_included=True, whole=True)


class WindowKernel(Kernel):
    """k(x, z) = sum over patterns, of weight * sum over words of (count in x) (count in z).

    The feature map is the count of every word that a pattern reads in windows of the sequence, so it is sparse
    and finite for any given rows. Leaves state their patterns.
    """

    alphabet: str | None

    def patterns(self) -> list[Pattern]:
        """What is read in every window."""
        raise NotImplementedError

    @property
    def letters(self) -> str | None:
        """The alphabet that rows are read in."""
        return self.alphabet

    @property
    def both_strands(self) -> bool:
        """Whether a word and its reverse complement are counted as one."""
        return False

    def readable(self, segments: Segments, span: int) -> Segments:
        """The segments that windows of `span` letters are read in, none of them ambiguous."""
        return with_readings(segments, alphabet_of(self.letters), span)

    def counts(self, segments: Segments, pattern: Pattern) -> WordCounts:
        """The counts of the words that one pattern reads."""
        return windows_of(self.readable(segments, pattern.span), pattern, self.both_strands).counts(segments.n_rows)

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        segments = read_segments(X, Y, self.letters)
        out = np.zeros((len(X), len(Y)))
        self._add_gram(out, segments, Y is X)
        return mirror(out) if Y is X else out

    def _add_gram(self, out: np.ndarray, segments: Segments, symmetric: bool) -> None:
        for pattern in self.patterns():
            add_gram(out, self.counts(segments, pattern), symmetric, pattern.weight)

    def _diag(self, X: KernelInput) -> np.ndarray:
        segments = read_segments(X, X, self.letters)
        return sum((p.weight * squared_norms(self.counts(segments, p)) for p in self.patterns()), np.zeros(len(X)))


def read_segments(X: KernelInput, Y: KernelInput, alphabet: str | None) -> Segments:
    """The letters of both, or of X alone if Y is X."""
    groups = [(sequences_of(rows), rows.name) for rows in ([X] if Y is X else [X, Y])]
    return read_letters(groups, alphabet)


@dataclass
class Spectrum(WindowKernel):
    """k(x, z) = sum over words w of k letters, of (how often w occurs in x) * (how often in z).

    Rows are text, bytes or lists of hashable tokens; a row shorter than k has no words and similarity 0. The feature
    map is the count of every word, and ``lift(Spectrum(k))`` computes it as a sparse matrix
    (Leslie, Eskin and Noble, "The spectrum kernel", 2002).

    Use it where short words tell sequences apart, wherever they stand. Prefer `WeightedDegree` for aligned sequences
    and `Mismatch` where letters of a word vary. Time is linear in the letters, and in the words that pairs of rows
    share.

    Parameters
    ----------
    k : int
        Letters per word.
    alphabet : {"dna", "protein"}, text of distinct letters, or None
        None takes any letters. A letter outside a given alphabet is an error with its position. "dna" and "protein"
        read lower case as upper case, U as T in DNA, and U as C, O as K in proteins. Their ambiguous letters (the IUPAC
        codes R Y S W K M B D H V N, and B J X Z) make a window count as each of the words it can stand for, with
        equal weights that sum to 1; windows that stand for more than 256 words, such as runs of N, are skipped.
    reverse_complement : bool
        Each word of DNA is counted as the first in the alphabet of itself and its reverse complement, so that
        k(x, z) does not depend on which strand was read.

    >>> from mercer.kernels import Spectrum
    >>> Spectrum(2)(["banana", "ananas", "bandana"])
    array([[9., 8., 7.],
           [8., 9., 6.],
           [7., 6., 8.]])
    >>> Spectrum(3, alphabet="dna", reverse_complement=True)(["GATTACA"], ["TGTAATC"])
    array([[5.]])
    """

    k: int = 3
    alphabet: str | None = None
    reverse_complement: bool = False

    _needs = {"k": LENGTH, "alphabet": AnyAlphabet(), "reverse_complement": FLAG}

    def _validate(self) -> None:
        super()._validate()
        check_strands(self)

    @property
    def letters(self) -> str | None:
        return "dna" if self.reverse_complement else self.alphabet

    @property
    def both_strands(self) -> bool:
        return self.reverse_complement

    def patterns(self) -> list[Pattern]:
        return [Pattern(tuple(range(self.k)), self.k)]


@dataclass
class Mismatch(WindowKernel):
    """k(x, z) = sum over words w of k letters, of (windows of x within `mismatches` letters of w) * (those of z).

    The words w are all words over the alphabet (Leslie et al., "Mismatch string kernels", 2004). If A is the number of
    its letters, two windows in which d letters differ contribute

        I(d) = how many words have at most `mismatches` letters different from both.

    Without an alphabet A is unknown, and the kernel is the limit of many letters, divided by A^mismatches: then
    I(d) = C(k - d, mismatches - d), and k(x, z) counts the pairs of windows that agree after the same `mismatches`
    positions are removed from both, once for each choice of positions (the gapped k-mer kernel of Ghandi et al.
    2014). It needs no alphabet, is faster, and its feature map is smaller.

    Use it where single letters of a word vary, as by mutations; with long words and few mismatches the result is close
    to `Spectrum`, which is faster. The time grows with the number of choices of `mismatches` positions among k.

    Parameters
    ----------
    k : int
        Letters per window.
    mismatches : int
        Letters that may differ, fewer than k; 0 is the spectrum kernel.
    alphabet : {"dna", "protein"}, text of distinct letters, or None
        See `Spectrum`.
    reverse_complement : bool
        Read both strands of DNA: with the kernel k0 without it, k(x, z) = k0(x, z) + k0(x, reverse complement of z),
        which does not depend on which strands were read. (A word that is its own reverse complement so counts on both
        strands; `Spectrum` counts it once.) The alphabet is "dna", or None for the limit above on letters of DNA.

    >>> from mercer.kernels import Mismatch
    >>> Mismatch(3, 1, alphabet="dna")(["ACG"], ["ACG", "ACT", "AGT", "TGT"])
    array([[10.,  4.,  2.,  0.]])
    >>> Mismatch(3, 1)(["ACG"], ["ACG", "ACT", "AGT", "TGT"])
    array([[3., 1., 0., 0.]])
    >>> Mismatch(3, 1, reverse_complement=True)(["ACG"], ["ACG", "CGT", "AGT"])
    array([[3., 3., 1.]])
    """

    k: int = 3
    mismatches: int = 1
    alphabet: str | None = None
    reverse_complement: bool = False

    _needs = {
        "k": LENGTH,
        "mismatches": Need(low_included=True, whole=True),
        "alphabet": AnyAlphabet(),
        "reverse_complement": FLAG,
    }

    def _validate(self) -> None:
        super()._validate()
        check_strands(self)
        if self.mismatches >= self.k:
            raise ValueError(f"Mismatch: mismatches must be less than k={self.k}, got {self.mismatches}")

    @property
    def neighborhood(self) -> Neighborhood | None:
        """The words near a word of the alphabet, if there is one."""
        found = alphabet_of(self.alphabet)
        return None if found is None else Neighborhood(self.k, self.mismatches, len(found.letters))

    @property
    def letters(self) -> str | None:
        return "dna" if self.reverse_complement else self.alphabet

    @property
    def strand_weight(self) -> float:
        """With phi of one strand, phi(x) + phi(its reverse complement) has twice the kernel of both strands."""
        return 0.5 if self.reverse_complement else 1.0

    def readable(self, segments: Segments, span: int) -> Segments:
        found = super().readable(segments, span)
        return with_opposite_strands(found) if self.reverse_complement else found

    def patterns(self) -> list[Pattern]:
        near, strand_weight = self.neighborhood, self.strand_weight
        if near is None:
            return gapped(self.k, self.mismatches, strand_weight)
        coefficients = (
            (dropped, strand_weight * weight) for dropped, weight in enumerate(near.gap_coefficients()) if weight
        )
        return [pattern for dropped, weight in coefficients for pattern in gapped(self.k, dropped, weight)]

    def _add_gram(self, out: np.ndarray, segments: Segments, symmetric: bool) -> None:
        near = self.neighborhood
        whole = Pattern(tuple(range(self.k)), self.k)
        sizes = np.maximum(np.diff(segments.starts) - self.k + 1, 0)
        n = len(out)
        windows = float(sizes[:n].sum()), float((sizes[:n] if symmetric else sizes[n:]).sum())
        if near is None or not near.prefers_words(windows, out.shape, segments.bits):
            super()._add_gram(out, segments, symmetric)
            return
        readable = self.readable(segments, self.k)
        words = windows_of(readable, whole)
        counts = words.counts(segments.n_rows)
        add_gram(
            out, near.neighbor_counts(counts, words.keys[counts.first], readable.bits), symmetric, self.strand_weight
        )


def gapped(k: int, dropped: int, weight: float) -> list[Pattern]:
    """All ways to strike `dropped` positions out of a window of k letters."""
    positions = range(k)
    return [
        Pattern(tuple(p for p in positions if p not in gaps), k, float(weight))
        for gaps in combinations(positions, dropped)
    ]


@dataclass
class WeightedDegree(WindowKernel):
    """k(x, z) = sum over lengths j = 1 .. k of b_j * (positions p at which x and z have the same j letters).

    The weights are b_j = 2 (k - j + 1) / (k (k + 1)). Words count only where they stand: made for sequences that are
    aligned, such as the surroundings of a splice site (Raetsch and Sonnenburg 2004). The feature map is one
    indicator for each word at each position.

    Use it for aligned sequences of one length only; a shift by one letter loses all agreement, where `Spectrum` loses
    nothing. It costs k features for each letter of a row, and a Gram matrix is a sparse product of them.

    Parameters
    ----------
    k : int
        Letters of the longest words.
    alphabet : {"dna", "protein"}, text of distinct letters, or None
        See `Spectrum`.

    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(2)(["GATTACA"], ["GATTACA", "GATCACA", "AGATTAC"]).round(3)
    array([[6.667, 5.333, 0.667]])
    """

    k: int = 3
    alphabet: str | None = None

    _needs = {"k": LENGTH, "alphabet": AnyAlphabet()}

    def patterns(self) -> list[Pattern]:
        total = self.k * (self.k + 1) / 2
        return [Pattern(tuple(range(j)), j, (self.k - j + 1) / total, True) for j in range(1, self.k + 1)]


def check_strands(kernel: Any) -> None:
    if kernel.reverse_complement and kernel.alphabet not in (None, "dna"):
        name = type(kernel).__name__
        raise ValueError(f"{name}: reverse_complement=True needs alphabet='dna', got {kernel.alphabet!r}")
