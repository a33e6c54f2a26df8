"""The command line: thin verbs over the library. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import os
import sys

import click

_DATA = ("digits", "breast_cancer", "diabetes")


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  mercer demo --data digits",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda *a: _show_version(*a),
    help="Show the version and exit.",
)
def cli() -> None:
    """Features that make linear models strong: kernels, random features, streaming fits, honest scores."""


@cli.command(
    short_help="Plain columns against random features, on example data.",
    epilog="Example:  mercer demo --data digits --components 1024 --format json",
)
@click.option(
    "--data",
    type=click.Choice([*_DATA, "all"]),
    default="all",
    show_default=True,
    help="Which of the data sets that ship with scikit-learn.",
)
@click.option(
    "--components",
    type=click.IntRange(2, 8192),
    default=512,
    show_default=True,
    help="Number of random features.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the waves, the folds and the holdout.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--quiet", is_flag=True, help="No progress bar.")
def demo(data: str, components: int, seed: int, form: str, quiet: bool) -> None:
    """Compare a linear model on plain columns with one on random features, honestly.

    Reads data, standardizes, lifts them to random Fourier features of several bandwidths, fits every ridge penalty,
    chooses by folds, and scores both models once on rows kept aside.
    """
    names = _DATA if data == "all" else (data,)
    _json_demo(names, components, seed, quiet) if form == "json" else _table_demo(names, components, seed, quiet)


def _table_demo(names, components, seed, quiet) -> None:
    from rich.console import Console

    from mercer.report.terminal import closing_hint, render_demo, render_intro

    console = Console(highlight=False)
    for i, report in enumerate(_reports(names, components, seed, quiet)):
        if i == 0:
            console.print(render_intro(report))
        console.print(render_demo(report))
    console.print(closing_hint())


def _json_demo(names, components, seed, quiet) -> None:
    import json

    from mercer import __version__

    reports = list(_reports(names, components, seed, quiet))
    click.echo(json.dumps({"mercer": __version__, "reports": reports}, indent=2, allow_nan=False))


def _reports(names, components, seed, quiet):
    from mercer.report.terminal import progress

    for name in names:
        with progress(name, quiet) as tell:
            from mercer.report.demo import gather_demo  # slow: this is where NumPy and scikit-learn are imported

            report = gather_demo(name, components, seed, tell)
        yield report


@cli.command(
    short_help="What is in a file: columns, types, roles, gaps, leaks.",
    epilog="Example:  mercer inspect people.csv --target income",
)
@click.argument("file")
@click.option("--target", help="Column to be predicted: others are suspected if they give it away.")
@click.option("--delimiter", help="Instead of the one found, for example ';' or 'tab'.")
@click.option("--decimal", help="Decimal point or comma, instead of the one found.")
@click.option("--encoding", help="Instead of the one found, for example latin-1.")
@click.option("--header/--no-header", default=None, help="Whether the first row names the columns.")
@click.option(
    "--on-bad-rows",
    type=click.Choice(["error", "skip", "null"]),
    default="error",
    show_default=True,
    help="Stop, leave bad rows out (they are written to a file), or fill them with missing values.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def inspect(file: str, target: str | None, form: str, **options) -> None:
    """Show how FILE is read and what each of its columns is taken for.

    FILE is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.report.inspect import gather_inspection, render_inspection

    if options["delimiter"] == "tab":
        options["delimiter"] = "\t"
    found = gather_inspection(file, target, **options)
    if form == "json":
        import json

        click.echo(json.dumps(found, indent=2, allow_nan=False))
    else:
        from rich.console import Console

        Console(highlight=False).print(render_inspection(found))


def _show_version(context, parameter, asked) -> None:
    if asked:
        from mercer import __version__

        click.echo(f"mercer {__version__}")
        context.exit()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with 0 (done), 1 (failed) or 2 (wrong use)."""
    sys.exit(_run(arguments))


def _run(arguments) -> int:
    try:
        return cli.main(arguments, prog_name="mercer", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("mercer: stopped.", err=True)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, OSError) as error:
        if os.environ.get("MERCER_TRACEBACK"):
            raise
        click.echo(f"mercer: {error}", err=True)
    return 1
