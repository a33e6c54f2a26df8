"""Rows of a file through a model, block by block, for `mercer predict`, `mercer transform` and `mercer explain`."""

from __future__ import annotations

import os
import sys
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import click

from mercer._runtime.errors import DataError
from mercer.cli.keep import KeptColumns
from mercer.cli.messages import in_options, printable, shortened, warning_text
from mercer.cli.options import display_name, reading, refuse_overwrite, started_engine

output_option = click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="File to write; standard output if not given, or -.",
)
rows_format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "tsv", "json", "parquet"]),
    help="Of the output: from the name of the file, CSV otherwise. JSON is one object per line.",
)


class RowSelection:
    """All rows, the first `limit`, or those of some indices, counted from 0."""

    def __init__(self, indices: list[int] | None = None, limit: int | None = None):
        self.indices = None if indices is None else sorted(set(indices))
        self.limit = limit
        #: The row before which the last one lies; None for all rows.
        self.stop = limit if self.indices is None else max(self.indices) + 1

    def of(self, source: Any) -> RowSelection:
        """The same rows as a source counts them, without those that were skipped; refuse rows that are not there."""
        if self.indices is None:
            return self
        skipped, last = sorted(map(int, source.skipped_rows)), self.indices[-1]
        if source.n_rows is not None and last >= source.n_rows + len(skipped):
            n_rows = source.n_rows + len(skipped)
            raise click.UsageError(
                f"--row {last}: the data have {n_rows:,} rows, the last is row {n_rows - 1} (from 0)."
            )
        gone = sorted(set(self.indices).intersection(skipped))
        if gone:
            raise click.UsageError(f"--row {gone[0]}: this row cannot be read and was skipped.")
        return RowSelection([i - bisect_left(skipped, i) for i in self.indices])

    def within(self, start: int, n: int) -> Any:
        """The selected rows of a block, as indices in it."""
        import numpy as np

        if self.indices is not None:
            return np.array([i - start for i in self.indices if start <= i < start + n], dtype=np.intp)
        return np.arange(n if self.limit is None else max(0, min(n, self.limit - start)))


@dataclass
class BadValues:
    """The policy for rows with values that a model cannot read, and the first reason for each, by its index."""

    policy: str = "error"
    rows: dict[int, str] = field(default_factory=dict)

    def note(self, source: Any, file: str) -> None:
        """Warn of the rows, by their numbers in the input; skipped ones are written to a file with their reasons."""
        from mercer.source.remarks import n_rows, rows_were, some_rows

        if not self.rows:
            return
        indices = sorted(self.rows)
        numbers = source.numbers_in_input(indices).tolist()
        first = f"the first: {self.rows[indices[0]]}"
        if self.policy == "null":
            what = "held values that the model cannot read, which count as missing"
            warnings.warn(f"{n_rows(numbers)} {what}: {some_rows(numbers)}; {first}.", UserWarning, stacklevel=2)
            return
        if len(indices) == source.n_rows:
            raise DataError(f"{file}: the model cannot read any row; {first}.", file=file)
        path = os.path.basename(file) + ".rejected.csv"
        self._write(path, source, file, numbers, indices)
        what = f"for values that the model cannot read: {some_rows(numbers)}; {first}"
        text = f"{rows_were(numbers)} skipped {what}. {path} says which and why."
        warnings.warn(text, UserWarning, stacklevel=2)

    def _write(self, path: str, source: Any, file: str, numbers: list[int], indices: list[int]) -> None:
        """Write these rows, and those that were rejected while reading."""
        from mercer.io.required import write_rejected

        found = [(file, f"row {row}", self.rows[index], "") for row, index in zip(numbers, indices, strict=True)]
        write_rejected(path, [*source.rejected, *found])


class RowComputation(Protocol):
    """Computes the columns to write for a block of rows, on any thread or machine.

    `check` refuses a model before any row is read. `add` sees the results of all blocks in order; the `notes` that it
    gathers are printed at the end.
    """

    @property
    def notes(self) -> Any: ...

    def check(self, model: Any) -> None: ...

    def __call__(self, model: Any, rows: Any) -> dict[str, Any]: ...

    def add(self, model: Any, rows: Any, found: dict[str, Any]) -> None: ...


def stream_rows(
    path: str,
    data: str,
    output: str | None,
    form: str | None,
    quiet: bool,
    options: dict[str, Any],
    title: str,
    compute: RowComputation,
    keep: tuple[str, ...] = (),
    selection: RowSelection | None = None,
) -> None:
    """Load the model, write what `compute` returns for each block after the columns to keep, and print the notes."""
    from mercer.io.atomic_file import check_writable
    from mercer.io.row_writers import format_of, open_rows

    how, form = reading(options), format_of(output, form)
    refuse_overwrite(output, path, data)
    model = load_model(path)
    compute.check(model)
    if output and output != "-":
        check_writable(output)
    kept, chosen = KeptColumns(keep, form), selection or RowSelection()
    with notes_at_end(quiet, compute) as unseen, started_engine(options) as engine:
        quiet = quiet or _on_terminal(output)
        source = open_data(model, data, how, title, quiet).on(engine)
        kept.choose(list(source.schema), display_name(data))
        numbered = how["on_bad_rows"] == "skip"  # the output has fewer rows than the input
        carried = [*kept.names, *([] if model.target is None else [model.target])]
        bad = BadValues(how["on_bad_rows"])
        with open_rows(output, form) as out:
            each = (model, source, title, quiet, compute, chosen, unseen, kept.names, carried)
            for rows, found, index in mapped_rows(*each, bad):
                compute.add(model, rows, found)
                out.write(kept.beside(rows, {**_row_numbers(source, index, found), **found} if numbered else found))
            bad.note(source, display_name(data))


def _row_numbers(source: Any, index: Any, found: dict[str, Any]) -> dict[str, Any]:
    """The column `row`: the number, from 0, of each row of the input, of which bad ones were skipped."""
    if "row" in found:
        raise click.UsageError("The results have a column 'row': skipped rows cannot be numbered. Mend the bad rows.")
    return {"row": source.numbers_in_input(index)}


def load_model(path: str) -> Any:
    """A model that `mercer fit` wrote."""
    from mercer.auto import Model
    from mercer.io import load

    model = load(path)
    if not isinstance(model, Model):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that mercer fit wrote.")
    return model


@contextmanager
def notes_at_end(quiet: bool, compute: RowComputation | None = None) -> Iterator[dict[str, Any]]:
    """Collect warnings, unseen categories (in the dict that it gives) and notes, and print each once at the end."""
    unseen: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield unseen
    notes = [warning_text(each.message) for each in caught] + [each.describe(column) for column, each in unseen.items()]
    notes += [] if quiet or compute is None else compute.notes
    for text in dict.fromkeys(notes):
        click.echo(f"mercer: {printable(shortened(in_options(text)))}", err=True)


def _on_terminal(output: str | None) -> bool:
    """Whether the rows are written to the terminal, where a progress bar would disturb them."""
    return (output is None or output == "-") and sys.stdout.isatty()


def open_data(model: Any, data: str, how: dict[str, Any], title: str, quiet: bool) -> Any:
    """The source of the rows of a file, with the columns of the model."""
    from mercer.io import read_table
    from mercer.report.progress import step_progress
    from mercer.source.remarks import reading_notes
    from mercer.tables.schema import refuse_missing

    known = model.encoder.schema_
    with step_progress(title, quiet):
        source: Any = read_table(data, like=known, **how)
    refuse_missing(source.schema, known, display_name(data))
    for note in reading_notes(source):
        warnings.warn(note, UserWarning, stacklevel=2)  # printed once, at the end
    return source


def mapped_rows(
    model: Any,
    source: Any,
    title: str,
    quiet: bool,
    compute: Callable[[Any, Any], Any],
    selection: RowSelection,
    unseen: dict[str, Any],
    kept: Iterable[str] = (),
    carried: Iterable[str] | None = None,
    bad: BadValues | None = None,
) -> Iterator[tuple[Any, Any, Any]]:
    """The selected rows of each block, what `compute` returns, and the indices of the rows, in order.

    Blocks are computed on all cores, or on the engine of the source. Of the rows `carried` names the columns that are
    needed; None is all. The unseen categories by column are added to `unseen`, the rows with values that the model
    cannot read to `bad`, whose policy applies to them.

    Columns that are kept and that the model does not use are not shown to it: it would warn that they are ignored.
    """
    from mercer._runtime.errors import RowError
    from mercer.cli.row_results import RowFunction, show_warnings
    from mercer.report.progress import row_progress
    from mercer.tables.unseen import merge_unseen

    selection = selection.of(source)
    used = {*model.encoder.schema_, model.target}
    shown = [name for name in source.schema if name in used or name not in set(kept)]
    carried = None if carried is None else [name for name in source.schema if name in set(carried)]
    bad = bad or BadValues()
    function = RowFunction(model, compute, selection, shown, carried, bad.policy)
    if source.engine is not None:
        show_warnings(source, function)
    with row_progress(title, source.n_rows, quiet) as advance:
        try:
            for block in source.map(function).blocks():
                found = block.X
                bad.rows.update(found.bad)
                if len(found):
                    unseen.update(merge_unseen(unseen, found.unseen))
                    yield found.rows, found.columns, found.index
                if selection.stop is not None and block.start + found.n_read >= selection.stop:
                    break
                advance(found.n_read)
        except RowError as error:
            raise error.located(source.locate) from error
