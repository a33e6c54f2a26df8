"""The checkpoint of `mercer fit`: a folder beside the model, from which `--resume` continues."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from mercer.cli.messages import printable

resume_option = click.option(
    "--resume",
    is_flag=True,
    help="Continue a fit that was interrupted: its progress is in OUTPUT.checkpoint.",
)

#: Options that do not change the model.
_WITHOUT_EFFECT = (
    "output", "report_file", "no_report", "no_rows", "engine", "scheduler", "quiet", "command", "resume", "scorecard",
)  # fmt: skip


@contextmanager
def kept_progress(data: str, output: str, options: dict[str, Any]) -> Iterator[None]:
    """Keep the progress of a long fit beside its model; where it was interrupted, say how to continue."""
    from mercer.auto.checkpointing import refuse_time_budget

    if options["resume"]:
        refuse_time_budget(options["time_budget"])
    if data == "-" or options["time_budget"] is not None:
        if options["resume"]:
            raise click.UsageError("--resume: standard input cannot be read again. Write it to a file, and fit that.")
        yield
        return
    checkpoint = _opened(data, output, options)
    try:
        with checkpoint.recording():
            yield
    except BaseException:
        if checkpoint.kept:
            size = f"{checkpoint.bytes / 1e6:,.0f} MB" if checkpoint.bytes >= 1e6 else "less than 1 MB"
            click.echo(
                f"mercer: The progress of this fit is kept in {printable(checkpoint.path)} ({size}). "
                "The same command with --resume continues it; without, it starts anew.",
                err=True,
            )
        raise


def _opened(data: str, output: str, options: dict[str, Any]) -> Any:
    from mercer.auto.checkpointing import belongs_to
    from mercer.io.checkpoint import Checkpoint

    known = {name: value for name, value in options.items() if name not in _WITHOUT_EFFECT}
    checkpoint = Checkpoint(f"{output}.checkpoint", belongs_to(data, known), resume=options["resume"])
    if options["resume"] and not options["quiet"]:
        found = "continues from" if checkpoint.resumed else "starts anew: there is no"
        click.echo(f"mercer: The fit {found} {printable(checkpoint.path)}.", err=True)
    return checkpoint
