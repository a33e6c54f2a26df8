"""Trees in arrays, which is all that is needed to predict."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from mercer import _numeric
from mercer._runtime.derived import DerivedCache
from mercer._runtime.loaded import require, require_finite, require_indices, require_vectors
from mercer._runtime.pool import for_each
from mercer.learn.trees.categories import rank_codes

_BLOCK_ROWS = 2048


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
class TreeEnsemble:
    """A sum of trees: the nodes of all trees in a row, the root of each tree and the output it adds to.

    x[column] <= threshold goes left. `ranks` are the ranks of the codes of category columns.
    """

    base: np.ndarray
    roots: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    output: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    column: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    threshold: np.ndarray = field(default_factory=lambda: np.zeros(0))
    left: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    right: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    value: np.ndarray = field(default_factory=lambda: np.zeros(0))
    ranks: dict[int, np.ndarray] = field(default_factory=dict)

    def _check_loaded(self) -> None:
        """Every node is in the range of its tree and after its parent, so every walk ends."""
        n = np.size(self.column)
        require_vectors(n, "i", column=self.column, left=self.left, right=self.right)
        require_vectors(n, "f", threshold=self.threshold, value=self.value)
        require_vectors(np.size(self.roots), "i", roots=self.roots, output=self.output)
        require_indices("output", self.output, len(self.base))
        ends = np.append(self.roots, n)
        require(len(self.roots) == 0 or (ends[0] == 0 and np.all(ends[1:] > ends[:-1])), "the roots do not rise")
        inner = np.flatnonzero(self.column >= 0)
        end = np.repeat(ends[1:], np.diff(ends))[inner]
        children = np.concatenate([self.left[inner], self.right[inner]])
        inside = (children > np.tile(inner, 2)) & (children < np.tile(end, 2))
        require(inside.all(), "a tree is not well formed")
        require(len(np.unique(children)) == len(children) == n - len(self.roots), "a tree is not well formed")
        require(not np.isnan(self.threshold[inner]).any(), "a threshold is NaN")
        require_finite("the value of a leaf", self.value)

    def scores(self, X: np.ndarray) -> np.ndarray:
        """The sum of all trees for each row, one column per output."""
        return _packed_alone(self)(X)[:, 0]

    def leaf_numbers(self, X: np.ndarray) -> np.ndarray:
        """The leaf of each row (down) in each tree (across), counted from the left."""
        return _packed_leaves(self)(self.rounded(X))[:, 0].astype(np.int64)

    @property
    def sizes(self) -> np.ndarray:
        """The number of nodes of each tree."""
        return np.diff(np.append(self.roots, len(self.column)))

    @property
    def n_leaves(self) -> list[int]:
        """The number of leaves of each tree."""
        trees = np.repeat(np.arange(len(self.roots)), self.sizes)
        return np.bincount(trees[self.column < 0], minlength=len(self.roots)).tolist()

    def rounded(self, X: np.ndarray) -> np.ndarray:
        """The rows as the thresholds expect them."""
        return X

    def linked(self, total: np.ndarray) -> np.ndarray:
        """The scores that sums of the trees stand for."""
        return total

    def some(self, trees: np.ndarray) -> Self:
        """Some of the trees alone, from zero on."""
        sizes = self.sizes[trees]
        roots = np.cumsum(sizes) - sizes
        shift = np.repeat(roots - self.roots[trees], sizes)
        nodes = np.arange(len(shift)) - shift
        values: dict[str, Any] = {name: getattr(self, name)[nodes] for name in ("column", "threshold", "value")}
        children = {name: getattr(self, name)[nodes] + shift for name in ("left", "right")}
        start = {"base": np.zeros_like(self.base), "roots": roots, "output": self.output[trees]}
        return replace(self, **start, **values, **children)

    @classmethod
    def joined(cls, ensembles: list[TreeEnsemble]) -> TreeEnsemble:
        """The sum of ensembles with the same ranks of categories."""
        sizes = np.array([len(ensemble.column) for ensemble in ensembles])
        shifts = np.cumsum(sizes) - sizes
        parts: dict[str, Any] = {
            name: np.concatenate([getattr(ensemble, name) for ensemble in ensembles])
            for name in ("output", "column", "threshold", "value")
        }
        parts |= {
            name: np.concatenate([getattr(ensemble, name) + by for ensemble, by in zip(ensembles, shifts, strict=True)])
            for name in ("roots", "left", "right")
        }
        return cls(np.sum([ensemble.base for ensemble in ensembles], axis=0), **parts, ranks=ensembles[0].ranks)

    @classmethod
    def of(cls, base: np.ndarray, trees: list[Tree]) -> Self:
        """Put single trees in a row."""
        if not trees:
            return cls(base)
        sizes = np.array([len(tree.column) for tree in trees])
        roots = np.cumsum(sizes) - sizes
        shift = np.repeat(roots, sizes)
        outputs, *parts = zip(*trees, strict=True)
        column, left, right, threshold, value, _ = (np.concatenate(part) for part in parts)
        roots, output, column = (np.asarray(each, dtype=np.int64) for each in (roots, outputs, column))
        return cls(base, roots, output, column, threshold, left + shift, right + shift, value)


class PackedEnsembles:
    """Ensembles with as many outputs each, laid out so that rows are passed through all of them at once.

    Rows are brought into bins once for all ensembles, except columns of categories, which each ensemble ranks in its
    own order: these columns of ranks come first.
    """

    def __init__(self, ensembles: list[TreeEnsemble]):
        self.ensembles = ensembles
        self._base = np.concatenate([ensemble.base for ensemble in ensembles])
        self._output = np.concatenate([k * len(e.base) + e.output for k, e in enumerate(ensembles)])
        self._ranks = [each for ensemble in ensembles for each in ensemble.ranks.items()]
        self._linked = any(type(ensemble) is not TreeEnsemble for ensemble in ensembles)
        whole = TreeEnsemble.joined(self._renumbered())
        self._trees = _numeric.pack_trees(
            whole.roots, whole.column, whole.threshold, whole.left, whole.right, whole.value
        )

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """The scores (rows, ensembles, outputs)."""
        X, out = self._with_ranks(X), np.empty((len(X), len(self._base)))
        out[:] = self._base
        if len(X) <= _BLOCK_ROWS:
            _numeric.add_packed_trees(X, self._trees, self._output, out)
        else:
            spans = [slice(start, start + _BLOCK_ROWS) for start in range(0, len(X), _BLOCK_ROWS)]
            for_each(lambda s: _numeric.add_packed_trees(X[s], self._trees, self._output, out[s]), spans)
        scores = out.reshape(len(X), len(self.ensembles), len(self._base) // len(self.ensembles))
        if self._linked:
            return np.stack([e.linked(scores[:, k]) for k, e in enumerate(self.ensembles)], axis=1)
        return scores

    def _with_ranks(self, X: np.ndarray) -> np.ndarray:
        k = len(self._ranks)
        out = np.empty((len(X), k + X.shape[1]))
        for position, (column, rank) in enumerate(self._ranks):
            out[:, position] = rank_codes(rank, X[:, column])
        out[:, k:] = self.ensembles[0].rounded(X) if self._linked else X
        return out

    def _renumbered(self) -> list[TreeEnsemble]:
        """The ensembles with the column numbers of `_with_ranks`."""
        made, before = [], 0
        for e in self.ensembles:
            column = np.where(e.column < 0, -1, e.column + len(self._ranks))
            for position, ranked in enumerate(e.ranks, before):
                column[e.column == ranked] = position
            made.append(replace(e, column=column))
            before += len(e.ranks)
        return made


def _leaves(ensemble: TreeEnsemble) -> PackedEnsembles:
    """Trees that add the number of the leaf to an output of their own."""
    numbers = np.concatenate([np.zeros(0), *(_leaf_numbers(ensemble, root) for root in ensemble.roots)])
    trees = np.arange(len(ensemble.roots))
    values = (ensemble.column, ensemble.threshold, ensemble.left, ensemble.right, numbers)
    ranks = ensemble.ranks
    return PackedEnsembles([TreeEnsemble(np.zeros(len(trees)), ensemble.roots, trees, *values, ranks=ranks)])


def _leaf_numbers(ensemble: TreeEnsemble, root: int) -> np.ndarray:
    """For each node of a tree the number of the leaf it is, from left to right; -1 for inner nodes."""
    numbers: dict[int, int] = {}
    waiting, n_leaves = [int(root)], 0
    while waiting:
        node = waiting.pop()
        if ensemble.column[node] < 0:
            numbers[node], n_leaves = n_leaves, n_leaves + 1
        else:
            numbers[node] = -1
            waiting += [int(ensemble.right[node]), int(ensemble.left[node])]
    return np.array([numbers[node] for node in sorted(numbers)], dtype=np.float64)


# Of a copy: what is cached must not hold its owner, or neither would ever go.
_packed_alone = DerivedCache(lambda ensemble: PackedEnsembles([replace(ensemble)]))
_packed_leaves = DerivedCache(_leaves)
