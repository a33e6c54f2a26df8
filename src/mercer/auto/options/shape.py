"""The shape of a model: monotone columns, and models that a person can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mercer._runtime.checks import check_whole
from mercer._runtime.errors import MercerError, ParameterError, Setting


@dataclass(frozen=True)
class ModelShape:
    """Options `monotone`, `explainable` and `max_pairs` of `mercer.fit`."""

    monotone: Mapping[str, int] = field(default_factory=dict)
    explainable: bool = False
    max_pairs: int = 10

    def _check_monotone(self) -> None:
        given = self.monotone
        if given is None:
            object.__setattr__(self, "monotone", {})
        elif not isinstance(given, Mapping):
            raise ParameterError("monotone", given, "must be a dict of columns to +1 or -1, such as {'age': 1}")
        for name, sign in (given or {}).items():
            number = isinstance(sign, (int, float, np.number)) and not isinstance(sign, bool)
            if not number or sign not in (1, -1):
                raise ParameterError(Setting("monotone", key=str(name)), sign, "must be +1 or -1")

    def monotone_roles(self, schema: Mapping[str, str], roles: Mapping[str, str] | None) -> dict[str, str]:
        """The roles with those of monotone columns, which are numbers; errors for columns that are not."""
        known = dict(roles or {})
        for name in self.monotone:
            setting = Setting("monotone", key=str(name))
            if name not in schema:
                raise ParameterError(setting, name, f"must be one of the columns {_listed(schema)}")
            role = known.get(name, "number")
            if schema[name] not in ("integer", "number", "boolean") or role != "number":
                kind = schema[name] if role == "number" else role
                remedy = "" if role == "number" else f"The column has the role {role!r}."
                raise ParameterError(setting, kind, "must be on numbers", remedy=remedy)
            known[name] = "number"
        return known

    def check_task(self, n_classes: int) -> None:
        """Refuse monotone columns for several classes, of which each has a score of its own."""
        if self.monotone and n_classes > 2:
            problem = (Setting("monotone"), f" is for numbers and for two classes, but there are {n_classes}:")
            raise MercerError(*problem, remedy="leave it out, or make the target two classes.")

    def __post_init__(self) -> None:
        self._check_monotone()
        if not isinstance(self.explainable, bool):
            raise ParameterError("explainable", self.explainable, "must be True or False")
        check_whole("max_pairs", self.max_pairs, minimum=0)
        if self.explainable and self.monotone:
            problem = (Setting("explainable", True), " and ", Setting("monotone"), " exclude each other:")
            raise MercerError(*problem, remedy="give one of them.")


def _listed(names: Mapping[str, str], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:most])
    return shown + ", ..." * (len(names) > most)
