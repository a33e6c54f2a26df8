"""The report of `mercer dimension`: output dimensions for a stated accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mercer.bounds import fourier_dimension, jl_dimension, sparse_nonzeros

_MAPS = (
    ("random Fourier features", "RandomFeatures", "every kernel value within +-eps", fourier_dimension, "bernstein"),
    ("random Fourier features", "RandomFeatures", "the same, without the variance", fourier_dimension, "hoeffding"),
    ("Gaussian projection", "GaussianProjection", "every squared distance within 1 +- eps", jl_dimension, "exact"),
    ("Gaussian projection", "GaussianProjection", "the same, by the theorem", jl_dimension, "theorem"),
)
#: Beyond this output dimension the nonzeros are not computed: its divisors would take long to find.
_MAX_DIMENSION = 10**10


def gather_dimensions(eps: float, delta: float, rows: int, columns: int = 10_000) -> dict[str, Any]:
    """Return the output dimension of each map; None with the reason where the bound cannot reach the accuracy.

    `columns` is the input dimension, on which the nonzeros of a sparse projection depend.
    """
    needed = [_needed(eps, delta, rows, *each) for each in _MAPS]
    width = next((each["columns"] for each in needed if each["map"] == "GaussianProjection"), None)
    found = {"eps": eps, "delta": delta, "rows": rows, "columns": columns, "maps": needed}
    return {**found, "sparse_nonzeros": _nonzeros(width, columns, delta)}


def _nonzeros(width: int | None, columns: int, delta: float) -> int | None:
    """Nonzeros per column of a sparse projection to `width` dimensions; None if unknown or too large."""
    if width is None or width > _MAX_DIMENSION:
        return None
    try:
        return sparse_nonzeros(width, columns, delta)
    except ValueError:
        return None


def _needed(
    eps: float, delta: float, rows: int, title: str, name: str, promise: str, bound: Callable[..., int], method: str
) -> dict[str, Any]:
    found: dict[str, Any] = {"map": name, "title": title, "promise": promise, "method": method}
    try:
        return {**found, "columns": int(bound(eps, delta, rows, method=method)), "why": ""}
    except ValueError as error:
        return {**found, "columns": None, "why": str(error)}


def render_dimensions(found: dict[str, Any]) -> RenderableType:
    """Render the report for the terminal."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading, side in (("map", "left"), ("columns", "right"), ("bound", "left"), ("promise", "left")):
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    for each in found["maps"]:
        columns = "-" if each["columns"] is None else f"{each['columns']:,}"
        table.add_row(each["title"], columns, each["method"], each["why"] or each["promise"])
    title = f"All pairs of {found['rows']:,} rows, eps = {found['eps']:g}, failing with probability {found['delta']:g}"
    parts: list[RenderableType] = [Text(title, style="bold"), Text(""), table]
    if found["sparse_nonzeros"] is not None:
        parts.append(
            Text(
                f"\nFor a sparse projection to as many columns, {found['sparse_nonzeros']:,} nonzeros for each of "
                f"{found['columns']:,} input columns suffice."
            )
        )
    parts.append(Text("To measure the error on your rows: map.certificate(X, delta).", style="dim"))
    return Group(*parts)
