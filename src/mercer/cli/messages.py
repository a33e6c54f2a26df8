"""Messages of the library on the command line: parameters as options, control characters escaped."""

from __future__ import annotations

import re
import shlex
from typing import Any

from mercer._runtime.errors import Message, Setting

#: Longer messages are cut, and longer words: no path of use to anyone is longer.
_MAX_LENGTH, _MAX_WORD = 4000, 500
#: Options that are not called like their parameter.
_OPTIONS = {"types": "--type", "roles": "--role", "random_state": "--seed"}
#: Values that have a name on the command line.
_VALUES = {("quote", ""): "none", ("delimiter", "\t"): "tab"}
_FLAGS = {("header", True): "--header", ("header", False): "--no-header"}


def in_options(text: str) -> str:
    """Write the parameters that a message mentions as options.

    >>> in_options(Message("Read with ", Setting("on_bad_rows", "skip"), "."))
    'Read with --on-bad-rows skip.'
    >>> in_options("plain text")
    'plain text'
    """
    return text.format_settings(option) if isinstance(text, Message) else str(text)


def warning_text(warning: Warning | str) -> str:
    """The text of a warning, with options for the parameters it mentions."""
    given = warning.args[0] if isinstance(warning, Warning) and warning.args else warning
    return in_options(given) if isinstance(given, str) else str(warning)


def option(setting: Setting) -> str:
    """Write a parameter as it is given on the command line.

    >>> option(Setting("types", "text", key="zip code"))
    "--type 'zip code=text'"
    >>> option(Setting("encoding", "cp1252", "latin-1"))
    '--encoding cp1252 or --encoding latin-1'
    """
    name = _OPTIONS.get(setting.parameter, f"--{setting.parameter.replace('_', '-')}")
    if not setting.values:
        return name if setting.key is None else f"{name} {shlex.quote(setting.key)}"
    return " or ".join(_with_value(name, setting, value) for value in setting.values)


def _with_value(name: str, setting: Setting, value: Any) -> str:
    if (setting.parameter, value) in _FLAGS:
        return _FLAGS[setting.parameter, value]
    shown = _VALUES.get((setting.parameter, value), str(value))
    return f"{name} {shlex.quote(shown if setting.key is None else f'{setting.key}={shown}')}"


def shortened(text: str) -> str:
    """Cut long values inside quotes, and the whole message if it is still long.

    >>> shortened(f"no column {'x' * 1000!r}.") == f"no column '{'x' * 80}...'."
    True
    >>> prose = f"the model's {'long ' * 50} and 'a', {'then ' * 50} 'b'"
    >>> shortened(prose) == prose
    True
    """
    long_value = r"(?<!\w)(['\"])((?:(?!\1).){80})(?:(?!\1).){80,}\1(?!\w)"  # not from an apostrophe to the next
    return without_long_words(re.sub(long_value, r"\1\2...\1", text, flags=re.DOTALL))


def without_long_words(text: str) -> str:
    """Cut the middle of words of hundreds of characters, such as names of columns, and of texts of thousands.

    >>> without_long_words(f"column {'x' * 100_000} is left out") == f"column {'x' * 80}...{'x' * 20} is left out"
    True
    """
    text = re.sub(rf"\S{{{_MAX_WORD},}}", lambda word: f"{word[0][:80]}...{word[0][-20:]}", text)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH // 2]} ... {text[-_MAX_LENGTH // 2 :]}"


def printable(text: str) -> str:
    """Escape control characters, which could steer a terminal.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c in "\n\t" or c.isprintable() or c == "\u00a0" else repr(c)[1:-1] for c in text)
