"""Random tables, written in random dialects, then damaged at random positions: cases with a known truth."""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

import numpy as np

#: Kinds of damage after which the table cannot be what was written: it is restored, refused or remarked on.
STRUCTURAL = (
    "insert quote",
    "delete quote",
    "text after closing quote",
    "delete delimiter",
    "insert delimiter",
    "delete line break",
    "cut off",
    "invalid byte",
)
#: Kinds of damage that may turn a table into another one: only the readers must agree.
ANY = ("none", "substitute", "delete bytes", "insert bytes", "repeat bytes", "swap bytes")

_LETTERS = [*"abcxyz0189 .-#'\"\\", "ä", "é", "\n", ",", ";", "\t", "|", '""', "1.5", "NA", "x, y"]


class Case(NamedTuple):
    """Bytes of a file, the options to read it with, the table that was written, and the damage done."""

    data: bytes
    options: dict
    table: list[list[str]]
    damage: str


def make_case(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng(seed)
    options = {
        "delimiter": str(rng.choice(list(",;\t|"))),
        "quote": str(rng.choice(['"', '"', "'"])),
        "encoding": str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])),
        "decimal": ".",
        "header": True,
    }
    width, n_rows = int(rng.integers(2, 6)), int(rng.choice([1, 3, 12, 400]))
    names = [f"c{j}" for j in range(width)]
    table = [[_value(rng) for _ in names] for _ in range(n_rows)]
    style = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    out = io.StringIO()
    ending = str(rng.choice(["\n", "\r\n"]))
    writer = csv.writer(
        out, delimiter=options["delimiter"], quotechar=options["quote"], quoting=int(style), lineterminator=ending
    )
    writer.writerows([names, *table])
    damage = str(rng.choice(STRUCTURAL + ANY))
    text = _damaged(out.getvalue(), damage, options, rng)
    data = text.encode(options["encoding"], "surrogatepass" if options["encoding"] == "utf-8" else "strict")
    if damage == "invalid byte" and options["encoding"].startswith("utf-8"):
        at = int(rng.integers(4, len(data) + 1))
        data = data[:at] + b"\xff" + data[at:]
    return Case(data, options, [names, *table], damage)


def _value(rng: np.random.Generator) -> str:
    if rng.random() < 0.4:
        return str(int(rng.integers(-99, 99)))
    letters = rng.choice(_LETTERS, size=int(rng.integers(0, 6)))
    # A value of blanks, or one that begins with a line break, differs from nothing only by its quotes.
    return "v" + "".join(letters)


def _damaged(text: str, damage: str, options: dict, rng: np.random.Generator) -> str:
    quote, delimiter = options["quote"], options["delimiter"]
    inside = np.cumsum([letter == quote for letter in text]) % 2 == 1
    at = int(rng.integers(len(text)))
    if damage == "insert quote":
        return text[:at] + quote + text[at:]
    if damage in ("delete quote", "text after closing quote"):
        closing = damage.startswith("text")
        found = [i for i, letter in enumerate(text) if letter == quote and not (closing and inside[i])]
        found = [i for i in found if not closing or text[i + 1 : i + 2] not in (quote, "")]
        if not found:
            return text[:at] + quote + text[at:]
        at = int(rng.choice(found))
        return text[: at + 1] + "7" + text[at + 1 :] if closing else text[:at] + text[at + 1 :]
    if damage in ("delete delimiter", "delete line break"):
        letter = delimiter if damage == "delete delimiter" else "\n"
        found = [i for i, each in enumerate(text) if each == letter and not inside[i]]
        at = int(rng.choice(found))
        start = at - (letter == "\n" and text[at - 1] == "\r")
        return text[:start] + text[at + 1 :]
    if damage == "insert delimiter":
        outside = [i for i in range(len(text)) if not inside[i] and (i == 0 or not inside[i - 1])]
        at = int(rng.choice([i for i in outside if text[i - 1 : i + 1] != "\r\n"]))  # \r alone would end the line
        return text[:at] + delimiter + text[at:]
    if damage == "cut off":
        found = [i for i, each in enumerate(text) if each == delimiter and not inside[i] and i > 0]
        return text[: int(rng.choice(found))]
    return _changed(text, damage, rng)


def _changed(text: str, damage: str, rng: np.random.Generator) -> str:
    at, length = int(rng.integers(len(text))), int(rng.integers(1, 4))
    odd = "".join(rng.choice(["'", '"', ",", ";", "\n", "\r", "\0", " ", "x", "5", "ä", "\t", "#"], size=length))
    if damage == "substitute":
        return text[:at] + odd + text[at + length :]
    if damage == "delete bytes":
        return text[:at] + text[at + length :]
    if damage == "insert bytes":
        return text[:at] + odd + text[at:]
    if damage == "repeat bytes":
        return text[: at + length] + text[at:]
    if damage == "swap bytes":
        return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
    return text
