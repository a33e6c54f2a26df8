"""`mercer select`."""

from __future__ import annotations

import click

from mercer.cli.options import (
    called,
    echo_json,
    format_options,
    quiet_option,
    reading,
    reading_options,
    refuse_own_input,
    seed_option,
    show,
)
from mercer.cli.wording import in_options

_HOW = ("greedy", "lasso", "filter")
_SCORES = ("pearson", "spearman", "mutual_information", "pair_information", "squared", "logistic", "hinge")


@click.command(
    short_help="The columns that matter most, ranked.",
    epilog="Example:  mercer select houses.csv --target price -k 20 --output fewer.csv",
)
@click.argument("data")
@click.option("--target", required=True, help="Column to be predicted.")
@click.option("-k", "k", type=click.IntRange(1), default=20, show_default=True, help="How many columns to keep.")
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
@quiet_option
@reading_options
def select(data, target, k, how, score, output, form, seed, quiet, **options):
    """Rank the columns of DATA by what they tell about the target, and keep the best K.

    greedy adds the column that lowers the risk most, given those it has; lasso follows the path of penalties; filter
    scores each column on its own (--score pair_information: or beside one other). Categories and texts count as one
    column, whatever they are encoded as.
    """
    from mercer.io.row_writers import format_of
    from mercer.report.terminal import steps_told

    if output:
        refuse_own_input(output, data)
        format_of(output)
    rules = reading(options)
    with steps_told("select", quiet) as tell:
        from mercer.io import read_table
        from mercer.report.selection import gather_selection, render_selection

        source = read_table(data, target, **rules)
        found = gather_selection(source, called(data), target, k=k, how=how, score=score, seed=seed, tell=tell)
        if output:
            tell("write")
            _write(source, target, [each["column"] for each in found["ranked"]], output)
            found["written"] = output
    if output == "-":
        return
    found["columns"] = [in_options(note) for note in found["columns"]]
    echo_json(found) if form == "json" else show(render_selection, found)


def _write(source, target, kept, output) -> None:
    from mercer.io.row_writers import open_rows

    with open_rows(output) as out:
        for block in source.blocks():
            if len(block):
                out.write({**{name: block.X.table.column(name) for name in kept}, target: block.y})
