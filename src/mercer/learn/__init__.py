"""Features learned from the data: directions, clusters, dictionaries, bins, trees, the metric a target asks for."""

from mercer.learn.metric import LearnedMetric
from mercer.learn.piecewise import PiecewiseLinear
from mercer.learn.supervised_bins import SupervisedBins
from mercer.learn.target_encoding import TargetEncoding
from mercer.learn.trees import TreeFeatures

__all__ = [
    "LearnedMetric",
    "PiecewiseLinear",
    "SupervisedBins",
    "TargetEncoding",
    "TreeFeatures",
]
