"""`mercer demo`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from mercer.cli.options import format_options

_DATA = ("digits", "breast_cancer", "diabetes")


@click.command(
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
    help="Seed of the random features, the folds and the holdout.",
)
@format_options
@click.option("--quiet", is_flag=True, help="No progress bar.")
def demo(data: str, components: int, seed: int, form: str, quiet: bool) -> None:
    """Compare a linear model on plain columns with one on random features.

    Standardizes the data, maps them to random Fourier features of several bandwidths, fits the whole ridge path of
    each, selects by cross-validation, and evaluates both models once on a holdout.
    """
    names = _DATA if data == "all" else (data,)
    _json_demo(names, components, seed, quiet) if form == "json" else _table_demo(names, components, seed, quiet)


def _table_demo(names: tuple[str, ...], components: int, seed: int, quiet: bool) -> None:
    from rich.console import Console

    from mercer.report.demo_table import closing_hint, render_demo, render_intro

    console = Console(highlight=False)
    for i, report in enumerate(_reports(names, components, seed, quiet)):
        if i == 0:
            console.print(render_intro(report))
        console.print(render_demo(report))
    console.print(closing_hint())


def _json_demo(names: tuple[str, ...], components: int, seed: int, quiet: bool) -> None:
    import json

    from mercer import __version__

    reports = list(_reports(names, components, seed, quiet))
    click.echo(json.dumps({"mercer": __version__, "reports": reports}, indent=2, allow_nan=False))


def _reports(names: tuple[str, ...], components: int, seed: int, quiet: bool) -> Iterator[dict[str, Any]]:
    from mercer.report.progress import counted_progress

    for name in names:
        with counted_progress(name, quiet) as announce:
            from mercer.report.demo import gather_demo  # slow: this is where NumPy and scikit-learn are imported

            report = gather_demo(name, components, seed, announce)
        yield report
