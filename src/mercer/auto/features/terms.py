"""The terms of an additive model with pairs: each feature is the points of one column or pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer._runtime.loaded import require, require_finite
from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.learn.additive.axes import Axis
from mercer.learn.additive.tables import AdditiveTables
from mercer.learn.additive.terms import AdditiveTerms

if TYPE_CHECKING:
    from mercer.auto.features.union import Features
    from mercer.io.onnx import Graph


@dataclass(frozen=True)
class TermDetails:
    """What reports say of the terms: the column of each axis, weights of levels, and standard errors of points.

    `counts` are the weights of the training rows of each level of the axes, then of the cells of the pairs; `errors`
    are the standard errors of the points, in the same order.
    """

    columns: list[str]
    counts: list[np.ndarray]
    errors: list[np.ndarray]

    def _check_loaded(self) -> None:
        require(len(self.counts) == len(self.errors) >= len(self.columns), "a term has no counts or errors")
        for count, error in zip(self.counts, self.errors, strict=True):
            require(error.shape[:-1] == count.shape, "the errors of a term have other levels than its counts")
            require_finite("the counts of a term", count)
            require_finite("the errors of a term", error)


class TermsBlock(FeatureBlock):
    """`AdditiveTerms`: points of the levels of columns and of the cells of pairs, in float32.

    The linear model has weights of one, so the features are the contributions to its score.
    """

    kind = "terms"
    transformer: AdditiveTerms

    def __init__(self, transformer: AdditiveTerms, details: TermDetails):
        self.transformer, self.details = transformer, details
        self.width = self.tables.n_terms * self.tables.n_outputs

    def _check_loaded(self) -> None:
        values = [*self.tables.mains, *(pair.values for pair in self.tables.pairs)]
        shapes = [error.shape for error in self.details.errors]
        require(shapes == [each.shape for each in values], "the errors of points are those of other terms")
        require(len(self.details.columns) == len(self.tables.axes), "the columns of the terms are others")

    @property
    def tables(self) -> AdditiveTables:
        return self.transformer.tables_

    def term_names(self) -> list[str]:
        """The name of each term: a column of the table, or "a x b"."""
        columns = self.details.columns
        return columns + [f"{columns[pair.first]} x {columns[pair.second]}" for pair in self.tables.pairs]

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        self.tables.write(self.tables.codes(X), out)

    @property
    def title(self) -> str:
        n_pairs = len(self.tables.pairs)
        pairs = f" and {n_pairs:,} pair{'s' if n_pairs > 1 else ''}" if n_pairs else ""
        return f"points of {len(set(self.details.columns)):,} columns{pairs}"

    def refit(self, other: Refit) -> TermsBlock:
        """Points are learned by `mercer.auto.glass.learning`, not by themselves."""
        return self

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        return RecomputedChanges(self, np.arange(X.shape[1]), X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """The level of each axis, and the points that a table has for it."""
        levels = [_onnx_level(graph, x, axis) for axis in self.tables.axes]
        parts = [
            graph.add("Gather", main.astype(np.float32), level, axis=0)
            for main, level in zip(self.tables.mains, levels, strict=True)
        ]
        for pair in self.tables.pairs:
            first = graph.add("Gather", pair.first_level.astype(np.int64), levels[pair.first], axis=0)
            second = graph.add("Gather", pair.second_level.astype(np.int64), levels[pair.second], axis=0)
            cell = graph.add("Add", graph.add("Mul", first, np.int64(pair.values.shape[1])), second)
            values = pair.values.reshape(-1, pair.values.shape[2]).astype(np.float32)
            parts.append(graph.add("Gather", values, cell, axis=0))
        return graph.concat(parts)


def terms_block(features: Features) -> TermsBlock | None:
    """The block of an explainable model; None for other models."""
    blocks = features.blocks
    return blocks[0] if len(blocks) == 1 and isinstance(blocks[0], TermsBlock) else None


def _onnx_level(graph: Graph, x: str, axis: Axis) -> str:
    """The code of the level of each row, as int64."""
    flat = np.array([-1])
    if axis.is_category:
        numbers = 1.0 + np.arange(len(axis.columns))
        level = graph.add("MatMul", graph.columns(x, axis.columns), numbers[:, None])
        code = graph.add("Reshape", graph.cast(level, np.int64), flat)
    elif len(axis.cuts) == 0:
        zero = graph.add("Mul", graph.columns(x, axis.columns), np.float64(0.0))
        code = graph.add("Reshape", graph.cast(zero, np.int64), flat)
    else:
        above = graph.cast(graph.add("Greater", graph.columns(x, axis.columns), axis.cuts[None, :]), np.int64)
        code = graph.add("ReduceSum", above, np.array([1]), keepdims=0)
    if axis.missing < 0:
        return code
    gone = graph.add("Greater", graph.columns(x, [axis.missing]), np.float64(0.0))
    return graph.add("Where", graph.add("Reshape", gone, flat), np.int64(axis.n_known), code)
