"""Two columns of a table as points of the plane: numbers standardized, a third column as the two classes."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.explore.fields import RequestError
from mercer.explore.numbers import rounded
from mercer.io import read_table
from mercer.normalize import Standardize
from mercer.source import Columns
from mercer.stats import Sample

#: Distinct rows kept of a file, and rows of the training and of the test set.
SAMPLE_ROWS = 2000
TRAIN_ROWS, TEST_ROWS = 300, 300
_NUMBERS = ("number", "integer", "boolean")
_MAX_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class ChosenTable:
    """A sample of the rows of a file or of a pasted table."""

    name: str
    rows: Columns

    def describe(self) -> dict[str, Any]:
        """Return the name and the columns: those that can be axes, and those that can be classes."""
        names = self.rows.columns[:_MAX_COLUMNS]
        numbers = [name for name in names if self.rows.schema[name] in _NUMBERS]
        return {"name": self.name, "numbers": numbers, "classes": names, "rows": len(self.rows)}


def sample_of_file(path: str, name: str | None = None, **options: Any) -> ChosenTable:
    """Read a file and keep a random sample of its rows; `options` go to `read_table`."""
    source = read_table(path, **options)
    rows = source.fold(Sample(SAMPLE_ROWS)).finish().X
    table = ChosenTable(name or os.path.basename(path), rows)
    if len(table.describe()["numbers"]) < 2:
        raise RequestError(f"{table.name} has fewer than two columns of numbers; the plane needs two.")
    return table


def sample_of_text(text: str) -> ChosenTable:
    """Read a pasted table: lines with commas, semicolons or tabs, the names of the columns first."""
    if not text.strip():
        raise RequestError("The pasted table is empty.")
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        path = os.path.join(folder, "pasted.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        try:
            return sample_of_file(path, "pasted table")
        except RequestError:
            raise
        except (ValueError, OSError) as error:
            raise RequestError(str(error).replace(path, "the pasted table")) from None


def points_of_table(table: ChosenTable, first: str, second: str, label: str) -> dict[str, Any]:
    """Return training and test points as the fields of a state, and what the two classes are."""
    for name in (first, second, label):
        if name not in table.rows.columns:
            raise RequestError(f"There is no column {name!r} in {table.name}.")
    X = np.column_stack([_numbers(table, first), _numbers(table, second)])
    y, classes, present = _two_classes(table, label)
    keep = np.isfinite(X).all(axis=1) & present
    if len(np.unique(y[keep])) < 2:
        raise RequestError(f"The rows with all values have only one class in {label!r}.")
    X, y = X[keep], y[keep]
    n_train = min(TRAIN_ROWS, max(2, int(0.7 * len(y))))
    train = slice(0, n_train)
    scaler = Standardize().fit(X[train])
    points = np.column_stack([np.clip(scaler.transform(X), -6, 6).round(3), y])
    return {
        "points": rounded(points[train]),
        "test_points": rounded(points[n_train : n_train + TEST_ROWS]),
        "x_name": first[:80],
        "y_name": second[:80],
        "classes": classes,
    }


def _numbers(table: ChosenTable, name: str) -> np.ndarray:
    if table.rows.schema[name] not in _NUMBERS:
        raise RequestError(f"The column {name!r} holds no numbers.")
    return table.rows.array(name).astype(np.float64)


def _two_classes(table: ChosenTable, label: str) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return labels -1 and 1, their meaning, and which rows have one."""
    values = table.rows.array(label)
    if table.rows.schema[label] in ("number", "integer"):
        present = np.isfinite(values.astype(np.float64))
        distinct = np.unique(values[present])
        if len(distinct) > 2:
            middle = float(np.median(values[present].astype(np.float64)))
            return np.where(values > middle, 1.0, -1.0), [f"{label} ≤ {middle:g}", f"{label} > {middle:g}"], present
    else:
        present = np.array([value is not None and value == value for value in values])
        distinct = np.unique(values[present].astype(str))
    if len(distinct) < 2:
        raise RequestError(f"The column {label!r} has only one value; the classes need two.")
    texts = np.array([str(value) for value in values])
    if len(distinct) == 2:
        low, high = (str(each) for each in distinct)
        return np.where(texts == high, 1.0, -1.0), [low, high], present
    names, counts = np.unique(texts[present], return_counts=True)
    top = str(names[counts.argmax()])
    return np.where(texts == top, 1.0, -1.0), ["others", top], present
