"""The command line: thin commands over the library. Heavy imports happen inside the command that needs them."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import warnings
from typing import Any

import click

from mercer._runtime.errors import MercerError
from mercer.cli.compare import compare
from mercer.cli.demo import demo
from mercer.cli.dimension import dimension
from mercer.cli.explain import explain
from mercer.cli.explore import explore
from mercer.cli.fit import fit
from mercer.cli.inspect import inspect
from mercer.cli.messages import in_options, printable, shortened, warning_text
from mercer.cli.predict import predict, transform
from mercer.cli.report import report
from mercer.cli.select import select
from mercer.cli.update import update


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  mercer fit houses.csv --target price",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda *given: _show_version(*given),
    help="Show the version and exit.",
)
def cli() -> None:
    """Features that make linear models strong: kernels, random features, streaming fits, honest scores."""


_COMMANDS = (demo, fit, predict, explain, report, transform, select, inspect, compare, update, dimension, explore)
for command in _COMMANDS:
    cli.add_command(command)


def _show_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from mercer import __version__

        click.echo(f"mercer {__version__}")
        context.exit()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with 0 (done), 1 (failed) or 2 (wrong use)."""
    signal.signal(signal.SIGTERM, _terminate)
    _write_completely()
    code = _run(arguments)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:  # what could not be written is not tried once more at the end of the process
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or 1
    sys.exit(code)


def _write_completely() -> None:
    """Put a buffer before an unbuffered standard output (PYTHONUNBUFFERED), which drops what does not fit at once.

    A write to a nearly full disk, or to a pipe whose reader goes away, is short without an error.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        how = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors, "line_buffering": True}
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), **how)  # type: ignore[arg-type]


def _run(arguments: list[str] | None) -> int:
    try:
        warnings.showwarning = _show_warning
        if sys.stdout is None:
            raise OSError("Standard output is closed: redirect it to a file or /dev/null.")
        given = sys.argv[1:] if arguments is None else arguments
        code = cli.main(given, prog_name="mercer", standalone_mode=False, obj={"arguments": list(given)}) or 0
        sys.stdout.flush()  # a full disk is an error of this command
        return code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("mercer: stopped.", err=True)
    except _Terminated:
        return 143
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("MERCER_TRACEBACK"):
            raise
        _print_error(_reason(error))
    return 1


def _reason(error: Exception) -> str:
    """Describe an error in the terms of the command line."""
    if isinstance(error, MercerError):
        return in_options(error.message)
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {error} Lower --memory, or use fewer rows or columns."
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO) and not error.filename:
        return f"The output could not be written: {error.strerror}."
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return str(error)
    what = f"{type(error).__name__}: {error}"
    return f"Internal error ({what}). Set MERCER_TRACEBACK=1 in the environment to see the traceback."


def _print_error(text: str) -> None:
    click.echo(f"mercer: {printable(shortened(text))}", err=True)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning as one line, without its position in the code."""
    _print_error(warning_text(message))


class _Terminated(BaseException):
    """Raised on SIGTERM, so that temporary files are removed as after Ctrl-C."""


def _terminate(*_: Any) -> None:
    raise _Terminated
