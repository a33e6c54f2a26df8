"""Similarities to landmarks in a learned metric, whitened: the Nystrom approximation of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import _numeric
from mercer.auto.explain.perturb import RecomputedChanges, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.expand import Landmarks
from mercer.kernels import Kernel
from mercer.kernels.through import Through

if TYPE_CHECKING:
    from mercer.io.onnx import Graph

#: Rows whose similarities are computed at a time, and columns of the whitening that skip the zeros below them.
_ROWS, _PANEL = 128, 256
#: Coordinates are cut where their squares would leave the range of float64.
_FAR = 1e140


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
        known = other.positions >= 0
        root, rows = (np.asarray(each) for each in (self.metric.matrix, self.transformer.landmarks_))
        moved = np.zeros((len(known), *root.shape[1:]))
        moved[known] = root[other.positions[known]]
        centers = np.where(known, rows[:, other.positions], 0.0)
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
        similarities = self.similarities.onnx_nodes(graph, x)
        return graph.cast(graph.add("MatMul", similarities, self.transformer.whitening_), np.float32)

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """One rounding to float32 of sums in float64."""
        return 4 * np.broadcast_to(np.sum(size, axis=0), (len(X), size.shape[1]))

    def __getstate__(self) -> dict[str, Any]:
        # The layout belongs to this machine: it is made again where the block is loaded.
        return {**self.__dict__, "_laid_out": {}}


class SimilarityMap:
    """k(||(x - s_i) A||) for landmarks s_i, and maybe their product with an upper triangular matrix.

    Squared distances are ||y||^2 + ||t||^2 - 2 <y, t> in float64, for y and t the images of x and s_i less the mean of
    all t; where only rounding is left of the terms, they are zero.
    """

    def __init__(self, metric: Any, landmarks: np.ndarray, whitening: np.ndarray | None):
        self.kernel: Any = metric.kernel
        self.root = np.asarray(metric.matrix, dtype=np.float64)
        self._packed_root = _numeric.pack_columns(np.ascontiguousarray(self.root)) if self.root.ndim == 2 else None
        self.center = np.zeros(self.root.shape[-1])
        images = self._images(np.ascontiguousarray(landmarks, dtype=np.float64))
        self.center = images.mean(axis=0)
        images -= self.center
        self.images, self.squares = images, _squares(images)
        self._packed = _numeric.pack_columns(np.ascontiguousarray(-2.0 * images.T))
        self.rounding = 16 * (len(self.center) + 4) * float(np.finfo(np.float64).eps)
        self._panels = () if whitening is None else tuple(_panels(whitening))

    def features(self, X: np.ndarray) -> np.ndarray:
        """The similarities of encoded rows in float64."""
        parts = [self._of(X[start : start + _ROWS]) for start in range(0, len(X), _ROWS)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.images)))

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the products with the matrix, a few rows at a time."""
        for start in range(0, len(X), _ROWS):
            rows = slice(start, start + _ROWS)
            similarities = self._of(X[rows])
            for columns, packed in self._panels:
                panel = np.empty((len(similarities), columns.stop - columns.start))
                _numeric.row_products(similarities[:, : columns.stop], packed, panel.shape[1], panel)
                out[rows, columns] = panel

    def _of(self, X: np.ndarray) -> np.ndarray:
        images = self._images(np.ascontiguousarray(X, dtype=np.float64))
        squares = _squares(images)[:, None]
        found = np.empty((len(X), len(self.images)))
        _numeric.row_products(images, self._packed, found.shape[1], found)
        sums = squares + self.squares
        found += sums
        sums *= self.rounding
        found[found < sums] = 0.0
        return self.kernel.of_squares(found)

    def _images(self, X: np.ndarray) -> np.ndarray:
        """The rows x A less the center."""
        if self._packed_root is None:
            images = X * self.root
        else:
            images = np.empty((len(X), self.root.shape[1]))
            _numeric.row_products(X, self._packed_root, images.shape[1], images)
        images -= self.center
        return np.clip(images, -_FAR, _FAR, out=images)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        """The same in float64."""
        image = graph.add("Mul" if self.root.ndim == 1 else "MatMul", x, self.root)
        image = graph.add("Sub", image, self.center)
        square = graph.add("ReduceSum", graph.add("Mul", image, image), np.array([1]), keepdims=1)
        sums = graph.add("Add", square, self.squares)
        found = graph.add("Add", graph.add("MatMul", image, -2.0 * self.images.T), sums)
        small = graph.add("Less", found, graph.add("Mul", sums, np.float64(self.rounding)))
        return onnx_profile(graph, self.kernel, graph.add("Where", small, np.float64(0.0), found))


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


def _squares(X: np.ndarray) -> np.ndarray:
    """||x||^2 of each row, added column by column: the same bits for one row as for many."""
    found = np.zeros(len(X))
    for column in X.T:
        found += column * column
    return found


def _panels(upper: np.ndarray) -> list[tuple[slice, np.ndarray]]:
    """Panels of columns of an upper triangular matrix, packed down to their last row that is not zero."""
    m = len(upper)
    panels = [slice(start, min(start + _PANEL, m)) for start in range(0, m, _PANEL)]
    return [
        (columns, _numeric.pack_columns(np.ascontiguousarray(upper[: columns.stop, columns]))) for columns in panels
    ]
