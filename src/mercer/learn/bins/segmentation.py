"""Optimal segmentation of a sequence of bins by dynamic programming."""

from __future__ import annotations

import numpy as np


def squared_costs(weight: np.ndarray, target: np.ndarray, square: np.ndarray) -> np.ndarray:
    """cost[i, j]: squared deviations from their mean of bins i..j-1 as one segment, summed over targets.

    weight : (bins,); target, square : (bins, targets), sums of y and y^2.
    """
    n, s, q = (_differences(part) for part in (weight, target, square.sum(axis=1)))
    return np.maximum(q - np.sum(s**2, axis=-1) / np.where(n > 0, n, 1.0), 0.0)


def entropy_costs(weight: np.ndarray, target: np.ndarray) -> np.ndarray:
    """cost[i, j]: minus the log likelihood of the classes of bins i..j-1 at their frequencies.

    target : (bins, classes), the weight of each class in each bin; they sum to `weight`.
    """
    n, s = _differences(weight), np.maximum(_differences(target), 0.0)
    logs = np.log(np.where(s > 0, s, 1.0))
    return np.maximum(n * np.log(np.where(n > 0, n, 1.0)) - np.sum(s * logs, axis=-1), 0.0)


def _differences(part: np.ndarray) -> np.ndarray:
    """Sums over i..j-1 for all i < j, zero elsewhere, from sums per bin."""
    total = np.concatenate([np.zeros((1, *part.shape[1:])), np.cumsum(part, axis=0)])
    difference = total[None] - total[:, None]
    below = np.tri(len(total), dtype=bool)
    difference[below] = 0.0
    return difference


class Segmentation:
    """The minimum total cost of every number of segments, and where to cut for it.

    f_t(j) = min over i < j of f_(t-1)(i) + cost[i, j]: O(bins^2) for each number of segments.
    """

    def __init__(self, cost: np.ndarray, max_segments: int):
        n = len(cost) - 1
        max_segments = min(max_segments, n)
        forbidden = np.where(np.tri(n + 1, dtype=bool), np.inf, cost)  # segments of at least one bin
        best = forbidden[0].copy()
        self.losses, self._origins = [best[n]], [np.zeros(n + 1, dtype=np.intp)]
        for _ in range(1, max_segments):
            total = best[:, None] + forbidden
            origin = np.argmin(total, axis=0)
            best = np.take_along_axis(total, origin[None], axis=0)[0]
            self.losses.append(best[n])
            self._origins.append(origin)

    def number(self, penalty: float) -> int:
        """The number of segments with the smallest loss + penalty * segments."""
        return int(np.argmin(np.array(self.losses) + penalty * np.arange(1, len(self.losses) + 1))) + 1

    def cuts(self, segments: int) -> np.ndarray:
        """The bins at which segments 2, 3, ... begin, for this number of segments."""
        end, cuts = len(self._origins[0]) - 1, []
        for t in range(min(segments, len(self.losses)) - 1, 0, -1):
            end = int(self._origins[t][end])
            cuts.append(end)
        return np.array(cuts[::-1], dtype=np.intp)
