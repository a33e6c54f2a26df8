"""Panels: pictures described as data, which the page draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.explore.fields import Field
from mercer.explore.numbers import as_bytes, rounded


@dataclass(frozen=True)
class Topic:
    """A page of its own: the title, the fields of its state, the panels and the code of a state."""

    title: str
    fields: dict[str, Field]
    answer: Callable[[dict[str, Any]], dict[str, Any]]
    code: Callable[[dict[str, Any]], str]


def series(name: str, x: Any, y: Any, style: str = "line", color: int = 0) -> dict[str, Any]:
    """Return a curve, or points, of a panel of lines; `style` is line, dash, points, steps or area."""
    return {"name": name, "x": rounded(x, 5), "y": rounded(y, 5), "style": style, "color": color}


def lines(
    title: str,
    curves: Sequence[dict[str, Any]],
    x: str,
    y: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    marks: Sequence[tuple[float, str]] = (),
    y_range: tuple[float, float] | None = None,
    text: str = "",
) -> dict[str, Any]:
    """Return a panel of curves over a common axis; `marks` are labeled vertical lines."""
    return {
        "kind": "lines",
        "title": title,
        "series": list(curves),
        "x": {"label": x, "log": log_x},
        "y": {"label": y, "log": log_y, "range": y_range},
        "marks": [{"x": rounded(position, 5), "label": label} for position, label in marks],
        "text": text,
    }


def bars(
    title: str, names: Sequence[str], values: dict[str, Any], y: str = "", text: str = "", highlight: Any = ()
) -> dict[str, Any]:
    """Return a panel of bars: one group per name, one bar per series in `values`."""
    listed = [{"name": name, "values": rounded(each, 5)} for name, each in values.items()]
    return {
        "kind": "bars",
        "title": title,
        "names": list(names),
        "series": listed,
        "y": {"label": y},
        "text": text,
        "highlight": [int(i) for i in highlight],
    }


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], text: str = "") -> dict[str, Any]:
    """Return a panel with a table of texts and numbers."""
    return {
        "kind": "table",
        "title": title,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "text": text,
    }


def matrix(title: str, K: np.ndarray, labels: Any, text: str = "") -> dict[str, Any]:
    """Return a panel with a matrix as a picture, on a scale symmetric around zero."""
    size = float(np.abs(K).max()) or 1.0
    return {
        "kind": "matrix",
        "title": title,
        "size": len(K),
        "matrix": as_bytes(K, -size, size),
        "scale": rounded(size, 4),
        "labels": rounded(labels),
        "text": text,
    }


def plane(title: str, limit: float, points: np.ndarray, grid: str, size: int, **more: Any) -> dict[str, Any]:
    """Return a panel with labeled points and scores on a grid."""
    return {
        "kind": "plane",
        "title": title,
        "limit": limit,
        "points": rounded(points),
        "grid": grid,
        "size": size,
        **more,
    }


def answered(*panels: dict[str, Any], result: Any, text: str = "", notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the answer of a topic; `result` holds the numbers that the copied code computes as `result`."""
    return {"panels": list(panels), "result": rounded(np.ravel(result)), "text": text, "notes": list(notes)}
