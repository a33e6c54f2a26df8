"""`mercer predict` and `mercer transform`: rows of a file through a model, block by block."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from mercer.cli.options import called, quiet_option, reading, reading_options, refuse_own_input
from mercer.cli.wording import harmless

_output = click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="File to write; standard output if none, or -.",
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
@click.option("--proba", is_flag=True, help="Probabilities of the classes beside the prediction.")
@quiet_option
@reading_options
def predict(model, data, output, form, proba, quiet, **how):
    """Predict the target of each row of DATA with MODEL, as mercer fit wrote it.

    DATA needs the columns MODEL learned from; others are ignored. Levels never seen count as unknown, and a note says
    which columns have some. Rows are read, predicted and written in blocks, in their order: any number of rows needs
    the memory of a few blocks. Where rows of DATA have their target, a note says how well they were predicted.
    """
    _stream(model, data, output, form, quiet, how, "predict", _Predictions(proba))


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
def transform(model, data, output, form, quiet, **how):
    """Write the explicit features on which MODEL is linear, for each row of DATA."""
    _stream(model, data, output, form, quiet, how, "transform", _Features())


class _Predictions:
    """Columns to write for rows, and a note on the rows that have their target."""

    def __init__(self, proba: bool):
        self.proba = proba
        self.known: Any = None

    def __call__(self, model, rows) -> dict:
        from mercer.auto.holdout.labeled_rows import KnownRows

        if self.proba and model.classes_ is None:
            raise click.UsageError("This model predicts a quantity, which has no probabilities: leave out --proba.")
        found = {"prediction": model.predict(rows)}
        if model.target is not None:
            self.known = self.known or KnownRows(model.target, model.task)
            self.known.add(rows, found["prediction"])
        if self.proba:
            for name, column in zip(model.classes_, model.predict_proba(rows).T, strict=True):
                found[f"probability_{name}"] = column
        return found

    @property
    def notes(self) -> list[str]:
        told = self.known and self.known.told()
        return [f"{told} (too good for rows that it was fitted to)."] if told else []


class _Features:
    """Columns to write for rows; there is nothing to note."""

    notes: tuple[str, ...] = ()

    def __call__(self, model, rows) -> dict:
        found, names = model.transform(rows), model.get_feature_names_out()
        columns: dict[str, Any] = {}
        for name, column in zip(names, (found.toarray() if hasattr(found, "toarray") else found).T, strict=True):
            times = 2
            fresh = str(name)
            while fresh in columns:  # the column "c=u" beside the level u of a column c
                fresh, times = f"{name}_{times}", times + 1
            columns[fresh] = column
        return columns


def _stream(path, data, output, form, quiet, how, title, compute):
    from mercer.auto import Model
    from mercer.io import load
    from mercer.io.atomic_file import check_writable
    from mercer.io.row_writers import format_of

    how, form = reading(how), format_of(output, form)
    refuse_own_input(output, path, data)
    model = load(path)
    if not isinstance(model, Model):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that mercer fit wrote.")
    if output and output != "-":
        check_writable(output)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        unseen = _through(model, data, output, form, quiet or _seen(output), how, title, compute)
    notes = [str(each.message) for each in said] + [each.describe(column) for column, each in unseen.items()]
    notes += [] if quiet else compute.notes
    for text in dict.fromkeys(notes):
        click.echo(f"mercer: {harmless(text)}", err=True)


def _seen(output) -> bool:
    """Whether the rows are written to the terminal, where a bar would get between them."""
    return (output is None or output == "-") and sys.stdout.isatty()


def _through(model, data, output, form, quiet, how, title, compute) -> dict:
    """Read, compute and write the rows, block by block; the levels never seen, by column."""
    from mercer._runtime.errors import RowError
    from mercer.io import read_table
    from mercer.io.row_writers import open_rows
    from mercer.report.terminal import rows_told, steps_told
    from mercer.tables.schema import refuse_missing
    from mercer.tables.unseen import merge_unseen

    known = model.encoder.schema_
    unseen: dict = {}
    with steps_told(title, quiet):
        source: Any = read_table(data, like=known, **how)
    refuse_missing(source.schema, known, called(data))
    with rows_told(title, source.n_rows, quiet) as tell, open_rows(output, form) as out:
        for block in source.blocks():
            if len(block):
                try:
                    out.write(compute(model, block.X))
                    unseen = merge_unseen(unseen, model.unseen_categories(block.X))
                except RowError as error:
                    raise error.located(source.locate, block.start) from error
                tell(len(block))
    return unseen
