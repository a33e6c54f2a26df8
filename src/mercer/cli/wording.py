"""Remedies in messages name arguments of Python functions; on the command line they are options."""

from __future__ import annotations

import re

_WORDS = (
    (r"on_bad_rows='(\w+)'", r"--on-bad-rows \1"),
    (r"task='(\w+)'", r"--task \1"),
    (r"encoding='([\w-]+)'", r"--encoding \1"),
    (r"missing=\[\.\.\., ('[^']*'|\"[^\"]*\")\]", r"--missing \1"),
    (r"types=\{'([^']*)': '(\w+)'\}", r"--type '\1=\2'"),
    (r"roles=\{'([^']*)': '([\w-]+)'\}", r"--role '\1=\2'"),
    (r"quote=''", "--quote none"),
    (r"add it to missing=", "name it with --missing"),
    (r"\broles\['([^']*)'\]", r"--role \1"),
)


def in_options(text: str) -> str:
    """The text with the options of the command line.

    >>> in_options("read with on_bad_rows='skip'")
    'read with --on-bad-rows skip'
    """
    for pattern, option in _WORDS:
        text = re.sub(pattern, option, text)
    return text
