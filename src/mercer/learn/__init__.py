"""Features learned from the data: directions, clusters, dictionaries, bins, trees, the metric a target asks for."""

from mercer.learn.sparse_coding import SparseCoding

__all__ = [
    "SparseCoding",
]
