"""`mercer select`."""

from __future__ import annotations

from typing import Any

import click

from mercer._runtime.errors import MercerError
from mercer.cli.messages import in_options
from mercer.cli.options import (
    display_name,
    echo_json,
    engine_options,
    format_options,
    quiet_option,
    reading,
    reading_options,
    refuse_overwrite,
    seed_option,
    show,
    started_engine,
)

_HOW = ("greedy", "lasso", "filter")
_SCORES = ("pearson", "spearman", "mutual_information", "pair_information", "squared", "logistic", "hinge")


@click.command(
    short_help="The most predictive columns, ranked.",
    epilog="Example:  mercer select houses.csv --target price -k 20 --output fewer.csv",
)
@click.argument("data")
@click.option("--target", required=True, help="Column to be predicted.")
@click.option("-k", "k", type=click.IntRange(1), default=20, show_default=True, help="Number of columns to keep.")
@click.option("--how", type=click.Choice(_HOW), default="greedy", show_default=True)
@click.option("--score", type=click.Choice(_SCORES), default="pearson", show_default=True, help="Of --how filter.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write the kept columns and the target there: CSV, TSV, JSON lines or Parquet by its name. "
    "- writes CSV to standard output, and no report.",
)
@format_options
@seed_option
@engine_options
@quiet_option
@reading_options
def select(
    data: str,
    target: str,
    k: int,
    how: str,
    score: str,
    output: str | None,
    form: str,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Rank the columns of DATA by how well they predict the target, and keep the best K.

    greedy adds the column that lowers the risk most, given those already selected; lasso follows the regularization
    path; filter scores each column separately (--score pair_information: or jointly with one other). A category or text
    counts as one column, however it is encoded.
    """
    from mercer.io.row_writers import format_of
    from mercer.report.progress import step_progress

    if output:
        refuse_overwrite(output, data)
        format_of(output)
    rules = reading(options)
    with step_progress("select", quiet) as announce, started_engine(options) as engine:
        from mercer.io import read_table
        from mercer.report.selection import gather_selection, render_selection

        source = read_table(data, target, engine=engine, **rules)
        try:
            found = gather_selection(source, display_name(data), target, k, how, score, seed, announce)
        except MercerError as error:
            raise _in_terms_of_how(error) from error
        if output:
            announce("write")
            _write(source, target, [each["column"] for each in found["ranked"]], output)
            found["written"] = output
    if output == "-":
        return
    found["notes"] = [in_options(note) for note in found["notes"]]
    echo_json(found) if form == "json" else show(render_selection, found)


def _in_terms_of_how(error: MercerError) -> MercerError:
    """`mercer select` has no option for the stopping rule of `GreedySelector`; a filter needs none."""
    return MercerError(error.problem, remedy="Use --how filter.") if error.parameter == "stop" else error


def _write(source: Any, target: str, kept: list[str], output: str) -> None:
    from mercer.cli.streaming import notes_at_end
    from mercer.io.row_writers import open_rows

    with notes_at_end(quiet=False), open_rows(output) as out:
        for block in source.blocks():
            if len(block):
                out.write({**{name: block.X.table.column(name) for name in kept}, target: block.y})
