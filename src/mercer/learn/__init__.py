"""Features learned from the data: directions, clusters, dictionaries, bins, trees, the metric a target asks for."""

from mercer.learn.clusters import ClusterFeatures
from mercer.learn.metric import LearnedMetric
from mercer.learn.patches import PatchWhitening, extract_patches
from mercer.learn.pca import PCA
from mercer.learn.piecewise import PiecewiseLinear
from mercer.learn.repair import Changes
from mercer.learn.sparse_coding import SparseCoding
from mercer.learn.supervised_bins import SupervisedBins
from mercer.learn.target_encoding import TargetEncoding
from mercer.learn.trees import TreeFeatures

__all__ = [
    "PCA",
    "Changes",
    "ClusterFeatures",
    "LearnedMetric",
    "PatchWhitening",
    "PiecewiseLinear",
    "SparseCoding",
    "SupervisedBins",
    "TargetEncoding",
    "TreeFeatures",
    "extract_patches",
]
