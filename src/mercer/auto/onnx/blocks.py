"""The blocks of a dictionary and the linear head as nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from mercer.auto.features.blocks import Pieces, Plain, Products, TreeScoreBlock, Waves
from mercer.auto.final.predictor import Predictor
from mercer.auto.search.columns import ChosenColumns
from mercer.io.onnx import TREES, Graph
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.score import PROBABILITY_SCALE, EnsembleScore


def scores(graph: Graph, predictor: Predictor, x: str) -> str:
    """features(x) @ coef + intercept: the features in float32, the sum in float64."""
    features = graph.concat([block_features(graph, block, x) for block in predictor.dictionary.blocks])
    product = graph.add("MatMul", features, predictor.coef.astype(np.float32))
    return graph.add("Add", graph.cast(product, np.float64), np.asarray(predictor.intercept, dtype=np.float64))


def block_features(graph: Graph, block, x: str) -> str:
    """The features of one block of encoded rows, in float32."""
    writers: dict[type, Callable[..., str]] = {
        Plain: _plain,
        ChosenColumns: _chosen,
        Pieces: _pieces,
        Products: _products,
        Waves: _waves,
        TreeScoreBlock: _score,
    }
    if type(block) not in writers:
        raise ValueError(f"The model has a block of {block.kind} features, which has no translation to ONNX yet.")
    return writers[type(block)](graph, block, x)


def _plain(graph: Graph, block: Plain, x: str) -> str:
    return graph.cast(x, np.float32)


def _chosen(graph: Graph, block: ChosenColumns, x: str) -> str:
    there = (block.columns >= 0).astype(np.float64)
    return graph.cast(graph.add("Mul", graph.columns(x, np.maximum(block.columns, 0)), there), np.float32)


def _pieces(graph: Graph, block: Pieces, x: str) -> str:
    """clip((x - low) / (high - low), 0, 1) for each bin."""
    bins = [
        (column, low, high)
        for column, edges in zip(block.columns, block.bins.bins_, strict=True)
        for low, high in pairwise(edges)
    ]
    column, low, high = (np.array(part) for part in zip(*bins, strict=True))
    part = graph.add("Div", graph.add("Sub", graph.columns(x, column), low), high - low)
    return graph.cast(graph.add("Clip", part, np.float64(0.0), np.float64(1.0)), np.float32)


def _products(graph: Graph, block: Products, x: str) -> str:
    """(x_i - c_i)(x_j - c_j) times a factor."""
    first, second = (
        graph.add("Sub", graph.columns(x, block.pairs[:, k]), np.ascontiguousarray(block.centers[:, k])) for k in (0, 1)
    )
    product = graph.add("Mul", graph.add("Mul", first, second), block.factor)
    return graph.cast(product, np.float32)


def _waves(graph: Graph, block: Waves, x: str) -> str:
    turns = graph.add("MatMul", graph.cast(x, np.float32), block.frequencies.T.astype(np.float32))
    both = graph.concat([graph.add("Cos", turns), graph.add("Sin", turns)])
    return graph.add("Mul", both, np.float32(np.sqrt(1.0 / len(block.frequencies))))


def _score(graph: Graph, block: TreeScoreBlock, x: str) -> str:
    """The scores over their scale, and for classes the probabilities they stand for."""
    score = block.score
    total = graph.cast(_ensembles(graph, score, x), np.float64)
    parts = [graph.add("Div", total, np.asarray(score.scale, dtype=np.float64))]
    if score.probabilities:
        probabilities = graph.add("Sigmoid", total) if score.n_outputs == 1 else graph.add("Softmax", total, axis=1)
        parts.append(graph.add("Mul", probabilities, np.float64(PROBABILITY_SCALE)))
    return graph.cast(graph.concat(parts), np.float32)


def _ensembles(graph: Graph, score: EnsembleScore, x: str) -> str:
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
    seen = _seen(graph, score, x)
    return graph.add("TreeEnsembleRegressor", seen, domain=TREES, **_tree_attributes(graph, trees, base))


def _seen(graph: Graph, score: EnsembleScore, x: str) -> str:
    """What trees see: the columns that are no category, then for each ensemble its ranks of the categories.

    The rank of a level is that of none plus the jump of the one indicator that is set. Ranks are whole numbers, so
    the product with the indicators is exact.
    """
    kept, categories = score.columns.kept, score.columns.categories
    if not categories:
        return graph.columns(x, kept)
    indicators = np.concatenate([np.arange(part.start, part.stop) for part in categories])
    ranks = [rank for ensemble in score.ensembles for rank in _ranks(ensemble, score.columns)]
    none = np.array([rank[0] for rank in ranks])
    jumps = np.zeros((len(indicators), len(ranks)))
    for j, rank in enumerate(ranks):
        first = int(np.searchsorted(indicators, categories[j % len(categories)].start))
        jumps[first : first + len(rank) - 1, j] = rank[1:] - rank[0]
    codes = graph.add("Add", graph.add("MatMul", graph.columns(x, indicators), jumps), none)
    return graph.concat([graph.columns(x, kept), codes]) if len(kept) else codes


def _ranks(ensemble: TreeEnsemble, columns: TreeColumns) -> list[np.ndarray]:
    """For each category the ranks of no level and of its levels; without ranks the codes themselves."""
    codes = zip(columns.codes.tolist(), columns.categories, strict=True)
    return [ensemble.ranks.get(code, np.arange(1.0 + part.stop - part.start)) for code, part in codes]


def _trees(ensemble: TreeEnsemble, factor: float, columns: TreeColumns, position: int):
    """(output, nodes) of each tree; a node is (column, threshold, left, right, value), children from its root on.

    Codes of the ensemble at `position` stand behind those of the ensembles before it.
    """
    ends = [*ensemble.roots.tolist(), len(ensemble.column)][1:]  # none where no tree was worth growing
    column = np.where(
        ensemble.column >= len(columns.kept), ensemble.column + position * len(columns.categories), ensemble.column
    )
    for root, end, output in zip(ensemble.roots.tolist(), ends, ensemble.output.tolist(), strict=True):
        nodes = slice(root, end)
        parts = column[nodes], ensemble.threshold[nodes], ensemble.left[nodes] - root, ensemble.right[nodes] - root
        values = ensemble.value[nodes] * factor
        yield output, list(zip(*(part.tolist() for part in (*parts, values)), strict=True))


def _tree_attributes(graph: Graph, trees, base) -> dict:
    nodes = [(t, i, *node) for t, (_, tree) in enumerate(trees) for i, node in enumerate(tree)]
    tree, place, column, threshold, left, right, _ = (list(part) for part in zip(*nodes, strict=True))
    inner = [c >= 0 for c in column]
    leaves = [(t, i, trees[t][0], value) for t, i, c, *_, value in nodes if c < 0]
    leaf_tree, leaf_place, output, weight = (list(part) for part in zip(*leaves, strict=True))
    return {
        "n_targets": len(base),
        "aggregate_function": "SUM",
        "base_values_as_tensor": graph.tensor(base),
        "nodes_treeids": tree,
        "nodes_nodeids": place,
        "nodes_modes": ["BRANCH_LEQ" if split else "LEAF" for split in inner],
        "nodes_featureids": [max(c, 0) for c in column],
        "nodes_values_as_tensor": graph.tensor(threshold),
        "nodes_truenodeids": [max(child, 0) for child in left],
        "nodes_falsenodeids": [max(child, 0) for child in right],
        "target_treeids": leaf_tree,
        "target_nodeids": leaf_place,
        "target_ids": output,
        "target_weights_as_tensor": graph.tensor(weight),
    }
