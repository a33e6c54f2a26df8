"""Whether random features can keep small distances in relative terms: that depends on the kernel.

The squared distance of two rows in the space of the kernel is 2 - 2k, and its estimate is a mean of 2 - 2 cos<omega,
x - x'>, whose variance relative to the square of what it estimates is

    R(r) = (1/2 + k(2r)/2 - k(r)^2) / (1 - k(r))^2.

For a kernel as smooth as the Gaussian one R stays bounded (it tends to 2), and O(eps^-2 log n) frequencies keep all
distances to within 1 +- eps (Chen and Phillips, "Relative error embeddings for the Gaussian kernel distance", 2017).
For the Laplace kernel R is about 1/r: near pairs have no relative accuracy at any number of features. The same holds
for every kernel whose frequencies have no fourth moment: Matern with nu <= 2, exponential powers with q < 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: R is compared where 1 - k is about these; a bounded R has converged by then, an unbounded one still grows.
GAPS = (1e-3, 1e-4)
#: Matern(nu=2), where R grows like a logarithm, comes to 1.44; Matern(nu=2.1), where it is bounded, to 1.31.
GROWTH = 1.4


def relative_variance(kernel: Any, gap: float, n_columns: int) -> float:
    """R at the distance where 1 - k first exceeds `gap`, for a shift-invariant kernel with k(x, x) = 1 or scaled so."""
    direction = np.random.default_rng(0).normal(size=n_columns)

    def similarity(steps: np.ndarray) -> np.ndarray:
        return kernel(np.zeros((1, n_columns)), steps[:, None] * direction)[0] / kernel.mass

    steps = np.logspace(-100, 100, 20_001)
    is_distinct = 1 - similarity(steps) > gap
    if not is_distinct.any():  # numerically constant
        return 0.0
    at = steps[np.argmax(is_distinct)]
    once, twice = similarity(np.array([at, 2 * at]))
    return float((0.5 + 0.5 * twice - once**2) / (1 - once) ** 2)


def refuse_rough(kernel: Any, n_columns: int) -> None:
    """Raise if relative errors of distances are unbounded for this kernel."""
    try:
        mass = kernel.mass
    except TypeError:  # not shift-invariant: there are no frequencies to speak of
        return
    if mass == 0:
        return
    far, near = (relative_variance(kernel, gap, n_columns) for gap in GAPS)
    if near > GROWTH * far:
        raise ValueError(
            f"{kernel} is too rough at 0 for a certificate of relative distances: the relative variance of an "
            f"estimated distance grows without bound as two rows come closer ({far:.3g} at k = {1 - GAPS[0]:g}, "
            f"{near:.3g} at k = {1 - GAPS[1]:g}), so no number of features preserves the distances of near pairs. "
            "Certify kernel values instead (`certify`, `.certificate`), or use a smooth kernel such as Gaussian."
        )
