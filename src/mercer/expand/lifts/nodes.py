"""The nodes of an exact lift: what a composed kernel does to the feature maps of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer._numeric.linalg.tensor import khatri_rao
from mercer._runtime.memory import refuse_too_large
from mercer.expand.lifts.monomials import MAX_COLUMNS
from mercer.expand.lifts.parts import ColumnLabels, LiftPart, as_csr
from mercer.kernels.rows import KernelInput, column_positions


class SumPart(LiftPart):
    """phi(x) = (phi_1(x), phi_2(x), ...)."""

    def __init__(self, *parts: LiftPart) -> None:
        # a sum of sums is one concatenation
        self.parts = tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, SumPart) else [part]))

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        super().bind(columns, vocabularies)
        self.n_outputs = _checked_size(sum(part.n_outputs for part in self.parts))

    def values(self, rows: KernelInput) -> Any:
        from scipy.sparse import hstack

        values = [part.values(rows) for part in self.parts]
        if any(is_sparse(block) for block in values):
            return hstack([as_csr(block) for block in values], format="csr")
        dtype = np.result_type(*values)
        refuse_too_large(len(rows), self.n_outputs, dtype.itemsize, "Transform fewer rows at a time.")
        return np.concatenate(values, axis=1, dtype=dtype)

    def _combined(self, squared_norms: list[Any]) -> np.ndarray:
        return sum(squared_norms)

    def names(self) -> list[str]:
        names = [part.names() for part in self.parts]
        if len({name for part in names for name in part}) < self.n_outputs:
            names = [[f"{i}: {name}" for name in part] for i, part in enumerate(names)]
        return [name for part in names for name in part]


class ProductPart(LiftPart):
    """phi(x) = all products of a coordinate of phi_1(x) and one of phi_2(x)."""

    def __init__(self, left: LiftPart, right: LiftPart) -> None:
        self.parts = left, right

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        super().bind(columns, vocabularies)
        left, right = self.parts
        self.n_outputs = _checked_size(left.n_outputs * right.n_outputs)

    def values(self, rows: KernelInput) -> Any:
        left, right = self.parts
        return khatri_rao(left.values(rows), right.values(rows))

    def _combined(self, squared_norms: list[Any]) -> np.ndarray:
        return squared_norms[0] * squared_norms[1]

    def names(self) -> list[str]:
        left, right = ([f"({name})" if " " in name else name for name in part.names()] for part in self.parts)
        return [f"{a} * {b}" for a in left for b in right]


class ScaledPart(LiftPart):
    """phi(x) = sqrt(scale) phi_1(x)."""

    def __init__(self, part: LiftPart, scale: float) -> None:
        self.parts, self.root = (part,), sqrt(scale)

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        super().bind(columns, vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows: KernelInput) -> Any:
        values = self.parts[0].values(rows)
        entries = values.data if is_sparse(values) else values
        entries *= entries.dtype.type(self.root)
        return values

    def _combined(self, squared_norms: list[Any]) -> np.ndarray:
        return self.root**2 * squared_norms[0]

    def names(self) -> list[str]:
        return self.parts[0].names()


class NormalizedPart(LiftPart):
    """phi(x) = phi_1(x) / ||phi_1(x)||, and 0 where phi_1(x) = 0."""

    def __init__(self, part: LiftPart) -> None:
        self.parts = (part,)

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        super().bind(columns, vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows: KernelInput) -> Any:
        values = self.parts[0].values(rows)
        norms = np.sqrt(self.parts[0].squared_norms(rows, values))
        norms = np.where(norms > 0, norms, 1).astype(values.dtype, copy=False)
        if is_sparse(values):
            values.data /= np.repeat(norms, np.diff(values.indptr))
        else:
            values /= norms[:, None]
        return values

    def _combined(self, squared_norms: list[Any]) -> np.ndarray:
        return (squared_norms[0] > 0).astype(float)

    def names(self) -> list[str]:
        return self.parts[0].names()


class RestrictedPart(LiftPart):
    """phi(x) = phi_1(x[columns])."""

    def __init__(self, part: LiftPart, columns: Any) -> None:
        self.parts, self.columns = (part,), columns

    def tokens(self, rows: KernelInput) -> list[Any]:
        return self.parts[0].tokens(rows.select(self.columns))

    def bind(self, columns: ColumnLabels, vocabularies: Iterator[Any]) -> None:
        labels = columns.labels
        self.positions = column_positions(self.columns, len(labels), labels if columns.named else None)
        chosen = [self.positions] if isinstance(self.positions, int) else self.positions
        self.parts[0].bind(ColumnLabels([labels[j] for j in chosen], columns.named), vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows: KernelInput) -> Any:
        return self.parts[0].values(rows.select(self.positions))

    def squared_norms(self, rows: KernelInput, values: Any = None) -> np.ndarray:
        return self.parts[0].squared_norms(rows.select(self.positions), values)

    def names(self) -> list[str]:
        return self.parts[0].names()


def _checked_size(n_outputs: int) -> int:
    if n_outputs > MAX_COLUMNS:
        raise ValueError(
            f"The lift would have {n_outputs:,} columns, and 64-bit column numbers end at 9.2e18. "
            "Use RandomFeatures or Landmarks with the kernel."
        )
    return n_outputs
