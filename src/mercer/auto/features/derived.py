"""Piecewise-linear curves of numbers derived from encoded columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit, moved_positions
from mercer.auto.features.derived_terms import DerivedTerm
from mercer.base import StreamingTransformer
from mercer.learn import PiecewiseLinear
from mercer.linear.passes import IteratedEstimator
from mercer.normalize.ranks import quantiles
from mercer.source import Source
from mercer.tables.columns import SmoothClipped

if TYPE_CHECKING:
    from mercer.io.onnx import Graph

#: Piecewise-linear bins of a derived number, at most.
N_BINS = 8


class DerivedTerms(IteratedEstimator, StreamingTransformer):
    """Derived numbers v, squashed as z / sqrt(1 + (z/3)^2), z = (v - median) / IQR, in a piecewise-linear basis.

    The scaling is that of `SmoothClipped`; a missing number is 0. The bins are those of `PiecewiseLinear`.

    Parameters
    ----------
    terms : sequence of `PairTerm` and `GroupTerm`

    Attributes
    ----------
    centers_, scales_ : arrays, the median and the interquartile range of each derived number
    bins_ : the fitted `PiecewiseLinear` of the squashed numbers
    """

    _check_X = {"dtype": [np.float64, np.float32]}
    _needs_y = False

    def __init__(self, terms: Sequence[DerivedTerm] = ()):
        self.terms = terms

    def _learn_from(self, source: Source) -> None:
        rows = source.collect()
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        values = np.stack([term.values(rows.X) for term in self.terms], axis=1)
        self.centers_, self.scales_ = np.zeros(len(self.terms)), np.ones(len(self.terms))
        for j, present in enumerate(np.isfinite(values).T):
            if present.any():
                low, middle, high = quantiles(values[present, j], weight[present], (0.25, 0.5, 0.75))
                width = 0.5 * high - 0.5 * low  # halves do not overflow
                self.centers_[j], self.scales_[j] = middle, 2.0 * min(width, 1e307) or max(1.0, abs(middle))
        self.bins_ = PiecewiseLinear(n_bins=N_BINS).fit(self.squashed(values), None, rows.weight)

    def squashed(self, values: np.ndarray) -> np.ndarray:
        """Derived numbers within (-3, 3)."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = np.clip(0.5 * values / (0.5 * self.scales_) - self.centers_ / self.scales_, -1e150, 1e150)
        return SmoothClipped.squash(np.where(np.isnan(values), 0.0, z))

    def _apply(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        return self.bins_.transform(self.squashed(np.stack([term.values(X) for term in self.terms], axis=1)))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "price - mean by city[-0.5:0.1]": the derived number, squashed, and the ends of the bin."""
        columns = self._input_names(input_features)
        return self.bins_.get_feature_names_out([term.name(columns) for term in self.terms])


class DerivedBlock(FeatureBlock):
    """`DerivedTerms`: curves of ratios, differences and deviations within categories that explain the residual."""

    kind = "derived"
    transformer: DerivedTerms

    @classmethod
    def fitted(cls, X: np.ndarray, terms: Sequence[DerivedTerm], weight: np.ndarray | None = None) -> DerivedBlock:
        """The block with the scales and bins of the rows X."""
        return cls(DerivedTerms(list(terms)).fit(X, sample_weight=weight))

    @property
    def title(self) -> str:
        return f"curves of {len(self.transformer.terms):,} derived numbers ({self.width:,} bins)"

    def refit(self, other: Refit) -> DerivedBlock | None:
        """The same derived numbers wherever their columns are now, with the means and bins of the other rows."""
        terms: list[Any] = list(self.transformer.terms)
        if other.positions is not None:
            where = moved_positions(np.arange(self.transformer.n_features_in_), other.positions)
            terms = [moved for moved in (term.moved(where) for term in terms) if moved is not None]
        if not terms:
            return None
        made = DerivedBlock.fitted(other.rows.X, [term.relearned(other.rows) for term in terms], other.rows.weight)
        return made if made.width else None

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        used = np.unique(np.concatenate([term.columns for term in self.transformer.terms]))
        where = np.full(X.shape[1], -1)
        where[used] = np.arange(len(used))
        return RecomputedChanges(
            self._of([term.moved(where) for term in self.transformer.terms], len(used)), used, X, coef
        )

    def _of(self, terms: list[Any], n_columns: int) -> DerivedBlock:
        """The block of the same terms of columns that have other indices."""
        other = DerivedTerms(terms)
        other.n_features_in_, other.bins_ = n_columns, self.transformer.bins_
        other.centers_, other.scales_ = self.transformer.centers_, self.transformer.scales_
        return self._made(transformer=other, width=self.width, kind=self.kind, note=self.note)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """clip((z - low) / (high - low), 0, 1) for each bin of the squashed numbers z."""
        made = self.transformer
        columns = []
        for term, center, scale in zip(made.terms, made.centers_, made.scales_, strict=True):
            z = graph.add("Div", graph.add("Sub", term.onnx(graph, x), np.float64(center)), np.float64(scale))
            z = graph.add("Where", graph.add("IsNaN", z), np.float64(0.0), z)
            z = graph.add("Clip", z, np.float64(-1e150), np.float64(1e150))
            third = graph.add("Div", z, np.float64(3.0))
            root = graph.add("Sqrt", graph.add("Add", np.float64(1.0), graph.add("Mul", third, third)))
            columns.append(graph.add("Div", z, root))
        edges = [np.asarray(each) for each in made.bins_.bins_]
        index = np.repeat(np.arange(len(edges)), [len(each) - 1 for each in edges])
        low, high = (np.concatenate([each[part] for each in edges]) for part in (slice(None, -1), slice(1, None)))
        part = graph.add("Div", graph.add("Sub", graph.columns(graph.concat(columns), index), low), high - low)
        return graph.cast(graph.add("Clip", part, np.float64(0.0), np.float64(1.0)), np.float32)

    def set_n_columns(self, n_columns: int) -> None:
        self.transformer.n_features_in_ = n_columns
