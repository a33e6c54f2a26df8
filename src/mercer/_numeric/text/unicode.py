"""Properties of code points in the running Python, as arrays for compiled code.

The tables come from `str.lower`, `str.isalnum` and `str.isspace`, so compiled tokens agree with those of Python for any
version of Unicode.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

N_CODE_POINTS = 0x110000
WORD, SPACE, CASED, IGNORABLE = 1, 2, 4, 8
_SIGMA, _FINAL_SIGMA = "\u03a3", 0x3C2


@cache
def unicode_tables() -> tuple[np.ndarray, np.ndarray]:
    """(flags, lower): the properties of each code point as bits, and its lower case.

    A word character is what ``\\w`` matches: letters, numbers and the underscore, but not combining marks. A value of
    `lower` from N_CODE_POINTS on is an index in `lower` of a zero-terminated sequence of code points.
    """
    points = np.arange(N_CODE_POINTS, dtype=np.uint32)
    letters = points.view("U1")
    flags = WORD * (np.strings.isalnum(letters) | (points == ord("_"))) + SPACE * np.strings.isspace(letters)
    flags = flags.astype(np.uint8)
    lower = points.copy()
    tail: list[int] = []
    some = _with_case(points)
    expanding = _expanding(some)
    some = np.setdiff1d(some, expanding)
    lower[some] = _utf32(_text(some).lower())
    flags[some] |= _casing(some)
    for point in expanding.tolist():
        lower[point] = N_CODE_POINTS + len(tail)
        tail += [*map(ord, chr(point).lower()), 0]
        flags[point] |= CASED  # it has a lower case
    tables = flags, np.concatenate([lower, np.array(tail, np.uint32)])
    for table in tables:
        table.setflags(write=False)
    return tables


def _with_case(points: np.ndarray) -> np.ndarray:
    """Code points that may be cased or case-ignorable; skips the million of other categories."""
    kinds = np.frombuffer("".join(map(unicodedata.category, _text(points))).encode(), dtype="S2")
    return points[~np.isin(kinds, [b"Lo", b"Cn", b"Co", b"Cs"])]


def _expanding(points: np.ndarray) -> np.ndarray:
    """Code points whose lower case has several code points, such as U+0130."""
    halves, found = [points], []
    while halves:
        some = halves.pop()
        if len(_text(some).lower()) == len(some):
            continue
        if len(some) == 1:
            found.append(int(some[0]))
        else:
            halves += [some[: len(some) // 2], some[len(some) // 2 :]]
    return np.array(sorted(found), dtype=np.uint32)


def _casing(points: np.ndarray) -> np.ndarray:
    """CASED and IGNORABLE, which Python does not expose, inferred from the lower case of a following capital sigma."""
    a, sigma = np.full_like(points, ord("A")), np.full_like(points, ord(_SIGMA))
    after = _sigma_is_final(np.stack([points, sigma], axis=1))
    beyond = _sigma_is_final(np.stack([a, points, sigma], axis=1))
    return np.where(after, CASED, np.where(beyond, IGNORABLE, 0)).astype(np.uint8)


def _sigma_is_final(rows: np.ndarray) -> np.ndarray:
    """Whether the lower case of the sigma that ends each row is a final sigma; a blank separates rows."""
    rows = np.concatenate([rows, np.full((len(rows), 1), ord(" "), rows.dtype)], axis=1)
    lowered = _utf32(_text(rows.ravel()).lower()).reshape(rows.shape)
    return lowered[:, -2] == _FINAL_SIGMA


def _text(points: np.ndarray) -> str:
    return np.ascontiguousarray(points, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _utf32(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
