"""`mercer fit`."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.messages import in_options
from mercer.cli.options import (
    Gigabytes,
    Number,
    display_name,
    echo_json,
    engine_options,
    format_options,
    parse_pairs,
    quiet_option,
    reading,
    reading_options,
    refuse_overwrite,
    seed_option,
    show,
    started_engine,
)

_TASKS = ("classification", "regression", "classify", "regress")
_SEARCH = ("effort", "time_budget", "max_features", "memory", "holdout", "n_seeds")


@click.command(
    short_help="From a file to a model and an honest score.",
    epilog="Example:  mercer fit houses.csv --target price --output houses.mercer",
)
@click.argument("data")
@click.option("--target", required=True, help="Column to be predicted.")
@click.option("--weight", help="Column of sample weights.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Model file; DATA with .mercer unless given.")
@click.option(
    "--task",
    type=click.Choice(_TASKS),
    metavar="[classification|regression]",
    help="Inferred from the target unless given.",
)
@click.option("--effort", type=click.Choice(["fast", "normal", "high"]), default="normal", show_default=True)
@click.option("--time-budget", type=Number(0, min_open=True), help="Seconds for the whole fit.")
@click.option("--max-features", type=click.IntRange(1), help="Maximum number of features of the model.")
@click.option(
    "--n-seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of models to average, each with independently drawn random features.",
)
@click.option(
    "--memory",
    type=Gigabytes(0, min_open=True),
    default=4.0,
    show_default=True,
    help="Gigabytes (or a size such as 500MB) for the rows of the search; larger files are subsampled.",
)
@click.option("--holdout", type=Number(0, 0.9), default=0.2, show_default=True, help="Fraction of rows to hold out.")
@click.option("--role", "roles", multiple=True, metavar="COLUMN=ROLE", help="Role of a column, instead of the guess.")
@engine_options
@format_options
@seed_option
@quiet_option
@reading_options
def fit(
    data: str,
    target: str,
    weight: str | None,
    output: str | None,
    task: str | None,
    roles: tuple[str, ...],
    form: str,
    seed: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit a linear model on features searched for the rows of DATA, and evaluate it on a holdout.

    DATA is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.io.atomic_file import check_writable
    from mercer.report.fit import gather_fit, render_fit
    from mercer.report.progress import step_progress
    from mercer.tables.roles import ROLES

    path = output or _default_output(data)
    if path == "-":
        raise click.UsageError("A model is not written to standard output: name a file with --output.")
    refuse_overwrite(path, data)
    check_writable(path)  # before the work, not after it
    how, known = reading(options), parse_pairs(roles, "--role", "COLUMN=ROLE", "zip=category", ROLES)
    search = {name: options[name] for name in _SEARCH}
    with step_progress("fit", quiet, options["time_budget"]) as announce, started_engine(options) as engine:
        import mercer

        source = mercer.io.read_table(data, target, weight, engine=engine, **how)
        task = task if task else None
        model = mercer.fit(source, task=task, roles=known, random_state=seed, progress=announce, **search)
        model.save(path)
    report = gather_fit(model, source, display_name(data), target, path)
    for notes in ("notes", "columns"):
        report[notes] = [in_options(note) for note in report[notes]]
    echo_json(report) if form == "json" else show(render_fit, report)


def _default_output(data: str) -> str:
    """houses.csv.gz -> houses.mercer, in the current folder."""
    import os

    stem = os.path.basename(data).split(".")[0].strip("*?[]") if data != "-" else ""
    return f"{stem or 'model'}.mercer"
