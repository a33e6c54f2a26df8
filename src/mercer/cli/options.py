"""Options that several commands share."""

from __future__ import annotations

import functools
from typing import Any

import click

from mercer.cli.wording import harmless

_READING = (
    click.option("--delimiter", help="Instead of the one found, for example ';' or 'tab'."),
    click.option("--quote", help="Around values, instead of the one found; 'none' if nothing is quoted."),
    click.option("--decimal", help="Decimal point or comma, instead of the one found."),
    click.option("--encoding", help="Instead of the one found, for example latin-1."),
    click.option("--header/--no-header", default=None, help="Whether the first row names the columns."),
    click.option("--missing", multiple=True, help="Another word for a missing value, beside NA, null, ? and the like."),
    click.option(
        "--type", "types", multiple=True, metavar="COLUMN=TYPE", help="boolean, integer, number, date or text."
    ),
    click.option(
        "--on-bad-rows",
        type=click.Choice(["error", "skip", "null"]),
        default="error",
        show_default=True,
        help="Stop, leave bad rows out (they go to a file with reasons), or fill them with missing values.",
    ),
)
_TYPES = ("boolean", "integer", "number", "date", "text")
_NAMES = ("delimiter", "quote", "decimal", "encoding", "header", "on_bad_rows")


class Number(click.FloatRange):
    """A number in a range; "nan" is in none."""

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value} is not a number.", param, ctx)
        return number


seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of every random draw.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress on standard error.")
_FORMAT = (
    click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True),
    click.option("--json", "form", flag_value="json", help="The same as --format json."),
)


def format_options(command):
    """How a report is shown: `form` is "table" or "json"."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_FORMAT), command)


def reading_options(command):
    """How a file of rows is to be read."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_READING), command)


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """The values of `reading_options`, as `mercer.io.read_table` takes them."""
    chosen = {name: options[name] for name in _NAMES}
    if chosen["delimiter"] == "tab":
        chosen["delimiter"] = "\t"
    if chosen["quote"] == "none":
        chosen["quote"] = ""
    if options["missing"]:
        from mercer.io import MISSING

        chosen["missing"] = (*MISSING, *options["missing"])
    chosen["types"] = pairs_of(options["types"], "--type", "COLUMN=TYPE", "zip=text", _TYPES)
    return chosen


def pairs_of(given, option: str, form: str, example: str, allowed: tuple[str, ...]) -> dict[str, str] | None:
    """The values of an option such as --role COLUMN=ROLE as a dict; None if there are none."""
    pairs = {}
    for pair in given:
        column, equals, value = pair.rpartition("=")
        if not equals or not column:
            raise click.UsageError(f"{option} takes {form}, for example {example}, not {pair!r}.")
        if value not in allowed:
            raise click.UsageError(f"{option} {pair}: {value!r} is not one of {', '.join(allowed)}.")
        pairs[column] = value
    return pairs or None


def called(data: str) -> str:
    """What a report calls the file it is about."""
    return "standard input" if data == "-" else data


def refuse_own_input(output: str | None, *inputs: str) -> None:
    """Refuse to write over a file that is read."""
    import os

    for path in inputs:
        if output and os.path.exists(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise click.UsageError(f"--output {output} would replace a file that is read: name another.")


def echo_json(found: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(found, indent=2, allow_nan=False))


def show(render, found: dict[str, Any]) -> None:
    """What `render` makes of a report, on the terminal."""
    from rich.console import Console

    # A path longer than the terminal is wide stays whole.
    Console(highlight=False).print(render(_harmless(found)), crop=False)


def _harmless(value):
    """A report without control characters: names and values of a file must not steer the terminal."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, dict):
        return {_harmless(key): _harmless(each) for key, each in value.items()}
    return [_harmless(each) for each in value] if isinstance(value, (list, tuple)) else value
