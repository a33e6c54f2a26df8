"""Estimators that take several passes over the rows, and methods that only estimators of one pass have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.base import StreamingEstimator
from mercer.source import Source


class one_pass:
    """A method that raises AttributeError where `_multi_pass` is true, so that `hasattr` is false."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is not None and instance._multi_pass:
            raise AttributeError(
                f"{instance} has no {self.method.__name__}: it takes several passes over the rows, and rows that came "
                "in pieces are gone. Give all of them to fit, as an array or as a Source, which can be read again."
            )
        return self.method.__get__(instance, owner)


class IteratedEstimator(StreamingEstimator):
    """An estimator whose `_learn_from` folds over the source once per step."""

    _needs_y = True

    @property
    def _multi_pass(self) -> bool:
        return True

    partial_fit = one_pass(StreamingEstimator.partial_fit)
    merge = one_pass(StreamingEstimator.merge)

    def _learn_from(self, source: Source) -> None:
        """Set the learned attributes from the rows of a source of checked blocks."""
        raise NotImplementedError
