"""What the running Python knows about each code point, as arrays for compiled code.

`str.lower`, `str.isalnum` and `str.isspace` are asked about all code points at once, so that compiled tokens agree with
Python's whatever version of Unicode it knows.
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
    `lower` from N_CODE_POINTS on is a place in `lower` where several code points stand, followed by a zero.
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


def _with_case(points) -> np.ndarray:
    """The code points that may have a case, or stand between letters that do: not the million of the other kinds."""
    kinds = np.frombuffer("".join(map(unicodedata.category, _text(points))).encode(), dtype="S2")
    return points[~np.isin(kinds, [b"Lo", b"Cn", b"Co", b"Cs"])]


def _expanding(points) -> np.ndarray:
    """The code points whose lower case is longer than one: U+0130, and whatever Unicode may yet bring."""
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


def _casing(points) -> np.ndarray:
    """CASED and IGNORABLE, which Python does not tell, read off what it makes of a capital sigma after each one."""
    a, sigma = np.full_like(points, ord("A")), np.full_like(points, ord(_SIGMA))
    after = _sigma_is_final(np.stack([points, sigma], axis=1))
    beyond = _sigma_is_final(np.stack([a, points, sigma], axis=1))
    return np.where(after, CASED, np.where(beyond, IGNORABLE, 0)).astype(np.uint8)


def _sigma_is_final(rows) -> np.ndarray:
    """Whether the sigma that ends each row is lowered to a final one; a blank keeps rows apart."""
    rows = np.concatenate([rows, np.full((len(rows), 1), ord(" "), rows.dtype)], axis=1)
    lowered = _utf32(_text(rows.ravel()).lower()).reshape(rows.shape)
    return lowered[:, -2] == _FINAL_SIGMA


def _text(points) -> str:
    return np.ascontiguousarray(points, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _utf32(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
