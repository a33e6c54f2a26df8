"""Trees in arrays, which is all that is needed to predict, and the order that they see in categories."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mercer import _numeric
from mercer._runtime.derived import DerivedCache
from mercer._runtime.pool import for_each

_ROWS = 2048
#: Rows of average target that every level of a category is credited with before levels are put in order.
_PSEUDO = 10.0


class Tree(NamedTuple):
    """The output that a tree adds to and, for each node, column (-1 in leaves), children, threshold, value and gain."""

    output: int
    column: np.ndarray
    left: np.ndarray
    right: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    gain: np.ndarray


@dataclass
class Forest:
    """Trees in arrays: nodes of all trees in a row, `roots` where each begins, `output` the column it adds to."""

    base: np.ndarray
    roots: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    output: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    column: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    threshold: np.ndarray = field(default_factory=lambda: np.zeros(0))
    left: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    right: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    value: np.ndarray = field(default_factory=lambda: np.zeros(0))
    ranks: dict[int, np.ndarray] = field(default_factory=dict)

    def scores(self, X) -> np.ndarray:
        """The sum of all trees for each row, one column per output."""
        return _alone(self)(X)[:, 0]

    @property
    def sizes(self) -> np.ndarray:
        """The number of nodes of each tree."""
        return np.diff(np.append(self.roots, len(self.column)))

    def some(self, trees: np.ndarray) -> Forest:
        """Some of the trees alone, from zero on."""
        sizes = self.sizes[trees]
        roots = np.cumsum(sizes) - sizes
        shift = np.repeat(roots - self.roots[trees], sizes)
        nodes = np.arange(len(shift)) - shift
        column, threshold, value = self.column[nodes], self.threshold[nodes], self.value[nodes]
        left, right = self.left[nodes] + shift, self.right[nodes] + shift
        return Forest(
            np.zeros_like(self.base), roots, self.output[trees], column, threshold, left, right, value, self.ranks
        )

    @classmethod
    def joined(cls, forests: list[Forest]) -> Forest:
        """The sum of forests that see columns alike."""
        sizes = np.array([len(forest.column) for forest in forests])
        shifts = np.cumsum(sizes) - sizes
        parts: dict[str, Any] = {
            name: np.concatenate([getattr(forest, name) for forest in forests])
            for name in ("output", "column", "threshold", "value")
        }
        parts |= {
            name: np.concatenate([getattr(forest, name) + by for forest, by in zip(forests, shifts, strict=True)])
            for name in ("roots", "left", "right")
        }
        return cls(np.sum([forest.base for forest in forests], axis=0), **parts, ranks=forests[0].ranks)

    @classmethod
    def of(cls, base: np.ndarray, trees: list[Tree]) -> Forest:
        """Put single trees side by side."""
        if not trees:
            return cls(base)
        sizes = np.array([len(tree.column) for tree in trees])
        roots = np.cumsum(sizes) - sizes
        shift = np.repeat(roots, sizes)
        outputs, *parts = zip(*trees, strict=True)
        column, left, right, threshold, value, _ = (np.concatenate(part) for part in parts)
        roots, output, column = (np.asarray(each, dtype=np.int64) for each in (roots, outputs, column))
        return cls(base, roots, output, column, threshold, left + shift, right + shift, value)


class Together:
    """Forests of as many outputs each, laid out so that rows see all of them at once.

    Columns are brought into bins once for all forests, but those of categories once for each, since every forest sees
    their levels in an order of its own: these columns of ranks come first.
    """

    def __init__(self, forests: list[Forest]):
        self.forests = forests
        self._base = np.concatenate([forest.base for forest in forests])
        self._output = np.concatenate([k * len(f.base) + f.output for k, f in enumerate(forests)])
        self._ranks = [each for forest in forests for each in forest.ranks.items()]
        whole = Forest.joined(self._renumbered())
        self._trees = _numeric.pack_trees(
            whole.roots, whole.column, whole.threshold, whole.left, whole.right, whole.value
        )

    def __call__(self, X) -> np.ndarray:
        """(rows, forests, outputs) sums of trees."""
        X, out = self._seen(X), np.empty((len(X), len(self._base)))
        out[:] = self._base
        if len(X) <= _ROWS:
            _numeric.add_packed_trees(X, self._trees, self._output, out)
        else:
            spans = [slice(start, start + _ROWS) for start in range(0, len(X), _ROWS)]
            for_each(lambda s: _numeric.add_packed_trees(X[s], self._trees, self._output, out[s]), spans)
        return out.reshape(len(X), len(self.forests), -1)

    def _seen(self, X) -> np.ndarray:
        k = len(self._ranks)
        seen = np.empty((len(X), k + X.shape[1]))
        for place, (column, rank) in enumerate(self._ranks):
            seen[:, place] = ranks_at(rank, X[:, column])
        seen[:, k:] = X
        return seen

    def _renumbered(self) -> list[Forest]:
        """The forests, asking for the columns of `_seen`."""
        made, before = [], 0
        for f in self.forests:
            column = np.where(f.column < 0, -1, f.column + len(self._ranks))
            for place, ranked in enumerate(f.ranks, before):
                column[f.column == ranked] = place
            made.append(replace(f, column=column))
            before += len(f.ranks)
        return made


_alone = DerivedCache(lambda forest: Together([forest]))


def ranks_at(rank: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The rank of each code; one that no rank is known for counts as 0, none."""
    code = codes.astype(np.intp)
    return rank[np.where((code >= 0) & (code < len(rank)), code, 0)]


def ranks_of(X, codes, target, train, weight=None) -> dict[int, np.ndarray]:
    """The rank of each code of a category by the mean target of its training rows, rare ones drawn to the middle.

    In this order one cut finds the best two groups of levels for squared error (Fisher 1958).
    """
    found = {}
    heavy = np.ones(len(train)) if weight is None else weight[train]
    centered = heavy * (target[train] - np.average(target[train], weights=heavy))
    for column in codes:
        code = X[:, column].astype(np.intp)
        size = int(code.max()) + 1
        count = np.bincount(code[train], weights=heavy, minlength=size)
        total = np.bincount(code[train], weights=centered, minlength=size)
        order = np.argsort(total / (count + _PSEUDO), kind="stable")
        found[int(column)] = np.argsort(order).astype(np.float64)
    return found
