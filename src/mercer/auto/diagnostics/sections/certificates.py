"""The error of random features as an approximation of their kernel: a bound, and what held-out rows show."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import CertificateReport
from mercer.auto.diagnostics.sections.outputs import is_sparse, sampled
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.search.kernels import KernelCandidate
from mercer.bounds import fourier_dimension, fourier_variance

_CONFIDENCE = 0.95
#: Rows whose pairs are measured: at most, and numbers in their differences.
_MAX_ROWS, _MIN_ROWS, _ENTRIES = 200, 30, 4_000_000


def section(rows: HeldOutRows) -> list[CertificateReport] | None:
    """The certificate of each block of random features; None if there is none whose kernel is known."""
    found = rows.predictor.result
    if is_sparse(rows) or found is None or found.kernel is None or len(rows.y) < 2:
        return None
    size = min(_MAX_ROWS, max(_MIN_ROWS, int(np.sqrt(_ENTRIES / rows.X.shape[1]))))
    X = np.unique(rows.X[sampled(len(rows.y), size)], axis=0)
    if len(X) < 2:
        return None
    exact = found.kernel.kernel(found.kernel.rows(X))
    blocks = [block for block in rows.predictor.features.blocks if isinstance(block, FourierBlock)]
    return [_certificate(block, found.kernel, X, exact) for block in blocks] or None


def _certificate(block: FourierBlock, kernel: KernelCandidate, X: np.ndarray, exact: np.ndarray) -> CertificateReport:
    bound = kernel_error_bound(block.width, len(X), kernel.kernel)
    Z = np.asarray(block.features(X), dtype=np.float64)
    errors = np.abs(exact - kernel.kernel.mass * (Z @ Z.T))[np.triu_indices(len(X), 1)]
    largest, mean = float(errors.max()), float(errors.mean())
    return {
        "block": block.kind,
        "quantity": "largest error of a kernel value |k(x, x') - <z(x), z(x')>|",
        "n_features": block.width,
        "bound": bound,
        "measured": largest,
        "confidence": _CONFIDENCE,
        "sentence": (
            f"Bound for {block.width // 2} independent frequencies, two features each: with {_CONFIDENCE:.0%} "
            f"confidence all {len(errors):,} pairs of {len(X)} rows are within {bound:.3g} of their kernel value. "
            f"Measured on held-out rows: at most {largest:.3g}, {mean:.3g} on average."
        ),
    }


def kernel_error_bound(n_features: int, n: int, kernel: Any) -> float:
    """The smallest eps for which `fourier_dimension` asks for at most so many features for all pairs of n rows."""
    variance = fourier_variance(kernel)
    low, high = 1e-6, 1e3
    for _ in range(60):
        eps = float(np.sqrt(low * high))
        needed = fourier_dimension(eps, 1 - _CONFIDENCE, n, variance=variance)
        low, high = (low, eps) if needed <= n_features else (eps, high)
    return high * float(kernel.mass)
