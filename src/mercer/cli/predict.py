"""`mercer predict` and `mercer transform`: rows of a file through a model, block by block."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import click

from mercer.cli.messages import in_options, printable, warning_text
from mercer.cli.options import display_name, quiet_option, reading, reading_options, refuse_overwrite

_output = click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="File to write; standard output if not given, or -.",
)
_form = click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "tsv", "json", "parquet"]),
    help="Of the output: from the name of the file, CSV otherwise. JSON is one object per line.",
)


@click.command(
    short_help="Predictions of a saved model for the rows of a file.",
    epilog="Example:  mercer predict houses.mercer new.csv --output prices.csv",
)
@click.argument("model")
@click.argument("data")
@_output
@_form
@click.option("--proba", is_flag=True, help="Class probabilities beside the prediction.")
@quiet_option
@reading_options
def predict(
    model: str, data: str, output: str | None, form: str | None, proba: bool, quiet: bool, **options: Any
) -> None:
    """Predict the target of each row of DATA with MODEL, as mercer fit wrote it.

    DATA needs the columns MODEL was fitted on; others are ignored. Unseen categories count as unknown, and a note names
    their columns. Rows are read, predicted and written in blocks, in order, so memory does not grow with their number.
    Where rows of DATA contain the target, a note gives the score of the predictions.
    """
    _stream(model, data, output, form, quiet, options, "predict", _Predictions(proba))


@click.command(
    short_help="The features of a saved model for the rows of a file.",
    epilog="Example:  mercer transform houses.mercer new.csv --output features.parquet",
)
@click.argument("model")
@click.argument("data")
@_output
@_form
@quiet_option
@reading_options
def transform(model: str, data: str, output: str | None, form: str | None, quiet: bool, **options: Any) -> None:
    """Write the explicit features on which MODEL is linear, for each row of DATA."""
    _stream(model, data, output, form, quiet, options, "transform", _Features())


class _Predictions:
    """Computes the columns to write, and scores the rows that contain the target."""

    def __init__(self, proba: bool):
        self.proba = proba
        self.known: Any = None

    def __call__(self, model: Any, rows: Any) -> dict[str, Any]:
        from mercer.auto.holdout.labeled_rows import LabeledRows

        if self.proba and model.classes_ is None:
            raise click.UsageError("This is a regression model, which has no class probabilities: omit --proba.")
        found = {"prediction": model.predict(rows)}
        if model.target is not None:
            self.known = self.known or LabeledRows(model.target, model.task)
            self.known.add(rows, found["prediction"])
        if self.proba:
            for name, column in zip(model.classes_, model.predict_proba(rows).T, strict=True):
                found[f"probability_{name}"] = column
        return found

    @property
    def notes(self) -> list[str]:
        score = self.known and self.known.summary()
        return [f"{score} (optimistic for rows that the model was fitted on)."] if score else []


class _Features:
    """Computes the columns to write."""

    notes: tuple[str, ...] = ()

    def __call__(self, model: Any, rows: Any) -> dict[str, Any]:
        found, names = model.transform(rows), model.get_feature_names_out()
        columns: dict[str, Any] = {}
        for name, column in zip(names, (found.toarray() if hasattr(found, "toarray") else found).T, strict=True):
            unique, times = str(name), 2
            while unique in columns:  # the column "c=u" beside the category u of a column c
                unique, times = f"{name}_{times}", times + 1
            columns[unique] = column
        return columns


def _stream(
    path: str,
    data: str,
    output: str | None,
    form: str | None,
    quiet: bool,
    options: dict[str, Any],
    title: str,
    compute: Any,
) -> None:
    """Load the model, write what `compute` returns for each block, and print the notes."""
    from mercer.auto import Model
    from mercer.io import load
    from mercer.io.atomic_file import check_writable
    from mercer.io.row_writers import format_of, open_rows

    how, form = reading(options), format_of(output, form)
    refuse_overwrite(output, path, data)
    model = load(path)
    if not isinstance(model, Model):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that mercer fit wrote.")
    if output and output != "-":
        check_writable(output)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unseen = _map_rows(
            model, data, how, quiet or _on_terminal(output), title, compute, lambda: open_rows(output, form)
        )
    notes = [warning_text(each.message) for each in caught] + [each.describe(column) for column, each in unseen.items()]
    notes += [] if quiet else compute.notes
    for text in dict.fromkeys(notes):
        click.echo(f"mercer: {printable(in_options(text))}", err=True)


def _on_terminal(output: str | None) -> bool:
    """Whether the rows are written to the terminal, where a progress bar would disturb them."""
    return (output is None or output == "-") and sys.stdout.isatty()


def _map_rows(
    model: Any, data: str, how: dict[str, Any], quiet: bool, title: str, compute: Any, opened: Callable[[], Any]
) -> dict[str, Any]:
    """Read, compute and write the rows, block by block; returns the unseen categories by column."""
    from mercer._runtime.errors import RowError
    from mercer.io import read_table
    from mercer.report.progress import row_progress, step_progress
    from mercer.tables.schema import refuse_missing
    from mercer.tables.unseen import merge_unseen

    known = model.encoder.schema_
    unseen: dict[str, Any] = {}
    with step_progress(title, quiet):
        source: Any = read_table(data, like=known, **how)
    refuse_missing(source.schema, known, display_name(data))
    with row_progress(title, source.n_rows, quiet) as advance, opened() as out:
        for block in source.blocks():
            if len(block):
                try:
                    out.write(compute(model, block.X))
                    unseen = merge_unseen(unseen, model.unseen_categories(block.X))
                except RowError as error:
                    raise error.located(source.locate, block.start) from error
                advance(len(block))
    return unseen
