"""A kernel on trees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mercer import _numeric
from mercer.kernels.base import Kernel
from mercer.kernels.discrete.letters import sequences_of
from mercer.kernels.discrete.pairs import pair_gram
from mercer.kernels.parameters import Need
from mercer.kernels.rows import KernelInput

_PIECE = re.compile(r"[()]|[^\s()]+")


@dataclass
class SubsetTree(Kernel):
    """k(x, z) = sum over tree fragments f, of (how often f occurs in x) (how often in z) decay^|f|.

    |f| is the number of nodes of f that have their children.

    A fragment is a connected part of the tree in which a node has either all of its children or none, and the top has
    children. With decay 1 k(x, z) counts pairs of equal fragments; smaller values keep large fragments from drowning
    the rest (Collins and Duffy, "Convolution kernels for natural language", 2001). ``.normalized()`` makes trees of
    different sizes comparable. Time is linear in the pairs of nodes with the same production (Moschitti 2006),
    memory is one number for each pair of nodes of two trees.

    A tree is a nested tuple or list (label, child, child, ...), where a child is a tree or a leaf (any hashable
    token), or a text in brackets, "(S (NP a) (VP b))". Trees may be as deep as memory allows.

    Use it for parse trees, formulas and other small labeled trees of which fragments matter. Rows of numbers in nested
    groups need no tree: use their columns.

    Parameters
    ----------
    decay : float in (0, 1]

    >>> from mercer.kernels import SubsetTree
    >>> SubsetTree(decay=1.0)(["(S (NP a) (VP b))"], ["(S (NP a) (VP c))", ("NP", "a")])
    array([[3., 1.]])
    """

    decay: float = 0.5

    _needs = {"decay": Need(high=1)}

    def _gram(self, X: KernelInput, Y: KernelInput) -> np.ndarray:
        parsed = parse_trees([X] if Y is X else [X, Y])
        return pair_gram(self._compare(parsed), np.diff(parsed.starts), len(X), None if Y is X else len(Y))

    def _diag(self, X: KernelInput) -> np.ndarray:
        indices = np.arange(len(X))
        return self._compare(parse_trees([X]))(indices, indices)

    def _compare(self, parsed: ParsedTrees) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda left, right: _numeric.tree_pairs(*parsed, left, right, float(self.decay))


class ParsedTrees(NamedTuple):
    """Trees as nodes with children, children before parents: see `_numeric.tree_pairs`."""

    productions: np.ndarray
    child_starts: np.ndarray
    children: np.ndarray
    starts: np.ndarray


def parse_trees(groups: list[KernelInput]) -> ParsedTrees:
    """The trees of several groups of rows, one after the other, with productions numbered alike."""
    number: dict = {}
    productions: list[int] = []
    child_starts, children, starts = [0], [], [0]
    for rows in groups:
        for i, item in enumerate(sequences_of(rows)):
            for production, nodes in _nodes(_tree(item, i, rows.name), len(productions), i, rows.name):
                productions.append(number.setdefault(production, len(number)))
                children.extend(nodes)
                child_starts.append(len(children))
            starts.append(len(productions))
    return ParsedTrees(*(np.array(values, np.int64) for values in (productions, child_starts, children, starts)))


def _nodes(tree: Any, first: int, row: int, name: str) -> Iterator[tuple[Any, list[int]]]:
    """(production, child nodes) of each node with children, children before parents, numbered from `first`."""
    stack: list = [(tree, iter(tree[1:]), [tree[0]], [])]
    while stack:
        node, rest, production, nodes = stack[-1]
        for child in rest:
            if _has_children(child):
                production.append((child[0],))  # a label of a node is not the leaf of the same name
                stack.append((child, iter(child[1:]), [child[0]], []))
                break
            label = child[0] if isinstance(child, tuple | list) else child
            production.append((label,) if isinstance(child, tuple | list) else label)
        else:
            stack.pop()
            if len(node) > 1:
                try:
                    hash(found := tuple(production))
                except TypeError:
                    raise ValueError(
                        f"row {row} of {name} has a label or leaf that is not hashable: {node!r:.60}"
                    ) from None
                yield found, nodes
                if stack:
                    stack[-1][3].append(first)
                first += 1


def _has_children(node: Any) -> bool:
    return isinstance(node, tuple | list) and len(node) > 1


def _tree(item: Any, row: int, name: str) -> Any:
    """A nested tuple or list; text in brackets is read."""
    if isinstance(item, str):
        return _bracketed(item, row, name)
    if isinstance(item, tuple | list) and len(item):
        return item
    raise ValueError(
        f"row {row} of {name} is {item!r:.60} ({type(item).__name__}): a tree must be a nested tuple "
        "(label, child, ...) or a text such as '(S (NP a) (VP b))'"
    )


def _bracketed(text: str, row: int, name: str) -> list[Any]:
    """Nested lists from "(label child ...)" """
    whole: list = []
    open_nodes = [whole]
    for piece in _PIECE.finditer(text):
        if piece[0] == "(":
            node: list = []
            open_nodes[-1].append(node)
            open_nodes.append(node)
        elif piece[0] == ")":
            _close(open_nodes, text, piece.start(), row, name)
        elif len(open_nodes) == 1 and whole:
            _refuse(f"{piece[0]!r} at position {piece.start()} after the end of the tree", text, row, name)
        else:
            open_nodes[-1].append(piece[0])
    if len(open_nodes) > 1 or len(whole) != 1:
        _refuse(f"{len(open_nodes) - 1} brackets left open" if whole else "no tree", text, row, name)
    return whole[0] if isinstance(whole[0], list) else whole


def _close(open_nodes: list[Any], text: str, position: int, row: int, name: str) -> None:
    if len(open_nodes) == 1:
        _refuse(f"a closing bracket too many at position {position}", text, row, name)
    closed = open_nodes.pop()
    if not closed or isinstance(closed[0], list):
        # Treebanks wrap the sentence in a bracket without a label.
        if len(closed) != 1 or len(open_nodes) > 1:
            _refuse(f"a bracket without a label before position {position}", text, row, name)
        open_nodes[-1][-1] = closed[0]


def _refuse(what: str, text: str, row: int, name: str) -> NoReturn:
    raise ValueError(f"row {row} of {name} has {what}: {text!r:.60}")
