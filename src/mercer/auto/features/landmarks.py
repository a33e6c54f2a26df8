"""Similarities to landmarks in a learned metric, whitened: the Nystrom approximation of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit, moved_rows
from mercer.expand import Landmarks
from mercer.expand.landmarks.similarities import SimilarityMap
from mercer.kernels import Kernel
from mercer.kernels.through import Through

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class LandmarksBlock(FeatureBlock):
    """L^-1 (k(xA, s_1 A), ..., k(xA, s_m A)), LL' = (k(s_i A, s_j A))_ij, for a kernel k of Euclidean distances.

    `Landmarks` computes the same. Here a row alone has the bits that it has among others: distances and the whitening
    are `row_products` in float64, and features are rounded to float32 at the end (see `SimilarityMap`).
    """

    kind = "landmarks"
    transformer: Landmarks
    _made_again = ("_laid_out",)

    def __init__(self, transformer: Landmarks, note: str = ""):
        super().__init__(transformer)
        self.note = note
        self._laid_out: dict[str, SimilarityMap] = {}

    @classmethod
    def fitted(cls, kernel: Kernel, root: np.ndarray, centers: np.ndarray) -> LandmarksBlock:
        """The block of an isotropic kernel in the metric of `root` (a diagonal, if a vector) and of landmarks."""
        made = Landmarks(len(centers), kernel.through(root), landmarks=centers)
        return cls(made.fit(centers), repr(kernel))

    @property
    def metric(self) -> Through:
        """The kernel in its metric."""
        return self.transformer.kernel_

    @property
    def similarities(self) -> SimilarityMap:
        """The map before the whitening, as this machine lays it out."""
        if "map" not in self._laid_out:
            self._laid_out["map"] = SimilarityMap(self.metric, self.transformer.landmarks_, self.transformer.whitening_)
        return self._laid_out["map"]

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        self.similarities.write(X, out)

    def names(self, columns: list[str]) -> list[str]:
        return [f"landmark_{i}" for i in range(self.width)]

    @property
    def title(self) -> str:
        return f"similarities to {self.width:,} landmarks"

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        """There are no similarities along monotone columns."""
        return np.zeros(self.width, dtype=np.int64)

    def refit(self, other: Refit) -> LandmarksBlock:
        """The same landmarks wherever their columns are now; a metric without new columns."""
        if other.positions is None:
            return self
        rows, moved = (
            np.asarray(self.transformer.landmarks_),
            moved_rows(np.asarray(self.metric.matrix), other.positions),
        )
        centers = np.where(other.positions >= 0, rows[:, other.positions], 0.0)
        return LandmarksBlock.fitted(self.metric.kernel, moved, centers)

    def leading(self, max_pairs: int) -> np.ndarray:
        """The first landmarks: each is the one that those before it explain least."""
        return np.arange(min(self.width, 2 * max_pairs))

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        """Scores without whitened features: <z(x), w> = <k_S(x), L^-T w>, of the columns that the metric reads."""
        root = np.asarray(self.metric.matrix)
        used = np.flatnonzero(root if root.ndim == 1 else root.any(axis=1))
        part = SimilarityMap(self.metric.kernel.through(root[used]), self.transformer.landmarks_[:, used], None)
        return RecomputedChanges(part, used, X, self.transformer.whitening_ @ coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        similarities = onnx_similarities(graph, self.similarities, x)
        return graph.cast(graph.add("MatMul", similarities, self.transformer.whitening_), np.float32)

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """One rounding to float32 of sums in float64."""
        return 4 * np.broadcast_to(np.sum(size, axis=0), (len(X), size.shape[1]))

    def __getstate__(self) -> dict[str, Any]:
        # The layout belongs to this machine: it is made again where the block is loaded.
        return {**self.__dict__, "_laid_out": {}}


def onnx_similarities(graph: Graph, made: SimilarityMap, x: str) -> str:
    """Nodes of the similarities of rows in float64."""
    image = graph.add("Mul" if made.root.ndim == 1 else "MatMul", x, made.root)
    image = graph.add("Sub", image, made.center)
    square = graph.add("ReduceSum", graph.add("Mul", image, image), np.array([1]), keepdims=1)
    sums = graph.add("Add", square, made.squares)
    found = graph.add("Add", graph.add("MatMul", image, -2.0 * made.images.T), sums)
    small = graph.add("Less", found, graph.add("Mul", sums, np.float64(made.rounding)))
    return onnx_profile(graph, made.kernel, graph.add("Where", small, np.float64(0.0), found))


def onnx_profile(graph: Graph, kernel: Any, squares: str) -> str:
    """Nodes of a kernel as a function of squared distances."""
    name, bandwidth = type(kernel).__name__, float(kernel.bandwidth)
    if name == "Gaussian" or (name == "Matern" and kernel.nu == np.inf):
        return graph.add("Exp", graph.add("Mul", squares, np.float64(-0.5 / bandwidth**2)))
    r = graph.add("Mul", graph.add("Sqrt", squares), np.float64(1.0 / bandwidth))
    if name == "Laplace":
        return graph.add("Exp", graph.add("Neg", r))
    if name == "ExponentialPower":
        return graph.add("Exp", graph.add("Neg", graph.add("Pow", r, np.float64(kernel.q))))
    if name == "Matern" and kernel.nu in (0.5, 1.5, 2.5):
        t = graph.add("Mul", r, np.float64(np.sqrt(2 * kernel.nu)))
        decay = graph.add("Exp", graph.add("Neg", t))
        if kernel.nu == 0.5:
            return decay
        rise = graph.add("Add", t, np.float64(1.0))
        if kernel.nu == 2.5:
            rise = graph.add("Add", rise, graph.add("Mul", graph.add("Mul", t, t), np.float64(1 / 3)))
        return graph.add("Mul", rise, decay)
    raise ValueError(f"Landmarks of the kernel {kernel!r} have no translation to ONNX yet.")
