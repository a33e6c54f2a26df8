"""Boosted trees as one node of an ONNX graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.io.onnx import TREES, Graph
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.score import EnsembleScore


def mean_score(graph: Graph, score: EnsembleScore, x: str) -> str:
    """The mean score of the ensembles, all their trees in one node, which gives float32."""
    factor = 1.0 / len(score.ensembles)
    base = np.sum([ensemble.base for ensemble in score.ensembles], axis=0) * factor
    trees = [tree for k, each in enumerate(score.ensembles) for tree in _trees(each, factor, score.columns, k)]
    for output, nodes in trees:  # a tree without a split is a number
        if len(nodes) == 1:
            base[output] += nodes[0][-1]
    trees = [tree for tree in trees if len(tree[1]) > 1]
    if not trees:
        nothing = graph.add("Mul", graph.columns(x, [0]), np.float64(0.0))
        return graph.cast(graph.add("Add", nothing, base), np.float32)
    seen = _inputs(graph, score.ensembles, score.columns, x)
    return graph.add("TreeEnsembleRegressor", seen, domain=TREES, **_tree_attributes(graph, trees, base))


def _inputs(graph: Graph, ensembles: list[TreeEnsemble], columns: TreeColumns, x: str) -> str:
    """The inputs of the trees: the columns that are no category, then for each ensemble its ranks of the categories.

    The rank of a category is that of none plus the jump of the one indicator that is set. Ranks are integers, so the
    product with the indicators is exact.
    """
    kept, categories = columns.kept, columns.categories
    if not categories:
        return graph.columns(x, kept)
    indicators = np.concatenate([np.arange(part.start, part.stop) for part in categories])
    ranks = [rank for ensemble in ensembles for rank in _ranks(ensemble, columns)]
    none = np.array([rank[0] for rank in ranks])
    jumps = np.zeros((len(indicators), len(ranks)))
    for j, rank in enumerate(ranks):
        first = int(np.searchsorted(indicators, categories[j % len(categories)].start))
        jumps[first : first + len(rank) - 1, j] = rank[1:] - rank[0]
    codes = graph.add("Add", graph.add("MatMul", graph.columns(x, indicators), jumps), none)
    return graph.concat([graph.columns(x, kept), codes]) if len(kept) else codes


def _ranks(ensemble: TreeEnsemble, columns: TreeColumns) -> list[np.ndarray]:
    """For each categorical column the ranks of no category and of its categories; without ranks the codes."""
    codes = zip(columns.codes.tolist(), columns.categories, strict=True)
    return [ensemble.ranks.get(code, np.arange(1.0 + part.stop - part.start)) for code, part in codes]


def _trees(ensemble: TreeEnsemble, factor: float, columns: TreeColumns, index: int) -> Iterator[tuple[int, list]]:
    """(output, nodes) of each tree; a node is (column, threshold, left, right, value), children from its root on.

    Codes of the ensemble of this index stand behind those of the ensembles before it.
    """
    ends = [*ensemble.roots.tolist(), len(ensemble.column)][1:]  # none where no tree was worth growing
    column = np.where(
        ensemble.column >= len(columns.kept), ensemble.column + index * len(columns.categories), ensemble.column
    )
    for root, end, output in zip(ensemble.roots.tolist(), ends, ensemble.output.tolist(), strict=True):
        nodes = slice(root, end)
        parts = column[nodes], ensemble.threshold[nodes], ensemble.left[nodes] - root, ensemble.right[nodes] - root
        values = ensemble.value[nodes] * factor
        yield output, list(zip(*(part.tolist() for part in (*parts, values)), strict=True))


def _tree_attributes(graph: Graph, trees: list, base: np.ndarray) -> dict[str, Any]:
    nodes = [(t, i, *node) for t, (_, tree) in enumerate(trees) for i, node in enumerate(tree)]
    tree, node, column, threshold, left, right, _ = (list(part) for part in zip(*nodes, strict=True))
    inner = [c >= 0 for c in column]
    leaves = [(t, i, trees[t][0], value) for t, i, c, *_, value in nodes if c < 0]
    leaf_tree, leaf_node, output, weight = (list(part) for part in zip(*leaves, strict=True))
    return {
        "n_targets": len(base),
        "aggregate_function": "SUM",
        "base_values_as_tensor": graph.tensor(base),
        "nodes_treeids": tree,
        "nodes_nodeids": node,
        "nodes_modes": ["BRANCH_LEQ" if split else "LEAF" for split in inner],
        "nodes_featureids": [max(c, 0) for c in column],
        "nodes_values_as_tensor": graph.tensor(threshold),
        "nodes_truenodeids": [max(child, 0) for child in left],
        "nodes_falsenodeids": [max(child, 0) for child in right],
        "target_treeids": leaf_tree,
        "target_nodeids": leaf_node,
        "target_ids": output,
        "target_weights_as_tensor": graph.tensor(weight),
    }
