"""`mercer explain`: the contributions of the columns to the predictions for rows of a file."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.keep import keep_option
from mercer.cli.options import display_name, engine_options, quiet_option, reading, reading_options, show
from mercer.cli.streaming import (
    BadValues,
    RowSelection,
    load_model,
    mapped_rows,
    notes_at_end,
    open_data,
    output_option,
    stream_rows,
)

#: Rows that a table shows by default.
_SHOWN_ROWS = 10


@click.command(
    short_help="What each column contributes to the predictions for rows of a file.",
    epilog="Example:  mercer explain houses.mercer new.csv --row 3,7",
)
@click.argument("model")
@click.argument("data")
@click.option("--rows", "limit", type=click.IntRange(1), help="The first so many rows; 10 in a table.")
@click.option("--row", "chosen", metavar="ROWS", help="Certain rows, counted from 0: 3,7 for example.")
@click.option("--output-class", metavar="CLASS", help="The class to explain, instead of the predicted one of each row.")
@output_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "tsv", "json", "parquet"]),
    help="A table of a few rows, or all rows with a column for each column of the model. JSON is one object per line.",
)
@keep_option
@engine_options
@quiet_option
@reading_options
def explain(
    model: str,
    data: str,
    limit: int | None,
    chosen: str | None,
    output_class: str | None,
    output: str | None,
    form: str | None,
    keep: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Explain the predictions of MODEL for rows of DATA by contributions of the columns.

    They start from a baseline, the prediction for the mean row of the training data, and add up to the prediction: the
    target itself, the log-odds of a class of two, or the softmax score of one of several. Without --output and --format
    a table shows the first rows, the largest contributions first.
    """
    selection = RowSelection(None if chosen is None else _indices(chosen), limit)
    if (form or "table") == "table" and output is None:
        if keep:
            raise click.UsageError("--keep needs --output or a --format other than table: a table shows all values.")
        selection = selection if chosen or limit else RowSelection(limit=_SHOWN_ROWS)
        _show_table(model, data, reading(options), selection, output_class, quiet)
        return
    if form == "table":
        raise click.UsageError(
            "--format table is for the terminal: omit --output, or choose csv, tsv, json or parquet."
        )
    compute = _Contributions(output_class)
    stream_rows(model, data, output, form, quiet, options, "explain", compute, keep, selection)


def _indices(given: str) -> list[int]:
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise click.UsageError(f"--row takes numbers of rows, counted from 0, for example 3,7, not {given!r}.")
    return [int(part) for part in parts]


class _Contributions:
    """Computes the explanations of rows as columns to write."""

    notes: tuple[str, ...] = ()

    def __init__(self, output_class: str | None):
        self.output_class = output_class

    def check(self, model: Any) -> None:
        """Refuse a class that the model does not know."""
        _class_named(model, self.output_class)

    def add(self, model: Any, rows: Any, found: dict[str, Any]) -> None:
        """Nothing to note."""

    def __call__(self, model: Any, rows: Any) -> dict[str, Any]:
        return self.explanations(model, rows).to_dict()

    def explanations(self, model: Any, rows: Any) -> Any:
        """The explanations of a block of rows."""
        output = _class_named(model, self.output_class)
        return model.explain_all(rows, output)


def _class_named(model: Any, name: str | None) -> Any:
    """The class that is written like this."""
    if name is None:
        return None
    if model.classes_ is None:
        raise click.UsageError("This is a regression model, which has no classes: omit --output-class.")
    known = {str(each): each for each in model.classes_}
    if name not in known:
        raise click.UsageError(f"--output-class {name}: the classes are {', '.join(known)}.")
    return known[name]


def _show_table(
    path: str, data: str, how: dict[str, Any], selection: RowSelection, output_class: str | None, quiet: bool
) -> None:
    from mercer.report.explain import gather_rows, render_explanations

    model, compute = load_model(path), _Contributions(output_class)
    explained: list[dict[str, Any]] = []
    with notes_at_end(quiet) as unseen:
        source = open_data(model, data, how, "explain", quiet)
        bad = BadValues(how["on_bad_rows"])
        each = (model, source, "explain", quiet, compute.explanations, selection, unseen)
        for rows, found, index in mapped_rows(*each, bad=bad):
            explained += gather_rows(model, rows, found, iter(source.numbers_in_input(index).tolist()))
        bad.note(source, display_name(data))
    show(render_explanations, {"file": display_name(data), "model": path, "rows": explained})
