"""Faults of tables as people have them, and what every command may do about each: an answer, or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

N = 120
Columns = dict[str, list]


class TableFault(NamedTuple):
    """A change of the text of a table, and whether the answer stays what it was (else a refusal may come)."""

    change: Callable[[Columns], str]
    harmless: bool = False


def columns(n: int = N) -> Columns:
    """A table with known truth: y = 3 a - 2 b, and a little noise."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n)).round(3)
    y = (3 * a - 2 * b + 0.1 * rng.normal(size=n)).round(3)
    colors = rng.choice(["red", "green", "blue"], size=n)
    days = (np.datetime64("2020-01-01") + rng.integers(0, 300, size=n)).astype(str)
    return {"a": a.tolist(), "b": b.tolist(), "color": colors.tolist(), "day": days.tolist(), "y": y.tolist()}


def text(table: Columns, delimiter: str = ",", names: list[str] | None = None) -> str:
    """The table as CSV, nothing quoted."""
    rows = zip(*table.values(), strict=True)
    return "\n".join(delimiter.join(map(str, row)) for row in [names or list(table), *rows]) + "\n"


def _more(values: Callable[[int], object], name: str = "extra") -> Callable[[Columns], str]:
    return lambda table: text({name: [values(i) for i in range(N)], **table})


def _put(value: object, column: str, row: int = 7) -> Callable[[Columns], str]:
    def change(table: Columns) -> str:
        return text(table | {column: [value if i == row else old for i, old in enumerate(table[column])]})

    return change


def _whole(value: object, column: str) -> Callable[[Columns], str]:
    return lambda table: text(table | {column: [value] * N})


def _named(*names: str) -> Callable[[Columns], str]:
    return lambda table: text(table, names=list(names))


def _rows(n: int) -> Callable[[Columns], str]:
    return lambda table: text({name: values[:n] for name, values in table.items()})


FAULTS: dict[str, TableFault] = {
    "none": TableFault(text, True),
    "constant column": TableFault(_more(lambda i: 7), True),
    "column of missing values": TableFault(_more(lambda i: ""), True),
    "column of NA": TableFault(_more(lambda i: "NA"), True),
    "column of row numbers": TableFault(_more(lambda i: i), True),
    "column of unique text": TableFault(_more(lambda i: f"id-{i:05d}"), True),
    "infinity in a number": TableFault(_put("inf", "a")),
    "minus infinity in a number": TableFault(_put("-Infinity", "a")),
    "NaN in a number": TableFault(_put("NaN", "a")),
    "1e400 in a number": TableFault(_put("1e400", "a")),
    "1e308 in a number": TableFault(_put("1e308", "a")),
    "1e-400 in a number": TableFault(_put("1e-400", "a"), True),
    "text in a number": TableFault(_put("n/k", "a")),
    "integers beyond 2^63": TableFault(_more(lambda i: 2**63 + i), True),
    "integers of 40 digits": TableFault(_more(lambda i: 10**39 + i), True),
    "integers beyond 2^53": TableFault(_more(lambda i: 2**53 + i), True),
    "numbers with 0x": TableFault(_more(lambda i: hex(i)), True),
    "numbers with underscores": TableFault(_more(lambda i: f"1_{i:03d}"), True),
    "leading zeros": TableFault(_more(lambda i: f"{i:05d}"), True),
    "true and false": TableFault(_more(lambda i: ["true", "False", "TRUE"][i % 3]), True),
    "yes and no": TableFault(_more(lambda i: ["yes", "no"][i % 2]), True),
    "numbers and text by turns": TableFault(_more(lambda i: i if i % 2 else f"x{i}"), True),
    "thousands separators": TableFault(_more(lambda i: f'"{i + 1},{i:03d}"'), True),
    "percent": TableFault(_more(lambda i: f"{i / 7:.1f}%"), True),
    "currency": TableFault(_more(lambda i: f"${i}.50"), True),
    "Unicode minus": TableFault(_more(lambda i: f"\u2212{i}"), True),
    "Arabic digits": TableFault(_more(lambda i: "\u0661\u0662\u0663"[i % 3]), True),
    "dates out of range": TableFault(_put("2020-13-45", "day")),
    "year 0000": TableFault(_put("0000-01-01", "day")),
    "year 99999": TableFault(_put("99999-01-01", "day")),
    "February 30": TableFault(_put("2020-02-30", "day")),
    "several forms of dates": TableFault(_more(lambda i: ["2020-01-02", "02/01/2020", "2 Jan 2020"][i % 3]), True),
    "times with zones": TableFault(_more(lambda i: f"2020-01-01T00:{i % 60:02d}:00+02:00"), True),
    "composed and decomposed letters": TableFault(_more(lambda i: ["caf\u00e9", "cafe\u0301"][i % 2]), True),
    "invisible characters": TableFault(_more(lambda i: ["x", "x\u200b", "\ufeffx"][i % 3]), True),
    "right-to-left marks": TableFault(_more(lambda i: ["\u202eabc", "abc"][i % 2]), True),
    "emoji": TableFault(_more(lambda i: "\U0001f600\u2764"[i % 2]), True),
    "NUL in text": TableFault(_put("re\0d", "color")),
    "text of 100 kB": TableFault(_put("x" * 100_000, "color")),
    "values with blanks around them": TableFault(_more(lambda i: ["x ", " x", "x"][i % 3]), True),
    "missing values as words": TableFault(_more(lambda i: ["none", "missing", "-", "1"][i % 4]), True),
    "99999 for missing": TableFault(_more(lambda i: 99999 if i % 3 else i), True),
    "duplicate names": TableFault(_named("a", "b", "a", "day", "y")),
    "empty name": TableFault(_named("a", "b", "", "day", "y")),
    "all names empty but the target": TableFault(_named("", "", "", "", "y")),
    "names that differ by case": TableFault(_named("a", "A", "color", "day", "y")),
    "names with blanks around them": TableFault(_named(" a", "b ", "color", "day", "y")),
    "long name": TableFault(_named("a" * 5000, "b", "color", "day", "y")),
    "empty file": TableFault(lambda table: ""),
    "blank lines only": TableFault(lambda table: "\n" * 500),
    "header only": TableFault(_rows(0)),
    "one row": TableFault(_rows(1)),
    "two rows": TableFault(_rows(2)),
    "five rows": TableFault(_rows(5)),
    "only the target": TableFault(lambda table: text({"y": table["y"]})),
    "target missing in a row": TableFault(_put("", "y")),
    "target missing in all rows": TableFault(_whole("", "y")),
    "target of one value": TableFault(_whole(5, "y")),
    "target of one class": TableFault(_whole("yes", "y")),
    "target with infinity": TableFault(_put("inf", "y")),
    "target with 1e300": TableFault(_put("1e300", "y")),
    "target with text": TableFault(_put("unknown", "y")),
    "target of all different text": TableFault(lambda table: text(table | {"y": [f"t{i}" for i in range(N)]})),
    "more columns than rows": TableFault(
        lambda table: text({**{f"x{j}": [(i * j) % 17 for i in range(N)] for j in range(200)}, **table}), True
    ),
    "every row twice": TableFault(lambda table: text({name: 2 * values for name, values in table.items()}), True),
    "a row too short": TableFault(lambda table: text(table) + "1,2\n"),
    "a row too long": TableFault(lambda table: text(table) + "1,2,red,2020-01-01,3,4,5\n"),
    "lone surrogates": TableFault(lambda table: text(table) + "1,2,\ud800,2020-01-01,3\n"),
}


def written(name: str) -> bytes:
    """The bytes of the table with a fault."""
    return FAULTS[name].change(columns()).encode("utf-8", "surrogatepass")
