"""What `mercer dimension` shows."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mercer.bounds import fourier_dimension, jl_dimension, sparse_nonzeros

_MAPS = (
    ("random Fourier features", "RandomFeatures", "every kernel value within +-eps", fourier_dimension, "bernstein"),
    ("random Fourier features", "RandomFeatures", "the same, without variance", fourier_dimension, "hoeffding"),
    ("Gaussian projection", "GaussianProjection", "every squared distance within 1 +- eps", jl_dimension, "exact"),
    ("Gaussian projection", "GaussianProjection", "the same, by the theorem", jl_dimension, "theorem"),
)


def gather_dimensions(eps: float, delta: float, rows: int) -> dict[str, Any]:
    """The columns each map needs; None where the accuracy is out of the bound's reach, with the reason."""
    needed = [_needed(eps, delta, rows, *each) for each in _MAPS]
    columns = next((each["columns"] for each in needed if each["map"] == "GaussianProjection"), None)
    nonzeros = None if columns is None else sparse_nonzeros(columns, rows, delta)
    return {"eps": eps, "delta": delta, "rows": rows, "maps": needed, "sparse_nonzeros": nonzeros}


def _needed(eps, delta, rows, title, name, promise, bound, method) -> dict[str, Any]:
    found: dict[str, Any] = {"map": name, "title": title, "promise": promise, "method": method}
    try:
        return {**found, "columns": int(bound(eps, delta, rows, method=method)), "why": ""}
    except ValueError as error:
        return {**found, "columns": None, "why": str(error)}


def render_dimensions(found: dict[str, Any]) -> RenderableType:
    """The same for the terminal."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading, side in (("map", "left"), ("columns", "right"), ("bound", "left"), ("promise", "left")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    for each in found["maps"]:
        columns = "-" if each["columns"] is None else f"{each['columns']:,}"
        table.add_row(each["title"], columns, each["method"], each["why"] or each["promise"])
    title = f"All pairs of {found['rows']:,} rows, eps = {found['eps']:g}, failing with probability {found['delta']:g}"
    parts: list[RenderableType] = [Text(title, style="bold"), Text(""), table]
    if found["sparse_nonzeros"] is not None:
        parts.append(
            Text(f"\nA sparse projection of as many columns: {found['sparse_nonzeros']} nonzeros each suffice.")
        )
    parts.append(Text("What a map reaches on your rows: map.certificate(X, delta).", style="dim"))
    return Group(*parts)
