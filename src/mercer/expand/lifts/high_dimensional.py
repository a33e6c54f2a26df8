"""Transformers with too many output columns to list their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.base import StreamingTransformer
from mercer.source import Source


class HighDimensionalTransformer(StreamingTransformer):
    """A map of a source that never lists the names of its output columns, of which there may be billions."""

    def _mapped(self, X: Any, function: Callable[..., Any]) -> Any:
        if not isinstance(X, Source):
            return super()._mapped(X, function)
        mapped = X.map(lambda block: block.with_X(function(self._checked_rows(block))))
        mapped.names = None
        return mapped

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_
