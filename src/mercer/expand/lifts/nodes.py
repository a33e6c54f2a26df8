"""The nodes of an exact lift: what a composed kernel does to the feature maps of its parts."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mercer._numeric.linalg.distances import is_sparse
from mercer._numeric.linalg.tensor import khatri_rao
from mercer._runtime.memory import refuse_too_large
from mercer.expand.lifts.monomials import MOST_COLUMNS
from mercer.expand.lifts.parts import Columns, Part, as_csr
from mercer.kernels.rows import column_positions


class SumPart(Part):
    """phi(x) = (phi_1(x), phi_2(x), ...)."""

    def __init__(self, *parts: Part):
        # a sum of sums is one concatenation
        self.parts = tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, SumPart) else [part]))

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        self.n_outputs = _told(sum(part.n_outputs for part in self.parts))

    def values(self, rows):
        from scipy.sparse import hstack

        values = [part.values(rows) for part in self.parts]
        if any(is_sparse(block) for block in values):
            return hstack([as_csr(block) for block in values], format="csr")
        dtype = np.result_type(*values)
        refuse_too_large(len(rows), self.n_outputs, dtype.itemsize, "Transform fewer rows at a time.")
        return np.concatenate(values, axis=1, dtype=dtype)

    def _combined(self, squared_norms):
        return sum(squared_norms)

    def names(self):
        names = [part.names() for part in self.parts]
        if len({name for part in names for name in part}) < self.n_outputs:
            names = [[f"{i}: {name}" for name in part] for i, part in enumerate(names)]
        return [name for part in names for name in part]


class ProductPart(Part):
    """phi(x) = all products of a coordinate of phi_1(x) and one of phi_2(x)."""

    def __init__(self, left: Part, right: Part):
        self.parts = left, right

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        left, right = self.parts
        self.n_outputs = _told(left.n_outputs * right.n_outputs)

    def values(self, rows):
        left, right = self.parts
        return khatri_rao(left.values(rows), right.values(rows))

    def _combined(self, squared_norms):
        return squared_norms[0] * squared_norms[1]

    def names(self):
        left, right = ([f"({name})" if " " in name else name for name in part.names()] for part in self.parts)
        return [f"{a} * {b}" for a in left for b in right]


class ScaledPart(Part):
    """phi(x) = sqrt(scale) phi_1(x)."""

    def __init__(self, part: Part, scale: float):
        self.parts, self.root = (part,), sqrt(scale)

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows):
        values = self.parts[0].values(rows)
        entries = values.data if is_sparse(values) else values
        entries *= entries.dtype.type(self.root)
        return values

    def _combined(self, squared_norms):
        return self.root**2 * squared_norms[0]

    def names(self):
        return self.parts[0].names()


class NormalizedPart(Part):
    """phi(x) = phi_1(x) / ||phi_1(x)||, and 0 where phi_1(x) = 0."""

    def __init__(self, part: Part):
        self.parts = (part,)

    def settle(self, columns, vocabularies):
        super().settle(columns, vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows):
        values = self.parts[0].values(rows)
        norms = np.sqrt(self.parts[0].squared_norms(rows, values))
        norms = np.where(norms > 0, norms, 1).astype(values.dtype, copy=False)
        if is_sparse(values):
            values.data /= np.repeat(norms, np.diff(values.indptr))
        else:
            values /= norms[:, None]
        return values

    def _combined(self, squared_norms):
        return (squared_norms[0] > 0).astype(float)

    def names(self):
        return self.parts[0].names()


class RestrictedPart(Part):
    """phi(x) = phi_1(x[columns])."""

    def __init__(self, part: Part, columns):
        self.parts, self.columns = (part,), columns

    def tokens(self, rows):
        return self.parts[0].tokens(rows.select(self.columns))

    def settle(self, columns, vocabularies):
        labels = columns.labels
        self.positions = column_positions(self.columns, len(labels), labels if columns.named else None)
        chosen = [self.positions] if isinstance(self.positions, int) else self.positions
        self.parts[0].settle(Columns([labels[j] for j in chosen], columns.named), vocabularies)
        self.n_outputs = self.parts[0].n_outputs

    def values(self, rows):
        return self.parts[0].values(rows.select(self.positions))

    def squared_norms(self, rows, values=None):
        return self.parts[0].squared_norms(rows.select(self.positions), values)

    def names(self):
        return self.parts[0].names()


def _told(n_outputs: int) -> int:
    if n_outputs > MOST_COLUMNS:
        raise ValueError(
            f"The lift would have {n_outputs:,} columns, and 64-bit column numbers end at 9.2e18. "
            "Use RandomFeatures or Landmarks with the kernel."
        )
    return n_outputs
