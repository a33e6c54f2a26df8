"""`mercer inspect`."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.messages import in_options
from mercer.cli.options import display_name, echo_json, format_options, quiet_option, reading, reading_options, show


@click.command(
    short_help="What is in a file: columns, types, roles, missing values, leaks.",
    epilog="Example:  mercer inspect people.csv --target income",
)
@click.argument("file")
@click.option("--target", help="Column to be predicted: columns that leak it are reported.")
@format_options
@quiet_option
@reading_options
def inspect(file: str, target: str | None, form: str, quiet: bool, **options: Any) -> None:
    """Show how FILE is read, and the type and role of each column.

    FILE is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.report.progress import step_progress

    how = reading(options)
    with step_progress("inspect", quiet):
        from mercer.report.inspect import gather_inspection, render_inspection

        found = {**gather_inspection(file, target, **how), "file": display_name(file)}
    for notes in ("notes", "suspicions"):
        found[notes] = [in_options(note) for note in found[notes]]
    echo_json(found) if form == "json" else show(render_inspection, found)
