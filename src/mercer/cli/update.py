"""`mercer update`."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.options import quiet_option, reading, reading_options, refuse_overwrite
from mercer.cli.streaming import notes_at_end


@click.command(
    short_help="Add rows to a saved model, or take rows away.",
    epilog="Example:  mercer update houses.mercer new.csv --forget old.csv",
)
@click.argument("model")
@click.argument("data", required=False)
@click.option("--forget", metavar="OLD", help="File of rows to take away, each as the model has seen it.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Model file; MODEL itself unless given.")
@quiet_option
@reading_options
def update(model: str, data: str | None, forget: str | None, output: str | None, quiet: bool, **options: Any) -> None:
    """Add the rows of DATA to the linear part of MODEL, take those of --forget away, and write it.

    Both files need the columns of the fit and the target. All penalties are chosen again (for classes they stay);
    encodings, trees, bins and metrics are not learned again, and the report says how many rows they have not seen.
    Nothing is written if a row is wrong: a class never seen, another column, a row to forget that the model never saw.
    """
    from mercer.io.atomic_file import check_writable
    from mercer.report.progress import step_progress

    if data is None and forget is None:
        raise click.UsageError("Name a file of new rows, or one of old rows with --forget.")
    how, path = reading(options), output or model
    refuse_overwrite(output, *(name for name in (data, forget) if name is not None))
    check_writable(path)
    with notes_at_end(quiet), step_progress("update", quiet):
        import mercer

        loaded = mercer.load(model)
        changed = getattr(loaded, "model_", loaded)  # of an estimator
        if not hasattr(changed, "update"):
            raise ValueError(f"{model} holds a {type(changed).__name__}, to which no rows can be added.")
        if data is not None:
            changed.update(data, **how)
        if forget is not None:
            changed.forget(forget, **how)
        loaded.save(path) if hasattr(loaded, "save") else mercer.save(loaded, path)
    click.echo(changed.report()["updates"]["sentence"])
    click.echo(f"Model: {path}")
