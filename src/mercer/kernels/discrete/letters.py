"""Sequences as numbered letters: text, bytes or lists of tokens, of any alphabet or of a given one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mercer.kernels.rows import KernelInput

#: A window whose ambiguous letters stand for more words than this carries little information and is skipped.
MAX_READINGS = 256

_PAIRS = {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"}
_DNA = {**_PAIRS, "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT"}
_AMINO = "ACDEFGHIKLMNPQRSTVWY"


class Alphabet(NamedTuple):
    """Letters in order, other letters read as one of them, and letters that stand for several."""

    letters: str
    read_as: dict[str, str] = {}
    ambiguous: dict[str, str] = {}


def _either_case(alphabet: Alphabet) -> Alphabet:
    """The same in lower case too."""
    upper = {letter: letter for letter in (*alphabet.letters, *alphabet.ambiguous)} | alphabet.read_as
    return alphabet._replace(read_as=alphabet.read_as | {a.lower(): b for a, b in upper.items()})


NAMED = {
    "dna": _either_case(Alphabet("ACGT", {"U": "T"}, _DNA)),
    "protein": _either_case(Alphabet(_AMINO, {"U": "C", "O": "K"}, {"B": "DN", "J": "IL", "Z": "EQ", "X": _AMINO})),
}


class AnyAlphabet:
    """Constraint on the parameter `alphabet`."""

    def met_by(self, value: Any) -> bool:
        """Whether the value is None, a name, or a text of distinct letters."""
        return value is None or (isinstance(value, str) and len(value) > 0 and len(set(value)) == len(value))

    def __str__(self) -> str:
        return f"None, {', '.join(map(repr, NAMED))} or a text of distinct letters such as 'abc'"


def alphabet_of(name: str | None) -> Alphabet | None:
    """The alphabet of a name, or of its letters."""
    return None if name is None else NAMED.get(name) or Alphabet(name)


@dataclass(frozen=True)
class Segments:
    """Stretches of letters in the order of rows: `codes[starts[s]:starts[s+1]]` belongs to row `rows[s]`.

    `letters[c]` is the letter of code c; codes from `n_letters` on are ambiguous. A window inside segment s
    counts `weights[s]` (1 if None), and its first letter is at `positions[s]` or later in the row.
    """

    codes: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    n_rows: int
    letters: list
    n_letters: int
    is_text: bool
    positions: np.ndarray
    weights: np.ndarray | None = None

    @property
    def bits(self) -> int:
        """Bits that hold any code."""
        return max(len(self.letters) - 1, 1).bit_length()

    def window_rows(self, span: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every window of `span` letters: its row, its weight (empty: 1) and its position in the row."""
        counts = np.maximum(np.diff(self.starts) - (span - 1), 0)
        weights = np.zeros(0) if self.weights is None else np.repeat(self.weights, counts)
        ends = np.cumsum(counts)
        positions = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(self.positions - (ends - counts), counts)
        return np.repeat(self.rows, counts), weights, positions

    def split(self, n: int) -> tuple[Segments, Segments]:
        """The segments of the first n rows, and the others; row numbers stay."""
        at = int(np.searchsorted(self.rows, n))
        parts = ((slice(0, at), slice(0, at + 1)), (slice(at, None), slice(at, None)))
        return tuple(
            replace(self, starts=self.starts[edges], rows=self.rows[some], positions=self.positions[some])
            for some, edges in parts
        )  # type: ignore[return-value]

    def letters_in(self, windows: np.ndarray, offsets: Any, span: int) -> np.ndarray:
        """The codes at the offsets in some windows of `span` letters, shape (len(windows), len(offsets))."""
        counts = np.maximum(np.diff(self.starts) - (span - 1), 0)
        ends = np.cumsum(counts)
        segment = np.searchsorted(ends, windows, side="right")
        first = windows - (ends - counts)[segment] + self.starts[segment]
        return self.codes[first[:, None] + np.array(offsets, np.int64)]

    def words(self, codes: np.ndarray) -> list:
        """The words that the rows of a matrix of codes spell: text for text, else tuples of tokens."""
        width = codes.shape[1]
        if not self.is_text:
            return [tuple(self.letters[c] for c in word) for word in codes.tolist()]
        points = np.array([ord(letter) for letter in self.letters], dtype="<u4")
        text = points[codes].tobytes().decode("utf-32-le", "surrogatepass")
        return [text[i * width : (i + 1) * width] for i in range(len(codes))]


def read_letters(groups: list[tuple[list, str]], name: str | None) -> Segments:
    """The sequences of several groups of rows (with the names of the groups), one after the other."""
    items = [as_sequence(item, i, group) for rows, group in groups for i, item in enumerate(rows)]
    alphabet, is_text = alphabet_of(name), all(type(item) is str for item in items)
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    if is_text:
        letters, codes = _text_codes("".join(items), alphabet)
    else:
        letters, codes = _token_codes(items, int(starts[-1]), alphabet)
    if alphabet is not None and len(codes) and codes.min() < 0:
        _refuse_letter(int(np.argmax(codes < 0)), starts, items, groups, name)
    return Segments(
        codes,
        starts,
        np.arange(len(items)),
        len(items),
        letters,
        len(letters) if alphabet is None else len(alphabet.letters),
        is_text or alphabet is not None,
        np.zeros(len(items), np.int64),
    )


def as_sequence(item: Any, row: int, group: str) -> Any:
    """One row as text, or as a list of hashable tokens. Bytes are the text of their Latin-1 letters."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, bytes | bytearray):
        return bytes(item).decode("latin-1")
    if isinstance(item, np.ndarray) and item.ndim == 1:
        return item.tolist()
    if isinstance(item, Iterable) and not isinstance(item, set | frozenset | dict | np.ndarray):
        return list(item)
    raise ValueError(
        f"row {row} of {group} is {item!r:.60} ({type(item).__name__}): "
        "a sequence must be text, bytes or a list of hashable tokens"
    )


def sequences_of(rows: KernelInput) -> list:
    """The items of rows; of a table of objects, the cells of its only column."""
    shape: tuple = getattr(rows.raw, "shape", ())
    kind = getattr(getattr(rows.raw, "dtype", None), "kind", "O")
    if len(shape) != 2 or kind not in "OUST":
        return rows.items
    if shape[1] != 1:
        raise ValueError(
            f"{rows.name} is a table with {shape[1]} columns: choose the one that holds the sequences with .on(column)"
        )
    return [row[0] for row in rows.items]


def _text_codes(text: str, alphabet: Alphabet | None) -> tuple[list[str], np.ndarray]:
    """Code points by table: an alphabet of its own in the order of code points, or the given one."""
    if text.isascii():
        points = np.frombuffer(text.encode(), np.uint8)
    else:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    top = int(points.max(initial=0)) + 1
    if alphabet is None:
        present = np.zeros(top, bool)
        present[points] = True
        found = np.flatnonzero(present)
        table = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return [chr(point) for point in found.tolist()], table[points]
    known = _codes_of(alphabet)
    table = np.full(top, -1, np.int32)
    for letter, code in known.items():
        if ord(letter) < top:
            table[ord(letter)] = code
    return [*alphabet.letters, *alphabet.ambiguous], table[points]


def _token_codes(items: list[Any], size: int, alphabet: Alphabet | None) -> tuple[list[Any], np.ndarray]:
    if alphabet is not None:
        known: dict = _codes_of(alphabet)
        found = (known.get(token, -1) for item in items for token in item)
        return [*alphabet.letters, *alphabet.ambiguous], np.fromiter(found, np.int32, size)
    known = {}
    try:
        codes = [known.setdefault(token, len(known)) for item in items for token in item]
    except TypeError as error:
        raise ValueError(f"{error}: the tokens of a sequence must be text, numbers or tuples of them") from None
    return list(known), np.array(codes, np.int32)


def _codes_of(alphabet: Alphabet) -> dict[str, int]:
    codes = {letter: code for code, letter in enumerate((*alphabet.letters, *alphabet.ambiguous))}
    return codes | {letter: codes[meant] for letter, meant in alphabet.read_as.items()}


def _refuse_letter(
    at: int, starts: np.ndarray, items: list[Any], groups: list[tuple[list, str]], name: str | None
) -> NoReturn:
    item = int(np.searchsorted(starts, at, side="right")) - 1
    row, letter = item, items[item][at - int(starts[item])]
    group = ""
    for rows, group in groups:  # noqa: B007
        if row < len(rows):
            break
        row -= len(rows)
    raise ValueError(
        f"row {row} of {group} has {letter!r} at position {at - int(starts[item])}, which is no letter of the alphabet "
        f"{name!r}: correct it, choose a larger alphabet, or alphabet=None for any letters"
    )


def with_readings(segments: Segments, alphabet: Alphabet | None, span: int) -> Segments:
    """The same with every window of `span` letters that has ambiguous ones replaced by all its readings.

    Each of the r readings of a window is a segment of its own and counts 1/r.
    """
    if alphabet is None or not len(segments.codes) or segments.codes.max() < segments.n_letters:
        return replace(segments, letters=segments.letters[: segments.n_letters])
    choices = [[code] for code in range(segments.n_letters)]
    choices += [[alphabet.letters.index(letter) for letter in meant] for meant in alphabet.ambiguous.values()]
    found = [
        (int(row), weight, position, word)
        for row, a, b in zip(segments.rows, segments.starts[:-1], segments.starts[1:], strict=True)
        for position, weight, word in _readings(segments.codes[a:b], choices, segments.n_letters, span)
    ]
    words = [word for *_, word in found]
    starts = np.concatenate([[0], np.cumsum([len(word) for word in words], dtype=np.int64)]).astype(np.int64)
    return replace(
        segments,
        codes=np.concatenate([np.zeros(0, np.int32), *(np.asarray(word, np.int32) for word in words)]),
        starts=starts,
        rows=np.array([row for row, *_ in found], np.int64),
        weights=np.array([weight for _, weight, *_ in found], float),
        positions=np.array([position for _, _, position, _ in found], np.int64),
        letters=segments.letters[: segments.n_letters],
    )


def with_opposite_strands(segments: Segments) -> Segments:
    """Every segment of DNA followed by its reverse complement, in the same row; no letter may be ambiguous."""
    lengths, first = np.diff(segments.starts), int(segments.starts[0])
    codes = segments.codes[first : int(segments.starts[-1])]
    starts = np.concatenate([[0], np.cumsum(np.repeat(lengths, 2))])
    within = np.arange(len(codes)) - np.repeat(segments.starts[:-1] - first, lengths)
    both = np.empty(2 * len(codes), codes.dtype)
    both[np.repeat(starts[:-1:2], lengths) + within] = codes
    both[np.repeat(starts[2::2], lengths) - 1 - within] = segments.n_letters - 1 - codes
    return replace(
        segments,
        codes=both,
        starts=starts,
        rows=np.repeat(segments.rows, 2),
        weights=None if segments.weights is None else np.repeat(segments.weights, 2),
        positions=np.repeat(segments.positions, 2),
    )


def match_probabilities(segments: Segments, alphabet: Alphabet | None) -> np.ndarray:
    """The probability that two codes stand for the same letter; an empty table if only equal codes do."""
    if alphabet is None or not len(segments.codes) or segments.codes.max() < segments.n_letters:
        return np.zeros((0, 0))
    meanings = [*alphabet.letters, *alphabet.ambiguous.values()]
    probabilities = np.array([[(letter in meant) / len(meant) for letter in alphabet.letters] for meant in meanings])
    return probabilities @ probabilities.T


def with_opposite_rows(segments: Segments, alphabet: Alphabet) -> tuple[np.ndarray, np.ndarray]:
    """Codes and starts of all rows of DNA, and then of their reverse complements; letters may be ambiguous."""
    meanings = [set(meant) for meant in (*alphabet.letters, *alphabet.ambiguous.values())]
    complement = dict(zip(alphabet.letters, reversed(alphabet.letters), strict=True))
    opposite = np.array([meanings.index({complement[c] for c in meant}) for meant in meanings], np.int32)
    lengths, starts = np.diff(segments.starts), segments.starts
    backward = np.repeat(starts[1:] + starts[:-1] - 1, lengths) - np.arange(len(segments.codes))
    codes = np.concatenate([segments.codes, opposite[segments.codes[backward]]])
    return codes, np.concatenate([starts, starts[-1] + starts[1:]])


def _readings(codes: np.ndarray, choices: list, n_letters: int, span: int) -> Iterator[tuple[int, float, Any]]:
    """(position, weight, letters) of the stretches without ambiguous letters, and of all readings of the others."""
    doubtful = np.flatnonzero(codes >= n_letters)
    edges = np.concatenate([[-1], doubtful, [len(codes)]])
    for before, after in pairwise(edges):
        if after - before > span:
            yield int(before) + 1, 1.0, codes[before + 1 : after]
    windows = {p for at in doubtful.tolist() for p in range(max(at - span + 1, 0), min(at, len(codes) - span) + 1)}
    for position in sorted(windows):
        meant = [choices[code] for code in codes[position : position + span]]
        readings = float(np.prod([len(options) for options in meant], dtype=float))
        if readings <= MAX_READINGS:
            for word in product(*meant):
                yield position, 1.0 / readings, word
