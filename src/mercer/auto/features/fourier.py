"""Random Fourier features of a kernel, maybe in a learned metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer.auto.explain.perturb import BATCH_ENTRIES, ScoreChanges
from mercer.auto.features.base import FeatureBlock, Refit
from mercer.expand import RandomFeatures

if TYPE_CHECKING:
    from mercer.io.onnx import Graph


class FourierBlock(FeatureBlock):
    """sqrt(1/m) (cos <omega_i, x>, sin <omega_i, x>) for given frequencies omega_1..omega_m, in float32."""

    kind = "fourier"

    def __init__(self, frequencies: np.ndarray, note: str = ""):
        self.random_features, self.note = RandomFeatures.from_frequencies(frequencies), note
        self.width = 2 * len(frequencies)

    @property
    def frequencies(self) -> np.ndarray:
        return self.random_features.frequencies_

    @property
    def transformer(self) -> Pipeline:
        return Pipeline([("float32", FunctionTransformer(single_precision)), ("random", self.random_features)])

    def write(self, X: np.ndarray, out: np.ndarray) -> None:
        self.random_features.write(single_precision(X), out)

    def names(self, columns: list[str]) -> list[str]:
        return [f"rff_{i}_{function}" for function in ("cos", "sin") for i in range(self.width // 2)]

    @property
    def title(self) -> str:
        return f"{self.width:,} random Fourier features"

    def first(self, width: int) -> FourierBlock:
        """The leading frequencies, with features scaled to a kernel of the same size."""
        return FourierBlock(self.frequencies[: width // 2], self.note)

    def weight_signs(self, signs: np.ndarray) -> np.ndarray:
        """There are no random features of monotone columns."""
        return np.zeros(self.width, dtype=np.int64)

    def refit(self, other: Refit) -> FourierBlock:
        """The same frequencies wherever their columns are now; zero along new columns."""
        if other.positions is None:
            return self
        moved = np.where(other.positions < 0, 0.0, self.frequencies[:, other.positions])
        return FourierBlock(np.ascontiguousarray(moved), self.note)

    def leading(self, max_pairs: int) -> np.ndarray:
        """The first frequencies: a smaller map is the beginning of a larger one."""
        m = self.width // 2
        first = np.arange(min(m, max_pairs))
        return np.arange(self.width) if m <= max_pairs else np.concatenate([first, m + first])

    def score_changes(self, X: np.ndarray, coef: np.ndarray) -> ScoreChanges:
        return PhaseChanges(self.frequencies, X, coef)

    def onnx_nodes(self, graph: Graph, x: str) -> str:
        phases = graph.add("MatMul", graph.cast(x, np.float32), self.frequencies.T.astype(np.float32))
        both = graph.concat([graph.add("Cos", phases), graph.add("Sin", phases)])
        return graph.add("Mul", both, np.float32(np.sqrt(1.0 / len(self.frequencies))))

    def onnx_rounding(self, X: np.ndarray, features: np.ndarray, size: np.ndarray) -> np.ndarray:
        """The phase is itself a sum of rounded products, and moves the feature by as much."""
        phase = np.abs(X) @ np.abs(self.frequencies).T
        off = (4 * np.sqrt(X.shape[1]) * phase + 4) / np.sqrt(len(self.frequencies))
        return np.hstack([off, off]) @ size

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> FourierBlock:
        return cls(state["frequencies"], state["note"])


def single_precision(X: np.ndarray) -> np.ndarray:
    """Rows as a contiguous array of float32."""
    return np.ascontiguousarray(X, dtype=np.float32)


class PhaseChanges(ScoreChanges):
    """The phase <omega, x> changes by omega_j times the change of x_j; other frequencies are left alone."""

    def __init__(self, frequencies: np.ndarray, X: np.ndarray, coef: np.ndarray):
        m = len(frequencies)
        self.X, self.frequencies = X, frequencies
        self.cosines, self.sines = (part / np.sqrt(m) for part in (coef[:m], coef[m:]))
        self.phases = X @ frequencies.T
        self.every = np.arange(m)

    def _scores(self, phases: np.ndarray, used: np.ndarray) -> np.ndarray:
        phases = phases.astype(np.float32)
        return np.cos(phases) @ self.cosines[used] + np.sin(phases) @ self.sines[used]

    def changed(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        along = self.frequencies[:, columns]
        used = np.flatnonzero(along.any(axis=1))
        phases = self.phases[:, used]
        shift = (values - self.X[:, columns]) @ along[used].T
        return self._scores(phases + shift, used) - self._scores(phases, used)

    def path(self, x: np.ndarray, groups: list[np.ndarray]) -> np.ndarray:
        difference, phase, gains = x - self.X[0], self.phases[:1], []
        batch = max(1, BATCH_ENTRIES // (8 * len(self.every)))
        for start in range(0, len(groups), batch):
            shifts = [self.frequencies[:, columns] @ difference[columns] for columns in groups[start : start + batch]]
            phases = phase[-1] + np.vstack([np.zeros_like(phase[:1]), np.cumsum(shifts, axis=0)])
            gains.append(np.diff(self._scores(phases, self.every), axis=0))
            phase = phases[-1:]
        return np.vstack(gains)
