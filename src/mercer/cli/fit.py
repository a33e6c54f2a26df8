"""`mercer fit`."""

from __future__ import annotations

import click

from mercer.cli.options import (
    Number,
    called,
    echo_json,
    format_options,
    pairs_of,
    quiet_option,
    reading,
    reading_options,
    refuse_own_input,
    seed_option,
    show,
)
from mercer.cli.wording import in_options


@click.command(
    short_help="From a file to a model and an honest score.",
    epilog="Example:  mercer fit houses.csv --target price --output houses.mercer",
)
@click.argument("data")
@click.option("--target", required=True, help="Column to be predicted.")
@click.option("--weight", help="Column that says how much each row counts.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Model file; DATA with .mercer unless named.")
@click.option("--task", type=click.Choice(["classify", "regress"]), help="Guessed from the target unless named.")
@click.option("--effort", type=click.Choice(["fast", "normal", "high"]), default="normal", show_default=True)
@click.option("--time-budget", type=Number(0, min_open=True), help="Seconds that all of it may take.")
@click.option("--max-features", type=click.IntRange(1), help="The most features of the model.")
@click.option(
    "--n-seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Models to take the mean of, each with waves of its own.",
)
@click.option(
    "--memory",
    type=Number(0, min_open=True),
    default=4.0,
    show_default=True,
    help="Gigabytes for the rows of the search; of a larger file it sees an even sample.",
)
@click.option("--holdout", type=Number(0, 0.9), default=0.2, show_default=True, help="Share of rows kept aside.")
@click.option("--role", "roles", multiple=True, metavar="COLUMN=ROLE", help="What a column is, instead of the guess.")
@format_options
@seed_option
@quiet_option
@reading_options
def fit(data, target, weight, output, task, roles, form, seed, quiet, **options):
    """Learn a linear model on features found for the rows of DATA, and score it on rows it has never seen.

    DATA is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.io.atomic_file import check_writable
    from mercer.report.fit import gather_fit, render_fit
    from mercer.report.terminal import steps_told
    from mercer.tables.roles import ROLES

    path = output or _default_output(data)
    if path == "-":
        raise click.UsageError("A model is not written to standard output: name a file with --output.")
    refuse_own_input(path, data)
    check_writable(path)  # before the work, not after it
    how, known = reading(options), pairs_of(roles, "--role", "COLUMN=ROLE", "zip=category", ROLES)
    with steps_told("fit", quiet, options["time_budget"]) as tell:
        import mercer

        source = mercer.io.read_table(data, target, weight, **how)
        search = {
            name: options[name] for name in ("effort", "time_budget", "max_features", "memory", "holdout", "n_seeds")
        }
        model = mercer.fit(
            source,
            task=task,
            roles=known,
            random_state=seed,
            progress=tell,
            **search,
        )
        model.save(path)
    report = gather_fit(model, source, called(data), target, path)
    for notes in ("notes", "columns"):
        report[notes] = [in_options(note) for note in report[notes]]
    echo_json(report) if form == "json" else show(render_fit, report)


def _default_output(data: str) -> str:
    """houses.csv.gz -> houses.mercer, in the current folder."""
    import os

    stem = os.path.basename(data).split(".")[0].strip("*?[]") if data != "-" else ""
    return f"{stem or 'model'}.mercer"
