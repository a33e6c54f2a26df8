"""Products over subsets of the columns: the feature space of the all-subsets kernel, written out."""

from __future__ import annotations

import numpy as np

from mercer._runtime.checks import check_whole
from mercer.expand.lifts.monomials import Monomials
from mercer.expand.lifts.polynomial import MonomialLift


class SubsetLift(MonomialLift):
    """The product over every subset of the columns: phi_S(x) = prod_(j in S) x_j, all S or those with |S| <= max_size.

    With all 2^d subsets <phi(x), phi(z)> = prod_j (1 + x_j z_j). The empty product is 1. Columns come by the size of
    the subset, and among equals in lexicographic order: {}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}.

    On 0/1 columns these are all conjunctions. A CSR matrix gives a CSR matrix: a row with m stored entries has 2^m
    subsets without a zero. More than 62 columns need a `max_size`.

    Use it for conjunctions of some 0/1 columns that are to be read off the weights. The number of columns doubles with
    each column: prefer the kernel `AllSubsets` from about fifteen on.

    Parameters
    ----------
    max_size : int >= 0 or None, default=None
        The largest subset; None takes all.

    Attributes
    ----------
    n_output_features_ : int

    Examples
    --------
    >>> from mercer.expand import SubsetLift
    >>> lift = SubsetLift().fit([[2.0, 3.0, 5.0]])
    >>> lift.get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x2', 'x0 x1', 'x0 x2', 'x1 x2', 'x0 x1 x2']
    >>> lift.transform([[2.0, 3.0, 5.0]])
    array([[ 1.,  2.,  3.,  5.,  6., 10., 15., 30.]])
    """

    def __init__(self, max_size: int | None = None) -> None:
        self.max_size = max_size

    def _check_parameters(self) -> None:
        if self.max_size is not None:
            check_whole("max_size", self.max_size, 0)

    def _monomials(self, n_columns: int) -> Monomials:
        return subset_monomials(n_columns, 0, n_columns if self.max_size is None else min(self.max_size, n_columns))


def subset_monomials(n_columns: int, low: int, high: int, degree_factors: np.ndarray | None = None) -> Monomials:
    """The products over subsets of `low` to `high` columns."""
    if low == 0 and high == n_columns > 62:
        raise ValueError(
            f"{n_columns:,} columns have 2^{n_columns} subsets, and 64-bit column numbers end at 2^63. "
            "Set max_size, choose fewer columns, or use RandomFeatures(AllSubsets())."
        )
    return Monomials(n_columns, low, high, repeat=False, degree_factors=degree_factors)


def all_subset_monomials(n_columns: int, scale: float = 1.0) -> Monomials:
    """Products over all subsets, a subset S weighted by scale^(|S|/2), so that <., .> is prod_j (1 + scale x_j z_j)."""
    return subset_monomials(n_columns, 0, n_columns, scale ** (np.arange(n_columns + 1) / 2))
