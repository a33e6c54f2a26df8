"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from mercer._runtime.errors import MercerError, ParameterError
from mercer.cli.messages import printable, without_long_words

_READING = (
    click.option("--delimiter", help="Instead of the detected one, for example ';' or 'tab'."),
    click.option("--quote", help="Quote character, instead of the detected one; 'none' if nothing is quoted."),
    click.option("--decimal", help="Decimal point or comma, instead of the detected one."),
    click.option("--encoding", help="Instead of the detected one, for example latin-1."),
    click.option("--header/--no-header", default=None, help="Whether the first row names the columns."),
    click.option("--missing", multiple=True, help="Another text for a missing value, beside NA, null, ? and the like."),
    click.option(
        "--type", "types", multiple=True, metavar="COLUMN=TYPE", help="boolean, integer, number, date or text."
    ),
    click.option(
        "--on-bad-rows",
        type=click.Choice(["error", "skip", "null"]),
        default="error",
        show_default=True,
        help="Stop, skip bad rows (they go to a file with reasons), or fill them with missing values.",
    ),
)
_TYPES = ("boolean", "integer", "number", "date", "text")
_NAMES = ("delimiter", "quote", "decimal", "encoding", "header", "on_bad_rows")


class Number(click.FloatRange):
    """A number in a range; "nan" is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not a number.", param, ctx)
        return number


class Gigabytes(Number):
    """A positive amount of memory in gigabytes, or with a unit such as 500MB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from mercer.auto.budget.memory import gigabytes

        try:
            value = gigabytes(value) if isinstance(value, str) and value.strip()[-1:].isalpha() else value
        except ValueError as error:
            self.fail(f"{value!r} is no size such as 1GB or 500MB. {getattr(error, 'remedy', '')}", param, ctx)
        return super().convert(value, param, ctx)


seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random draws."
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress on standard error.")
_FORMAT = (
    click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True),
    click.option("--json", "form", flag_value="json", help="The same as --format json."),
)
_ENGINE = (
    click.option(
        "--engine",
        type=click.Choice(["threads", "dask"]),
        default="threads",
        show_default=True,
        help="Where passes over the rows run: on threads, or on Dask workers.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Of a Dask cluster, for example tcp://host:8786. Without it Dask workers are started on this machine.",
    ),
)


def format_options(command: Callable) -> Callable:
    """Add the options for the format of a report: `form` is "table" or "json"."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_FORMAT), command)


def engine_options(command: Callable) -> Callable:
    """Add the options for where passes over the rows run."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_ENGINE), command)


@contextmanager
def started_engine(options: dict[str, Any]) -> Iterator[Any]:
    """The engine of `engine_options`, which ends with the command; None for the threads of this process."""
    if options["scheduler"] is not None and options["engine"] != "dask":
        raise click.UsageError("--scheduler is the address of a Dask cluster: add --engine dask.")
    if options["engine"] != "dask":
        yield None
        return
    from mercer.source.dask import dask_engine

    with dask_engine(options["scheduler"]) as engine:
        yield engine


def reading_options(command: Callable) -> Callable:
    """Add the options for reading a file of rows; errors in its data name the file."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_READING), _naming_the_file(command))


def _naming_the_file(command: Callable) -> Callable:
    @functools.wraps(command)
    def named(*args: Any, **given: Any) -> Any:
        try:
            return command(*args, **given)
        except ValueError as error:
            paths = [given[name] for name in ("data", "file", "new", "old", "model") if given.get(name)]
            if not any(display_name(path) in str(error) for path in paths):
                raise _with_file(error, display_name(paths[0])) from error
            raise

    return named


def _with_file(error: ValueError, file: str) -> ValueError:
    """The error with the name of the file before it, unless it is about a parameter or names a file already."""
    if not isinstance(error, MercerError):
        return MercerError(f"{file}: {error}")
    if isinstance(error, ParameterError) or error.parameter or getattr(error, "file", None):
        return error
    return MercerError(f"{file}: ", *error.problem.parts, remedy=error.remedy)


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """Return the values of `reading_options` as arguments of `mercer.io.read_table`."""
    chosen = {name: options[name] for name in _NAMES}
    if chosen["delimiter"] == "tab":
        chosen["delimiter"] = "\t"
    if chosen["quote"] == "none":
        chosen["quote"] = ""
    if options["missing"]:
        from mercer.io import MISSING

        chosen["missing"] = (*MISSING, *options["missing"])
    chosen["types"] = parse_pairs(options["types"], "--type", "COLUMN=TYPE", "zip=text", _TYPES)
    return chosen


def parse_pairs(
    given: Iterable[str], option: str, form: str, example: str, allowed: tuple[str, ...]
) -> dict[str, str] | None:
    """Return the values of an option such as --role COLUMN=ROLE as a dict; None if there are none."""
    pairs = {}
    for pair in given:
        column, equals, value = pair.rpartition("=")
        if not equals or not column:
            raise click.UsageError(f"{option} takes {form}, for example {example}, not {pair!r}.")
        if value not in allowed:
            raise click.UsageError(f"{option} {pair}: {value!r} is not one of {', '.join(allowed)}.")
        pairs[column] = value
    return pairs or None


def display_name(data: str) -> str:
    """The name of a file in a report."""
    return "standard input" if data == "-" else data


def refuse_overwrite(output: str | None, *inputs: str, option: str = "--output") -> None:
    """Refuse to overwrite a file that is read: an input may be a pattern of several files."""
    import glob
    import os

    if not output or not os.path.exists(output):
        return
    for given in inputs:
        for path in [given] if os.path.exists(given) else glob.glob(given, recursive=True):
            if os.path.samefile(output, path):
                raise click.UsageError(f"{option} {output} would overwrite an input file: name another.")


def echo_json(found: dict[str, Any]) -> None:
    """Print a report as JSON."""
    import json

    click.echo(json.dumps(found, indent=2, allow_nan=False))


def show(render: Callable[[dict[str, Any]], Any], found: dict[str, Any], file: Any = None) -> None:
    """Render a report on the terminal, or into a text file."""
    import sys

    from rich.console import Console

    if file is None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows ? for what it lacks
    # Paths longer than a line of the terminal stay whole.
    Console(highlight=False, file=file).print(render(_printable(found)), crop=False)


def _printable(value: Any) -> Any:
    """Names and values of a file as a terminal can show them: no control characters, nothing of 100,000 characters."""
    if isinstance(value, str):
        return printable(without_long_words(value))
    if isinstance(value, dict):
        return {_printable(key): _printable(each) for key, each in value.items()}
    return [_printable(each) for each in value] if isinstance(value, (list, tuple)) else value
