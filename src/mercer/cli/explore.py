"""`mercer explore`."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.options import reading, reading_options


@click.command(
    short_help="An interactive page: kernels, lifts and learners in the plane.",
    epilog="Example:  mercer explore flowers.csv",
)
@click.argument("data", required=False)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on this machine; a free one by default.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--view", default="", metavar="LINK", help="Open a view that someone shared: their link.")
@click.option("--export", metavar="PAGE.html", help="Write a static page with the pictures of all presets, and end.")
@reading_options
def explore(data: str | None, port: int, no_browser: bool, view: str, export: str | None, **options: Any) -> None:
    """Serve an interactive page on this machine until Ctrl-C, and open it in the browser.

    DATA is a file whose columns can be shown as points: CSV, TSV or the like, or Parquet. The page needs no network.
    """
    how = reading(options)
    if export is not None:
        if data is not None:
            raise click.UsageError("--export writes the presets, which need no DATA.")
        from mercer.explore.export import write_page

        write_page(export)
        click.echo(f"wrote {export}")
        return
    _require_extra()
    from mercer.explore.serving import fragment_of, serve
    from mercer.explore.tables import sample_of_file

    table = None if data is None else sample_of_file(data, **how)
    try:
        serve(table, port, fragment_of(view), not no_browser, _show_address)
    except KeyboardInterrupt:
        click.echo("mercer: stopped.", err=True)


def _show_address(address: str) -> None:
    click.echo(f"Open {address}\nCtrl-C ends the server.")


def _require_extra() -> None:
    """Raise unless the packages of the extra are installed."""
    from importlib.util import find_spec

    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"mercer explore needs {' and '.join(missing)}, which this environment lacks: pip install 'mercer[explore]'"
        )
