"""The command line: thin verbs over the library. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings

import click

from mercer.cli.demo import demo
from mercer.cli.dimension import dimension
from mercer.cli.fit import fit
from mercer.cli.inspect import inspect
from mercer.cli.predict import predict, transform
from mercer.cli.select import select
from mercer.cli.wording import harmless, in_options


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example:  mercer fit houses.csv --target price",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda *a: _show_version(*a),
    help="Show the version and exit.",
)
def cli() -> None:
    """Features that make linear models strong: kernels, random features, streaming fits, honest scores."""


for command in (demo, fit, predict, transform, select, inspect, dimension):
    cli.add_command(command)


def _show_version(context, parameter, asked) -> None:
    if asked:
        from mercer import __version__

        click.echo(f"mercer {__version__}")
        context.exit()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with 0 (done), 1 (failed) or 2 (wrong use)."""
    signal.signal(signal.SIGTERM, _end)
    sys.exit(_run(arguments))


def _run(arguments) -> int:
    try:
        warnings.showwarning = _say
        return cli.main(arguments, prog_name="mercer", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("mercer: stopped.", err=True)
    except _Ended:
        return 143
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("MERCER_TRACEBACK"):
            raise
        _tell(_reason(error))
    return 1


def _reason(error: Exception) -> str:
    """What went wrong, in words."""
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {error} Give the search less with --memory, or take fewer rows or columns."
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO) and not error.filename:
        return f"The output could not be written: {error.strerror}."
    if isinstance(error, (ValueError, TypeError, OSError, ImportError)):
        return str(error)
    what = f"{type(error).__name__}: {error}"
    return f"This should not have happened ({what}). MERCER_TRACEBACK=1 in the environment shows where it did."


def _tell(text: str) -> None:
    click.echo(f"mercer: {harmless(in_options(text))}", err=True)


def _say(message, *where, **more) -> None:
    """A warning as one line for people, without the place in the code that gave it."""
    _tell(str(message))


class _Ended(BaseException):
    """The process was asked to end: files under temporary names go, as after Ctrl-C."""


def _end(*_) -> None:
    raise _Ended
