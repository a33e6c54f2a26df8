"""Python code as text: functions of this package without annotations, arrays, and lines put together."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any


def function_code(function: Callable[..., Any]) -> str:
    """Return the source of a function without its annotations, which need imports of their own."""
    source = inspect.getsource(function)
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.FunctionDef)
    names = ", ".join(argument.arg for argument in definition.args.args)
    body = source.splitlines()[definition.body[0].lineno - 1 :]
    return "\n".join([f"def {definition.name}({names}):", *body])


def array_code(rows: Sequence[Sequence[float]]) -> str:
    """Return rows of numbers as a NumPy array, several rows per line."""
    if not rows:
        return "np.empty((0, 3))"
    text = ", ".join(repr(list(row)) for row in rows)
    wrapped = re.sub(r"((?:\[[^\]]*\], ){4})", r"\1\n    ", text).replace(" \n", "\n")
    return f"np.array([\n    {wrapped}\n])"


def program(*parts: Any, imports: Sequence[str] = (), functions: Sequence[Callable[..., Any]] = ()) -> str:
    """Return a program: imports, then functions, then lines."""
    head = "\n".join(["import numpy as np", *imports])
    middle = "".join(f"\n\n\n{function_code(each)}" for each in functions)
    body = "\n".join(parts)
    return f"{head}{middle}\n{chr(10) * 2 if functions else chr(10)}{body}\n"
