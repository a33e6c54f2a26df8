"""Example tables of `mercer demo`: data that ship with scikit-learn, as CSV files with full names of columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mercer.io.atomic_file import atomic_write


@dataclass(frozen=True)
class DemoTable:
    """A table, the question it poses, the target, and how its header and rows are made."""

    question: str
    target: str
    rows: Callable[[], Iterator[list[Any]]]


#: Names of the columns that scikit-learn abbreviates.
_MEASURES = {
    "bmi": "body_mass_index",
    "bp": "blood_pressure",
    "s1": "total_cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol_ratio",
    "s5": "log_triglycerides",
    "s6": "blood_sugar",
}


def _diabetes() -> Iterator[list[Any]]:
    from sklearn.datasets import load_diabetes

    found = load_diabetes(scaled=False)
    sex = found.feature_names.index("sex")
    yield [*(_MEASURES.get(name, name) for name in found.feature_names), "progression"]
    for row, target in zip(found.data.tolist(), found.target.tolist(), strict=True):
        row[sex] = f"group {row[sex]:.0f}"  # the data do not say which of both is which
        yield [*row, target]


def _breast_cancer() -> Iterator[list[Any]]:
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    yield [*(name.replace(" ", "_") for name in found.feature_names.tolist()), "diagnosis"]
    names = found.target_names.tolist()
    for row, target in zip(found.data.tolist(), found.target.tolist(), strict=True):
        yield [*row, names[target]]


TABLES = {
    "diabetes": DemoTable(
        "How far has the disease advanced a year after these ten measurements?", "progression", _diabetes
    ),
    "breast_cancer": DemoTable(
        "Is a tumor malignant or benign, from thirty measurements of its cells?", "diagnosis", _breast_cancer
    ),
}


def write_table(name: str, folder: str) -> str:
    """Write an example table to a folder, and return the path; a file of that name with other content is refused."""
    path = os.path.join(folder, f"{name}.csv")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(TABLES[name].rows())
    content = text.getvalue().encode()
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return path
        raise FileExistsError(f"{path} exists and is not the table of the demo. Choose another folder with --output.")
    with atomic_write(path) as file:
        file.write(content)
    return path
