"""The shape of a model: monotone columns, and models that a person can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mercer._runtime.checks import check_whole
from mercer._runtime.errors import MercerError, ParameterError, Setting


@dataclass(frozen=True)
class ModelShape:
    """Options `monotone`, `explainable` and `max_pairs` of `mercer.fit`."""

    monotone: Mapping[str, int] = field(default_factory=dict)
    explainable: bool = False
    max_pairs: int = 10

    def __post_init__(self) -> None:
        if not isinstance(self.explainable, bool):
            raise ParameterError("explainable", self.explainable, "must be True or False")
        check_whole("max_pairs", self.max_pairs, minimum=0)
        if self.explainable and self.monotone:
            problem = (Setting("explainable", True), " and ", Setting("monotone"), " exclude each other:")
            raise MercerError(*problem, remedy="give one of them.")
