"""Products of pairs of encoded columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit, moved_positions
from mercer.expand import ProductLift

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class ProductBlock(FeatureBlock):
    """`ProductLift`: (x_i - c_i)(x_j - c_j) / s for some pairs of columns, squares where i = j.

    Columns are centered at their means c, so that a product is not correlated with its factors by their means alone,
    and s makes the variance of each product one on the rows that it was chosen from.
    """

    kind = "products"
    transformer: ProductLift

    @classmethod
    def fitted(cls, X: np.ndarray, pairs: np.ndarray, weight: np.ndarray | None = None) -> ProductBlock:
        """The block with the centers and scales of the rows X."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(ProductLift(pairs.tolist()).fit(X, sample_weight=weight))

    @property
    def pairs(self) -> np.ndarray:
        return self.transformer.pairs_

    def names(self, columns: list[str]) -> list[str]:
        return [f"{columns[i]}^2" if i == j else f"{columns[i]} * {columns[j]}" for i, j in self.pairs.tolist()]

    @property
    def title(self) -> str:
        return f"products of {self.width:,} pairs of columns"

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        """There are no products of monotone columns."""
        return np.zeros(self.width, dtype=np.int64)

    def refit(self, other: Refit) -> ProductBlock | None:
        """The same products, centers and scales wherever their columns are now."""
        if other.positions is None:
            return self
        moved = moved_positions(self.pairs, other.positions)
        left = np.all(moved >= 0, axis=1)
        return self._of(moved[left], left, len(other.positions)) if left.any() else None

    def _of(self, pairs: np.ndarray, kept: np.ndarray | slice, n_columns: int) -> ProductBlock:
        """Some of the products, of columns that have other indices."""
        return ProductBlock(
            product_lift(pairs, self.transformer.centers_[kept], self.transformer.scales_[kept], n_columns)
        )

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        used, pairs = np.unique(self.pairs, return_inverse=True)
        return RecomputedChanges(self._of(pairs.reshape(-1, 2), slice(None), len(used)), used, X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """(x_i - c_i)(x_j - c_j) / s."""
        centers, scales = self.transformer.centers_, self.transformer.scales_
        first, second = (
            graph.add("Sub", graph.columns(x, self.pairs[:, k]), np.ascontiguousarray(centers[:, k])) for k in (0, 1)
        )
        product = graph.add("Mul", graph.add("Mul", first, second), 1.0 / scales)
        return graph.cast(product, np.float32)

    def set_n_columns(self, n_columns: int) -> None:
        self.transformer.n_features_in_ = n_columns

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> ProductBlock:
        pairs, factor = state["pairs"], state["factor"]  # a factor of zero stood for a product of a lost column
        scales = 1.0 / np.where(factor == 0, np.finfo(float).tiny, factor)
        return cls(product_lift(pairs, state["centers"], scales, int(pairs.max(initial=0)) + 1))


def product_lift(pairs: np.ndarray, centers: np.ndarray, scales: np.ndarray, n_columns: int) -> ProductLift:
    """A fitted `ProductLift` with given centers and scales."""
    lift = ProductLift(pairs.tolist())
    lift.n_features_in_, lift.pairs_, lift.centers_, lift.scales_ = n_columns, pairs, centers, scales
    return lift
