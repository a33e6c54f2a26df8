"""The losses that a fit may be asked for: names, quantiles, and which targets they take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mercer._runtime.errors import MercerError, ParameterError, RowError, Setting

LOSSES = ("squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie")
#: Losses with a logarithmic link, and the power of the mean that the variance grows with.
POWERS = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}
#: Quantiles that are fitted unless others are given.
DEFAULT_QUANTILES = (0.1, 0.5, 0.9)


def checked_loss(loss: Any, quantiles: Any) -> tuple[float, ...]:
    """Check the options `loss` and `quantiles` of a fit; the quantiles to fit, none for other losses."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError("loss", loss, f"must be one of {', '.join(LOSSES)}")
    if loss != "quantile":
        if quantiles is not None and np.size(quantiles):
            problem = (Setting("quantiles", quantiles), " are for ", Setting("loss", "quantile"), ":")
            raise MercerError(*problem, remedy="give that loss as well, or leave the quantiles out.")
        return ()
    if quantiles is None or np.size(quantiles) == 0:
        return DEFAULT_QUANTILES
    given = [quantiles] if np.ndim(quantiles) == 0 else list(quantiles)
    levels = [_level(each, quantiles) for each in given]
    if any(b <= a for a, b in pairwise(levels)):
        raise ParameterError("quantiles", quantiles, "must increase, each given once, such as [0.1, 0.5, 0.9]")
    return tuple(levels)


def _level(level: Any, given: Any) -> float:
    number = isinstance(level, (int, float, np.number)) and not isinstance(level, bool)
    if not number or not 0 < level < 1:
        raise ParameterError("quantiles", given, "must be numbers between 0 and 1, such as [0.1, 0.5, 0.9]")
    return float(level)


def check_target(y: np.ndarray, loss: str, called: str = "The target") -> None:
    """Refuse targets that a loss is not defined for; `RowError` names the first row."""
    if loss == "squared":
        return
    if y.ndim != 1:
        raise MercerError(
            f"{called} has {y.shape[1]} columns, but ", Setting("loss", loss), " is for one.", remedy="Fit one each."
        )
    if y.dtype.kind not in "fiub":
        raise MercerError(
            f"{called} holds {str(y[0])!r}, which is not a number, but ", Setting("loss", loss), " is for numbers.",
            remedy="Leave the loss out to predict classes.",
        )  # fmt: skip
    if loss not in POWERS:
        return
    bad = np.flatnonzero(y <= 0 if loss == "gamma" else y < 0)
    if len(bad):
        allowed = "positive" if loss == "gamma" else "at least zero"
        remedy = f". Targets of the {loss} loss are {allowed}: correct the value, or choose another loss."
        raise RowError(f"{called} is {y[bad[0]]:g} at ", int(bad[0]), remedy)


def nearest_median(quantiles: Sequence[float]) -> int:
    """The index of the quantile that `predict` returns: the median, or the one next to it."""
    return int(np.argmin(np.abs(np.asarray(quantiles) - 0.5)))
