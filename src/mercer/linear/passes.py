"""Learners that look at the rows more than once: what they can do, and what they say about what they cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.base import StreamingEstimator
from mercer.source import Source


class one_pass:
    """A method for fits of one pass. Where `_looks_again` is true it is absent, and the error says why."""

    def __init__(self, method: Callable[..., Any]):
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance, owner=None):
        if instance is not None and instance._looks_again:
            raise AttributeError(
                f"{instance} has no {self.method.__name__}: it looks at the rows more than once, and rows that came "
                "in pieces are gone. Give all of them to fit, as an array or as a Source, which can be read again."
            )
        return self.method.__get__(instance, owner)


class IteratedEstimator(StreamingEstimator):
    """An estimator that folds over its source once per step; `_learn_from` does."""

    _needs_y = True
    _looks_again = True

    partial_fit = one_pass(StreamingEstimator.partial_fit)
    merge = one_pass(StreamingEstimator.merge)

    def _learn_from(self, source: Source) -> None:
        """Set the learned attributes from the rows of a source of checked blocks."""
        raise NotImplementedError
