"""Features learned from the data: directions, clusters, dictionaries, bins, trees, the metric a target asks for."""

from mercer.learn.additive.terms import AdditiveTerms
from mercer.learn.bins.piecewise import PiecewiseLinear
from mercer.learn.bins.supervised_bins import SupervisedBins
from mercer.learn.clusters.clusters import ClusterFeatures
from mercer.learn.dictionary.patches import PatchWhitening, extract_patches
from mercer.learn.dictionary.sparse_coding import SparseCoding
from mercer.learn.kernel_score.kernel_score import KernelScore
from mercer.learn.metric.metric import LearnedMetric
from mercer.learn.pca.pca import PCA
from mercer.learn.pca.repair import Changes
from mercer.learn.target_encoding import TargetEncoding
from mercer.learn.trees.tree_features import TreeFeatures

__all__ = [
    "PCA",
    "AdditiveTerms",
    "Changes",
    "ClusterFeatures",
    "KernelScore",
    "LearnedMetric",
    "PatchWhitening",
    "PiecewiseLinear",
    "SparseCoding",
    "SupervisedBins",
    "TargetEncoding",
    "TreeFeatures",
    "extract_patches",
]
