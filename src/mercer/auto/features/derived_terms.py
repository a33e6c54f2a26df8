"""Numbers derived from encoded columns: ratios and differences, and deviations from the mean of a category."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._runtime.loaded import require
from mercer.tables.columns import SmoothClipped
from mercer.tables.derived.column_pairs import OPERATIONS

if TYPE_CHECKING:
    from mercer.io.onnx import Graph

#: Rows of a category from which on it has a mean and a deviation of its own.
MIN_GROUP_ROWS = 5


@dataclass(frozen=True)
class PairTerm:
    """a / b, or a - b, of two numbers, decoded from their encoded columns; a / 0 is missing."""

    operation: str
    columns: np.ndarray
    first: SmoothClipped
    second: SmoothClipped

    def values(self, X: np.ndarray) -> np.ndarray:
        """The number of each encoded row; NaN where it is missing."""
        a, b = self.first.decoded(X[:, self.columns[0]]), self.second.decoded(X[:, self.columns[1]])
        return OPERATIONS[self.operation].apply(a, b)

    def name(self, columns: list[str]) -> str:
        return f"{columns[self.columns[0]]} {OPERATIONS[self.operation].sign} {columns[self.columns[1]]}"

    def moved(self, where: np.ndarray) -> PairTerm | None:
        """The same term of columns that are elsewhere; None if one of them is gone."""
        columns = where[self.columns]
        return replace(self, columns=columns) if np.all(columns >= 0) else None

    def relearned(self, rows: Any) -> PairTerm:
        """The same term of rows whose numbers may be encoded by other centers and scales."""
        parts = [rows.numbers.get(int(column)) for column in self.columns]
        return self if None in parts else replace(self, first=parts[0], second=parts[1])

    def onnx(self, graph: Graph, x: str) -> str:
        pair = zip(self.columns, (self.first, self.second), strict=True)
        a, b = (_decoded(graph, graph.columns(x, np.array([column])), part) for column, part in pair)
        return graph.add("Div" if self.operation == "ratio" else "Sub", a, b)

    def _check_loaded(self) -> None:
        require(self.operation in OPERATIONS and len(self.columns) == 2, "a pair of columns is incomplete")


def _decoded(graph: Graph, z: str, part: SmoothClipped) -> str:
    """center + scale z / sqrt(1 - (z / 3)^2), written as in `SmoothClipped.decoded`."""
    z = graph.add("Clip", graph.add("Div", z, np.float64(3.0)), np.float64(-1 + 1e-16), np.float64(1 - 1e-16))
    left, right = graph.add("Sub", np.float64(1.0), z), graph.add("Add", np.float64(1.0), z)
    root = graph.add("Sqrt", graph.add("Mul", left, right))
    ratio = graph.add("Div", graph.add("Mul", np.float64(3.0), z), root)
    return graph.add("Add", np.float64(part.center), graph.add("Mul", np.float64(part.scale), ratio))


@dataclass(frozen=True)
class GroupTerm:
    """(z - m_c) / s_c of an encoded number z in category c, of mean m_c and standard deviation s_c.

    columns : the indicators of the categories, then the number
    means, deviations : of each category; the last ones, for rows of no category, are those of all rows
    """

    columns: np.ndarray
    means: np.ndarray
    deviations: np.ndarray

    def values(self, X: np.ndarray) -> np.ndarray:
        """The number of each encoded row."""
        group = groups_of(X, self.columns[:-1])
        return (X[:, self.columns[-1]] - self.means[group]) / self.deviations[group]

    def name(self, columns: list[str]) -> str:
        return f"{columns[self.columns[-1]]} - mean by {columns[self.columns[0]].split('=')[0]}"

    def moved(self, where: np.ndarray) -> GroupTerm | None:
        """The same term of columns that are elsewhere; None if the number or all categories are gone."""
        columns = where[self.columns]
        kept = columns >= 0
        if not kept[-1] or not kept[:-1].any():
            return None
        known = np.append(kept[:-1], True)
        return GroupTerm(columns[kept], self.means[known], self.deviations[known])

    def relearned(self, rows: Any) -> GroupTerm:
        """The term with the means of other rows, and with categories that are new in them."""
        indicators, number = self.columns[:-1], int(self.columns[-1])
        spans = (np.arange(span.start, span.stop) for span in rows.categories)
        indicators = next((span for span in spans if indicators[0] in span), indicators)
        return GroupTerm.learned(rows.X, rows.counts, indicators, number)

    def onnx(self, graph: Graph, x: str) -> str:
        indicators, number = graph.columns(x, self.columns[:-1]), graph.columns(x, self.columns[-1:])
        mean, deviation = (
            graph.add("Add", values[-1], graph.add("MatMul", indicators, (values[:-1] - values[-1])[:, None]))
            for values in (self.means, self.deviations)
        )
        return graph.add("Div", graph.add("Sub", number, mean), deviation)

    def _check_loaded(self) -> None:
        require(
            len(self.columns) == len(self.means) == len(self.deviations), "the means of some categories are missing"
        )
        require(np.all(self.deviations > 0), "a standard deviation within a category is not positive")

    @classmethod
    def learned(cls, X: np.ndarray, w: np.ndarray, indicators: np.ndarray, number: int) -> GroupTerm:
        """The term with the means and deviations of some rows."""
        z, group, n = X[:, number], groups_of(X, indicators), len(indicators)
        rows, weight = (np.bincount(group, each, minlength=n + 1)[:n] for each in (np.ones(len(z)), w))
        whole = float(np.average(z, weights=w))
        spread = float(np.sqrt(np.average((z - whole) ** 2, weights=w))) or 1.0
        safe = np.where(weight > 0, weight, 1.0)
        means = np.where(rows >= MIN_GROUP_ROWS, np.bincount(group, w * z, minlength=n + 1)[:n] / safe, whole)
        squares = np.bincount(group, w * (z - np.append(means, whole)[group]) ** 2, minlength=n + 1)[:n] / safe
        own = (rows >= MIN_GROUP_ROWS) & (squares > (1e-6 * spread) ** 2)
        deviations = np.where(own, np.sqrt(squares), spread)
        return cls(np.append(indicators, number), np.append(means, whole), np.append(deviations, spread))


DerivedTerm = PairTerm | GroupTerm


def groups_of(X: np.ndarray, indicators: np.ndarray) -> np.ndarray:
    """The index of the indicator that is set in each row; their number where none is."""
    found = X[:, indicators]
    return np.where(found.any(axis=1), found.argmax(axis=1), len(indicators))
