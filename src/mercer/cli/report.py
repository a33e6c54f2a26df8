"""`mercer report`, and how commands write reports."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.messages import in_options
from mercer.cli.options import display_name, echo_json, quiet_option, reading, reading_options, refuse_overwrite, show

rows_option = click.option("--no-rows", is_flag=True, help="No rows of the data in the report.")
verbose_option = click.option("--verbose", is_flag=True, help="Also the candidates in words, features and columns.")


@click.command(
    short_help="The report of a saved model again, also on other data.",
    epilog="Example:  mercer report houses.mercer new.csv --output new.report.html",
)
@click.argument("model")
@click.argument("data", required=False)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="File to write. HTML goes to MODEL with .report.html unless given, other formats to standard output (-).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "markdown", "json", "table"]),
    default="html",
    show_default=True,
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@rows_option
@verbose_option
@quiet_option
@reading_options
def report(
    model: str,
    data: str | None,
    output: str | None,
    form: str,
    no_rows: bool,
    verbose: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Write the report of MODEL, as mercer fit wrote it.

    With DATA, rows that contain the target, the report also has the scores of MODEL on them. A model that was fitted
    without a report gets a report of what is known about it.
    """
    from mercer.io.atomic_file import check_writable

    how = reading(options)
    path = output or (page_path(model) if form == "html" else "-")
    refuse_overwrite(path, model, *([] if data is None else [data]))
    if path != "-":
        check_writable(path)
    found = with_options(_gathered(model, data, how, not no_rows, quiet))
    if path == "-":
        print_report(found, form, not no_rows, verbose)
        return
    write_report(found, path, form, not no_rows, verbose)
    from mercer.report.fit import render_written

    if not quiet:
        show(render_written, {**found, "report_file": path})


def _gathered(path: str, data: str | None, how: dict[str, Any], rows: bool, quiet: bool) -> dict[str, Any]:
    """The report of the model in a file, with its scores on other data."""
    from mercer.io import load
    from mercer.report.progress import step_progress

    with step_progress("report", quiet) as announce:
        from mercer.auto import Model

        model = load(path)
        model = getattr(model, "model_", model)  # of an estimator
        if not isinstance(model, Model):
            raise ValueError(f"{path} holds a {type(model).__name__}, which has no report. mercer fit writes models.")
        found = model.report(rows)
        if data is not None:
            from mercer.auto.diagnostics.other_data import evaluate_on

            announce("evaluate")
            found["other_data"] = evaluate_on(model, data, **how) | {"file": display_name(data)}
    return found


def page_path(model: str) -> str:
    """The report beside a model: houses.mercer -> houses.report.html."""
    return f"{model.removesuffix('.mercer')}.report.html"


def with_options(value: Any) -> Any:
    """A report with options of the command line for the parameters that its texts mention."""
    if isinstance(value, dict):
        return {key: with_options(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_options(each) for each in value]
    return in_options(value) if isinstance(value, str) else value


def print_report(found: dict[str, Any], form: str, rows: bool = True, verbose: bool = False) -> None:
    """Print a report in one of the formats."""
    from mercer.report.fit import render_fit

    if form == "json":
        echo_json(found)
    elif form == "table":
        show(lambda report: render_fit(report, verbose), found)
    else:
        click.echo(_text(found, form, rows))


def write_report(
    found: dict[str, Any], path: str, form: str = "html", rows: bool = True, verbose: bool = False
) -> None:
    """Write a report to a file, which appears when it is complete."""
    import io

    from mercer.io.atomic_file import write_text
    from mercer.report.fit import render_fit

    if form == "table":
        out = io.StringIO()
        show(lambda report: render_fit(report, verbose), found, out)
        text = out.getvalue()
    else:
        text = _text(found, form, rows)
    write_text(path, text)


def _text(found: dict[str, Any], form: str, rows: bool) -> str:
    if form == "json":
        import json

        return json.dumps(found, indent=2, allow_nan=False) + "\n"
    if form == "markdown":
        from mercer.report.markdown import render_markdown

        return render_markdown(found)
    from mercer.report.html import render_html

    return render_html(found, rows=rows)
