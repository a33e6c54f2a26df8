"""`lift(kernel)`: the exact features of any kernel that has finitely many, by recursion over how it is composed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from mercer._numeric.block import Block
from mercer._numeric.linalg.distances import is_sparse
from mercer.expand.lifts import nodes, parts
from mercer.expand.lifts.high_dimensional import HighDimensionalTransformer
from mercer.expand.lifts.polynomial import kernel_monomials
from mercer.expand.lifts.subsets import all_subset_monomials, subset_monomials
from mercer.expand.lifts.window_parts import part_of_windows
from mercer.kernels import (
    AllSubsets,
    Anova,
    Constant,
    Custom,
    Kernel,
    Linear,
    Normalized,
    Overlap,
    Polynomial,
    Precomputed,
    Product,
    Restricted,
    Scaled,
    Stationary,
    Subsequence,
    SubsetTree,
    Sum,
    kernel_by_name,
)
from mercer.kernels.discrete.overlap import is_table
from mercer.kernels.discrete.strings import WindowKernel
from mercer.kernels.rows import KernelInput
from mercer.stats import Statistic


def lift(kernel: Kernel | str) -> KernelLift:
    """The exact feature map of a kernel: a transformer phi with <phi(x), phi(z)> = k(x, z).

    Constant, Linear, Polynomial, AllSubsets, Anova, Overlap and, on sequences, Spectrum, Mismatch and WeightedDegree
    have finite lifts, and so has what is made of them: a sum of kernels is a concatenation, a product a tensor product,
    a scale a scale, `on(columns)` a choice of columns and `normalized()` a division by the length of each row. Other
    kernels are refused, with the reason and an alternative. A kernel may be given by name.

    Use it where the features are few, or sparse: the linear model on them is the kernel machine, for any number of rows
    and with weights that have names. Prefer `RandomFeatures` where the exact features are too many
    (`n_output_features_` tells before any row is lifted), and `Landmarks` where none are finite.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.expand import lift
    >>> from mercer.kernels import Linear, Polynomial
    >>> kernel = 0.5 * Polynomial(2) + Linear().on([0])
    >>> X = np.array([[1.0, 2.0], [0.0, -1.0]])
    >>> phi = lift(kernel).fit(X)
    >>> (phi.transform(X) @ phi.transform(X).T).round(6).tolist(), kernel(X).tolist()
    ([[19.0, 0.5], [0.5, 2.0]], [[19.0, 0.5], [0.5, 2.0]])
    """
    made = KernelLift(kernel_by_name(kernel) if isinstance(kernel, str) else kernel)
    made._check_parameters()
    return made


class KernelLift(HighDimensionalTransformer):
    """The exact features of a finite kernel; `lift` makes it.

    Numbers give an array, CSR gives CSR, and sets of tokens (`Overlap`) or sequences (`Spectrum`, ...) give CSR with
    one column for each token or word seen by `fit`; those that only come later have no column, and no similarity to the
    rows of `fit`.

    Parameters
    ----------
    kernel : Kernel

    Attributes
    ----------
    n_output_features_ : int, known before anything is computed
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def _check_parameters(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be one of mercer.kernels, not {self.kernel!r}.")
        self.kernel._validate()
        part_of(self.kernel)

    def _empty(self) -> Vocabularies | None:
        return Vocabularies(part_of(self.kernel)) if _reads_objects(self.kernel) else None

    def _finish(self, learned: Any) -> None:
        self._vocabularies = learned or ()
        self._part = self._bound_part(self._input_names())
        self.n_output_features_ = self._part.n_outputs

    def _bound_part(self, labels: list[str]) -> parts.LiftPart:
        part = part_of(self.kernel)
        part.bind(parts.ColumnLabels(labels, hasattr(self, "feature_names_in_")), iter(self._vocabularies))
        return part

    def _apply(self, X: Any) -> Any:
        values = self._part.values(KernelInput(X))
        if not is_sparse(values):
            return values
        from scipy.sparse import csr_matrix

        return (type(X) if is_sparse(X) else csr_matrix)(values)

    def _checked_X(self, X: Any, reset: bool | None, start: int = 0) -> Any:
        if not _reads_objects(self.kernel) or is_table(KernelInput(X)):
            return super()._checked_X(X, reset, start)
        if hasattr(X, "columns") or getattr(X, "ndim", 1) == 2:
            return X if reset is None else validate_data(self, X, reset=reset, skip_check_array=True)
        if _has(self.kernel, Restricted):  # rows of cells
            X = np.array([[*row, None] for row in X], dtype=object)[:, :-1]
        else:
            X = _object_column(X)
        if reset:
            self.n_features_in_ = 1 if X.ndim == 1 else X.shape[1]
        return X

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """A name for each output column; at most ten million."""
        labels = self._input_names(input_features)
        return np.array(parts.checked_names(self._bound_part(labels)), dtype=object)


@dataclass(frozen=True)
class Vocabularies(Statistic):
    """The distinct tokens that each map of sets reads; `finish` gives them sorted, None for maps given numbers."""

    part: parts.LiftPart
    n: int = 0
    found: tuple[Any, ...] = ()

    def of(self, block: Block) -> Vocabularies:
        return Vocabularies(self.part, len(block), tuple(self.part.tokens(KernelInput(block.X))) if len(block) else ())

    def _merge(self, other: Vocabularies) -> Vocabularies:
        pairs = list(zip(self.found, other.found, strict=True))
        if any((a is None) != (b is None) for a, b in pairs):
            raise ValueError("Some rows hold sets of tokens and some hold numbers: Overlap needs one or the other.")
        found = tuple(None if a is None else a | b for a, b in pairs)
        return Vocabularies(self.part, self.n + other.n, found)

    def finish(self) -> list[list[Any] | None]:
        return [None if tokens is None else _sorted(tokens) for tokens in self.found]


@singledispatch
def part_of(kernel: Kernel) -> parts.LiftPart:
    """The feature map of a kernel, or the reason why there is none."""
    raise ValueError(f"{kernel} has no finite lift that Mercer knows. Use Landmarks(kernel={kernel}).")


@part_of.register
def _(kernel: Stationary) -> parts.LiftPart:
    raise ValueError(
        f"{kernel} has no finite lift: its Gram matrix has full rank however many distinct rows there are, so no "
        f"finite number of columns can hold it. Use RandomFeatures({kernel}) or Landmarks(kernel={kernel})."
    )


@part_of.register
def _(kernel: Custom) -> parts.LiftPart:
    raise ValueError(f"{kernel} has no known lift: Mercer cannot see into a function. Use Landmarks(kernel={kernel}).")


@part_of.register
def _(kernel: Precomputed) -> parts.LiftPart:
    raise ValueError(
        "Precomputed() has no lift: features cannot be computed from kernel values of rows that are not given. "
        "Use a kernel machine on the matrix, or the kernel itself."
    )


@part_of.register
def _(kernel: Constant) -> parts.LiftPart:
    return parts.ConstantPart(kernel.value)


@part_of.register
def _(kernel: Linear) -> parts.LiftPart:
    return parts.LinearPart()


@part_of.register
def _(kernel: Polynomial) -> parts.LiftPart:
    make = partial(kernel_monomials, degree=kernel.degree, offset=kernel.offset, scale=kernel.scale)
    return parts.MonomialPart(make)


@part_of.register
def _(kernel: AllSubsets) -> parts.LiftPart:
    return parts.MonomialPart(partial(all_subset_monomials, scale=kernel.scale))


@part_of.register
def _(kernel: Anova) -> parts.LiftPart:
    return parts.MonomialPart(partial(subset_monomials, low=kernel.degree, high=kernel.degree))


@part_of.register
def _(kernel: Overlap) -> parts.LiftPart:
    return parts.OverlapPart()


@part_of.register
def _(kernel: WindowKernel) -> parts.LiftPart:
    return part_of_windows(kernel)


@part_of.register
def _(kernel: Subsequence) -> parts.LiftPart:
    raise ValueError(
        f"{kernel} has no lift of a useful size: every word of {kernel.k} letters is a feature of almost every row. "
        f"Use Landmarks(kernel={kernel}), a kernel machine, or Mismatch, whose lift is sparse."
    )


@part_of.register
def _(kernel: SubsetTree) -> parts.LiftPart:
    raise ValueError(
        f"{kernel} has no lift of a useful size: a tree has exponentially many fragments. "
        f"Use Landmarks(kernel={kernel}) or a kernel machine."
    )


@part_of.register
def _(kernel: Sum) -> parts.LiftPart:
    return nodes.SumPart(part_of(kernel.left), part_of(kernel.right))


@part_of.register
def _(kernel: Product) -> parts.LiftPart:
    return nodes.ProductPart(part_of(kernel.left), part_of(kernel.right))


@part_of.register
def _(kernel: Scaled) -> parts.LiftPart:
    return nodes.ScaledPart(part_of(kernel.kernel), kernel.scale)


@part_of.register
def _(kernel: Normalized) -> parts.LiftPart:
    return nodes.NormalizedPart(part_of(kernel.kernel))


@part_of.register
def _(kernel: Restricted) -> parts.LiftPart:
    return nodes.RestrictedPart(part_of(kernel.kernel), kernel.columns)


def _reads_objects(kernel: Kernel) -> bool:
    """Whether rows may be sets or sequences, whose vocabulary has to be learned."""
    return _has(kernel, Overlap) or _has(kernel, WindowKernel)


def _has(kernel: Kernel, kind: type) -> bool:
    """Whether a kernel of that kind is among the parts of a kernel."""
    inner = [value for value in kernel.get_params(deep=False).values() if isinstance(value, Kernel)]
    return isinstance(kernel, kind) or any(_has(part, kind) for part in inner)


def _sorted(tokens: set) -> list:
    try:
        return sorted(tokens)
    except TypeError:
        return sorted(tokens, key=lambda token: (type(token).__name__, repr(token)))


def _object_column(items: Any) -> np.ndarray:
    column = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        column[i] = item
    return column
