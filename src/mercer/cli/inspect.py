"""`mercer inspect`."""

from __future__ import annotations

import click

from mercer.cli.options import echo_json, reading, reading_options, show
from mercer.cli.wording import in_options


@click.command(
    short_help="What is in a file: columns, types, roles, gaps, leaks.",
    epilog="Example:  mercer inspect people.csv --target income",
)
@click.argument("file")
@click.option("--target", help="Column to be predicted: others are suspected if they give it away.")
@reading_options
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def inspect(file: str, target: str | None, form: str, **options) -> None:
    """Show how FILE is read and what each of its columns is taken for.

    FILE is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.report.inspect import gather_inspection, render_inspection

    found = gather_inspection(file, target, **reading(options))
    found["notes"] = [in_options(note) for note in found["notes"]]
    echo_json(found) if form == "json" else show(render_inspection(found))
