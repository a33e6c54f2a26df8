"""What is needed to get the same model again."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from mercer.auto.budget.progress import MESSAGES
from mercer.auto.diagnostics.schema import Reproduction, StageSeconds

_PACKAGES = ("mercer", "numpy", "scipy", "scikit-learn", "pyarrow")


def reproduction(
    data: Any, target: Any, options: dict[str, Any], ids: np.ndarray | None, log: list[tuple[str, float]]
) -> Reproduction:
    """The section `reproduction`; `options` are those of `mercer.fit` that differ from their defaults."""
    given = repr(str(data)) if isinstance(data, str) or hasattr(data, "__fspath__") else "data"
    goal = repr(target) if isinstance(target, str) else "target"
    arguments = "".join(f", {name}={_written(name, value)}" for name, value in options.items())
    return {
        "command": None,
        "code": f"model = mercer.fit({given}, {goal}{arguments})",
        "seed": int(options.get("random_state", 0)),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        "data": [],
        "rows_hash": None if ids is None else f"{int(np.sum(ids, dtype=np.uint64)):016x}",
        "seconds": stages(log),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _written(name: str, value: Any) -> str:
    """The value of an option as code; its name for arrays and functions."""
    return name if np.ndim(value) > 0 or (callable(value) and not isinstance(value, type)) else repr(value)


def stages(log: list[tuple[str, float]]) -> list[StageSeconds]:
    """The seconds of each stage, in words, in the order in which they ran first."""
    total: dict[str, float] = {}
    for step, seconds in log:
        total[step] = total.get(step, 0.0) + seconds
    return [{"stage": MESSAGES.get(step, step), "seconds": seconds} for step, seconds in total.items()]
