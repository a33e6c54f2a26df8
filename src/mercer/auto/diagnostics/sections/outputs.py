"""Predictions in the units of a report, losses of held-out rows, and means of them with intervals."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import ScoreEstimate
from mercer.auto.features.union import Features
from mercer.linear.losses import LogLoss

#: The largest log-loss of a row: that of a probability of 1e-15, and of a class that the model does not know.
MAX_LOG_LOSS = -math.log(1e-15)
_MAX_TEXT = 60
_CONFIDENCE = 0.95


def has_one_output(rows: HeldOutRows) -> bool:
    """True for one continuous target, and for two or more classes."""
    if rows.classes is None:
        return np.ndim(rows.y) == 1
    return len(rows.classes) > 1


def is_sparse(rows: HeldOutRows) -> bool:
    """True if the model is linear in the terms of texts alone."""
    return sparse.issparse(rows.X)


def class_codes(rows: HeldOutRows) -> np.ndarray:
    """The index of the class of each row; -1 for a class that the model does not know."""
    known = {value: k for k, value in enumerate(np.asarray(rows.classes).tolist())}
    return np.array([known.get(value, -1) for value in np.asarray(rows.y).tolist()], dtype=np.intp)


def class_names(rows: HeldOutRows) -> list[str]:
    """The classes as text."""
    return [str(value) for value in np.asarray(rows.classes).tolist()]


def shown_predictions(rows: HeldOutRows, X: Any) -> np.ndarray:
    """Predictions, or the probability of the second of two classes, or those of all classes: one column each."""
    if rows.classes is None:
        return rows.predictor.outputs_of(rows.predictor.scores(X))
    return rows.predictor.probabilities(X)[:, 1:] if len(rows.classes) == 2 else rows.predictor.probabilities(X)


def shown_name(rows: HeldOutRows, column: int) -> str | None:
    """The class that a column of `shown_predictions` belongs to; None for regression."""
    if rows.classes is None:
        return None
    return class_names(rows)[1 if len(rows.classes) == 2 else column]


def row_losses(rows: HeldOutRows, scores: np.ndarray, index: Any = slice(None)) -> np.ndarray:
    """The squared error (its mean over several targets) or the log-loss of rows, from their scores.

    Scores of classes have been divided by the temperature.
    """
    if rows.classes is None:
        y = np.asarray(rows.y, dtype=np.float64)[index].reshape(len(scores), -1)
        return np.mean((y - rows.predictor.outputs_of(scores)) ** 2, axis=1)
    codes = class_codes(rows)[index]
    if len(rows.classes) == 1:
        return np.where(codes < 0, MAX_LOG_LOSS, 0.0)
    losses = np.minimum(LogLoss().value(np.maximum(codes, 0), scores), MAX_LOG_LOSS)
    return np.where(codes < 0, MAX_LOG_LOSS, losses)


def predicted_codes(rows: HeldOutRows) -> np.ndarray:
    """The index of the most probable class of each row."""
    scores = rows.scores
    return (scores[:, 0] > 0).astype(np.intp) if len(class_names(rows)) == 2 else scores.argmax(axis=1)


def row_weights(rows: HeldOutRows, index: Any = slice(None)) -> np.ndarray:
    """The weights of rows; ones if there are none, or if all of them are zero."""
    n = len(rows.y)
    weight = np.ones(n) if rows.weight is None else np.asarray(rows.weight, dtype=np.float64)
    chosen = weight[index]
    return chosen if np.any(chosen > 0) else np.ones(len(chosen))


def effective_rows(weight: np.ndarray) -> float:
    """(sum of w)^2 / (sum of w^2)."""
    return float(np.sum(weight) ** 2 / np.sum(weight**2))


def mean_interval(values: np.ndarray, weight: np.ndarray) -> tuple[float, float | None]:
    """The weighted mean of rows, and half the width of its 95 % interval by Student's t; None for one row."""
    mean, n = float(np.average(values, weights=weight)), effective_rows(weight)
    if n <= 1.0 + 1e-9:
        return mean, None
    scale = float(np.max(np.abs(values))) or 1.0  # squares of squared errors may overflow
    variance = float(np.average(((values - mean) / scale) ** 2, weights=weight)) * n / (n - 1)
    return mean, scale * t_quantile(n) * math.sqrt(variance / n)


def t_quantile(n: float) -> float:
    """The quantile of Student's t with n - 1 degrees of freedom that a 95 % interval takes.

    >>> round(t_quantile(1e6), 3), round(t_quantile(11), 3)
    (1.96, 2.228)
    """
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.5 + _CONFIDENCE / 2))


def estimate(value: float, half: float | None) -> ScoreEstimate:
    """A number plus or minus `half`."""
    if half is None:
        return {"value": value, "low": None, "high": None}
    return {"value": value, "low": value - half, "high": value + half}


def sampled(n: int, size: int) -> np.ndarray:
    """At most `size` of the indices 0..n-1, evenly spaced: held-out rows are in random order."""
    return np.arange(n) if n <= size else np.linspace(0, n - 1, size).astype(np.intp)


def histogram(values: np.ndarray, n_bins: int, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts in bins of equal width, and their edges; one bin if values are too close together for more.

    >>> histogram(np.array([0.0, 1.0, 1.5, 2.0]), 2, 0.0, 2.0)
    (array([1, 3]), array([0., 1., 2.]))
    """
    edges = np.linspace(low, high, n_bins + 1)
    if np.any(np.diff(edges) <= 0):
        half = max(0.5, 1e-6 * abs(low))
        edges = np.array([low - half, high + half])
    return np.histogram(values, edges)


def n_features(features: Features, X: Any) -> int:
    """Numbers that are computed to score one row."""
    return features.width + X.shape[1]


def short_text(value: Any) -> str:
    """A value of a table in at most 60 characters."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    if isinstance(value, datetime.datetime):
        text = f"{value:%Y-%m-%d}" if value.time() == datetime.time() else value.isoformat(" ", "seconds")
    else:
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "\N{HORIZONTAL ELLIPSIS}"


def plain(value: Any) -> Any:
    """A value made of dicts, lists, strings and numbers of Python; None for what is not finite."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
