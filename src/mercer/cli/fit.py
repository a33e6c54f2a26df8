"""`mercer fit`."""

from __future__ import annotations

import shlex
from typing import Any

import click

from mercer.cli.decisions import decision_options, decisions
from mercer.cli.options import (
    Gigabytes,
    Number,
    display_name,
    engine_options,
    parse_pairs,
    quiet_option,
    reading,
    reading_options,
    refuse_overwrite,
    seed_option,
    started_engine,
)
from mercer.cli.progress_kept import kept_progress, resume_option
from mercer.cli.report import page_path, print_report, rows_option, verbose_option, with_options, write_report
from mercer.cli.scorecard import check_scorecard, write_scorecard

_TASKS = ("classification", "regression", "classify", "regress")
_SEARCH = (
    "effort", "time_budget", "max_classes", "max_features", "memory", "holdout", "n_seeds", "explainable", "max_pairs",
)  # fmt: skip
#: Rows of the data in a report: as many of the worst, and of the typical ones.
_ROWS = 3


@click.command(
    short_help="From a file to a model, an honest score and a report.",
    epilog="Example:  mercer fit houses.csv --target price --output houses.mercer",
)
@click.argument("data")
@click.option("--target", required=True, help="Column to be predicted.")
@click.option("--weight", help="Column of sample weights.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="Model file; DATA with .mercer unless given.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(dir_okay=False),
    help="HTML report; beside the model, with .report.html, unless given.",
)
@click.option("--no-report", is_flag=True, help="Gather no diagnostics and write no HTML report.")
@rows_option
@click.option(
    "--task",
    type=click.Choice(_TASKS),
    metavar="[classification|regression]",
    help="Inferred from the target unless given.",
)
@click.option("--effort", type=click.Choice(["fast", "normal", "high"]), default="normal", show_default=True)
@click.option("--time-budget", type=Number(0, min_open=True), help="Seconds for the whole fit.")
@click.option(
    "--max-classes",
    type=click.IntRange(1),
    help="Confirm so many classes; unless given, 100 of numbers and 1000 of text are allowed.",
)
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
@click.option("--explainable", is_flag=True, help="Only what a person can read: points per bin, and a few pairs.")
@click.option(
    "--max-pairs",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Pairs of columns of an explainable model, at most.",
)
@click.option(
    "--scorecard",
    type=click.Path(dir_okay=False),
    help="CSV of the points of an explainable model.",
)
@click.option(
    "--updatable/--not-updatable",
    default=None,
    help="Keep sums over the rows for mercer update; up to 8 MB unless given.",
)
@click.option(
    "--keep-hashes/--no-hashes", default=True, help="Keep 8 bytes a row, by which mercer update --forget works."
)
@decision_options
@engine_options
@resume_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="Of what is printed.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@verbose_option
@seed_option
@quiet_option
@reading_options
@click.pass_context
def fit(
    context: click.Context, data: str, target: str, roles: tuple[str, ...], form: str, verbose: bool, **options: Any
) -> None:
    """Fit a linear model on features searched for the rows of DATA, evaluate it on a holdout, and write a report.

    DATA is CSV, TSV or the like, Parquet, a quoted pattern such as "part-*.csv", or - for standard input.
    """
    from mercer.tables.roles import ROLES

    known = parse_pairs(roles, "--role", "COLUMN=ROLE", "zip=category", ROLES)
    given = (context.find_root().obj or {}).get("arguments")
    command = None if given is None else f"mercer {shlex.join(given)}"
    report = fit_file(data, target, {**options, "roles": known, "command": command})
    print_report(report, form, not options["no_rows"], verbose)


def fit_file(data: str, target: str, options: dict[str, Any]) -> dict[str, Any]:
    """Fit a model to a file, write model and report, and return the report; `options` are those of `mercer fit`."""
    from mercer.report.fit import gather_fit
    from mercer.report.progress import step_progress

    path, page = output_paths(data, options)
    check_scorecard(data, options, (path, page))
    how, budget = reading(options), options["time_budget"]
    search = {name: options[name] for name in _SEARCH} | decisions(options)
    with (
        kept_progress(data, path, {"target": target, **how, **options}),
        step_progress("fit", options["quiet"], budget) as announce,
        started_engine(options) as engine,
    ):
        import mercer

        source: Any = mercer.io.read_table(data, target, options["weight"], engine=engine, **how)
        model = mercer.fit(
            source,
            task=options["task"] or None,
            roles=options["roles"],
            random_state=options["seed"],
            progress=announce,
            report=page is not None,
            report_rows=0 if options["no_rows"] else _ROWS,
            **search,
        )
        announce("save")
        write_scorecard(model, options["scorecard"])
        model.record_origin(options["command"], _origin(data, source.n_rows))
        model.save(path)
        report = with_options(gather_fit(model, source, display_name(data), target, path, page))
        if page is not None:
            announce("write the report")
            write_report(report, page, rows=not options["no_rows"])
    return report


def output_paths(data: str, options: dict[str, Any]) -> tuple[str, str | None]:
    """The files of the model and of the report; both are refused before the work if they cannot be written."""
    from mercer.io.atomic_file import check_writable

    path, page = options["output"] or _default_output(data), options["report_file"]
    if options["no_report"] and page is not None:
        raise click.UsageError("--report and --no-report exclude each other: give one of them.")
    if "-" in (path, page):
        option = "--output" if path == "-" else "--report"
        raise click.UsageError(f"Models and reports are not written to standard output: name a file with {option}.")
    refuse_overwrite(path, data)
    check_writable(path)
    if options["no_report"]:
        return path, None
    page = page or page_path(path)
    refuse_overwrite(page, data, option="--report")
    if _same_file(page, path):
        raise click.UsageError(f"--report {page} would overwrite the model: name another file.")
    check_writable(page)
    return path, page


def _same_file(one: str, other: str) -> bool:
    import os

    return os.path.realpath(one) == os.path.realpath(other)


def _origin(data: str, n_rows: int) -> list[dict[str, Any]]:
    """Name, rows (where there is one file) and SHA-256 of the files of the data."""
    import glob
    import hashlib
    import os

    if data == "-" or (os.path.exists(data) and not os.path.isfile(data)):  # a pipe cannot be read again
        return [{"name": display_name(data), "rows": n_rows, "sha256": None}]
    paths = [data] if os.path.exists(data) else sorted(filter(os.path.isfile, glob.glob(data, recursive=True)))
    found = []
    for path in paths:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append({"name": path, "rows": n_rows if len(paths) == 1 else None, "sha256": digest})
    return found


def _default_output(data: str) -> str:
    """houses.csv.gz -> houses.mercer, in the current folder."""
    import os

    stem = os.path.basename(data).split(".")[0].strip("*?[]") if data != "-" else ""
    return f"{stem or 'model'}.mercer"
