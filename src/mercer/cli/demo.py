"""`mercer demo`: the main job on example tables, or on one's own."""

from __future__ import annotations

import shlex
from typing import Any

import click

from mercer.cli.options import echo_json, format_options, quiet_option, seed_option, show

_TABLES = ("diabetes", "breast_cancer")


@click.command(
    short_help="mercer fit on two example tables, or on your own.",
    epilog="Example:  mercer demo --data houses.csv --target price",
)
@click.option("--data", metavar="PATH", help="A file of your own, instead of the examples; needs --target.")
@click.option("--target", metavar="COLUMN", help="Column to be predicted in the file of --data.")
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False),
    default="mercer-demo",
    show_default=True,
    help="Folder for tables, models and reports.",
)
@click.option("--effort", type=click.Choice(["fast", "normal", "high"]), default="normal", show_default=True)
@format_options
@seed_option
@quiet_option
def demo(data: str | None, target: str | None, output: str, form: str, **options: Any) -> None:
    """Fit models to two tables that ship with scikit-learn, and write their reports.

    One table is a regression (diabetes), the other a classification (breast cancer). With --data and --target it is a
    file of your own. The commands that are run are shown, and can be repeated by hand.
    """
    if (data is None) != (target is None):
        raise click.UsageError("--data and --target go together: the file, and the column to be predicted.")
    reports = [_run(path, column, output, form, options) for path, column in _jobs(data, target, output, form)]
    if form == "json":
        from mercer import __version__

        echo_json({"mercer": __version__, "reports": reports})
    else:
        _show_next_steps(reports)


def _jobs(data: str | None, target: str | None, folder: str, form: str) -> Any:
    """(file, target) of each fit, after the question of an example."""
    import os

    if data is not None:
        os.makedirs(folder, exist_ok=True)
        yield data, target
        return
    from mercer.report.demo import TABLES, write_table

    for number, name in enumerate(_TABLES, 1):
        path = write_table(name, folder)
        if form == "table":
            click.secho(f"Example {number} of {len(_TABLES)}: {name.replace('_', ' ')}", bold=True)
            click.echo(f"{TABLES[name].question}\n")
        yield path, TABLES[name].target


def _run(path: str, target: str, folder: str, form: str, options: dict[str, Any]) -> dict[str, Any]:
    """Run `mercer fit` on a file, and print its report."""
    import os

    from mercer.cli.fit import fit, fit_file

    output = os.path.join(folder, f"{os.path.basename(path).split('.')[0] or 'model'}.mercer")
    words = ["mercer", "fit", path, "--target", target, "--output", output]
    words += [] if options["effort"] == "normal" else ["--effort", options["effort"]]
    words += ["--seed", str(options["seed"])] if options["seed"] else []
    command = shlex.join(words)
    if form == "table":
        click.echo(f"$ {command}\n")
    context = fit.make_context("fit", [*words[2:], *(["--quiet"] if options["quiet"] else [])])
    report = fit_file(path, target, {**context.params, "roles": None, "command": command})
    if form == "table":
        from mercer.report.fit import render_fit

        show(lambda found: render_fit(found, commands=False), report)
        click.echo()
    return report


def _show_next_steps(reports: list[dict[str, Any]]) -> None:
    """How to open the reports, and what to try next."""
    click.secho("Open in a browser", bold=True)
    for report in reports:
        click.echo(f"  {_address(report['report_file'])}")
    last = reports[-1]
    click.secho("\nThen try", bold=True)
    for line in (
        f"mercer explain {shlex.quote(last['saved'])} {shlex.quote(last['file'])}",
        f"mercer report {shlex.quote(last['saved'])} --format markdown",
        "mercer inspect YOUR.csv --target COLUMN",
        "mercer fit YOUR.csv --target COLUMN",
    ):
        click.echo(f"  {line}")


def _address(path: str) -> str:
    import os
    import pathlib

    return pathlib.Path(os.path.abspath(path)).as_uri()
