"""Cross-validated loss of random features by bandwidth and penalty, around the chosen ones."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from mercer.auto.diagnostics.schema import KernelMap
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.kernels import KernelCandidate
from mercer.kernels import Kernel
from mercer.linear.ridge.fold_loss import GramFoldLoss

_MAX_ROWS, _N_FEATURES, _MIN_ROWS = 2000, 256, 20
_BANDWIDTHS = 2.0 ** np.arange(-3, 4)
_PENALTIES = 10.0 ** np.arange(-4, 5)
#: Losses of ill-conditioned equations are cut off here: the mean of the target has loss 1.
_MAX_LOSS = 10.0


def kernel_map(encoded: EncodedRows, predictor: Predictor, classify: bool, seed: int) -> KernelMap | None:
    """The K-fold squared error of random features alone at multiples of the chosen bandwidth and penalty.

    At most 2,000 training rows and 256 features for each bandwidth are used; penalties are stated for all rows. None
    if the model has no random features of a known kernel with a bandwidth.
    """
    chosen = _chosen(predictor)
    if chosen is None or len(encoded.y) < _MIN_ROWS:
        return None
    kernel, penalty = chosen
    bandwidth = bandwidth_of(kernel.kernel)
    if bandwidth is None:
        return None
    target = NumericTarget.of(encoded.y, classify, encoded.weight)
    every = TrainingRows(encoded.X, target.numbers(encoded.y), encoded.ids, seed, (), encoded.weight, encoded.plan)
    rows = every.at(every.smallest(_MAX_ROWS))
    if not rows.can_compare or not np.any(rows.Y):
        return None
    per_row = float(rows.counts.sum() / every.counts.sum())
    loss = np.array([_losses(rows, _rescaled(kernel, times), penalty * per_row, seed) for times in _BANDWIDTHS])
    return {
        "kernel": _name(kernel.kernel),
        "bandwidths": (bandwidth * _BANDWIDTHS).tolist(),
        "penalties": (penalty * _PENALTIES).tolist(),
        "loss": loss.tolist(),
        "chosen": [int(np.argmin(np.abs(_BANDWIDTHS - 1))), int(np.argmin(np.abs(_PENALTIES - 1)))],
        "sentence": _sentence(loss),
    }


def _chosen(predictor: Predictor) -> tuple[KernelCandidate, float] | None:
    """The kernel of the random features and their penalty."""
    found = predictor.result
    if found is None or found.kernel is None or not predictor.features.has("fourier"):
        return None
    blocks = found.features.blocks
    penalties = [float(p) for block, p in zip(blocks, found.penalties, strict=True) if block.kind == "fourier"]
    # In the mean of several models the penalty of each is multiplied by their number.
    return (found.kernel, penalties[0] / len(penalties)) if penalties and penalties[0] > 0 else None


def bandwidth_of(kernel: Any) -> float | None:
    """The bandwidth of a kernel, or of the first part that has one."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if isinstance(bandwidth, (int, float)):
        return float(bandwidth)
    return next((found for part in _parts(kernel).values() if (found := bandwidth_of(part)) is not None), None)


def scaled_bandwidth(kernel: Any, times: float) -> Any:
    """The kernel with all its bandwidths multiplied."""
    changes: dict[str, Any] = {name: scaled_bandwidth(part, times) for name, part in _parts(kernel).items()}
    if isinstance(getattr(kernel, "bandwidth", None), (int, float)):
        changes["bandwidth"] = kernel.bandwidth * float(times)
    return replace(kernel, **changes) if changes else kernel


def _parts(kernel: Any) -> dict[str, Kernel]:
    if not is_dataclass(kernel):
        return {}
    values = {each.name: getattr(kernel, each.name) for each in fields(kernel)}
    return {name: value for name, value in values.items() if isinstance(value, Kernel)}


def _name(kernel: Any) -> str:
    """The class of the kernel, with those of its parts.

    >>> from mercer.kernels import Gaussian, Laplace
    >>> _name(Gaussian()), _name(Gaussian() + Laplace())
    ('Gaussian', 'Sum of Gaussian, Laplace')
    """
    parts = [_name(part) for part in _parts(kernel).values()]
    return f"{type(kernel).__name__} of {', '.join(parts)}" if parts else type(kernel).__name__


def _rescaled(kernel: KernelCandidate, times: float) -> KernelCandidate:
    return KernelCandidate(scaled_bandwidth(kernel.kernel, times), kernel.root)


def _losses(rows: TrainingRows, kernel: KernelCandidate, penalty: float, seed: int) -> np.ndarray:
    """The K-fold loss at multiples of a penalty, as a fraction of the variance of the target."""
    features = Features([kernel.features(_N_FEATURES, seed)])
    equations = GramFoldLoss(rows.gram(features.over(rows.X)), features.block_of_column)
    variance = float(np.average(np.sum(rows.Y**2, axis=1), weights=rows.weight))
    scores = [equations.score(np.array([penalty * times]), gradient=False).loss for times in _PENALTIES]
    losses = np.array(scores) / variance
    # A negative loss is that of equations that rounding has spoiled.
    return np.where(np.isfinite(losses) & (losses >= 0), np.minimum(losses, _MAX_LOSS), _MAX_LOSS)


def _sentence(loss: np.ndarray) -> str:
    """Where the chosen point lies."""
    b, p = (int(index) for index in np.unravel_index(np.argmin(loss), loss.shape))
    middle = loss[len(_BANDWIDTHS) // 2, len(_PENALTIES) // 2]
    where = f"{_BANDWIDTHS[b]:g} times the bandwidth and {_PENALTIES[p]:g} times the penalty"
    if (b, p) == (len(_BANDWIDTHS) // 2, len(_PENALTIES) // 2):
        return "Random features alone have their smallest loss at the chosen bandwidth and penalty."
    return (
        f"Random features alone have loss {middle:.3g} at the chosen point, and their smallest, {loss[b, p]:.3g}, at "
        f"{where}; the model has other features beside them."
    )
