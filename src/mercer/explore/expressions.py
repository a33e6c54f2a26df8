"""Expressions of the public library: one tree builds the object and writes the Python code of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

#: Longer calls have one argument per line.
MAX_LINE = 100


@dataclass(frozen=True)
class Call:
    """A call ``name(*positional, **keywords)`` of a public class or function of module `home`."""

    name: str
    positional: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    home: str = "mercer"

    def build(self) -> Any:
        """Return the object."""
        keywords = {name: _built(value) for name, value in self.keywords.items()}
        return getattr(import_module(self.home), self.name)(*map(_built, self.positional), **keywords)

    def code(self) -> str:
        """Return the Python code of the object."""
        keywords = [f"{name}={_written(value)}" for name, value in self.keywords.items()]
        arguments = [*map(_written, self.positional), *keywords]
        line = f"{self.name}({', '.join(arguments)})"
        if len(line) <= MAX_LINE:
            return line
        inner = "".join("    " + each.replace("\n", "\n    ") + ",\n" for each in arguments)
        return f"{self.name}(\n{inner})"

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield (module, name) of all calls in the tree."""
        yield self.home, self.name
        for value in [*self.positional, *self.keywords.values()]:
            if isinstance(value, (Call, Operation)):
                yield from value.imports()


@dataclass(frozen=True)
class Operation:
    """``left + right`` or ``left * right``."""

    symbol: str
    left: Any
    right: Any

    def build(self) -> Any:
        """Return the object."""
        left, right = _built(self.left), _built(self.right)
        return left + right if self.symbol == "+" else left * right

    def code(self) -> str:
        """Return the Python code of the object; a sum is never a factor here."""
        return f"{_written(self.left)} {self.symbol} {_written(self.right)}"

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield (module, name) of all calls in the tree."""
        for value in (self.left, self.right):
            if isinstance(value, (Call, Operation)):
                yield from value.imports()


@dataclass(frozen=True)
class Snippet:
    """Python code given as text, with the object that it stands for."""

    text: str
    value: Any

    def build(self) -> Any:
        """Return the object."""
        return self.value

    def code(self) -> str:
        """Return the text."""
        return self.text


def import_lines(*expressions: Any) -> list[str]:
    """Return the import statements that the code of some expressions needs, sorted."""
    homes: dict[str, set[str]] = {}
    for expression in expressions:
        if isinstance(expression, (Call, Operation)):
            for home, name in expression.imports():
                homes.setdefault(home, set()).add(name)
    return [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(homes.items())]


def _built(value: Any) -> Any:
    return value.build() if hasattr(value, "build") else value


def _written(value: Any) -> str:
    return value.code() if hasattr(value, "code") else repr(value)
