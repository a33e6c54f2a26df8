"""Explanations of predictions: a baseline and contributions that add up to the prediction, for one row or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

#: Contributions that the text of an explanation lists; the others are summed.
_MAX_LISTED = 12
_MAX_NAME, _BAR = 30, 16


@dataclass(frozen=True)
class Explanation:
    """`prediction` = `baseline` + the sum of `contributions`, the largest first, all in `unit`.

    Attributes
    ----------
    baseline, prediction : float
        The score of the row that `baseline_description` states, and that of this row.
    contributions : dict of column names (terms, for a model of texts alone) to numbers
    output : the class explained, the index of one of several targets, or None
    unit : str
        The name of the target for regression. With two classes all numbers are log-odds log(p / (1 - p)) of `output`.
        With more they are its softmax score s: p = exp(s) / (sum over the classes of exp(their scores)).
    baseline_description : str
    probability : float or None
        That of the class `output`, as `predict_proba` gives it.
    """

    baseline: float
    prediction: float
    contributions: dict[str, float]
    output: object = None
    unit: str = "prediction"
    baseline_description: str = "the mean row of the training data"
    probability: float | None = None

    def __str__(self) -> str:
        head = f"Prediction {self.prediction:.4g} ({self.unit})"
        head += "" if self.probability is None else f", probability {self.probability:.3g}"
        shown = list(self.contributions.items())[:_MAX_LISTED]
        rest = list(self.contributions.values())[_MAX_LISTED:]
        lines = [("baseline", self.baseline, self.baseline_description)]
        lines += [(_cut(name), value, "") for name, value in shown]
        lines += [("others", sum(rest), "")] if rest else []
        largest = max((abs(value) for _, value, _ in lines[1:]), default=0.0)
        width = max(len(name) for name, _, _ in lines)
        return "\n".join(
            [
                head,
                *(
                    f"  {name:<{width}}  {value:>+10.4g}  {note or text_bar(value, largest)}".rstrip()
                    for name, value, note in lines
                ),
            ]
        )


class Explanations(Sequence):
    """The explanations of several rows: a sequence of `Explanation`, with one column per column of the table.

    Attributes
    ----------
    columns : list of str
        The columns of the table.
    baseline, prediction : arrays of n
    contributions : array of shape (n, number of columns)
        prediction = baseline + contributions.sum(axis=1)
    outputs : list of n classes, or None for regression
    units : list of n str
    probability : array of n, or None for regression
    baseline_description : str
    """

    def __init__(
        self,
        columns: list[str],
        baseline: np.ndarray,
        prediction: np.ndarray,
        contributions: np.ndarray,
        units: list[str],
        outputs: list[Any],
        probability: np.ndarray | None,
        baseline_description: str,
        terms: list[dict[str, float]] | None = None,
    ):
        self.columns, self.baseline, self.prediction = columns, baseline, prediction
        self.contributions, self.units, self.outputs = contributions, units, outputs
        self.probability, self.baseline_description = probability, baseline_description
        self._terms = terms

    def __len__(self) -> int:
        return len(self.prediction)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Explanation]: ...
    def __getitem__(self, index: int | slice) -> Explanation | list[Explanation]:
        """The explanation of one row, or a list of those of several."""
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"There are {len(self)} explanations, none of index {index}.")
        return self._row(index % len(self))

    def __iter__(self) -> Iterator[Explanation]:
        return (self._row(i) for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Explanations({len(self)} rows, {len(self.columns)} columns)"

    def _row(self, i: int) -> Explanation:
        if self._terms is None:
            order = np.argsort(-np.abs(self.contributions[i]), kind="stable")
            parts = {self.columns[j]: float(self.contributions[i, j]) for j in order}
        else:
            parts = self._terms[i]
        probability = None if self.probability is None else float(self.probability[i])
        start, end = float(self.baseline[i]), float(self.prediction[i])
        return Explanation(start, end, parts, self.outputs[i], self.units[i], self.baseline_description, probability)

    def to_dict(self) -> dict[str, Any]:
        """Columns for a frame: `baseline`, `prediction`, for classes `output` and `probability`, then each column.

        A column of the table with one of these names gets the suffix `_contribution`.
        """
        found: dict[str, Any] = {"baseline": self.baseline, "prediction": self.prediction}
        if self.probability is not None:
            found |= {"output": self.outputs, "probability": self.probability}
        reserved = set(found)
        for name, values in zip(self.columns, self.contributions.T, strict=True):
            found[f"{name}_contribution" if name in reserved else name] = values
        return found


def text_bar(value: float, largest: float, width: int = _BAR) -> str:
    """A bar of plus or minus signs, of length in proportion to the value.

    >>> text_bar(-0.5, 2.0, 8), text_bar(2.0, 2.0, 8)
    ('--', '++++++++')
    """
    if not largest > 0:
        return ""
    return ("+" if value > 0 else "-") * round(width * abs(value) / largest)


def _cut(name: str) -> str:
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 3] + "..."
