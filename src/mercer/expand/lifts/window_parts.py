"""The leaves of an exact lift for kernels on sequences: counts of words in windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._runtime.memory import refuse_too_many_entries
from mercer.expand.lifts.parts import ColumnLabels, LiftPart
from mercer.kernels.discrete.letters import Segments, read_letters, sequences_of
from mercer.kernels.discrete.mismatches import Neighborhood
from mercer.kernels.discrete.strings import Mismatch, WindowKernel
from mercer.kernels.discrete.windows import Pattern, Windows, WordCounts, windows_of
from mercer.kernels.rows import KernelInput

_COMPLEMENT = str.maketrans("ACGT", "TGCA")


class WindowPart(LiftPart):
    """phi(x) = sqrt(weight) times the count of every word seen in `fit`, pattern after pattern.

    A token is (number of the pattern, position or -1, word).
    """

    def __init__(self, kernel: WindowKernel) -> None:
        self.kernel = kernel

    @property
    def reads_tokens(self) -> bool:
        return True

    def tokens(self, rows: KernelInput) -> list[set[Any]]:
        found = (self._tokens_of(rows, p, pattern) for p, pattern in enumerate(self.kernel.patterns()))
        return [set().union(*found)]

    def _tokens_of(self, rows: KernelInput, p: int, pattern: Pattern) -> set:
        texts, windows = self._windows(rows, pattern)
        first = windows.counts(len(rows)).first
        words = texts.words(texts.letters_in(first, pattern.offsets, pattern.span))
        if self.kernel.both_strands:
            words = [min(word, word[::-1].translate(_COMPLEMENT)) for word in words]
        positions = windows.positions[first].tolist() if pattern.positional else [-1] * len(words)
        return {(p, position, word) for position, word in zip(positions, words, strict=True)}

    def _windows(self, rows: KernelInput, pattern: Pattern, known: list | None = None) -> tuple[Segments, Windows]:
        """The windows of rows, after those of known words in as many rows of their own."""
        n_known = len(known or ())
        words: list[Any] = [word for *_, word in known or ()]
        groups = [(words, "the vocabulary"), (sequences_of(rows), rows.name)]
        vocabulary, texts = read_letters(groups, self.kernel.letters).split(n_known)
        texts = self.kernel.readable(texts, pattern.span)
        positions = np.array([position for _, position, _ in known or ()], np.int64)
        vocabulary = replace(vocabulary, letters=texts.letters, positions=positions)
        return texts, windows_of(texts, pattern, self.kernel.both_strands, vocabulary)

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        self.vocabulary = next(vocabularies)
        self.n_outputs = len(self.vocabulary)
        self.known = [[t for t in self.vocabulary if t[0] == p] for p in range(len(self.kernel.patterns()))]

    def values(self, rows: KernelInput) -> Any:
        from scipy.sparse import hstack

        pieces = zip(self.kernel.patterns(), self.known, strict=True)
        return hstack([self._values(rows, pattern, known) for pattern, known in pieces], format="csr")

    def _values(self, rows: KernelInput, pattern: Pattern, known: list) -> Any:
        """The columns of one pattern: columns are numbered by first appearance, and known words come first."""
        _, windows = self._windows(rows, pattern, known)
        counts = windows.counts(len(known) + len(rows)).matrix(slice(len(known), None))[:, : len(known)]
        counts.data *= sqrt(pattern.weight)
        counts.sort_indices()
        return counts

    def squared_norms(self, rows: KernelInput, values: Any = None) -> np.ndarray:
        return self.kernel._diag(rows)

    def names(self) -> list[str]:
        patterns = self.kernel.patterns()
        return [_name(patterns[p], position, word) for p, position, word in self.vocabulary]


class MismatchPart(WindowPart):
    """phi(x) = how many windows of x are near each word of the alphabet, for words near a window seen in `fit`."""

    kernel: Mismatch

    def _settings(self) -> tuple[Pattern, Any]:
        return Pattern(tuple(range(self.kernel.k)), self.kernel.k), self.kernel.neighborhood

    def tokens(self, rows: KernelInput) -> list[set[Any]]:
        pattern, near = self._settings()
        texts, windows = self._windows(rows, pattern)
        found = np.unique(self._near(near, windows.keys[windows.counts(len(rows)).first], texts.bits))
        shifts = np.arange(near.length - 1, -1, -1, dtype=np.uint64) * np.uint64(texts.bits)
        codes = (found[:, None] >> shifts) & np.uint64((1 << texts.bits) - 1)
        return [{(0, -1, word) for word in texts.words(codes.astype(np.int64))}]

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        super().bind(columns, vocabularies)
        self.known = [self.vocabulary]

    def values(self, rows: KernelInput) -> Any:
        pattern, near = self._settings()
        known = self.vocabulary
        texts, windows = self._windows(rows, pattern, known)
        counts = windows.counts(len(known) + len(rows))
        keys = windows.keys[counts.first]
        owners = np.repeat(np.arange(1, len(keys) + 1), near.size)
        owners = np.append(np.zeros(len(known), np.int64), owners)
        all_keys = np.append(keys[: len(known)], self._near(near, keys, texts.bits).ravel())
        neighbors = WordCounts(*_numeric.count_keys(all_keys, owners, np.zeros(0), len(keys) + 1)).matrix()
        values = counts.matrix()[len(known) :, : len(keys)] @ neighbors[1:, : len(known)] if len(keys) else None
        if values is None:
            return counts.matrix()[:, :0]
        values.sort_indices()
        return values * sqrt(self.kernel.strand_weight) if self.kernel.reverse_complement else values

    def _near(self, near: Neighborhood, keys: np.ndarray, bits: int) -> np.ndarray:
        if near.length * bits > 64:
            raise ValueError(
                f"{self.kernel} has too many words for a lift: k must be at most {64 // bits} with this alphabet. "
                f"Use a kernel machine, Landmarks(kernel={self.kernel}), or alphabet=None, whose lift is smaller."
            )
        refuse_too_many_entries(len(keys) * near.size, 8, "Use alphabet=None, a smaller k, or Landmarks.")
        return near.keys(keys, bits)

    def names(self) -> list[str]:
        return [f"near {word!r}" for *_, word in self.vocabulary]


def part_of_windows(kernel: WindowKernel) -> WindowPart:
    """The feature map of a kernel on sequences."""
    has_alphabet = isinstance(kernel, Mismatch) and kernel.neighborhood is not None
    return MismatchPart(kernel) if has_alphabet else WindowPart(kernel)


def _name(pattern: Pattern, position: int, word: Any) -> str:
    """The word in quotes, with _ for letters struck out, and its position if that matters."""
    letters: list[Any] = ["_"] * pattern.span
    for offset, letter in zip(pattern.offsets, word, strict=True):
        letters[offset] = letter
    shown = repr("".join(letters) if isinstance(word, str) else tuple(letters))
    return f"{shown} at {position}" if pattern.positional else shown
