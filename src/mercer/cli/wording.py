"""Remedies in messages name arguments of Python functions; on the command line they are options."""

from __future__ import annotations

import re

_WORDS = (
    (r"on_bad_rows='(\w+)'", r"--on-bad-rows \1"),
    (r"(--on-bad-rows \w+.*? or) '(null|skip)'", r"\1 --on-bad-rows \2"),
    (r"task='(\w+)'", r"--task \1"),
    (r"encoding='([\w-]+)'", r"--encoding \1"),
    (r"(--encoding [\w-]+ or) '([\w-]+)'", r"\1 --encoding \2"),
    (r"^(delimiter|quote|decimal|holdout) must be", r"--\1 must be"),
    (r"Use stop=None or 'bic'\.", "Use --how filter."),
    (r"\(given as (types|target|weight)\)", lambda found: f"(given as --{found[1].removesuffix('s')})"),
    (r"missing=\[\.\.\., ('[^']*'|\"[^\"]*\")\]", r"--missing \1"),
    (r"types=\{'([^']*)': '(\w+)'\}", r"--type '\1=\2'"),
    (r"roles=\{'([^']*)': '([\w-]+)'\}", r"--role '\1=\2'"),
    (r"quote=''", "--quote none"),
    (r"header=True", "--header"),
    (r"name the delimiter if", "name its --delimiter if"),
    (r"add it to missing=", "name it with --missing"),
    (r"\broles\['([^']*)'\]", r"--role \1"),
)


def harmless(text: str) -> str:
    """The text with control characters, which could steer a terminal, as they are written in Python.

    >>> harmless("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c in "\n\t" or c.isprintable() or c == "\u00a0" else repr(c)[1:-1] for c in text)


def in_options(text: str) -> str:
    """The text with the options of the command line.

    >>> in_options("read with on_bad_rows='skip'")
    'read with --on-bad-rows skip'
    """
    for pattern, option in _WORDS:
        text = re.sub(pattern, option, text)
    return text
