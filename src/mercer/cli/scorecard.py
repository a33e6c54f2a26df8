"""The CSV of points that `mercer fit --scorecard` writes."""

from __future__ import annotations

import os
from typing import Any

import click

from mercer.cli.options import refuse_overwrite


def check_scorecard(data: str, options: dict[str, Any], others: tuple[str | None, ...]) -> None:
    """Refuse a scorecard of a model without one, and a file that cannot be written, before the work."""
    from mercer.io.atomic_file import check_writable

    path = options.get("scorecard")
    if path is None:
        return
    if not options["explainable"]:
        raise click.UsageError("--scorecard is the table of an explainable model: add --explainable.")
    if any(other is not None and os.path.realpath(other) == os.path.realpath(path) for other in others):
        raise click.UsageError(f"--scorecard {path} would overwrite the model or its report: name another file.")
    refuse_overwrite(path, data, option="--scorecard")
    check_writable(path)


def write_scorecard(model: Any, path: str | None) -> None:
    """Write the points of an explainable model as CSV, if a file is given."""
    if path is not None:
        from mercer.io.atomic_file import write_text

        write_text(path, scorecard_csv(model))


def scorecard_csv(model: Any) -> str:
    """The table of points as CSV."""
    import csv
    import io

    from mercer.auto.glass.scorecard import scorecard_columns
    from mercer.io.checks.formulas import harmless_row

    columns = scorecard_columns(model)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(harmless_row, zip(*columns.values(), strict=True)))
    return out.getvalue()
