"""`mercer inspect`."""

from __future__ import annotations

import click

from mercer.cli.options import called, echo_json, format_options, quiet_option, reading, reading_options, show
from mercer.cli.wording import in_options


@click.command(
    short_help="What is in a file: columns, types, roles, gaps, leaks.",
    epilog="Example:  mercer inspect people.csv --target income",
)
@click.argument("file")
@click.option("--target", help="Column to be predicted: others are suspected if they give it away.")
@format_options
@quiet_option
@reading_options
def inspect(file: str, target: str | None, form: str, quiet: bool, **options) -> None:
    """Show how FILE is read and what each of its columns is taken for.

    FILE is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.report.terminal import steps_told

    how = reading(options)
    with steps_told("inspect", quiet):
        from mercer.report.inspect import gather_inspection, render_inspection

        found = {**gather_inspection(file, target, **how), "file": called(file)}
    found["notes"] = [in_options(note) for note in found["notes"]]
    echo_json(found) if form == "json" else show(render_inspection, found)
