"""A tree grown best-first from histograms that arrive in batches.

`grow_tree` splits the leaf of the largest gain, and needs the histograms of its children before the next split. Over a
source a histogram costs a pass, so each batch asks for the children of all leaves that may still be split: the splits
found are those of `grow_tree`, in about as many batches as the tree has levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer import _numeric


class GradientGrid(NamedTuple):
    """Exponents of two that gradients and hessians are multiplied by before they are rounded to whole numbers."""

    gradient: int
    hessian: int


@dataclass
class _Node:
    """A node: sums (hessian, gradient) on the grid; its best split, of gain 0 if there is none, once it is known."""

    index: int
    parent: int
    total: np.ndarray
    known: bool = False
    cells: np.ndarray | None = None
    column: int = -1
    bin: int = -1
    gain: float = 0.0
    left: int = -1
    right: int = -1


@dataclass(frozen=True)
class GrownNodes:
    """The nodes of a tree as `grow_tree` returns them, for one output."""

    column: np.ndarray
    bin: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    gain: np.ndarray


class BestFirstTree:
    """A tree of at most `max_leaf_nodes` leaves; `wanted` are the nodes whose histograms are needed next.

    widths : numbers of bins of the columns; min_hessian, l2 : as in `grow_tree`; grid : that of the histograms
    """

    def __init__(self, widths: np.ndarray, max_leaf_nodes: int, min_hessian: float, l2: float, grid: GradientGrid):
        self.widths, self.max_leaf_nodes, self.grid = widths, max_leaf_nodes, grid
        scale = float(np.ldexp(1.0, grid.hessian))
        self._min_hessian, self._l2 = max(min_hessian * scale, 1.0), l2 * scale
        self._nodes = [_Node(0, -1, np.zeros(2))]
        self.wanted = [0]

    @property
    def structure(self) -> tuple[np.ndarray, ...]:
        """Column (-1 in leaves), bin, left and right child (int32) of all nodes so far, also those not used in the end.

        Rows reach the wanted nodes through them.
        """
        inner = [node.left >= 0 for node in self._nodes]
        names = ("column", "bin", "left", "right")
        found = (np.where(inner, [getattr(node, name) for node in self._nodes], -1) for name in names)
        return tuple(each.astype(np.int32) for each in found)

    def add(self, nodes: list[int], cells: np.ndarray) -> None:
        """Learn the histograms of some of the wanted nodes, and what follows from them."""
        for node, own in zip(nodes, cells, strict=True):
            self._set_cells(node, own)
            parent = self._nodes[self._nodes[node].parent] if node else None
            if parent is not None and parent.cells is not None:
                sibling = parent.right if parent.left == node else parent.left
                self._set_cells(sibling, parent.cells - own)
                parent.cells = None
        self.wanted = self._next_wanted()

    def _set_cells(self, index: int, cells: np.ndarray) -> None:
        node = self._nodes[index]
        limits = (np.array([each]) for each in (self._min_hessian, self._l2))
        column, cut, gain, total = _numeric.best_splits(cells[None], self.widths, *limits)
        node.known, node.column, node.bin, node.gain = True, int(column[0]), int(cut[0]), float(gain[0])
        node.total = total[0]
        node.cells = cells if node.gain > 0 else None

    def _next_wanted(self) -> list[int]:
        """Of each pair of unknown children that best-first growth may reach, the one with the smaller hessian.

        A leaf that is not among the best when leaves of unknown gain are passed over is never split.
        """
        wanted = []
        for parent in self._splits():
            pair = (parent.left, parent.right)
            if not all(self._nodes[child].known for child in pair):
                wanted.append(min(pair, key=lambda child: self._nodes[child].total[0]))
        return wanted

    def _splits(self) -> list[_Node]:
        """The nodes that best-first growth splits, as far as gains are known; the last one needs no gains below it."""
        leaves, found = [self._nodes[0]], list[_Node]()
        while len(leaves) + 1 < self.max_leaf_nodes:
            best = max(range(len(leaves)), key=lambda k: leaves[k].gain)
            if not leaves[best].gain > 0:
                break
            found.append(leaves[best])
            leaves[best : best + 1], high = self._children(leaves[best])
            leaves += high
        return found

    def _children(self, parent: _Node) -> tuple[list[_Node], list[_Node]]:
        """Left and right child, which come in these places of the list of leaves."""
        if parent.left < 0:
            self._expand(parent)
        return [self._nodes[parent.left]], [self._nodes[parent.right]]

    def _expand(self, parent: _Node) -> None:
        """Add both children with their sums, which the histogram of the parent gives."""
        assert parent.cells is not None
        start = int(self.widths[: parent.column].sum())
        low = parent.cells[start : start + parent.bin + 1].sum(axis=0)
        parent.left, parent.right = len(self._nodes), len(self._nodes) + 1
        for total in (low, parent.total - low):
            known = not total[0] >= 2 * self._min_hessian
            self._nodes.append(_Node(len(self._nodes), parent.index, total, known))

    def grown(self) -> GrownNodes:
        """The tree: its nodes in the order in which `grow_tree` adds them."""
        made, leaves = [self._nodes[0]], [0]
        links = {0: (-1, -1)}
        while len(leaves) < self.max_leaf_nodes:
            best = max(range(len(leaves)), key=lambda k: made[leaves[k]].gain)
            parent = leaves[best]
            if not made[parent].gain > 0:
                break
            low, high = self._children(made[parent])
            links[parent] = len(made), len(made) + 1
            leaves[best] = len(made)
            leaves.append(len(made) + 1)
            made += low + high
        return self._as_arrays(made, links)

    def _as_arrays(self, made: list[_Node], links: dict[int, tuple[int, int]]) -> GrownNodes:
        inner = [links.get(k, (-1, -1))[0] >= 0 for k in range(len(made))]
        left, right = (np.array([links.get(k, (-1, -1))[side] for k in range(len(made))]) for side in (0, 1))
        column, cut = (np.where(inner, [getattr(node, name) for node in made], -1) for name in ("column", "bin"))
        totals = np.array([node.total for node in made])
        weight = totals[:, 0] + self._l2
        value = np.divide(-totals[:, 1], weight, out=np.zeros(len(made)), where=weight > 0)
        value = np.ldexp(value, self.grid.hessian - self.grid.gradient)
        gain = np.where(inner, np.ldexp([node.gain for node in made], self.grid.hessian - 2 * self.grid.gradient), 0.0)
        ints = [each.astype(np.int32) for each in (column, cut, left, right)]
        return GrownNodes(ints[0], ints[1], ints[2], ints[3], value, gain)
