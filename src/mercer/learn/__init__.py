"""Features learned from the data: directions, clusters, dictionaries, bins, trees, the metric a target asks for."""

from mercer.learn.metric import LearnedMetric

__all__ = [
    "LearnedMetric",
]
