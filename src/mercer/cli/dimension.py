"""`mercer dimension`."""

from __future__ import annotations

import click

from mercer.cli.options import Number, echo_json, format_options, show


@click.command(
    short_help="The number of features a stated accuracy needs.",
    epilog="Example:  mercer dimension --eps 0.1 --delta 0.01 --rows 100000",
)
@click.option("--eps", type=Number(0, min_open=True), default=0.1, show_default=True, help="The accuracy.")
@click.option(
    "--delta",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="The probability that some pair of rows misses it.",
)
@click.option("--rows", type=click.IntRange(2), default=10_000, show_default=True, help="Number of rows.")
@click.option(
    "--columns",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Number of columns, for the nonzeros of a sparse projection.",
)
@format_options
def dimension(eps: float, delta: float, rows: int, columns: int, form: str) -> None:
    """The number of random features or projected columns that keeps all pairs of ROWS rows within EPS.

    Random Fourier features keep every value of a shift-invariant kernel within +-eps. A projection keeps every squared
    distance within a factor 1 +- eps.
    """
    from mercer.report.dimension import gather_dimensions, render_dimensions

    found = gather_dimensions(eps, delta, rows, columns)
    echo_json(found) if form == "json" else show(render_dimensions, found)
