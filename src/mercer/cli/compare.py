"""`mercer compare`."""

from __future__ import annotations

from typing import Any

import click

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
    short_help="Has the data changed? New rows beside those of a model or a file.",
    epilog="Example:  mercer compare houses.mercer new.csv",
)
@click.argument("old")
@click.argument("new")
@click.option("--rows", "n_rows", type=click.IntRange(0), default=10, show_default=True, help="Strangest rows to name.")
@click.option("--html", type=click.Path(dir_okay=False), help="Also write the report as a page to this file.")
@format_options
@quiet_option
@reading_options
def compare(old: str, new: str, n_rows: int, html: str | None, form: str, quiet: bool, **options: Any) -> None:
    """Test whether the rows of NEW follow the distribution of OLD, a model of mercer fit or a file of rows.

    A kernel two-sample test compares whole rows, tests of single columns show which ones moved, and the rows that are
    strangest beside the old ones are named. With a model, rows of NEW that contain the target also give the score of
    the model on them beside that of the holdout.
    """
    from mercer.report.progress import step_progress

    how = reading(options)
    refuse_overwrite(html, old, new, option="--html")
    if html:
        from mercer.io.atomic_file import check_writable

        check_writable(html)
    with step_progress("compare", quiet):
        found = _compared(old, new, n_rows, how) | {"old": display_name(old), "new": display_name(new)}
    if html:
        _write_page(html, found)
    echo_json(found) if form == "json" else _show(found)


def _compared(old: str, new: str, n_rows: int, how: dict[str, Any]) -> dict[str, Any]:
    import mercer
    from mercer.io.archive import is_model_file

    if is_model_file(old):
        model = mercer.load(old)
        model = getattr(model, "model_", model)  # of an estimator
        if not hasattr(model, "compare"):
            raise ValueError(f"{old} holds a {type(model).__name__}, which keeps no training data to compare with.")
        found = model.compare(new, n_rows=n_rows, **how)
    else:
        found = mercer.compare(old, new, n_rows=n_rows, **how)
    return found.to_dict() | {"sentence": found.sentence()}


def _show(found: dict[str, Any]) -> None:
    from mercer.report.comparison import render_comparison

    show(render_comparison, found)


def _write_page(path: str, found: dict[str, Any]) -> None:
    from mercer.io.atomic_file import write_text
    from mercer.report.html import render_comparison_html

    write_text(path, render_comparison_html(found))
