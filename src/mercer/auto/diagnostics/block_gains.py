"""How much of the gain over a constant prediction each block of features carries."""

from __future__ import annotations

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.features.union import Features
from mercer.linear.losses import LogLoss, Squared

#: Nodes of the quadrature along the path; the gradient of the log-loss is smooth.
_N_NODES = 12


def block_gains(rows: HeldOutRows) -> list[float] | None:
    """The fraction of the held-out gain of each block; they add up to 1. None if there is no gain to divide.

    The scores are f = sum over blocks of f_b. Along the path from the constant c = mean of f to f, block b lowers the
    loss L by

        - integral over t in [0, 1] of <f_b - mean of f_b, gradient of L at c + t (f - c)>,

    and all blocks together by L(c) - L(f): the Aumann-Shapley value of each. For the squared error it is
    mean of (f_b - mean)(2 (y - c) - (f - c)).
    """
    parts = _parts(rows)
    centered = [part - np.average(part, axis=0, weights=rows.weight) for part in parts]
    change = np.sum(centered, axis=0)
    scores = rows.scores
    start = scores - change
    gains = np.zeros(len(parts))
    for node, weight in zip(*np.polynomial.legendre.leggauss(_N_NODES), strict=True):
        gradient = _gradient(rows, start + (node + 1) / 2 * change)
        for k, part in enumerate(centered):
            gains[k] -= weight / 2 * np.average(np.sum(part * gradient, axis=1), weights=rows.weight)
    total = float(gains.sum())
    if not total > 1e-12 * float(np.abs(gains).sum()) or not np.isfinite(total):
        return None
    return [float(gain / total) for gain in gains]


def _parts(rows: HeldOutRows) -> list[np.ndarray]:
    """The contribution of each block to the scores."""
    predictor = rows.predictor
    if len(predictor.features.blocks) == 1:
        return [rows.scores]
    scale = 1.0 if rows.classes is None else predictor.temperature
    blocks = zip(predictor.features.blocks, predictor.features.slices(), strict=True)
    return [Features([block]).features(rows.X) @ predictor.coef[columns] / scale for block, columns in blocks]


def _gradient(rows: HeldOutRows, scores: np.ndarray) -> np.ndarray:
    response = rows.predictor.response
    if response is not None:
        return response.gradients(np.asarray(rows.y, dtype=np.float64), scores)
    if rows.classes is None:
        return Squared().gradient(np.reshape(rows.y, scores.shape), scores)
    if len(rows.classes) == 1:
        return np.zeros_like(scores)
    known = np.isin(rows.y, rows.classes)
    codes = np.searchsorted(rows.classes, np.where(known, rows.y, rows.classes[0]))
    return LogLoss().value_and_gradient(codes, scores)[1] * known[:, None]
