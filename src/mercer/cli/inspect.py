"""`mercer inspect`."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.messages import in_options
from mercer.cli.options import (
    display_name,
    echo_json,
    format_options,
    quiet_option,
    reading,
    reading_options,
    refuse_overwrite,
    show,
)


@click.command(
    short_help="What is in a file: target, columns, missing values, and checks.",
    epilog="Example:  mercer inspect people.csv --target income",
)
@click.argument("file")
@click.option("--target", help="Column to be predicted: its distribution is shown, and columns that leak it.")
@click.option("--html", type=click.Path(dir_okay=False), help="Also write the report as a page to this file.")
@format_options
@quiet_option
@reading_options
def inspect(file: str, target: str | None, html: str | None, form: str, quiet: bool, **options: Any) -> None:
    """Show how FILE is read, the target, the columns, and checks: what looks wrong, where, and what to do.

    FILE is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.report.progress import step_progress

    how = reading(options)
    refuse_overwrite(html, file, option="--html")
    if html:
        from mercer.io.atomic_file import check_writable

        check_writable(html)
    with step_progress("inspect", quiet):
        from mercer.report.inspect import gather_inspection, render_inspection

        found = {**gather_inspection(file, target, **how), "file": display_name(file)}
    for notes in ("notes", "suspicions"):
        found[notes] = [in_options(note) for note in found[notes]]
    found["checks"] = [
        check | {key: in_options(check[key]) for key in ("message", "remedy")} for check in found["checks"]
    ]
    if html:
        _write_page(html, found)
    echo_json(found) if form == "json" else show(render_inspection, found)


def _write_page(path: str, found: dict[str, Any]) -> None:
    from mercer.io.atomic_file import atomic_write
    from mercer.report.html import render_inspection_html

    with atomic_write(path) as file:
        file.write(render_inspection_html(found).encode())
